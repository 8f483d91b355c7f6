package actor

import (
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A sideCaller is a habit that makes calls of its own beside those of its node, in its name. It learns the tokens by
// which neighbors know the node from the node's own calls.
type sideCaller struct {
	habit
	tokens map[protocol.NodeID]string
	last   uint64
	open   map[uint64]func(node.Answered)
	wakes  time.Time // when it has something to do by itself, zero for never
}

// newCaller makes a sideCaller whose effects change as a habit's do.
func newCaller(n *node.Node, change func(e node.Effect) node.Effect) sideCaller {
	tokens := make(map[protocol.NodeID]string)
	overhears := func(e node.Effect) node.Effect {
		if call, ok := e.(node.Call); ok && !call.To.Node.IsZero() {
			tokens[call.To.Node] = call.Session
		}
		return change(e)
	}
	return sideCaller{habit: habit{node: n, change: overhears}, tokens: tokens,
		open: make(map[uint64]func(node.Answered))}
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

// Step implements Participant. Of what ends a call of its own the node learns nothing.
func (c *sideCaller) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	a, ok := ev.(node.Answered)
	if !ok || a.ID&own == 0 {
		return c.habit.Step(dst, now, ev)
	}
	if f := c.open[a.ID]; f != nil {
		delete(c.open, a.ID)
		f(a)
	}
	return dst
}

// Next implements Participant.
func (c *sideCaller) Next() time.Time {
	if next := c.habit.Next(); c.wakes.IsZero() || !next.IsZero() && next.Before(c.wakes) {
		return next
	}
	return c.wakes
}

// neighbors are those that the node has now.
func (c *sideCaller) neighbors() []protocol.NodeID {
	var ids []protocol.NodeID
	for _, s := range c.node.Neighbors() {
		ids = append(ids, s.ID)
	}
	return ids
}
