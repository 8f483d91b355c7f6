package actor

import (
	"feedex/node"
	"feedex/protocol"
)

// Miser names what its archive holds and gives nothing of it to anybody, as if it had given away all that it would.
func Miser(n *node.Node) Participant {
	return &habit{node: n, change: func(e node.Effect) node.Effect {
		r, _ := e.(node.Respond)
		if _, gives := r.Reply.(protocol.Batch); gives {
			return node.Respond{Tag: r.Tag, Fault: protocol.Faultf(protocol.Spent, "come back later")}
		}
		return e
	}}
}
