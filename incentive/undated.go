package incentive

import (
	"time"

	"feedex/feed"
	"feedex/protocol"
)

const (
	// ahead is how far a date may lie in the future: clocks differ. One further ahead is no date.
	ahead = time.Hour
	// keptUndated is how many of the latest entries without a date are remembered at least, and half of
	// how many at most.
	keptUndated = 4096
)

// An undated entry says nothing about its age: what is old could be brought as new again and again. It counts as new
// for 48 hours after it came here, and earns for the holder that brought it once somebody else has shown it: an own
// poll, or a neighbor in another network that has it.
type undated struct {
	feed  feed.URL
	by    Holder // that brought it; nobody for an own poll
	at    time.Time
	shown bool // by somebody else
}

// An Arrear is what a neighbor earned later than it brought it.
type Arrear struct {
	Holder  Holder
	Feed    feed.URL
	Entries int
}

// Arrears drains what was earned late since the last call. Ask after every other call.
func (e *Earnings) Arrears() []Arrear {
	arrears := e.arrears
	e.arrears = nil
	return arrears
}

// Shown notes that an own poll shows these entries.
func (e *Earnings) Shown(now time.Time, ids ...feed.EntryID) { e.show(now, Holder{}, ids) }

// showOf notes that h has a bundle, and counts its entries without a date that earn for it.
func (e *Earnings) showOf(now time.Time, h Holder, did protocol.DID) int {
	if ids := e.bare.use(did); ids != nil {
		return e.show(now, h, *ids)
	}
	return 0
}

// show notes that h has these entries, and counts those that earn for it.
func (e *Earnings) show(now time.Time, h Holder, ids []feed.EntryID) (count int) {
	for _, id := range ids {
		u := e.undated.use(id)
		if u == nil || now.Sub(u.at) > young || !u.shown && u.by.network() == h.network() {
			continue
		}
		count++
		if u.shown {
			continue
		}
		u.shown = true
		if n := e.caps(u.feed).earn(dayOf(now), 1, e.holders.of(u.by)); n > 0 {
			e.arrears = append(e.arrears, Arrear{u.by, u.feed, n})
		}
	}
	return count
}

// noteUndated notes which entries of a new bundle have no date. Those that are fresh count from now on.
func (e *Earnings) noteUndated(now time.Time, b *protocol.Bundle, fresh []feed.Entry, from Holder) {
	for i := range fresh {
		if _, ok := date(now, &fresh[i]); !ok {
			e.undated.put(fresh[i].EntryID(), undated{b.Feed, from, now, from == Holder{}})
		}
	}
	var ids []feed.EntryID
	for i, identity := range b.Identities() {
		if _, ok := date(now, &b.Entries[i]); !ok {
			ids = append(ids, identity.ID)
		}
	}
	if ids != nil {
		e.bare.put(b.DID, ids)
	}
}

// date is when the entry was published or, where the publisher does not say, last changed; ok is false where
// nothing credible says so.
func date(now time.Time, e *feed.Entry) (at time.Time, ok bool) {
	for _, t := range []time.Time{e.Published, e.Updated} {
		if !t.IsZero() && !t.After(now.Add(ahead)) {
			return t, true
		}
	}
	return time.Time{}, false
}

// Young counts the entries that are young enough to be worth anything. One without a date may be.
func Young(now time.Time, entries []feed.Entry) int {
	n := 0
	for i := range entries {
		if at, ok := date(now, &entries[i]); !ok || now.Sub(at) <= young {
			n++
		}
	}
	return n
}

// Dated counts the young entries that have a date.
func Dated(now time.Time, entries []feed.Entry) int { return len(dates(now, entries)) }

// dates are those of the young entries that have one.
func dates(now time.Time, entries []feed.Entry) (list []uint32) {
	for i := range entries {
		if at, ok := date(now, &entries[i]); ok && now.Sub(at) <= young {
			list = append(list, unix(at))
		}
	}
	return list
}
