package node_test

import (
	"testing"
	"time"

	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// pathNode is a node as a path names it.
func pathNode(t *testing.T, text string) protocol.NodeID {
	t.Helper()
	id, err := protocol.ParsePathNode(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A name of a kind that the node does not know goes on as it came.
func TestNamesOnPathsAreCarried(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, b := hosts[0], hosts[1]
	later := pathNode(t, "sha3-256:0123456789abcdef")
	var paths [][]protocol.NodeID
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if put, is := c.(protocol.PutEntries); is && to == hosts[2] {
			paths = append(paths, put.Bundle.Path)
		}
		return nil, false
	}
	r := a.put(b, w.junk("news", later, stranger(3)))
	w.run(time.Minute)
	if r.Fault != nil || len(paths) == 0 {
		t.Fatalf("answered %v, %d deliveries follow", r.Fault, len(paths))
	}
	for _, path := range paths {
		if len(path) < 3 || path[0] != later || path[1] != stranger(3) {
			t.Errorf("it goes on by %v", path)
		}
	}
}

// Who forged is known by its key on any path, and the node itself by its own.
func TestKeysOnPaths(t *testing.T) {
	w := skeptics(t, 4)
	a, forger, relay := w.list[0], w.list[1], w.list[2]
	key := forger.node.Status().Key
	a.inside(func(n *node.Node) { n.Settle(forger.id, key) })
	a.node.Punish(forger.id, incentive.ForgedEntry, incentive.Entry)
	if r := a.put(relay, w.junk("junk", protocol.NameOf(key), stranger(1))); r.Fault == nil ||
		r.Fault.Code != protocol.ForgedSource {
		t.Errorf("what came by the forger's key is answered with %v, %v", r.Reply, r.Fault)
	}
	if r := a.put(relay, w.junk("more", protocol.NameOf(protocol.NodeKeyOf(signer(9))), stranger(1))); r.Fault != nil {
		t.Errorf("what came by another key is refused: %v", r.Fault)
	}
	before := a.node.Status().Counters.PathsTampered
	a.put(relay, w.junk("own", protocol.NameOf(a.node.Status().Key), stranger(1)))
	if got := a.node.Status().Counters.PathsTampered - before; got != 1 {
		t.Errorf("%d paths name the node itself", got)
	}
}
