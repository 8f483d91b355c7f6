package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Row 34 is about stars that are shared. All nodes share those of all that they follow. Of the entries one in ten
// is liked, and starred by half of those who read it; any other by one in a hundred. Stuffers exchange entries as
// everybody does, follow all feeds, link with as many as they can, and star what they agree on: one entry in
// twenty, which no reader stars.
const (
	stufferShare          = .1
	likedShare, starLiked = .1, .5
	starOther             = .01
	pushedShare           = .05
	// stuffedFor is how many times as long as other attacks it takes, so that a page is full.
	stuffedFor = 3
	// topStars is how many entries somebody sees at once, and leastStars how many votes one of them must have, as on
	// the page of what neighbors starred.
	topStars, leastStars = 10, 2
)

// starAttacks are the lines of row 34.
func starAttacks() []attack {
	const mark = "they move none of it into the first ten of an honest node"
	return []attack{
		{34, "ballot stuffing", "10% in two networks star what they agree on, three times as long", mark, stuffedFor,
			stuffing(2)},
		{34, "ballot stuffing from everywhere", "the same, in a network each", mark, stuffedFor, stuffing(0)},
	}
}

// A taste says which entries readers star, and which stuffers.
type taste struct{ seed lab.Seed }

// pushed reports whether stuffers star the entry.
func (s taste) pushed(id feed.EntryID) bool {
	return s.seed.Stream("pushed "+id.String()).Float64() < pushedShare
}

// chance is that with which a reader stars the entry.
func (s taste) chance(id feed.EntryID) float64 {
	switch {
	case s.pushed(id):
		return 0
	case s.seed.Stream("liked "+id.String()).Float64() < likedShare:
		return starLiked
	}
	return starOther
}

// stuffing is row 34, of stuffers in so many networks, or in one each where that is 0.
func stuffing(networks int) func(*trial) (string, bool) {
	return func(t *trial) (string, bool) {
		c := t.with(kind{name: "stuffers", member: func(w *lab.World, m *lab.MemberConfig) {
			m.Feeds = everything(w)
			m.Node.MaxNeighbors = min(t.Nodes-1, mostNeighbors)
			m.Node.MinNeighbors = m.Node.MaxNeighbors
		}}, stufferShare)
		c.Length *= stuffedFor
		if networks > 0 {
			joined := c.badAddresses()
			c.Kind.address = func(i int) protocol.NodeID {
				n := slices.Index(joined, publicAddress(i))
				return protocol.NewNodeID(netip.AddrFrom4([4]byte{90, byte(n % networks), 1, byte(n)}),
					protocol.DefaultPort)
			}
		}
		likes, pen := taste{c.Seed}, make([]*rand.Rand, c.Nodes)
		for i := range pen {
			pen[i] = c.Seed.Stream(fmt.Sprint("stars of ", i))
		}
		follows := make([][]feed.URL, c.Nodes)
		c.Tune = func(i int, _ class, m *lab.MemberConfig) { follows[i] = m.Feeds }
		var g *gathering
		c.Watch = arrivals(func(i int, isBad bool, _ protocol.NodeID, e *feed.Entry) {
			id := e.EntryID()
			if isBad && likes.pushed(id) || !isBad && pen[i].Float64() < likes.chance(id) {
				g.hosts[i].Star(e.Feed, id)
			}
		})
		t.play(c, func(made *gathering) {
			g = made
			g.w.At(c.Start.Add(joinWithin), func() {
				share := true
				for i, h := range g.hosts {
					h.Tell(node.Subscribe{Feeds: follows[i], Stars: &share})
				}
			})
		})
		return g.stuffed(likes)
	}
}

// stuffed says how much of what the honest see first only stuffers starred, of pages of what neighbors starred.
func (g *gathering) stuffed(likes taste) (string, bool) {
	full, with, places, all, weight, votes := 0, 0, 0, 0, 0, 0
	for _, h := range g.honest() {
		shown, theirs := 0, 0
		for _, s := range h.Node().Starred() {
			if s.Votes < leastStars {
				continue
			}
			if likes.pushed(s.Entry) {
				weight, votes = max(weight, s.Weight), max(votes, s.Votes)
			}
			if shown < topStars {
				if shown++; likes.pushed(s.Entry) {
					theirs++
				}
			}
		}
		if all += shown; shown == topStars {
			full++
		}
		if places += theirs; theirs > 0 {
			with++
		}
	}
	honest := len(g.honest())
	return fmt.Sprintf("%d of %d first ten have any of it, %d of %d places (%s); it has %d votes and a weight of %d "+
			"at most; %d of the first ten are full", with, honest, places, all,
			report.Percent(float64(places)/float64(max(all, 1))), votes, weight, full),
		places == 0 && full > 0 && votes > 0
}
