package actor

import (
	"feedex/node"
	"feedex/protocol"
)

// A sideCaller makes calls of its own beside those of its node, in its name. It learns the tokens by which
// neighbors know the node from the node's own calls.
type sideCaller struct {
	node   *node.Node
	tokens map[protocol.NodeID]string
	last   uint64
	open   map[uint64]func(node.Answered)
}

func newCaller(n *node.Node) sideCaller {
	return sideCaller{node: n, tokens: make(map[protocol.NodeID]string), open: make(map[uint64]func(node.Answered))}
}

// own marks the ids of calls that are not the node's.
const own = 1 << 62

// call asks a neighbor. answered may be nil.
func (c *sideCaller) call(dst []node.Effect, to protocol.NodeID, call protocol.Call,
	answered func(node.Answered)) []node.Effect {
	c.last++
	id := own | c.last
	if answered != nil {
		c.open[id] = answered
	}
	return append(dst, node.Call{ID: id, To: node.Target{Node: to}, Call: call, Session: c.tokens[to],
		Timeout: protocol.PromiseTimeout})
}

// overhears learns from an effect of the node.
func (c *sideCaller) overhears(e node.Effect) {
	if call, ok := e.(node.Call); ok && !call.To.Node.IsZero() {
		c.tokens[call.To.Node] = call.Session
	}
}

// answered takes in an event that ends a call of its own, and reports whether it was one.
func (c *sideCaller) answered(ev node.Event) bool {
	a, ok := ev.(node.Answered)
	if !ok || a.ID&own == 0 {
		return false
	}
	if f := c.open[a.ID]; f != nil {
		delete(c.open, a.ID)
		f(a)
	}
	return true
}

// neighbors are those that the node has now.
func (c *sideCaller) neighbors() []protocol.NodeID {
	var ids []protocol.NodeID
	for _, s := range c.node.Neighbors() {
		ids = append(ids, s.ID)
	}
	return ids
}
