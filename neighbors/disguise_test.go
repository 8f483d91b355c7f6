package neighbors

import (
	"slices"
	"testing"

	"feedex/feed"
	"feedex/protocol"
)

func TestCoverFeedsInAdverts(t *testing.T) {
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
	table.Cover(url(0), true)
	hops(0)
	if table.Overlap(n) != 0 || table.Claimed(n.ID, nil) != 0 || table.Uncovered() != 0 {
		t.Error("a cover feed counts as one of our own interest")
	}
	table.Own(url(0), true)
	hops(0) // for the cover it is neither here nor there whose interest it is
	if table.Overlap(n) != 1 {
		t.Error("a cover feed of our own interest does not count")
	}
	table.Cover(url(0), false)
	hops(0)
	table.Own(url(0), false)
	hops(protocol.Withdrawn)
	table.Cover(url(0), true)
	table.Private(url(0), true)
	hops(protocol.Withdrawn)
}

func TestPopular(t *testing.T) {
	table := newTable()
	u := func(name string) feed.URL { return feed.URL("https://" + name + ".example.com/") }
	for i, subset := range []protocol.Subset{
		{{Feed: u("a"), Hops: 1}, {Feed: u("b")}, {Feed: u("c")}, {Feed: u("d")}, {Feed: u("own")},
			{Feed: u("private")}, {Feed: u("cover")}},
		{{Feed: u("a"), Hops: 1}, {Feed: u("b"), Hops: 3}, {Feed: u("c"), Hops: 4}, {Feed: u("own")},
			{Feed: u("private")}, {Feed: u("cover")}},
		{{Feed: u("a"), Hops: 1}, {Feed: u("e"), Hops: 1}, {Feed: u("z")}},
		{{Feed: u("e"), Hops: 3}, {Feed: u("z"), Hops: 3}},
	} {
		table.Add(now, id(i+1), true, subset, nil)
	}
	table.Own(u("own"), true)
	table.Private(u("private"), true)
	table.Cover(u("cover"), true)
	// One neighbor alone wants d; and c, but for one that is too far away.
	if got, want := table.Popular(), []feed.URL{u("a"), u("b"), u("z"), u("e")}; !slices.Equal(got, want) {
		t.Errorf("popular are %v, want %v", got, want)
	}
}
