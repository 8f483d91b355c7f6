package node

import (
	"time"

	"feedex/protocol"
)

// feelAfter and feelBefore bound the time between two calls to addresses that we know from hearsay alone.
const (
	feelAfter  = 10 * time.Minute
	feelBefore = 20 * time.Minute
)

// feelLater has the node feel its way, now and then, for as long as it runs: when neighbors are wanted it
// should know who is there, and not depend on who named most addresses.
func (n *Node) feelLater() {
	n.after(n.between(feelAfter, feelBefore), func() {
		n.forgetOld()
		n.feel()
		n.feelLater()
	})
}

// feel finds out whether somebody is at an address that never answered us.
func (n *Node) feel() {
	if n.table.Silent(protocol.NodeID{}) {
		return // who has nothing to say finds no neighbors
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
