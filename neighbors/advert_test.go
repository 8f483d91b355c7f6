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
