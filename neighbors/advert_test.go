package neighbors

import (
	"slices"
	"testing"

	"feedex/feed"
	"feedex/protocol"
)

// What the node keeps to itself is neither among its own feeds nor among those of neighbors.
func TestInterests(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, protocol.Subset{{Feed: url(0)}, {Feed: url(1)}, {Feed: url(2), Hops: 1},
		{Feed: url(3)}}, nil)
	table.Own(url(0), true)
	table.Own(url(3), true)
	table.Private(url(3), true)
	table.Volunteer(url(1), true)
	if got := table.OwnFeeds(); !slices.Equal(got, []feed.URL{url(0)}) {
		t.Errorf("own feeds are %v", got)
	}
	own, near := table.Interests(n)
	if got := own; !slices.Equal(got, []feed.URL{url(0), url(1)}) {
		t.Errorf("at hop count 0 are %v", got)
	}
	if got := near; !slices.Equal(got, []feed.URL{url(2)}) {
		t.Errorf("at hop count 1 are %v", got)
	}
}

// A neighbor is introduced to what others want, and a stranger to what all do, whoever was introduced before.
func TestIntroductionsAreTheOffers(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, feeds(1, 2, 0), nil)
	other := table.Add(now, id(2), true, feeds(2, 3, 0), nil)
	table.Own(url(0), true)
	for _, to := range []protocol.NodeID{id(9), n.ID, other.ID, id(8), n.ID, id(9)} {
		if got, want := table.Introduction(to), table.Offer(to); !slices.Equal(got, want) {
			t.Errorf("%v is introduced to %v, want %v", to, got, want)
		}
	}
	for range 2 { // until it has taken them
		if got := table.Changes(n); len(got) != 2 || got[0].Feed != url(0) || got[1].Feed != url(2) {
			t.Errorf("changes are %v", got)
		}
	}
}

// Feeds of ours that a neighbor has are counted by hop count, to the third.
func TestNearest(t *testing.T) {
	table := newTable()
	own(table, 9)
	var subset protocol.Subset
	for hops := range 5 {
		subset = append(subset, feeds(hops, hops+1, hops)...)
	}
	n := table.Add(now, id(1), true, append(subset, feeds(5, 7, 2)...), nil)
	if got := table.Nearest(n); got != [4]int{1, 1, 3, 1} || table.Overlap(n) != 7 {
		t.Errorf("%v, of %d", got, table.Overlap(n))
	}
}
