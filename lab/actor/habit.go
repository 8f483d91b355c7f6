package actor

import (
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A Participant has the methods by which a host runs it: a *node.Node is one.
type Participant interface {
	Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect
	Next() time.Time
}

// A habit is a node of whose effects some are changed.
type habit struct {
	node *node.Node
	// change returns what the network is to see of an effect, nil for nothing.
	change  func(e node.Effect) node.Effect
	back    []node.Event  // what the node is told in the network's place
	effects []node.Effect // of one step of the node
}

// Step implements Participant.
func (h *habit) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	h.back = append(h.back, ev)
	for len(h.back) > 0 {
		ev, h.back = h.back[0], h.back[1:]
		h.effects = h.node.Step(h.effects[:0], now, ev)
		for _, e := range h.effects {
			if e = h.change(e); e != nil {
				dst = append(dst, e)
			}
		}
	}
	h.back = nil
	return dst
}

// Next implements Participant.
func (h *habit) Next() time.Time { return h.node.Next() }

// answer ends a call of the node with a reply that no peer gave.
func (h *habit) answer(c node.Call, r protocol.Reply) {
	h.back = append(h.back, node.Answered{ID: c.ID, Reply: r, Peer: c.To.Node, RTT: time.Millisecond})
}

// asIs is the change of an effect by which the network sees it as it is.
func asIs(e node.Effect) node.Effect { return e }

// takes is the change of effects by which nothing is offered to anybody.
func (h *habit) takes(e node.Effect) node.Effect {
	if h.withhold(e) {
		return nil
	}
	return e
}

// withhold answers a call that offers or delivers entries as if the neighbor had them, and reports whether
// it was one.
func (h *habit) withhold(e node.Effect) bool {
	c, _ := e.(node.Call)
	switch call := c.Call.(type) {
	case protocol.CheckDID:
		h.answer(c, protocol.Seen(true))
	case protocol.CheckDIDs:
		seen := make(protocol.SeenList, len(call.DIDs))
		for i := range seen {
			seen[i] = true
		}
		h.answer(c, seen)
	case protocol.PutEntries:
		h.answer(c, protocol.OK{})
	default:
		return false
	}
	return true
}
