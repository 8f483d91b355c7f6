package neighbors

import (
	"encoding/binary"
	"errors"

	"feedex/feed"
	"feedex/protocol"
)

// Reasons for which Admit declines.
var (
	ErrFull    = errors.New("has all the neighbors it can serve")
	ErrKept    = errors.New("keeps its free places for those that it chooses")
	ErrCrowded = errors.New("has two neighbors on that network already")
)

// maxPerNetwork is the most neighbors on one network: an attacker with one host, or one small network,
// must not own all places.
const maxPerNetwork = 2

// Admit says why id cannot become a neighbor now, or nil. chosen tells that we ask, otherwise it does. Nodes that ask
// us get half of the places at most: an attacker with connections to spare must not own all. One that is a neighbor
// already may connect again. Of settled nodes there may be any number on a network. Those that cannot be dialled have
// places of their own, which networks share (see Replaceable): hundreds of homes may be one network.
func (t *RoutingTable) Admit(id protocol.NodeID, chosen, settled bool) error {
	switch {
	case t.byID[id] != nil:
		return nil
	case id.Hosted() && t.hosted < t.config.MaxHosted:
		return nil
	case id.Hosted():
		return ErrFull
	}
	if !settled && t.crowded(id, chosen) {
		return ErrCrowded // before ErrFull: no place that somebody gives up is for it either
	}
	if !chosen && t.keptFrom() {
		return ErrKept
	}
	if t.Places() >= t.config.Max {
		return ErrFull
	}
	return nil
}

// keptFrom reports whether neighbors that came by themselves have all the places that they get.
func (t *RoutingTable) keptFrom() bool {
	return t.Places()-len(t.Chosen()) >= max(t.config.Max/2, 1)
}

// Chosen lists the neighbors that we chose, or that our owner named.
func (t *RoutingTable) Chosen() []protocol.NodeID {
	ids := make([]protocol.NodeID, 0, len(t.list))
	for _, n := range t.list {
		if n.ours() {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// crowded reports whether the network of id has all the places that one network gets. Its settled nodes take none of
// them, but those that we chose where we choose again.
func (t *RoutingTable) crowded(id protocol.NodeID, chosen bool) bool {
	same := 0
	for _, n := range t.list {
		if !n.ID.Hosted() && t.sameNetwork(n.ID, id) && (chosen && n.ours() || !n.Settled) {
			same++
		}
	}
	return same >= maxPerNetwork
}

// sameNetwork reports whether two nodes are on one network. Those at addresses that are not public all are, unless
// these count as public.
func (t *RoutingTable) sameNetwork(a, b protocol.NodeID) bool {
	return a.Network() == b.Network() ||
		!t.config.AllowLocal && !feed.PublicAddr(a.Addr()) && !feed.PublicAddr(b.Addr())
}

// A packedNetwork is a protocol.Network as it is kept, of thousands of addresses: the first 6 bytes of them, of which
// there are 3 for IPv4, and a 4 or a 6 for the family.
type packedNetwork uint64

// networkBits is how many bits of a network are its address.
const networkBits = 48

func (n packedNetwork) isIPv4() bool { return n>>(networkBits+8) == 4 }

func networkOf(id protocol.NodeID) packedNetwork {
	var b [8]byte
	switch a := id.Addr(); {
	case a.Is4():
		ip := a.As4()
		b[0] = 4
		copy(b[2:5], ip[:])
	case a.Is6():
		ip := a.As16()
		b[0] = 6
		copy(b[2:], ip[:6])
	}
	return packedNetwork(binary.BigEndian.Uint64(b[:]))
}
