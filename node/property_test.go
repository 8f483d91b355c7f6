package node_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/polling"
	"feedex/protocol"
)

// Properties that hold in every small network, whatever happens in it.

// A deed is one thing that happens in a village.
type deed struct {
	kind  string
	who   int
	which int
}

// deeds generates the things that may happen; waiting is the most of it.
func deeds(most int) *rapid.Generator[[]deed] {
	kinds := []string{
		"join", "join", "crash", "return", "leave", "subscribe", "subscribe", "unsubscribe", "publish", "publish",
		"hang", "hang", "wait", "wait", "wait",
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
		return deed{rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(0, 6).Draw(t, "who"),
			rapid.IntRange(0, 5).Draw(t, "which")}
	}), 1, most)
}

// A village is a small network in which anything may happen, and in which rules are watched.
type village struct {
	*network
	feeds   []feed.URL
	changed time.Time         // when a link or somebody's own interest changed last
	broken  string            // the first rule that was broken
	shown   map[*testHost]int // how many feeds each may speak of
}

// villagePeriod is the time between adverts there.
const villagePeriod = time.Minute

func newVillage(t *testing.T) *village {
	v := &village{network: newLargeNetwork(t), changed: epoch, shown: make(map[*testHost]int)}
	for i := range 6 {
		u := feed.URL(fmt.Sprintf("https://feed%d.example.com/", i))
		v.feeds = append(v.feeds, u)
		v.feed(u)
	}
	v.watch = v.look
	for i := range 3 {
		v.do(deed{"join", i, i})
	}
	return v
}

func (v *village) do(d deed) {
	u := v.feeds[d.which]
	if d.kind == "join" {
		if len(v.list) < 7 {
			v.add(node.Config{
				Trackers: []string{tracker}, AdvertInterval: villagePeriod, MaxNeighbors: 3, MinNeighbors: 2,
				Incentive: incentive.Config{Bound: 10}, Policy: polling.Fixed{Every: 4 * time.Minute},
			}, u, v.feeds[(d.which+1+d.who)%len(v.feeds)])
		}
		return
	}
	h := v.list[d.who%len(v.list)]
	switch d.kind {
	case "crash":
		h.kill()
	case "return":
		if !h.Running() {
			h.start()
		}
	case "leave":
		h.step(node.Leave{})
		h.kill()
	case "subscribe":
		h.step(node.Subscribe{Feeds: []feed.URL{u}})
	case "unsubscribe":
		h.step(node.Unsubscribe{Feeds: []feed.URL{u}})
	case "publish":
		for range 1 + d.who {
			v.publish(u)
		}
	case "hang":
		v.hang[h.id] = !v.hang[h.id]
	case "wait":
		v.run(time.Duration(d.which*d.which) * 10 * time.Second)
	}
	v.changed = v.Now()
}

// look sees to the rules at every step of everybody.
func (v *village) look(h *testHost, _ node.Event, effects []node.Effect) {
	n := h.node
	if n.Places() > n.Config().MaxNeighbors || n.Places() != len(n.LinkIDs()) {
		v.breaks("%s has %d neighbors and %d links, at most %d are allowed", h.id, n.Places(),
			len(n.LinkIDs()),
			n.Config().MaxNeighbors)
	}
	shown := n.ShownFeeds()
	if v.shown[h] != shown { // and others are about to hear of it
		v.shown[h], v.changed = shown, v.Now()
	}
	parted := false
	for _, e := range effects {
		if tell, ok := e.(node.Tell); ok {
			switch tell.Note.(type) {
			case node.Linked:
				v.changed = v.Now()
			case node.Unlinked:
				v.changed, parted = v.Now(), true
			}
		}
	}
	for _, e := range effects {
		c, ok := e.(node.Call)
		if !ok {
			continue
		}
		switch call := c.Call.(type) {
		case protocol.PutEntries:
			a := n.Account(c.To.Node)
			if bound := min(incentive.Value(10, 0), incentive.Entry+a.Got); a.Fined == 0 && a.Deficit > bound {
				v.breaks("%s owes %s %v, its bound is %v", c.To.Node, h.id, a.Deficit, bound)
			}
		case protocol.UpdateSubset:
			for _, in := range call.Changes {
				if want := heardFromOthers(n, in.Feed, c.To.Node); !parted && in.Hops != want {
					v.breaks("%s tells %s of %s at hop count %d; without its own word it is %d", h.id, c.To.Node,
						in.Feed, in.Hops, want)
				}
			}
		}
	}
}

func (v *village) breaks(format string, args ...any) {
	if v.broken == "" {
		v.broken = fmt.Sprintf("after %v: ", v.Now().Sub(epoch)) + fmt.Sprintf(format, args...)
	}
}

