package node

import "feedex/protocol"

// identity is the node's own id as far as it knows: a node does not see its outside address and learns
// it from its neighbors.
type identity struct {
	id    protocol.NodeID // zero while not known
	votes map[protocol.NodeID]protocol.NodeID
}

func newIdentity() identity {
	return identity{votes: make(map[protocol.NodeID]protocol.NodeID)}
}

// minVoters is how many neighbors must have spoken until we believe what more than half of them say: one
// or two may lie.
const minVoters = 3

// learnSelf counts a neighbor's word about our id.
func (n *Node) learnSelf(l *link, id protocol.NodeID) {
	if id.Port() != n.config.Port {
		return
	}
	votes := n.self.votes
	votes[l.id()] = id
	for voter := range votes {
		if n.linkTo(voter) == nil {
			delete(votes, voter)
		}
	}
	agree := make(map[protocol.NodeID]int)
	for _, p := range n.table.All() { // the others may agree, whichever spoke last
		if vote, ok := votes[p.ID]; ok {
			agree[vote]++
			if len(votes) >= minVoters && 2*agree[vote] > len(votes) {
				n.self.id, n.status.Self = vote, vote
				n.book.Forget(vote)
			}
		}
	}
}
