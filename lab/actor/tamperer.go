package actor

import (
	"feedex/node"
	"feedex/protocol"
)

// Tamperer writes a victim's id in front of the path of every bundle that it delivers, to have the victim
// drop it; without a victim it cuts paths, to have bundles go in loops (row 10 of `feedex lab attacks`).
func Tamperer(n *node.Node, victim protocol.NodeID) Participant {
	h := &habit{node: n}
	h.change = func(e node.Effect) node.Effect {
		call, _ := e.(node.Call)
		put, ok := call.Call.(protocol.PutEntries)
		if !ok {
			return e
		}
		b := *put.Bundle
		if victim.IsZero() {
			b.Path = nil
		} else {
			b.Path = append([]protocol.NodeID{victim}, b.Path[:min(len(b.Path), protocol.MaxPath-1)]...)
		}
		call.Call = protocol.PutEntries{Bundle: &b}
		return call
	}
	return h
}
