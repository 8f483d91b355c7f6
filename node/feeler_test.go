package node_test

import (
	"errors"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Now and then, and one at a time, the node finds out whether a node is there that it has only heard of.
func TestFeelers(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{MinNeighbors: 2}, news)
	a := hosts[0]
	felt := make(map[protocol.NodeID]int)
	open, most := 0, 0
	var there, gone []protocol.NodeID
	for i := range 8 {
		id := stranger(i)
		alive := i%2 == 0
		w.play(id, func(from *testHost, c node.Call) protocol.Reply {
			if _, ok := c.Call.(protocol.WhoAmI); ok && from == a {
				felt[id]++
				open++
				most = max(most, open)
				w.At(w.Now().Add(w.rtt), func() { open-- })
			}
			if !alive {
				return errors.New("connection reset by peer")
			}
			return from.id
		})
		if alive {
			there = append(there, id)
		} else {
			gone = append(gone, id)
		}
	}
	a.inside(func(n *node.Node) { n.NoteAddresses(append(there, gone...)...) })
	before := count(a.calls, "connect")
	w.run(3 * time.Hour)
	calls := 0
	for _, id := range there {
		if felt[id] != 1 {
			t.Errorf("one that is there was called %d times, want once", felt[id])
		}
	}
	for _, id := range append(there, gone...) {
		calls += felt[id]
	}
	if calls < 9 || calls > 18 || most != 1 {
		t.Errorf("%d calls within three hours, up to %d at a time; want one every 10 to 20 minutes", calls, most)
	}
	if n := count(a.calls, "connect") - before; n != 0 {
		t.Errorf("%d connects, though there are neighbors enough", n)
	}
	got := a.node.Candidates(a.neighborOf)
	for _, id := range got {
		if felt[id] == 0 || id == gone[0] || id == gone[1] || id == gone[2] || id == gone[3] {
			t.Errorf("%s, which never answered, is tried before those that did", id)
		}
	}
}

// A neighbor that was not met for 90 days is forgotten, on disk too.
func TestOldNeighborsAreForgotten(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	b.kill()
	old := protocol.FormerNeighbor{ID: stranger(1), FirstMet: w.Now().AddDate(0, 0, -100),
		LastMet: w.Now().AddDate(0, 0, -91), Together: time.Hour}
	a.store.KeepPeer(old)
	a.kill()
	a.start()
	if peers := a.store.LoadPeers(); len(peers) != 1 || peers[0].ID != b.id {
		t.Errorf("after a restart %v are remembered", peers)
	}
	a.config.Trackers = nil
	a.kill()
	w.run(80 * 24 * time.Hour)
	a.start()
	if a.node.BookLen() != 1 {
		t.Errorf("%d are remembered after 80 days", a.node.BookLen())
	}
	for range 11 {
		w.run(24 * time.Hour)
	}
	if peers := a.store.LoadPeers(); len(peers) != 0 || a.node.BookLen() != 0 {
		t.Errorf("after 91 days %v are remembered, the book holds %d", peers, a.node.BookLen())
	}
}
