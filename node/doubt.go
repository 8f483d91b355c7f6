package node

import "feedex/protocol"

var errForgedSource = protocol.Faultf(protocol.ForgedSource, "it came by way of a node that forged entries here; others may bring it")

// byForger reports whether a bundle came by way of a node that forged entries, by what our own polls showed. It is
// not taken from relays either, nor passed on: whoever knows a forger must not depend on everyone else knowing
// him. What is true of it others bring, whom nobody can keep from that: a bundle that is refused is not seen.
func (n *Node) byForger(b *protocol.Bundle) bool {
	return n.dues.ledger.ForgedAmong(n.now, b.Path)
}

// warned takes in that l refused a bundle because it came by way of a forger. Who is meant is clear only where
// nobody but one neighbor, who says that it polled the entries, had it before us.
func (n *Node) warned(l *link, b *protocol.Bundle) {
	if len(b.Path) != 1 {
		return
	}
	h := n.dues.ledger.HolderOf(b.Path[0])
	if n.dues.doubts.Testify(n.now, h, l.holder); n.dues.doubts.Doubted(n.now, h) {
		n.spotPoll(b.Feed)
	}
}

// holdsBack reports whether a bundle that is stored is not to be passed on: who is doubted says that it polled it,
// or is said to by a relay. What is true of it others pass on.
func (n *Node) holdsBack(l *link, b *protocol.Bundle) bool {
	if len(b.Path) == 0 {
		return n.dues.doubts.Doubted(n.now, l.holder)
	}
	return n.dues.doubts.Doubted(n.now, n.dues.ledger.HolderOf(b.Path[0]))
}
