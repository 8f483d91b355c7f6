package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha1" // Paper §3.4: "the 20-byte SHA-1 digest of a bundle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"unique"
)

// A NodeID names a node: the IP address from which its calls come, as the called node observed it,
// and the port at which it says that it listens. It is comparable. The zero NodeID names nobody.
//
// Paper §3: "A node is identified by a pair of IP address and port number."
//
// On a path a node may be named in other ways: by its key, or as versions to come name nodes. Such a name has neither
// address nor port. A node that cannot be dialled is named by its key and the address from which it comes: HostedID.
//
// It takes eight bytes, as what it stands for is kept once for all: paths, claims and notices name nodes by the ten
// thousands.
type NodeID struct{ is unique.Handle[nodeName] }

// A nodeName is what a NodeID stands for.
type nodeName struct {
	ip   [16]byte // of IPv4 as IPv6 maps it; zero for nobody, and beside a name
	port uint16
	name string
}

// idOf is the id that stands for a name, the zero id for the zero name.
func idOf(n nodeName) NodeID {
	if n == (nodeName{}) {
		return NodeID{}
	}
	return NodeID{unique.Make(n)}
}

// of is what the id stands for.
func (n NodeID) of() nodeName {
	if n.IsZero() {
		return nodeName{}
	}
	return n.is.Value()
}

// ErrNodeID is wrapped by the errors of ParseNodeID.
var ErrNodeID = errors.New("not a node id")

// NewNodeID makes the id of the node at addr and port. An IPv4 address in IPv6 clothes is undressed,
// so that a node has one id however the call came in. Nobody is at "::", whatever the port.
func NewNodeID(addr netip.Addr, port uint16) NodeID {
	ip := addr.As16()
	if ip == [16]byte{} {
		return NodeID{}
	}
	return idOf(nodeName{ip: ip, port: port})
}

// ParseNodeID reads "ip:port" or "[ipv6]:port". Names are refused: an id is an address, and a peer
// must not make us resolve anything.
func ParseNodeID(s string) (NodeID, error) {
	ap, err := netip.ParseAddrPort(s)
	id := NewNodeID(ap.Addr(), ap.Port())
	if err != nil || id.Port() == 0 || ap.Addr().Zone() != "" {
		return NodeID{}, fmt.Errorf("%w: %q: want ip:port or [ipv6]:port", ErrNodeID, s)
	}
	return id, nil
}

// named are the names that are no addresses: a kind, a colon, and what tells one from another. A host's name is none.
var named = regexp.MustCompile(`^[a-z][a-z0-9-]{1,31}:[A-Za-z0-9._:+/=-]{16,}$`)

// ParsePathNode reads a node as it stands on a path: an id, a key, or another name of at most MaxNameBytes, which stays
// as it is whether this version knows its kind or not.
func ParsePathNode(s string) (NodeID, error) {
	id, err := ParseNodeID(s)
	if err != nil && len(s) <= MaxNameBytes && named.MatchString(s) {
		return idOf(nodeName{name: s}), nil
	}
	return id, err
}

// NameOf is the node as its key names it, nobody for no key.
func NameOf(k NodeKey) NodeID {
	if k.IsZero() {
		return NodeID{}
	}
	return idOf(nodeName{name: k.String()})
}

// HostedID is the id of a node that cannot be dialled, for the one that it keeps a connection open to: its key, and the
// address from which that comes. Others know the node by its Name.
func HostedID(from netip.Addr, k NodeKey) NodeID {
	if k.IsZero() {
		return NodeID{}
	}
	return idOf(nodeName{ip: from.As16(), name: k.String()})
}

// Hosted reports whether the id is one that HostedID made.
func (n NodeID) Hosted() bool { return n.Named() && n.of().ip != [16]byte{} }

// Name is the node as it stands on a path: of a HostedID the key alone, of any other the id itself.
func (n NodeID) Name() NodeID {
	if n.Hosted() {
		return idOf(nodeName{name: n.of().name})
	}
	return n
}

// nameOf is Name as it goes over the wire.
func nameOf(n NodeID) string { return n.Name().String() }

// Named reports whether the node is named by something else than an address and a port.
func (n NodeID) Named() bool { return n.of().name != "" }

// hostedAt stands between the key and the address of a HostedID.
const hostedAt = "@"

// String writes the id as "ip:port" or "[ipv6]:port", a name as it is, a HostedID as its key, "@" and the address, and
// "" for the zero id.
func (n NodeID) String() string {
	var buf [64]byte // longer than any
	return string(n.appendTo(buf[:0]))
}

// appendTo appends what String writes.
func (n NodeID) appendTo(b []byte) []byte {
	switch {
	case n.IsZero():
		return b
	case n.Hosted():
		return n.Addr().AppendTo(append(b, n.of().name+hostedAt...))
	case n.Named():
		return append(b, n.of().name...)
	}
	return netip.AddrPortFrom(n.Addr(), n.Port()).AppendTo(b)
}

// Addr is the node's IP address, the zero Addr for a name.
func (n NodeID) Addr() netip.Addr {
	ip := n.of().ip
	if ip == [16]byte{} {
		return netip.Addr{}
	}
	return netip.AddrFrom16(ip).Unmap()
}

// Port is the TCP port at which the node listens, 0 for a name.
func (n NodeID) Port() uint16 { return n.of().port }

// IsZero reports whether the id names nobody.
func (n NodeID) IsZero() bool { return n == NodeID{} }

// Compare orders ids by address and then by port, and names, which begin with a letter, behind them.
func (n NodeID) Compare(other NodeID) int {
	if n.Named() || other.Named() {
		return strings.Compare(n.String(), other.String())
	}
	a, b := n.of(), other.of()
	return cmp.Or(bytes.Compare(a.ip[:], b.ip[:]), cmp.Compare(a.port, b.port))
}

// MarshalText writes the id as String does.
func (n NodeID) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (n *NodeID) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*n = NodeID{}
		return nil
	}
	name, at, hosted := strings.Cut(string(text), hostedAt)
	if *n, err = ParsePathNode(name); err != nil || !hosted {
		return err
	}
	key, err := ParseNodeKey(name)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrNodeID, text, err)
	}
	from, err := netip.ParseAddr(at)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrNodeID, text, err)
	}
	*n = HostedID(from, key)
	return nil
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