// heardFromOthers is the hop count of interest in the feed as the node is to tell it to one that it must not
// count: 0 for its own, else one more than the least that any other neighbor told.
func heardFromOthers(n *node.Node, u feed.URL, to protocol.NodeID) int {
	if s := n.Subscription(u); s != nil && !s.Private && s.Shown() {
		return 0
	}
	best := n.Config().MaxSubsetHops
	for _, id := range n.LinkIDs() {
		if hops, ok := n.HopsOf(id, u); ok && id != to {
			best = min(best, hops)
		}
	}
	if best == n.Config().MaxSubsetHops {
		return protocol.Withdrawn
	}
	return best + 1
}

// converge lets the village live on, with everybody answering, until every neighbor that is dead or forgot a link is
// found out, an advert that nobody answered was repeated with the next, and nothing changed for as long as adverts need
// for max_subset_hops.
func (v *village) converge() bool {
	clear(v.hang)
	v.run(noticed)
	v.changed = v.Now()
	window := time.Duration(3) * (villagePeriod + membership.OwnChange + v.rtt)
	for range 200 {
		since := v.changed
		v.run(since.Add(window).Sub(v.Now()))
		if v.changed.Equal(since) {
			return true
		}
	}
	return false
}

// A claim is the statement of a neighbor about its interest in a feed.
type claim struct {
	to, from protocol.NodeID
	feed     feed.URL
}

// heard returns the claims that everybody heard from their neighbors, and whether all links are known at both ends.
func (v *village) heard() (map[claim]int, bool) {
	all, mutual := make(map[claim]int), true
	for _, h := range v.list {
		if !h.Running() {
			continue
		}
		for _, id := range h.node.LinkIDs() {
			other := v.hosts[id]
			mutual = mutual && other.Running() && linked(h, other)
			for _, u := range v.feeds {
				if hops, ok := h.node.HopsOf(id, u); ok {
					all[claim{h.id, id, u}] = hops
				}
			}
		}
	}
	return all, mutual
}

// fixPoint returns the claims that everybody must have heard, from which nodes are linked and which of them polls what:
// own interest at 0, and that of others at one more than the nearest of the speaker's other neighbors.
func (v *village) fixPoint() map[claim]int {
	all := make(map[claim]int)
	for hops := range 4 { // an interest at hops stems from one at hops-1
		found := make(map[claim]int)
		for _, h := range v.list {
			if !h.Running() {
				continue
			}
			for _, to := range h.node.LinkIDs() {
				for _, u := range v.feeds {
					c := claim{to, h.id, u}
					if _, known := all[c]; known {
						continue
					}
					s := h.node.Subscription(u)
					near := hops == 0 && s != nil && s.Shown() // nobody hears of it before
					for _, via := range h.node.LinkIDs() {
						if d, ok := all[claim{h.id, via, u}]; ok && via != to && d == hops-1 {
							near = true
						}
					}
					if near {
						found[c] = hops
					}
				}
			}
		}
		for c, hops := range found {
			all[c] = hops
		}
	}
	return all
}

// Paper §3.5: "node i ensures that d_{i,j} does not exceed a constant parameter D"; §3.2: "a node should restrict the
// number of neighbors"; §3.1: "the advertised set must be computed for each neighbor excluding the neighbor in
// question". None of that fails in any step; and once nothing changes any more, everybody has heard of what follows
// from the links within max_subset_hops periods, and of nothing else: a feed that was withdrawn is gone, and no hop
// count crept up.
func TestRulesHoldAndSetsConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := newVillage(t)
		for _, d := range deeds(40).Draw(rt, "deeds") {
			v.do(d)
		}
		if !v.converge() {
			rt.Fatal("the links never came to rest")
		}
		if v.broken != "" {
			rt.Fatal(v.broken)
		}
		got, mutual := v.heard()
		if !mutual {
			rt.Fatal("a link is known at one end only")
		}
		want := v.fixPoint()
		for c, hops := range want {
			if have, ok := got[c]; !ok || have != hops {
				rt.Errorf("%s heard from %s of %s: %v at %d, want it at %d", c.to, c.from, c.feed, ok, have, hops)
			}
		}
		for c, hops := range got {
			if _, ok := want[c]; !ok {
				rt.Errorf("%s believes that %s wants %s at %d; nobody within reach does", c.to, c.from, c.feed, hops)
			}
		}
	})
}

// Equal histories give equal decisions: the same life twice has the same effects in the same order.
func TestEqualLivesHaveEqualEffects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		script := deeds(25).Draw(rt, "deeds")
		live := func() (steps int, sum [sha256.Size]byte) {
			v := newVillage(t)
			sums := sha256.New()
			v.watch = func(h *testHost, ev node.Event, effects []node.Effect) {
				steps++
				fmt.Fprintf(sums, "%v %v %T\n", v.Now().Sub(epoch), h.id, ev)
				for _, e := range effects {
					write(sums, e)
				}
			}
			for _, d := range script {
				v.do(d)
			}
			v.run(5 * time.Minute)
			return steps, [sha256.Size]byte(sums.Sum(nil))
		}
		steps, first := live()
		if again, sum := live(); again != steps || sum != first {
			rt.Fatalf("%d steps give %x, %d steps give %x", steps, first, again, sum)
		}
	})
}
