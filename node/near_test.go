package node_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/neighbors"
	"feedex/node"
	"feedex/protocol"
	"feedex/recommend"
)

// household starts nodes at addresses of one private network that follow a feed.
func (w *network) household(nodes int, c node.Config) (list []*testHost) {
	for i := range nodes {
		at := netip.AddrFrom4([4]byte{192, 168, 1, byte(2 + i)})
		list = append(list, w.addAt(protocol.NewNodeID(at, 7790), c, news))
	}
	return list
}

// discovers has the host tell the node of all that are near it.
func (h *testHost) discovers(others ...*testHost) {
	ev := node.Discovered{By: neighbors.Near, Own: []protocol.NodeID{h.id}}
	for _, o := range others {
		ev.Nodes, ev.Keys = append(ev.Nodes, o.id), append(ev.Keys, o.node.Status().Key)
	}
	h.step(ev)
}

// Nodes that discovered each other on their own network become neighbors by their keys, although one may have
// learned of the other later, and nobody else there is called, whoever names him.
func TestNearNodesBecomeNeighbors(t *testing.T) {
	w := newNetwork(t)
	h := w.household(3, node.Config{})
	a, b, c := h[0], h[1], h[2]
	dialled := w.dials(a)
	a.discovers(b)
	w.run(time.Second)
	b.discovers(a)
	a.step(node.Discovered{By: neighbors.Announced, Nodes: []protocol.NodeID{c.id}})
	w.run(2 * time.Minute)
	if !a.neighborOf(b.id) || !b.neighborOf(a.id) || a.keyOf(b.id) != b.node.Status().Key ||
		b.keyOf(a.id) != a.node.Status().Key {
		t.Errorf("they are no neighbors by their keys: %+v", a.node.Neighbors())
	}
	if dialled[c.id.Addr()] > 0 || a.neighborOf(c.id) {
		t.Errorf("a node that others named is called on the private network: %v", dialled)
	}
}

// Who is not near hears nothing of who is: neither who asks for neighbors nor who gets what they brought.
func TestNobodyHearsOfNearNodes(t *testing.T) {
	w := newNetwork(t)
	b := w.household(1, node.Config{})[0]
	a := w.add(node.Config{}, news)
	w.run(time.Minute)
	a.discovers(b)
	w.run(time.Minute)
	stranger := w.add(node.Config{}, news)
	w.run(time.Minute)
	a.step(node.Discovered{By: neighbors.Announced, Nodes: []protocol.NodeID{stranger.id}})
	w.run(2 * time.Minute)
	if l := stranger.node.Neighbors(); len(l) != 1 || !a.neighborOf(b.id) {
		t.Fatalf("the node that is to be asked has the neighbors %v, and the one that asks %v", l, a.node.Neighbors())
	}
	told := 0
	w.watch = func(h *testHost, ev node.Event, _ []node.Effect) {
		if asked, ok := ev.(node.Asked); ok && h == stranger {
			if told++; strings.Contains(string(protocol.EncodeCall(nil, 1, asked.Call)), b.id.Addr().String()) {
				t.Errorf("a stranger is told %v", asked.Call)
			}
		}
	}
	id := w.publish(news)
	b.poll(news)
	w.run(10 * time.Minute)
	if !stranger.has(id) || told == 0 {
		t.Error("the stranger has not got what a near node polled")
	}
	if r := a.hears(stranger, protocol.GetNeighbors{}); len(r.Reply.(protocol.NodeList)) != 0 {
		t.Errorf("a stranger who asks for neighbors hears of %v", r.Reply)
	}
}

// deliveries notes the paths of the bundles that are put to a node from now on, by the ids of their first entries.
func (w *network) deliveries(to *testHost) map[string][]protocol.NodeID {
	paths := make(map[string][]protocol.NodeID)
	w.watch = func(h *testHost, ev node.Event, _ []node.Effect) {
		if asked, ok := ev.(node.Asked); ok && h == to {
			if put, ok := asked.Call.(protocol.PutEntries); ok {
				paths[put.Bundle.Entries[0].ID] = put.Bundle.Path
			}
		}
	}
	return paths
}

