package tracker

import (
	"time"

	"feedex/protocol"
)

// Hand draws at most limit nodes for asker (and never more than protocol.MaxNeighborList): confirmed, heard within
// expiry, never asker itself. Each network has the same chance, and one node of it is handed out, from any of its hosts
// with the same chance: whoever has many hosts in few networks weighs no more in an answer than these few do.
func (r *Registry) Hand(now time.Time, asker protocol.NodeID, limit int) []protocol.NodeID {
	r.expire(now)
	limit = min(limit, protocol.MaxNeighborList)
	var answer []protocol.NodeID
	for i := 0; i < len(r.listed) && len(answer) < limit; i++ {
		r.swap(i, i+r.rng.IntN(len(r.listed)-i)) // as in a shuffle: nobody twice
		if id, ok := r.pick(r.listed[i], asker); ok {
			answer = append(answer, id)
		}
	}
	r.status.Handed += int64(len(answer))
	return answer
}

// pick draws one of the network's listed ids that is not asker's: a host, and which of its ids is looked at first.
func (r *Registry) pick(n *netRange, asker protocol.NodeID) (protocol.NodeID, bool) {
	k := r.rng.IntN(len(n.listed) * maxPorts)
	for i := range n.listed {
		h := n.listed[(k/maxPorts+i)%len(n.listed)]
		for j := range h.listed {
			if id := h.listed[(k+j)%len(h.listed)].id; id != asker {
				return id, true
			}
		}
	}
	return protocol.NodeID{}, false
}
