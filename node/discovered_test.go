package node_test

import (
	"net/netip"
	"testing"
	"time"

	"feedex/neighbors"
	"feedex/node"
	"feedex/protocol"
)

// Nodes that the host discovered become neighbors, and addresses that may not be called are not.
func TestDiscoveredNodesBecomeNeighbors(t *testing.T) {
	w := newNetwork(t)
	a, b := w.add(node.Config{}, news), w.add(node.Config{}, news)
	private := netip.MustParseAddr("192.168.1.9")
	w.run(2 * time.Minute)
	dialled := w.dials(b)
	b.step(node.Discovered{By: neighbors.Announced, Nodes: []protocol.NodeID{protocol.NewNodeID(private, 7790), a.id}})
	w.run(time.Minute)
	if !b.neighborOf(a.id) {
		t.Error("the node that was discovered is no neighbor")
	}
	if dialled[private] > 0 || dialled[a.id.Addr()] == 0 {
		t.Errorf("it dialled %v", dialled)
	}
}
