package node

import (
	"time"

	"feedex/protocol"
)

// feelerAfter and feelerBefore bound the time between two calls to addresses that we know from hearsay alone.
const (
	feelerAfter  = 10 * time.Minute
	feelerBefore = 20 * time.Minute
)

// feelersLater has the node send feelers, now and then, for as long as it runs: when neighbors are wanted it should
// know which nodes are there, and not depend on the one that named most addresses.
func (n *Node) feelersLater() {
	n.after(n.between(feelerAfter, feelerBefore), func() {
		n.forgetOld()
		n.sendFeeler()
		n.feelersLater()
	})
}

// sendFeeler finds out whether somebody is at an address that never answered us.
func (n *Node) sendFeeler() {
	if n.table.Silent(protocol.NodeID{}) {
		return // a node with nothing to say finds no neighbors
	}
	id, ok := n.book.Untested(n.now, n.unwanted)
	if !ok {
		return
	}
	n.call(Target{Node: id}, "", protocol.WhoAmI{}, callTimeout, func(a Answered) {
		if a.Err == nil || isRefusal(a.Err) {
			n.book.Heard(n.now, id)
		} else {
			n.book.Failed(n.now, id)
		}
	})
}

// forgetOld lets go of addresses that have been of no use for long.
func (n *Node) forgetOld() {
	for _, id := range n.book.Age(n.now) {
		n.store.DropPeer(id)
	}
}
