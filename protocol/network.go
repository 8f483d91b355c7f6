package protocol

import (
	"net/netip"

	"feedex/feed"
)

// A Network stands for one owner, as far as addresses tell: a /24 of IPv4, a /48 of IPv6. An owner that has one address
// of it may have them all, so what counts by owner is counted by network. It is comparable. The zero Network is
// nobody's.
//
// Where the owner has addresses count that are not public, each node there is a network of its own, by address and
// port: a test network has one address for all, and one's own machines need no protection from each other.
type Network struct {
	first [16]byte // address of a public network
	node  NodeID   // that is one by itself
}

// How many leading bits of a public address tell one network from another.
const (
	networkBits4 = 24
	networkBits6 = 48
)

// Network is the network that the node is in.
func (n NodeID) Network() Network {
	a := n.Addr()
	if n.IsZero() || !feed.PublicAddr(a) {
		return Network{node: n}
	}
	bits := networkBits6
	if a.Is4() {
		bits = networkBits4
	}
	return Network{first: netip.PrefixFrom(a, bits).Masked().Addr().As16()}
}

// IsZero reports whether the network is nobody's.
func (n Network) IsZero() bool { return n == Network{} }

// asNode is the node itself, or for a public network its first address and port 0.
func (n Network) asNode() NodeID {
	if n.node.IsZero() {
		return NewNodeID(netip.AddrFrom16(n.first), 0)
	}
	return n.node
}

// Compare orders networks by address and then by port.
func (n Network) Compare(other Network) int { return n.asNode().Compare(other.asNode()) }

// String writes the network as a prefix, as "ip:port" where it is one node, and as "" where it is nobody's.
func (n Network) String() string {
	if n.first == [16]byte{} {
		return n.node.String()
	}
	a, bits := netip.AddrFrom16(n.first).Unmap(), networkBits6
	if a.Is4() {
		bits = networkBits4
	}
	return netip.PrefixFrom(a, bits).String()
}
