package neighbors

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"feedex/feed"
)

// A node may poll feeds that nobody reads there, for neighbors who want them. It advertises them as its own: a
// subscription set is a reading list, and hop count 0 marks in it what is read, unless others' feeds stand there too.
// For the node itself they are no interest of its own: whom it chooses for a neighbor does not depend on them.

// Volunteer says whether the node polls the feed for its neighbors. It reports whether that is news.
func (t *RoutingTable) Volunteer(u feed.URL, is bool) (changed bool) {
	return t.set(t.routes.row(u), isVolunteered, is)
}

// Prospect says whether the node may come to poll the feed for its neighbors. Until then it is wanted as if another
// neighbor followed it: from whom its entries come tells who polls it. It reports whether that is news.
func (t *RoutingTable) Prospect(u feed.URL, is bool) (changed bool) {
	return t.set(t.routes.row(u), isProspect, is)
}

// A Demand is a feed that neighbors want and hardly anybody polls, as far as their adverts tell.
type Demand struct {
	Feed    feed.URL
	pollers int // neighbors that say that they follow it
	offered int // neighbors that have it in their set, within reach
}

// Unmet returns the feeds that one of those neighbors follows, two neighbors at most do, and the node does not poll:
// those first that fewest follow, and then that fewest offer. Chance decides between equal ones, or all nodes would
// poll the same.
func (t *RoutingTable) Unmet(rng *rand.Rand, those func(*Neighbor) bool) (list []Demand) {
	such := make([]bool, len(t.slots))
	for _, n := range t.list {
		such[n.slot] = those(n)
	}
	for i, r := range t.routes.list {
		if r.marks&(isOwn|isVolunteered|isPrivate) != 0 {
			continue
		}
		wanted, d := false, Demand{Feed: r.url, offered: t.offersBeside(row(i), nil)}
		for slot, c := range t.routes.of(row(i)) {
			if c.heard == 1 {
				d.pollers++
				wanted = wanted || such[slot]
			}
		}
		if wanted && d.pollers <= covered {
			list = append(list, d)
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b Demand) int {
		return cmp.Or(cmp.Compare(a.pollers, b.pollers), cmp.Compare(a.offered, b.offered))
	})
	return list
}

// Followers returns the neighbors that say that they follow the feed, the longest-serving first.
func (t *RoutingTable) Followers(u feed.URL) (list []*Neighbor) {
	i := t.routes.find(u)
	if i == nowhere {
		return nil
	}
	for _, n := range t.list {
		if t.routes.of(i)[n.slot].heard == 1 {
			list = append(list, n)
		}
	}
	return list
}
