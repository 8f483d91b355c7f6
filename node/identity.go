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

// learnSelf counts a neighbor's word about who we are. More than half of the neighbors that spoke must
// agree: one of them may lie.
func (n *Node) learnSelf(l *link, id protocol.NodeID) {
	votes := n.self.votes
	votes[l.id()] = id
	for voter := range votes {
		if n.links[voter] == nil {
			delete(votes, voter)
		}
	}
	agree := 0
	for _, vote := range votes {
		if vote == id {
			agree++
		}
	}
	if 2*agree > len(votes) {
		n.self.confirm(id)
		n.book.Forget(id)
	}
	n.status.Self = n.self.id
}

// confirm settles who we are.
func (s *identity) confirm(id protocol.NodeID) { s.id = id }
