package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A node whose places are taken, while nobody offers some of its feeds, tries others: first each once, and the longer
// none is of more use the more rarely. One that is takes the place of the least useful.
func TestBetterNeighborsAreSought(t *testing.T) {
	w := newNetwork(t)
	var follows []feed.URL
	for _, in := range wants(12) {
		w.feed(in.Feed)
		follows = append(follows, in.Feed)
	}
	q := w.add(node.Config{}, follows...)
	w.run(time.Second)
	for i := range 10 {
		p := q.hearer(stranger(i))
		p.set = wants(1)
		if i < 5 {
			q.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
		} else {
			p.connect(wants(1))
		}
		w.run(time.Second)
	}
	w.run(time.Hour)
	tried := make(map[protocol.NodeID][]time.Time)
	asked := func(id protocol.NodeID, subset protocol.Subset) {
		w.play(id, func(_ *testHost, c node.Call) protocol.Reply {
			if _, ok := c.Call.(protocol.Connect); ok {
				tried[id] = append(tried[id], w.Now())
				return subset
			}
			return protocol.Vouched(true)
		})
	}
	var others []protocol.NodeID
	for i := range 5 {
		others = append(others, stranger(20+i))
		asked(others[i], wants(1))
	}
	rich := stranger(40)
	asked(rich, wants(8))
	q.inside(func(n *node.Node) { n.NoteAddresses(others...) })
	w.run(3 * time.Hour)
	calls := 0
	for _, id := range others {
		if len(tried[id]) == 0 || q.neighborOf(id) && len(tried[id]) > 1 {
			t.Errorf("%s was tried %d times", id, len(tried[id]))
		}
		calls += len(tried[id])
	}
	if calls > 7 {
		t.Errorf("in three hours %d connects, want ever fewer", calls)
	}
	q.inside(func(n *node.Node) { n.NoteAddresses(rich) })
	w.run(3 * time.Hour)
	if len(tried[rich]) == 0 || !q.neighborOf(rich) {
		t.Errorf("one that offers more was tried %d times, and is no neighbor", len(tried[rich]))
	}
}

// A node that has each of its feeds from two neighbors seeks nobody.
func TestWhoIsServedSeeksNobody(t *testing.T) {
	w := newNetwork(t)
	q, _ := crowd(w)
	calls := 0
	w.play(stranger(40), func(_ *testHost, c node.Call) protocol.Reply {
		if _, ok := c.Call.(protocol.Connect); ok {
			calls++
		}
		return protocol.Subset{}
	})
	q.inside(func(n *node.Node) { n.NoteAddresses(stranger(40)) })
	w.run(3 * time.Hour)
	if calls > 0 {
		t.Errorf("it connected %d times to one more", calls)
	}
}
