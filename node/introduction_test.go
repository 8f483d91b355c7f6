package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/neighbors"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// A node that knows of many feeds connects with some of them, and tells the others once there is a link.
func TestAConnectIsShortAndTheRestFollows(t *testing.T) {
	w, a, other := newPair(t, node.Config{MaxRelayed: protocol.MaxSubset}, news)
	var many protocol.Subset
	for i := range neighbors.MaxIntroduction + 100 {
		many = append(many, protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://example.com/%d", i))})
	}
	a.inside(func(n *node.Node) { n.Hear(other.id, many) })
	first, rest := 0, 0
	p := w.play(stranger(1), func(_ *testHost, c node.Call) protocol.Reply {
		switch c := c.Call.(type) {
		case protocol.Connect:
			first += len(c.Subset)
			return wantsNews().Subset
		case protocol.UpdateSubset:
			rest += len(c.Changes)
		}
		return protocol.OK{}
	})
	a.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
	w.run(5 * time.Second)
	if !a.neighborOf(p.id) {
		t.Fatal("no link came about")
	}
	if first != neighbors.MaxIntroduction || first+rest != len(many)+1 {
		t.Errorf("the connect names %d feeds, what follows %d, of %d", first, rest, len(many)+1)
	}
}

// While all that are asked decline, a node with neighbors enough of its own choice asks one in five seconds, and one
// with none as many as it may.
func TestWhoHasHalfIsInNoHurry(t *testing.T) {
	const most = membership.ConnectsAMinute
	for chosen, want := range map[int][2]int{0: {most / 2, most}, 4: {4, 20}} {
		w, a := newAlone(t, node.Config{Trackers: []string{tracker}}, news)
		for i := range 60 {
			id := stranger(i)
			w.play(id, vouches)
			w.trackers[tracker] = append(w.trackers[tracker], id)
		}
		for i := range chosen {
			p := w.play(stranger(100+i), func(_ *testHost, c node.Call) protocol.Reply {
				if _, ok := c.Call.(protocol.Connect); ok {
					return wantsNews().Subset
				}
				return protocol.OK{}
			})
			a.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
		}
		dials := w.dials(a)
		w.run(time.Minute)
		if n := a.chosen(); n != chosen {
			t.Fatalf("%d neighbors, want %d", n, chosen)
		}
		asked := 0
		for _, n := range dials {
			asked += n
		}
		if asked < want[0] || asked > want[1] {
			t.Errorf("with %d neighbors it asks %d nodes within a minute, want %v", chosen, asked, want)
		}
	}
}
