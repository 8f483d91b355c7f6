package node_test

import (
	"net/netip"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A node whose places are taken, while nobody offers some of its feeds, tries others: first each once, and the longer
// none is of more use the more rarely. One that is takes the place of the least useful.
func TestBetterNeighborsAreSought(t *testing.T) {
	w, q := newAlone(t, node.Config{}, wantedFeeds(12)...)
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

// hearsOfPolls has the node hear from a neighbor that another polled feeds.
func (h *testHost) hearsOfPolls(from *testHost, origin protocol.NodeID, feeds protocol.Subset) {
	var list []protocol.Notice
	for _, in := range feeds {
		n := protocol.Notice{Feed: in.Feed, Path: []protocol.NodeID{origin}}
		n.Sign(keyFrom(origin), h.net.Now())
		list = append(list, n)
	}
	h.hears(from, protocol.Notify{Notices: list})
}

// lonely puts a node that follows twelve feeds among ten neighbors that offer one of them, five of which came by
// themselves. It returns one that it chose.
func lonely(w *network) (q *testHost, chosen *hearer) {
	q = w.add(node.Config{}, wantedFeeds(12)...)
	w.run(time.Second)
	for i := range 10 {
		p := q.hearer(stranger(i))
		if p.set = wants(1); i < 5 {
			chosen = p
			q.inside(func(n *node.Node) { n.Connect(p.id, func(error) {}) })
		} else {
			p.connect(wants(1))
		}
		w.run(time.Second)
	}
	w.run(time.Hour)
	return q, chosen
}

// Of all addresses a node tries first that which it hears to poll most of what it has from nobody.
func TestWhoIsHeardIsSoughtFirst(t *testing.T) {
	w := newNetwork(t)
	q, p := lonely(w)
	var tried []protocol.NodeID
	join := func(id protocol.NodeID, subset protocol.Subset) protocol.NodeID {
		w.play(id, func(_ *testHost, c node.Call) protocol.Reply {
			if _, ok := c.Call.(protocol.Connect); ok {
				tried = append(tried, id)
				return subset
			}
			return protocol.Vouched(true)
		})
		return id
	}
	var others []protocol.NodeID
	for i := range 20 {
		others = append(others, join(stranger(20+i), wants(1)))
	}
	poor, rich := join(stranger(40), wants(3)), join(stranger(41), wants(8))
	q.inside(func(n *node.Node) { n.NoteAddresses(others...) })
	q.hearsOfPolls(p.testHost, poor, wants(3))
	q.hearsOfPolls(p.testHost, rich, wants(8))
	w.run(time.Hour)
	if len(tried) < 2 || tried[0] != rich || tried[1] != poor || !q.neighborOf(rich) {
		t.Errorf("tried %v, want first %v and then %v", tried, rich, poor)
	}
}

// A neighbor names others that poll what a node has from nobody. A node tries them as rarely as any, calls
// nobody on its own network, and has half of its places for those of its own choice.
func TestWhoNamesPollersGetsNoPlaceForThem(t *testing.T) {
	w := newNetwork(t)
	q, p := lonely(w)
	calls, inside := 0, 0
	for i := range 200 {
		feeds := wants(12)[1+i%11 : 2+i%11]
		for _, id := range []protocol.NodeID{stranger(100 + i),
			protocol.NewNodeID(netip.AddrFrom4([4]byte{10, 0, byte(i), 1}), 7790)} {
			w.play(id, func(_ *testHost, c node.Call) protocol.Reply {
				switch c.Call.(type) {
				case protocol.Connect:
					if calls++; !id.Addr().IsGlobalUnicast() || id.Addr().IsPrivate() {
						inside++
					}
					return feeds
				case protocol.Vouch:
					return protocol.Vouched(true)
				}
				return protocol.OK{}
			})
			q.hearsOfPolls(p.testHost, id, feeds)
		}
		if i%10 == 0 {
			w.run(10 * time.Minute)
		}
	}
	chosen, places := 0, 0
	for _, s := range q.node.Neighbors() {
		if s.Chosen {
			chosen++
		}
		places++
	}
	if calls == 0 || calls > 25 || inside > 0 || 2*chosen < places {
		t.Errorf("%d calls, %d of them inside; %d neighbors of %d are of the node's own choice", calls, inside, chosen,
			places)
	}
}
