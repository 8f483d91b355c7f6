package incentive

import "feedex/protocol"

// FindRing looks for a ring of nodes each of which serves the next: us, who would serve asker, and a giver that has
// what we wish for. The giver is asker itself, or one of those that wait for asker's entries:
//
//	we → asker → we            asker has what we wish for
//	we → asker → giver → we    giver asked asker, and has what we wish for
//
// askers are those that asker says wait for it, and wishes is how many of our wishes a node has. The shorter ring is
// better, for one less must keep to it, and then the giver that has most, the first of those that have as much. The
// node that is asked last sees every ring that its asker is part of; so it is enough to look whenever somebody asks.
//
// Paper §3.6: "if S also wants to download some other entries from C, S and C form a circular dependency of length 2.
// Or if there exists a node P such that P wants to download from C, and S from P, they form a circular dependency of
// length 3."
func FindRing(asker protocol.NodeID, askers []protocol.NodeID, wishes func(protocol.NodeID) int) (giver protocol.NodeID,
	found bool) {
	if wishes(asker) > 0 {
		return asker, true
	}
	most := 0
	for _, id := range askers {
		if n := wishes(id); n > most {
			giver, most = id, n
		}
	}
	return giver, most > 0
}
