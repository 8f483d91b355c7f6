package neighbors

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A feed that is not our own is relayed where neighbors want it: it is advertised to the others, its bundles are
// welcome, and they are forwarded. In a large network somebody within three hops wants nearly every feed there is, and
// to relay them all would cost each node the more the larger the network is. So there is a bound.
//
// Differs from the paper, in which every interest within reach is advertised (§3.1).

const (
	// relaysEach is how many feeds are relayed for each that is our own, whatever the bound: a node that reads much is
	// linked with others that do.
	relaysEach = 4
	// stays is by how much more another feed must be worth to take the place of one that is relayed: others may rely
	// on that.
	stays = One / 4
	// tried is for how many choices a feed is relayed that only one neighbor wants, where there are others like it. If
	// a neighbor that it can come from does so meanwhile, both know from then on that it is worth more.
	tried = 4
)

// A relay is a feed that may be relayed.
type relay struct {
	route row
	worth Usefulness
	lot   uint64 // decides between those that are worth the same
}

// Relay chooses anew what is relayed, of what does not rest: where neighbors want more than the bound allows, each gets
// in turn one of the feeds that it wants, so that none has more places than others however much it claims to want. Call
// it before each advert. Feeds that are left out are welcome until the next choice: neighbors may have promised their
// entries.
func (t *RoutingTable) Relay(now time.Time, rng *rand.Rand) {
	t.judge(now, rng)
	var wanted []relay
	for i := range t.routes.list {
		if worth := t.relayWorth(row(i)); worth > 0 {
			wanted = append(wanted, relay{route: row(i), worth: worth})
		}
	}
	if bound := t.places(); len(wanted) > bound {
		t.draw(wanted, rng)
		slices.SortFunc(wanted,
			func(a, b relay) int { return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.lot, b.lot)) })
		wanted = t.inTurns(wanted, bound)
	}
	chosen := make([]bool, len(t.routes.list))
	for _, r := range wanted {
		chosen[r.route] = true
	}
	for i, is := range chosen {
		marks := &t.routes.list[i].marks
		if *marks &^= isLeaving; *marks&isRelayed != 0 && !is {
			*marks |= isLeaving
		}
		t.setRelayed(row(i), is)
	}
}

// draw gives each its lot: other ones than at other nodes, or all would do without the same feeds, and for a while the
// same ones.
func (t *RoutingTable) draw(list []relay, rng *rand.Rand) {
	if t.choices%tried == 0 {
		t.lots = rng.Uint64()
	}
	t.choices++
	for i := range list {
		lot := xxhash.NewWithSeed(t.lots)
		lot.WriteString(string(t.routes.list[list[i].route].url))
		list[i].lot = lot.Sum64()
	}
}

// inTurns are so many of the list: one of the first neighbor, one of the second, and so on, each that which is nearest
// to the neighbor of what is left, the first in the list of those. There are more in the list, and each is wanted.
//
// Feeds nearest to the neighbor come before those that are worth more, or neighbors that repeat what somebody claims to
// want would spend their turns on it.
func (t *RoutingTable) inTurns(list []relay, count int) (chosen []relay) {
	wants := make([][]int, len(t.slots))
	for hops := range t.config.MaxHops {
		for k, r := range list {
			for slot, c := range t.routes.of(r.route) {
				if int(c.heard)-1 == hops {
					wants[slot] = append(wants[slot], k)
				}
			}
		}
	}
	taken := make([]bool, len(list))
	for len(chosen) < count {
		for _, n := range t.list {
			want := &wants[n.slot]
			for len(*want) > 0 && taken[(*want)[0]] {
				*want = (*want)[1:]
			}
			if len(*want) == 0 {
				continue
			}
			first := (*want)[0]
			chosen, taken[first] = append(chosen, list[first]), true
			if len(chosen) == count {
				break
			}
		}
	}
	return chosen
}

// relayWorth is the value of relaying a feed: its worth to the two neighbors that are nearest to a node that wants it.
// One alone has nobody to get it from, and more than two can do without us. It is 0 where there is nothing to relay,
// and while the relay rests.
func (t *RoutingTable) relayWorth(i row) Usefulness {
	if r := &t.routes.list[i]; r.marks&holding != 0 || r.rest > 0 {
		return 0
	}
	var first, second Usefulness
	for _, c := range t.routes.of(i) {
		if t.near(c) {
			worth := One >> (c.heard - 1)
			first, second = max(first, worth), max(second, min(first, worth))
		}
	}
	if second > 0 && t.routes.list[i].marks&isRelayed != 0 {
		second += stays
	}
	return first + second
}

// near reports whether a neighbor's interest is near enough to be advertised to others, a hop further.
func (t *RoutingTable) near(c cell) bool { return c.heard > 0 && int(c.heard) <= t.config.MaxHops }

// places is how many feeds are relayed at most: the configured bound, or so many for each of our own where that is
// more, as neighbors tend to want as many as we do.
func (t *RoutingTable) places() int { return max(t.config.MaxRelayed, relaysEach*len(t.own)) }

// noteWanted has a feed relayed as soon as it is wanted, as long as there is room, and as long as it is wanted.
func (t *RoutingTable) noteWanted(i row) {
	is := t.routes.list[i].marks&isRelayed != 0
	t.setRelayed(i, t.relayWorth(i) > 0 && (is || t.relayed < t.places()))
}

// setRelayed says whether a feed is relayed.
func (t *RoutingTable) setRelayed(i row, is bool) {
	marks := &t.routes.list[i].marks
	if (*marks&isRelayed != 0) == is {
		return
	}
	*marks ^= isRelayed
	if is {
		*marks &^= isSpare
		t.relayed++
	} else {
		t.relayed--
	}
	t.touch()
}
