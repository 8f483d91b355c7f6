package incentive

import (
	"testing"

	"feedex/feed"
)

// What has no date could be brought as new again and again: neither its delivery nor its offer earns anything by
// itself, whoever else has it. It is paid for once an own poll lists it; the claim of it keeps what is owed.
func TestWhatUndatedEntriesEarn(t *testing.T) {
	e := NewEarnings(DefaultRules())
	b := bundle(news, "a", 3, now, -1)
	ofPoll := bundle(news, "b", 3, now, -1)
	e.Stored(now, ofPoll, ofPoll.Entries, Holder{})
	if n := e.Stored(now, b, b.Entries, holder(1)); n != 0 {
		t.Errorf("a delivery earned %d entries", n)
	}
	for _, b := range []struct {
		name string
		did  [20]byte
	}{{"a neighbor", b.DID}, {"an own poll", ofPoll.DID}} {
		if _, n := e.Offered(now, holder(2), b.did); n != 0 {
			t.Errorf("the offer of what %s brought earned %d entries", b.name, n)
		}
	}
	if n := e.Stored(now, b, nil, holder(3), ids(b.Entries)...); n != 0 {
		t.Errorf("another delivery of it earned %d entries", n)
	}
}

func ids(entries []feed.Entry) (list []feed.EntryID) {
	for i := range entries {
		list = append(list, entries[i].EntryID())
	}
	return list
}