// What a near node without a key brought goes no further before an own poll has shown it: nobody can be named for it,
// and who names nobody says that it polled.
func TestWhatNobodyCanBeNamedForWaitsForAPoll(t *testing.T) {
	w, a, other := newPair(t, node.Config{}, news)
	other.blocked[news] = true
	near := a.befriend(protocol.NewNodeID(netip.MustParseAddr("192.168.1.9"), 7790), news)
	paths := w.deliveries(other)
	for _, id := range []string{"listed", "invented"} {
		if r := a.put(near, one(id)); r.Fault != nil {
			t.Fatal(r.Fault)
		}
	}
	if w.run(10 * time.Second); len(paths) > 0 {
		t.Errorf("it is passed on, by the paths %v", paths)
	}
	w.feed(news).entries = append(w.feed(news).entries, one("listed").Entries...)
	w.run(2 * time.Hour)
	if path, put := paths["listed"]; !put || len(path) > 0 || len(paths) != 1 {
		t.Errorf("after a poll that lists one of them what is passed on has the paths %v", paths)
	}
}

// Nor does a node that was restarted claim to have polled what a near node brought.
func TestARestartClaimsNothing(t *testing.T) {
	w := newNetwork(t)
	b := w.household(1, node.Config{})[0]
	a := w.add(node.Config{}, news)
	w.run(time.Minute)
	a.discovers(b)
	w.run(2 * time.Minute)
	if !a.neighborOf(b.id) {
		t.Fatal("they are no neighbors")
	}
	a.put(b, one("x"))
	w.run(10 * time.Second)
	a.kill()
	a.start()
	w.run(time.Minute)
	newcomer := w.add(node.Config{}, news)
	w.run(time.Minute)
	paths := w.deliveries(newcomer)
	a.step(node.Discovered{By: neighbors.Announced, Nodes: []protocol.NodeID{newcomer.id}})
	w.run(2 * time.Minute)
	if !newcomer.neighborOf(a.id) {
		t.Fatal("the newcomer is no neighbor")
	}
	if path, put := paths["x"]; put && len(path) == 0 {
		t.Error("it says that it polled what a near node brought")
	}
}

// One network has two places, however many nodes are there.
func TestNearNodesHaveTwoPlaces(t *testing.T) {
	w := newNetwork(t)
	h := w.household(6, node.Config{})
	for _, n := range h {
		var others []*testHost
		for _, o := range h {
			if o != n {
				others = append(others, o)
			}
		}
		n.discovers(others...)
	}
	w.run(10 * time.Minute)
	for _, n := range h {
		if count := len(n.node.Neighbors()); count < 1 || count > 2 {
			t.Errorf("%s has %d neighbors", n.id, count)
		}
	}
}

// All near nodes have one voice, whatever their addresses and ports: who is on the network of somebody's home, or of a
// café, has as many as he likes.
func TestNearNodesHaveOneVoice(t *testing.T) {
	w := newNetwork(t)
	h := w.full(1, node.Config{}, news)[0]
	h.shareStars(true, news)
	entry := h.got(7, epoch)
	const pushed = feed.URL("https://pushed.example.com/")
	for _, id := range []string{"192.168.1.7:7790", "192.168.1.7:7791", "192.168.1.8:7790", "20.1.0.7:7790"} {
		f := h.befriend(mustID(id), news, pushed)
		h.believes(f)
		h.saysStars(f, protocol.FeedStars{Feed: news})
		if code := h.saysStars(f, protocol.FeedStars{Feed: news, Entries: []feed.EntryID{entry}}); code != 0 {
			t.Fatalf("stars are told: fault %d", code)
		}
		votes, suggested := 1, 0
		if f.id.Addr() == netip.AddrFrom4([4]byte{20, 1, 0, 7}) { // who is elsewhere
			votes, suggested = 2, 1
		}
		none := func(feed.URL) bool { return false }
		if got := recommend.Rank(h.node.Interests(), 10, none); h.votes()[entry] != votes || len(got) != suggested {
			t.Errorf("with %s there are %d votes, want %d, and suggested are %v", id, h.votes()[entry], votes, got)
		}
	}
}
