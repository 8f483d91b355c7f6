package node_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"feedex/node"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// A node learns its outside address from its neighbors, of whom some may lie.
func TestIdentityIsWhatMostNeighborsSay(t *testing.T) {
	lie := protocol.NewNodeID(stranger(1).Addr(), 7790)
	for _, c := range []struct {
		name         string
		honest, lies int
		lie          protocol.NodeID
		want         string // "own" address, "lie", or "" for unknown
	}{
		{"a lone liar", 0, 1, lie, ""},
		{"two liars", 0, 2, lie, ""},
		{"one word is not enough", 1, 0, lie, ""},
		{"three agree", 3, 0, lie, "own"},
		{"a liar among three", 2, 1, lie, "own"},
		{"two liars among five", 3, 2, lie, "own"},
		{"liars who name another port", 1, 4, protocol.NewNodeID(stranger(1).Addr(), 9999), ""},
	} {
		w := newNetwork(t)
		liars := make(map[*testHost]bool)
		w.intercept = func(_, to *testHost, call protocol.Call) (protocol.Reply, bool) {
			_, whoami := call.(protocol.WhoAmI)
			return c.lie, whoami && liars[to]
		}
		config := node.Config{Trackers: []string{tracker}}
		a := w.add(config, news)
		for i := range c.honest + c.lies {
			h := w.add(config, news)
			liars[h] = i >= c.honest
		}
		w.run(10 * time.Minute)
		if a.node.Status().Neighbors != c.honest+c.lies {
			t.Fatalf("%s: %d neighbors", c.name, a.node.Status().Neighbors)
		}
		got, want := a.node.Status().Self, protocol.NodeID{}
		if c.want == "own" {
			want = a.id
		}
		if got != want {
			t.Errorf("%s: the node takes itself for %q, want %q", c.name, got, want)
		}
	}
}

// A node has an id by each version of IP, which neighbors of that version know, and tells people the one by which it is
// dialled.
func TestIdentityByEachVersion(t *testing.T) {
	w := newNetwork(t)
	own6 := protocol.NewNodeID(netip.MustParseAddr("2600:12::8"), 7790)
	w.intercept = func(_, to *testHost, call protocol.Call) (protocol.Reply, bool) {
		_, whoami := call.(protocol.WhoAmI)
		return own6, whoami && to.id.Addr().Is6()
	}
	config := node.Config{Trackers: []string{tracker}}
	a := w.add(config, news)
	for i := range 3 {
		w.add(config, news)
		w.addAt(stranger6(20+i), config, news)
	}
	w.run(10 * time.Minute)
	if s := a.node.Self(); s.By4 != a.id || s.By6 != own6 || len(a.node.Neighbors()) != 6 {
		t.Errorf("with %d neighbors it takes itself for %+v", len(a.node.Neighbors()), s)
	}
	if got := a.node.Status().Self; got != a.id {
		t.Errorf("its owner hears of %v", got)
	}
	from6, also6 := stranger6(13), stranger6(12)
	if self := a.node.Self(); self.Dialled(from6, also6) {
		t.Error("it may have been dialled where it is not")
	}
	a.step(node.Addressed{At: []protocol.NodeID{own6, also6}})
	if self := a.node.Self(); !self.Dialled(from6, also6) {
		t.Error("it cannot have been dialled at another address of its machine")
	}
	home := w.add(node.Config{})
	home.inside(func(n *node.Node) { n.SetSelf(home.id); n.SetSelf(own6) })
	for _, want := range []protocol.NodeID{own6, home.id} {
		from := stranger(1)
		if want == own6 {
			from = from6
		}
		home.answerTo(from, "", protocol.WhoAmI{})
		if got := home.node.Status().Self; got != want {
			t.Errorf("dialled by %v its owner hears of %v", from, got)
		}
	}
}

// stranger6 is an address in a network of IPv6.
func stranger6(network int) protocol.NodeID {
	return protocol.NewNodeID(netip.MustParseAddr(fmt.Sprintf("2600:%d::9", network)), 7790)
}

// A node that we call answers with a connect of its own, with the token that we sent it, to have us take
// its address for ours.
func TestOurOwnTokenDoesNotRenameUs(t *testing.T) {
	w, a := newAlone(t, node.Config{}, news)
	w.run(time.Minute)
	var token string
	liar := w.play(stranger(1), func(_ *testHost, c node.Call) protocol.Reply {
		token = c.Session
		return nil
	})
	a.inside(func(n *node.Node) { n.Connect(liar.id, func(error) {}) })
	w.run(time.Second)
	w.play(protocol.NewNodeID(liar.id.Addr(), 9999),
		func(*testHost, node.Call) protocol.Reply { return protocol.Vouched(true) })
	for _, from := range []protocol.NodeID{liar.id, protocol.NewNodeID(liar.id.Addr(), 9999)} {
		a.answerTo(from, token, wantsNews())
		if got := a.node.Status().Self; !got.IsZero() {
			t.Errorf("after a connect from %s we take ourselves for %v", from, got)
		}
	}
}

// A tracker, or a remembered address, may name ourselves.
func TestANodeIsNotItsOwnNeighbor(t *testing.T) {
	w, a := newAlone(t, node.Config{}, news)
	w.run(time.Minute)
	var err error
	a.inside(func(n *node.Node) { n.Connect(a.id, func(e error) { err = e }) })
	w.run(time.Minute)
	if core.CodeOf(err) != protocol.NotVouched || a.node.Status().Neighbors != 0 {
		t.Errorf("a connect to itself ended with %v, %d neighbors", err, a.node.Status().Neighbors)
	}
	// Once it knows its id, it does not even ask.
	hosts := append([]*testHost{a}, w.add(node.Config{Peers: []string{a.id.String()}}, news),
		w.add(node.Config{Peers: []string{a.id.String()}}, news),
		w.add(node.Config{Peers: []string{a.id.String()}}, news))
	w.run(5 * time.Minute)
	if a.node.Status().Self != a.id {
		t.Fatalf("of %d nodes, the first takes itself for %q", len(hosts), a.node.Status().Self)
	}
	before := count(a.calls, "connect")
	w.feed(news).clients = []string{a.id.String()}
	w.publish(news)
	w.run(2 * time.Hour)
	if got := count(a.calls, "connect") - before; got != 0 {
		t.Errorf("%d connects to itself", got)
	}
}
