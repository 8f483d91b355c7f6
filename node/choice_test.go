package node_test

import (
	"testing"
	"time"

	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Which neighbors we choose, and which choose us.

// vouches plays a node that stands by its connects, keeps its links and gives nothing.
func vouches(_ *testHost, c node.Call) protocol.Reply {
	switch c.Call.(type) {
	case protocol.Vouch:
		return protocol.Vouched(true)
	case protocol.Connect:
		return protocol.Subset{}
	case protocol.CheckDID:
		return protocol.Seen(true)
	}
	return protocol.OK{}
}

// An attacker with as many networks as it likes connects again and again: it has half of the places.
func TestWhoComesGetsHalfOfThePlaces(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(30, node.Config{}, news)
	a := hosts[0]
	came := func() (n int) {
		for _, s := range a.node.Neighbors() {
			if !s.Chosen {
				n++
			}
		}
		return n
	}
	for i := range 300 {
		id := stranger(i)
		w.play(id, vouches)
		a.answerTo(id, "token", wantsNews())
		w.run(time.Minute)
		if n := came(); n > 5 {
			t.Fatalf("%d neighbors came by themselves", n)
		}
	}
	if n := a.node.Status().Neighbors; n < 8 {
		t.Errorf("%d neighbors are left", n)
	}
}

// Both ask at once: for both the other is one that they chose, and takes no newcomer's place.
func TestBothAskAtOnce(t *testing.T) {
	w := newNetwork(t)
	a, b := w.add(node.Config{MaxNeighbors: 1}, news), w.add(node.Config{MaxNeighbors: 1}, news)
	w.run(time.Minute)
	a.inside(func(n *node.Node) { n.Connect(b.id, func(error) {}) })
	b.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
	w.run(time.Minute)
	if !linked(a, b) || !a.node.Neighbors()[0].Chosen || !b.node.Neighbors()[0].Chosen {
		t.Errorf("linked: %v; %+v, %+v", linked(a, b), a.node.Neighbors(), b.node.Neighbors())
	}
}

// A node that knows nobody and is named by everybody serves more than half of its places, as long as it lacks
// neighbors: they would stay empty.
func TestAHubThatKnowsNobodyTakesWhoComes(t *testing.T) {
	w, hub := newAlone(t, node.Config{}, news)
	for range 8 {
		w.add(node.Config{Peers: []string{hub.id.String()}, MinNeighbors: 1}, news)
	}
	w.run(membership.LongestRetry * 3 / 2)
	if n := hub.node.Status().Neighbors; n != 8 {
		t.Errorf("the hub has %d neighbors, want 8", n)
	}
}

// Links stay: with nothing happening nobody is exchanged for anybody.
func TestNeighborhoodsComeToRest(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 40, 0)
	o.run(10 * time.Minute)
	changes := func() (n int) {
		for _, h := range o.list {
			for _, note := range h.notes {
				switch note.(type) {
				case node.Linked, node.Unlinked:
					n++
				}
			}
		}
		return n
	}
	before := changes()
	o.run(50 * time.Minute)
	if n := changes() - before; n > 4 {
		t.Errorf("%d links came or went within 50 quiet minutes", n)
	}
}
