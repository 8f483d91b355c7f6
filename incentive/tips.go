package incentive

import (
	"encoding/json"
	"errors"
	"slices"

	"feedex/feed"
)

// A Tip is an entry that a holder starred when the owner had not. It is Taken if the owner starred it later: what
// somebody stars afterwards may be repeated.
type Tip struct {
	Entry feed.EntryID
	Taken bool
}

// Tips are those of a holder, the latest last.
type Tips []Tip

// UnmarshalJSON reads the tips of an account, but for those that cannot be read: none of them is to cost the balance.
func (t *Tips) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	_ = json.Unmarshal(text, &list) // where it is no list, there are no tips
	*t = nil
	for _, one := range list {
		var tip Tip
		if json.Unmarshal(one, &tip) == nil && tip != (Tip{}) {
			*t = append(*t, tip)
		}
	}
	return nil
}

// maxTips is how many tips of a holder are remembered, the latest: as many as it may tell at once.
const maxTips = 256

// takenMark stands behind the entry of a tip that was taken, in text.
const takenMark = "+"

// MarshalText writes the entry in hexadecimal digits, and a plus if it was taken.
func (t Tip) MarshalText() ([]byte, error) {
	text := t.Entry.String()
	if t.Taken {
		text += takenMark
	}
	return []byte(text), nil
}

// UnmarshalText reads what MarshalText writes. The error says what else it is.
func (t *Tip) UnmarshalText(text []byte) (err error) {
	digits := 2 * len(t.Entry)
	if t.Taken = len(text) > digits; t.Taken && string(text[digits:]) != takenMark {
		return errors.New("a tip has more than an entry and a mark")
	}
	t.Entry, err = feed.ParseEntryID(string(text[:min(digits, len(text))]))
	return err
}

// Tipped notes which entries h stars now, and which of those that it starred before the owner has starred meanwhile. It
// reports whether that changed anything. A tip stays when it is withdrawn: else one could tell of everything, and take
// back what the owner does not star.
func (l *Ledger) Tipped(h Holder, starred []feed.EntryID, own func(feed.EntryID) bool) (changed bool) {
	a := l.of(h)
	if a == nil {
		return false
	}
	known := make(map[feed.EntryID]bool, len(a.Tips))
	for i := range a.Tips {
		t := &a.Tips[i]
		known[t.Entry] = true
		if !t.Taken && own(t.Entry) {
			t.Taken, changed = true, true
		}
	}
	for _, id := range slices.Backward(starred) { // the latest last
		if !known[id] && !own(id) {
			known[id], changed = true, true
			a.Tips = append(a.Tips, Tip{Entry: id})
		}
	}
	a.Tips = a.Tips[max(0, len(a.Tips)-maxTips):]
	if changed {
		l.touch(a)
	}
	return changed
}
