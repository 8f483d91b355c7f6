package core

import (
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

// Selves are the ids under which others know the node: one by each version of IP, since a home often has both, and
// those on its own networks. A node does not see its outside addresses and learns them from its neighbors. By IPv6 a
// machine has several at a time, of which they see one.
type Selves struct {
	By4, By6   protocol.NodeID   // zero while it is not known
	Here       []protocol.NodeID // at this machine's own public addresses of IPv6
	Near       []protocol.NodeID
	AllowLocal bool // addresses that are not public are like others
}

// By is the id by the version of IP by which a node is known.
func (s *Selves) By(other protocol.NodeID) *protocol.NodeID {
	if other.Addr().Is4() {
		return &s.By4
	}
	return &s.By6
}

// Has reports whether an id is the node's own by a version of IP.
func (s *Selves) Has(id protocol.NodeID) bool { return !id.IsZero() && id == *s.By(id) }

// Dialled reports whether a node can have dialled this one at an address, as far as that is known. One that comes by
// way of a container's network seems to be near, whatever it dialled.
func (s *Selves) Dialled(from, at protocol.NodeID) bool {
	switch {
	case s.Has(at), slices.Contains(s.Here, at):
		return from.Addr().Is4() == at.Addr().Is4()
	case !s.AllowLocal && !feed.PublicAddr(from.Addr()):
		return slices.Contains(s.Near, at)
	}
	return from.Addr().Is4() == at.Addr().Is4() && s.By(from).IsZero()
}
