package incentive

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"feedex/feed"
)

// A tip is taken if the owner stars the entry after it was told, and is none if they did before. It stays when it is
// withdrawn, and in what the archive keeps.
func TestTips(t *testing.T) {
	l, err := NewLedger(Config{})
	if err != nil {
		t.Fatal(err)
	}
	now, h := time.Unix(1_700_000_000, 0).UTC(), holder(1)
	own := make(map[feed.EntryID]bool)
	tip := func(want bool, ids ...feed.EntryID) {
		t.Helper()
		if got := l.Tipped(h, ids, func(id feed.EntryID) bool { return own[id] }); got != want {
			t.Errorf("that %d entries are starred changes something: %v", len(ids), got)
		}
	}
	a, b, c := feed.EntryID{1}, feed.EntryID{2}, feed.EntryID{3}
	tip(false, a)
	l.Got(now, h, Entry)
	own[c] = true
	tip(true, b, a, c)
	tip(false, b, a, c)
	own[a] = true
	tip(true)
	tip(false)
	want := []Tip{{Entry: a, Taken: true}, {Entry: b}}
	account := l.Account(h)
	text, err := json.Marshal(account)
	if err != nil {
		t.Fatal(err)
	}
	var kept Account
	if err := json.Unmarshal(text, &kept); err != nil || !slices.Equal(kept.Tips, want) {
		t.Errorf("kept are %v, %v, want %v", kept.Tips, err, want)
	}
	for _, text := range []string{"", "01", a.String() + "-", a.String() + "++"} {
		if err := new(Tip).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a tip", text)
		}
	}
	for _, flawed := range []string{`"none"`, `[1, null, "xy", "` + a.String() + `+", {}]`} {
		text := `{"Got": 5, "Tips": ` + flawed + `, "Given": 3}`
		var kept Account
		err := json.Unmarshal([]byte(text), &kept)
		if err != nil || kept.Got != 5 || kept.Given != 3 || flawed[0] == '[' && !slices.Equal(kept.Tips, want[:1]) {
			t.Errorf("of %s is read %+v, %v", text, kept, err)
		}
	}
	var many []feed.EntryID
	for i := range 300 {
		many = append(many, feed.EntryID{9, byte(i), byte(i / 256)})
	}
	tip(true, many...)
	account = l.Account(h)
	if n := len(account.Tips); n != 256 || account.Tips[n-1].Entry != many[0] {
		t.Errorf("%d tips are kept, the last %v", n, account.Tips[n-1])
	}
}
