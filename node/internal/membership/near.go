package membership

import (
	"slices"

	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// maxNear bounds the nodes that the host discovers on this machine's own networks.
const maxNear = 64

// near are the nodes on this machine's own networks, with their keys by their own word, and the ids under which this
// node is known to them. Only those are called at addresses that are not public: whoever else names such an address has
// not been there.
type near struct {
	nodes []protocol.NodeID
	keys  []protocol.NodeKey
	own   []protocol.NodeID
}

// has reports whether the node is there, or, where it cannot be dialled, one with its key at its address.
func (n *near) has(id protocol.NodeID) bool {
	if !id.Hosted() {
		return slices.Contains(n.nodes, id)
	}
	return slices.ContainsFunc(n.nodes, func(there protocol.NodeID) bool {
		return id == protocol.HostedID(there.Addr(), n.keyOf(there))
	})
}

// keyOf is the key that a node there says it has, the zero key where there is none.
func (n *near) keyOf(id protocol.NodeID) protocol.NodeKey {
	if i := slices.Index(n.nodes, id); i >= 0 && i < len(n.keys) {
		return n.keys[i]
	}
	return protocol.NodeKey{}
}

// Addressed takes in at which addresses the machine is.
func (m *Machine) Addressed(ev core.Addressed) { m.here = ev.At }

// Discovered takes in the nodes that the host discovered.
func (m *Machine) Discovered(ev core.Discovered) {
	if ev.By == neighbors.Near {
		before := m.near.nodes
		ev.Nodes = ev.Nodes[:min(len(ev.Nodes), maxNear)]
		m.near = near{ev.Nodes, ev.Keys, ev.Own}
		for _, id := range before {
			if !m.near.has(id) && m.LinkTo(id) == nil {
				m.Book.ForgetStranger(id)
			}
		}
	}
	m.NoteNodes(ev.By, ev.Nodes)
}
