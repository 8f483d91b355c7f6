package neighbors

import (
	"slices"
	"testing"

	"feedex/feed"
	"feedex/protocol"
)

// A feed that is polled for others is advertised as one that is followed, and is no interest of the node's own.
func TestVolunteeredFeedsInAdverts(t *testing.T) {
	table := newTable()
	n := table.Add(now, id(1), true, protocol.Subset{{Feed: url(0)}}, nil)
	hops := func(want int) {
		t.Helper()
		if got := table.Hops(url(0), n); got != want {
			t.Errorf("hop count %d, want %d", got, want)
		}
		for _, in := range table.Changes(n) {
			if in.Feed == url(0) && in.Hops != want {
				t.Errorf("the advert says %d, want %d", in.Hops, want)
			}
		}
		table.Advertised(n, table.Changes(n))
	}
	hops(protocol.Withdrawn)
	table.Prospect(url(0), true)
	hops(1)
	table.Volunteer(url(0), true)
	hops(0)
	table.Prospect(url(0), false)
	hops(0)
	if table.Overlap(n) != 0 || table.Claimed(n.ID, nil) != 0 || table.Uncovered() != 0 ||
		table.Claimed(id(2), protocol.Subset{{Feed: url(0)}}) != 0 || table.Owns(url(0)) {
		t.Error("a feed that is polled for others counts as one of our own interest")
	}
	table.Own(url(0), true)
	hops(0) // to others it is neither here nor there whom it is for
	if table.Overlap(n) != 1 || !table.Owns(url(0)) {
		t.Error("a feed that is followed as well does not count as our own")
	}
	table.Volunteer(url(0), false)
	hops(0)
	table.Own(url(0), false)
	hops(protocol.Withdrawn)
	table.Volunteer(url(0), true)
	table.Private(url(0), true)
	hops(protocol.Withdrawn)
}

// What one neighbor follows alone is wanted most, least of all what others relay; what three follow is polled enough.
func TestUnmet(t *testing.T) {
	u := func(name string) feed.URL { return feed.URL("https://" + name + ".example.com/") }
	set := func(hops int, names ...string) (s protocol.Subset) {
		for _, name := range names {
			s = append(s, protocol.Interest{Feed: u(name), Hops: hops})
		}
		return s
	}
	table := newTable()
	for i, subset := range []protocol.Subset{
		set(0, "lone", "relayed", "two", "three", "own", "private", "volunteered", "stranger"),
		append(set(0, "two", "three"), set(1, "relayed", "far")...),
		append(set(0, "three"), set(3, "far")...),
	} {
		table.Add(now, id(i+1), true, subset, nil)
	}
	table.Own(u("own"), true)
	table.Private(u("private"), true)
	table.Volunteer(u("volunteered"), true)
	table.Hear(table.byID[id(1)], protocol.Subset{{Feed: u("stranger"), Hops: protocol.Withdrawn}})
	table.Add(now, id(4), true, set(0, "stranger"), nil)
	known := func(n *Neighbor) bool { return n.ID == id(1) }
	var got []feed.URL
	for _, d := range table.Unmet(chance(), known) {
		got = append(got, d.Feed)
	}
	if want := []feed.URL{u("lone"), u("relayed"), u("two")}; !slices.Equal(got, want) {
		t.Errorf("unmet are %v, want %v", got, want)
	}
	if f := table.Followers(u("two")); len(f) != 2 || f[0].ID != id(1) || len(table.Followers(u("far"))) != 0 ||
		len(table.Followers(u("nobody's"))) != 0 {
		t.Errorf("followers are %v", f)
	}
}
