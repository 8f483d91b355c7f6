package tracker

import (
	"time"

	"feedex/protocol"
)

// looks is how many hosts are drawn at most for each address in an answer. It bounds the work where
// nearly everybody belongs to a network that has its share already.
const looks = 20

// A drawnID is an id that was drawn for an answer, and how many of its network were drawn before it.
type drawnID struct {
	id   protocol.NodeID
	rank int
}

// Hand draws at most limit nodes for asker (and never more than protocol.MaxNeighborList), each host
// with the same chance: confirmed, heard within Expiry, one a host, never asker itself.
//
// At most a tenth of the answer belongs to one network, a /16 of IPv4 or a /32 of IPv6. An answer of
// fewer than 20 holds one node a network: a tenth of it is less than a node, and one is the least that
// can be of use. Under Config.AllowLocal, local addresses are bound by neither rule.
func (r *Registry) Hand(now time.Time, asker protocol.NodeID, limit int) []protocol.NodeID {
	r.expire(now)
	limit = min(limit, protocol.MaxNeighborList)
	if limit <= 0 {
		return nil
	}
	drawn := r.draw(asker, limit)

	// The share of a network depends on the length of the answer, which depends on the share: take
	// the largest share that fits what it gives.
	share := max(1, limit/10)
	for ; share > 1; share-- {
		if n := len(within(drawn, share, limit)); n >= 10*share {
			break
		}
	}
	answer := within(drawn, share, limit)
	r.status.Handed += int64(len(answer))
	return answer
}

// draw draws candidates, one a host, until limit of them are sure to be handed out or there are no
// more to look at.
func (r *Registry) draw(asker protocol.NodeID, limit int) []drawnID {
	share, sure := max(1, limit/10), 0
	ranks := make(map[*netRange]int, limit)
	drawn := make([]drawnID, 0, limit)
	for i := 0; i < len(r.listed) && i < looks*limit && sure < limit; i++ {
		r.swap(i, i+r.rng.IntN(len(r.listed)-i)) // as in a shuffle: nobody twice
		h := r.listed[i]
		id, ok := r.pick(h, asker)
		if !ok {
			continue
		}
		c := drawnID{id: id}
		if h.network != nil {
			c.rank = ranks[h.network]
			ranks[h.network]++
		}
		if c.rank < share {
			sure++
		}
		drawn = append(drawn, c)
	}
	return drawn
}

// pick draws one of the host's listed ids that is not asker's.
func (r *Registry) pick(h *hostNodes, asker protocol.NodeID) (protocol.NodeID, bool) {
	start := r.rng.IntN(len(h.listed))
	for i := range h.listed {
		if id := h.listed[(start+i)%len(h.listed)].id; id != asker {
			return id, true
		}
	}
	return protocol.NodeID{}, false
}

// within is the first limit of those drawn, with at most share of a network.
func within(drawn []drawnID, share, limit int) []protocol.NodeID {
	ids := make([]protocol.NodeID, 0, limit)
	for _, c := range drawn {
		if c.rank < share && len(ids) < limit {
			ids = append(ids, c.id)
		}
	}
	return ids
}
