package incentive

import (
	"testing"
	"time"

	"feedex/feed"
)

// An entry without a date could be brought as new again and again: neither its delivery nor its offer earns anything by
// itself, whoever else has it. It earns once an own poll lists it, and for each neighbor once.
func TestWhatUndatedEntriesEarn(t *testing.T) {
	e := NewEarnings(DefaultRules())
	b, ofPoll := bundle(news, "a", 3, now, -1), bundle(news, "b", 3, now, -1)
	e.Stored(now, ofPoll, ofPoll.Entries, Holder{})
	if n := e.Stored(now, b, b.Entries, holder(1)).Entries; n != 0 {
		t.Errorf("a delivery earned %d entries", n)
	}
	if _, n := e.Offered(now, holder(2), b.DID); n != 0 {
		t.Errorf("the offer of what a neighbor brought earned %d entries", n)
	}
	for i, want := range []int{3, 0} {
		if _, n := e.Offered(now, holder(2), ofPoll.DID); n != want {
			t.Errorf("offer %d of what an own poll brought earned %d entries, want %d", i, n, want)
		}
		if n := e.Listed(holder(3), ids(ofPoll.Entries)).Entries; n != want {
			t.Errorf("delivery %d of what an own poll lists earned %d entries, want %d", i, n, want)
		}
	}
	e.Gave(now, holder(4), ofPoll)
	if n := e.Listed(holder(4), ids(ofPoll.Entries)); n != (Earned{Again: 3}) {
		t.Errorf("what we gave earned %+v when it came back", n)
	}
	for age, want := range map[time.Duration]int{0: 3, young: 3, young + 1: 0, -1: 3} {
		if got := Young(now, bundle(news, "c", 3, now, age).Entries); got != want {
			t.Errorf("of three that are %v old %d may be worth something", age, got)
		}
	}
	for seen, want := range map[time.Duration]bool{young: true, young + 1: false} {
		if got := YoungSince(now, &b.Entries[0], now.Add(-seen)); got != want {
			t.Errorf("what came %v ago is young: %v", seen, got)
		}
	}
}

func ids(entries []feed.Entry) (list []feed.EntryID) {
	for i := range entries {
		list = append(list, entries[i].EntryID())
	}
	return list
}
