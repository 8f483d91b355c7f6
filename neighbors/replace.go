package neighbors

import (
	"cmp"
	"slices"
	"time"

	"feedex/protocol"
)

const (
	// grace is how long a new neighbor cannot be replaced: it had no time to be of use.
	grace = 30 * time.Minute
	// protectedEach is how many of the longest-serving, of the best deliverers, and of those that we chose ourselves
	// are never replaced: an attacker that floods us with connections must not own all places.
	protectedEach = 2
	// covered is by how many neighbors every own feed should be offered.
	covered = 2
)

// Replaceable picks the neighbor that gives way to a newcomer with that subscription set, or nil if none
// does: the least useful of those that may be replaced, and only if the newcomer is clearly more useful.
//
// chosen tells that we asked the newcomer. One that came by itself when such neighbors have all the places that
// they get can only take that of another such.
//
// Paper §3.2: "A node may need to drop some of current neighbors, for example, [...] when a newly
// connecting node has a higher degree of usefulness."
func (t *RoutingTable) Replaceable(now time.Time, newcomer protocol.NodeID, chosen bool,
	subset protocol.Subset) *Neighbor {
	if newcomer.Hosted() {
		return t.replaceableHosted(now, newcomer, subset)
	}
	if least, bar := t.replaceable(now, chosen); least != nil && t.Claimed(newcomer, subset) >= bar {
		return least
	}
	return nil
}

// Bar is what a newcomer must claim to get a place, and false where none gets one.
func (t *RoutingTable) Bar(now time.Time, chosen bool) (bar Usefulness, ok bool) {
	if t.Places() < t.config.Max && (chosen || !t.keptFrom()) {
		return 0, true
	}
	least, bar := t.replaceable(now, chosen)
	return bar, least != nil
}

// Idle reports whether a neighbor is of so little use that it would give way to one that we choose who claims half of
// what neighbors claim on average.
func (t *RoutingTable) Idle(now time.Time) bool {
	least, bar := t.replaceable(now, true)
	var claimed Usefulness
	for _, c := range t.claims() {
		claimed += c
	}
	return least != nil && 2*bar*Usefulness(len(t.list)) <= claimed
}

// replaceable is the least useful of those that may give way to a newcomer, nil for none, and what that must claim.
func (t *RoutingTable) replaceable(now time.Time, chosen bool) (_ *Neighbor, bar Usefulness) {
	onlyCame := !chosen && t.keptFrom()
	stays := func(n *Neighbor) bool {
		return n.ID.Hosted() || n.Static || onlyCame && n.ours() || now.Sub(n.Since) < grace
	}
	return t.leastUseful(now, stays)
}

// replaceableHosted is Replaceable among those that cannot be dialled. A region that has fewer of their places than
// another takes one of the latter's, and so does a network of a region: the least useful of those that may be replaced
// and are not settled. The shares are those of package admission. Where there is none to take, usefulness decides as it
// does among others.
func (t *RoutingTable) replaceableHosted(now time.Time, newcomer protocol.NodeID, subset protocol.Subset) *Neighbor {
	regions, networks := make(map[region]int), make(map[packedNetwork]int)
	for _, n := range t.list {
		if n.ID.Hosted() && !n.Settled {
			in := networkOf(n.ID)
			regions[in.region()]++
			networks[in]++
		}
	}
	own := networkOf(newcomer)
	scores := t.Scores(now)
	protected := t.protected(now, scores)
	least := -1
	for i, n := range t.list {
		in := networkOf(n.ID)
		more := regions[in.region()] > regions[own.region()]+1 ||
			in.region() == own.region() && networks[in] > networks[own]+1
		if !n.ID.Hosted() || n.Settled || !more || protected[i] || now.Sub(n.Since) < grace {
			continue
		}
		if least < 0 || regions[in.region()] > regions[networkOf(t.list[least].ID).region()] ||
			regions[in.region()] == regions[networkOf(t.list[least].ID).region()] && scores[i] < scores[least] {
			least = i
		}
	}
	if least >= 0 {
		return t.list[least]
	}
	useless, bar := t.leastUseful(now, func(n *Neighbor) bool { return !n.ID.Hosted() || now.Sub(n.Since) < grace })
	if useless != nil && t.Claimed(newcomer, subset) >= bar {
		return useless
	}
	return nil
}

// leastUseful is the least useful of the neighbors that need not stay and are not protected, nil for none, and what a
// newcomer must claim for its place.
func (t *RoutingTable) leastUseful(now time.Time, stays func(*Neighbor) bool) (_ *Neighbor, bar Usefulness) {
	if !slices.ContainsFunc(t.list, func(n *Neighbor) bool { return !stays(n) }) {
		return nil, 0 // whatever the newcomer has: while a network starts, nearly all that ask a node are declined
	}
	scores := t.Scores(now)
	protected := t.protected(now, scores)
	least := -1
	for i, n := range t.list {
		if stays(n) || protected[i] {
			continue
		}
		if least < 0 || scores[i] < scores[least] {
			least = i
		}
	}
	if least < 0 {
		return nil, 0
	}
	// The newcomer has nothing but its word: it must promise a quarter more than the other has shown,
	// and a feed at least.
	return t.list[least], scores[least] + scores[least]/4 + One
}

// LeastUseful is the neighbor that is worth least of those that may go, nil if none may. A static one never may.
func (t *RoutingTable) LeastUseful(now time.Time, may func(*Neighbor) bool) *Neighbor {
	scores := t.Scores(now)
	least := -1
	for i, n := range t.list {
		if !n.Static && may(n) && (least < 0 || scores[i] < scores[least]) {
			least = i
		}
	}
	if least < 0 {
		return nil
	}
	return t.list[least]
}

// protected tells which neighbors no newcomer replaces, of those that are hosted and of the others.
func (t *RoutingTable) protected(now time.Time, scores []Usefulness) []bool {
	protected := make([]bool, len(t.list))
	best := func(worth func(i int) Usefulness) {
		ranked := make([]int, 0, len(t.list))
		for i := range t.list {
			if worth(i) > 0 {
				ranked = append(ranked, i)
			}
		}
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
		left := map[bool]int{false: protectedEach, true: protectedEach}
		for _, i := range ranked {
			if hosted := t.list[i].ID.Hosted(); left[hosted] > 0 {
				left[hosted]--
				protected[i] = true
			}
		}
	}
	best(func(i int) Usefulness { return Usefulness(len(t.list) - i) }) // the longest-serving stand first
	best(func(i int) Usefulness { return t.list[i].brought.sum(now) })
	best(func(i int) Usefulness {
		if !t.list[i].Chosen {
			return 0
		}
		return scores[i] + 1
	})
	return protected
}

// Uncovered counts the own feeds that fewer than two neighbors offer: while there are any, more neighbors
// are wanted than the minimum.
func (t *RoutingTable) Uncovered() (count int) {
	for _, i := range t.own {
		if t.offersBeside(i, nil) < covered {
			count++
		}
	}
	return count
}
