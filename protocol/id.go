package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha1" // Paper §3.4: "the 20-byte SHA-1 digest of a bundle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
)

// A NodeID names a node: the IP address from which its calls come, as the called node observed it,
// and the port at which it says that it listens. It is comparable. The zero NodeID names nobody.
//
// Paper §3: "A node is identified by a pair of IP address and port number."
//
// A node holds thousands of them, and looks them up all the time: without a pointer the garbage collector passes them
// by, and without padding they are compared and hashed as the 18 bytes that they are.
type NodeID struct {
	ip   [16]byte // of IPv4 as IPv6 maps it; zero for nobody
	port uint16
}

// ErrNodeID is wrapped by the errors of ParseNodeID.
var ErrNodeID = errors.New("not a node id")

// NewNodeID makes the id of the node at addr and port. An IPv4 address in IPv6 clothes is undressed,
// so that a node has one id however the call came in. Nobody is at "::", whatever the port.
func NewNodeID(addr netip.Addr, port uint16) NodeID {
	id := NodeID{ip: addr.As16(), port: port}
	if id.IsZero() {
		return NodeID{}
	}
	return id
}

// ParseNodeID reads "ip:port" or "[ipv6]:port". Names are refused: an id is an address, and a peer
// must not make us resolve anything.
func ParseNodeID(s string) (NodeID, error) {
	ap, err := netip.ParseAddrPort(s)
	id := NewNodeID(ap.Addr(), ap.Port())
	if err != nil || id.port == 0 {
		return NodeID{}, fmt.Errorf("%w: %q: want ip:port or [ipv6]:port", ErrNodeID, s)
	}
	return id, nil
}

// String writes the id as "ip:port" or "[ipv6]:port", and "" for the zero id.
func (n NodeID) String() string {
	var buf [64]byte // longer than any
	return string(n.appendTo(buf[:0]))
}

// appendTo appends what String writes.
func (n NodeID) appendTo(b []byte) []byte {
	if n.IsZero() {
		return b
	}
	return netip.AddrPortFrom(n.Addr(), n.port).AppendTo(b)
}

// Addr is the node's IP address.
func (n NodeID) Addr() netip.Addr {
	if n.IsZero() {
		return netip.Addr{}
	}
	return netip.AddrFrom16(n.ip).Unmap()
}

// Port is the TCP port at which the node listens.
func (n NodeID) Port() uint16 { return n.port }

// IsZero reports whether the id names nobody.
func (n NodeID) IsZero() bool { return n.ip == [16]byte{} }

// Compare orders ids by address and then by port.
func (n NodeID) Compare(other NodeID) int {
	return cmp.Or(bytes.Compare(n.ip[:], other.ip[:]), cmp.Compare(n.port, other.port))
}

// MarshalText writes the id as String does.
func (n NodeID) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (n *NodeID) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*n = NodeID{}
		return nil
	}
	*n, err = ParseNodeID(string(text))
	return err
}

// A DID identifies a bundle by its content (Paper §3.4). See Bundle.
type DID [sha1.Size]byte

// String is the did as 40 lower-case hexadecimal digits, as it goes over the wire.
func (d DID) String() string { return hex.EncodeToString(d[:]) }

// Compare orders dids by their bytes.
func (d DID) Compare(other DID) int { return bytes.Compare(d[:], other[:]) }

// ParseDID reads 40 hexadecimal digits.
func ParseDID(s string) (DID, error) {
	var d DID
	if len(s) != 2*len(d) {
		return d, fmt.Errorf("did: want %d hexadecimal digits, got %d bytes", 2*len(d), len(s))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return d, fmt.Errorf("did: %w", err)
	}
	return d, nil
}
