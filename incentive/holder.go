package incentive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"feedex/feed"
	"feedex/protocol"
)

// A Holder is the party to which an account belongs. It is comparable. The zero Holder is nobody.
//
// On the public Internet it is the IP address, whatever the port: a port costs nothing, and with an account a port
// nodes that came back every hour on a new one were served in full without ever giving. An IPv6 address costs nothing
// either, for everyone has the 2^64 of a /64; there that network holds the account. Local addresses hold one for each
// port, because a test network shares one address. A key costs nothing as well, so it holds an account only once its
// node has given something (Ledger.Recognize).
type Holder struct {
	id  protocol.NodeID // port 0 for all of them; of a public IPv6 address where the /64 begins; zero beside a key
	key protocol.NodeKey
}

// ErrHolder is wrapped by the errors of ParseHolder.
var ErrHolder = errors.New("not the holder of an account")

// ownedBits is how many leading bits of a public IPv6 address tell one owner from another.
const ownedBits = 64

// HolderOf is the holder of the account of the node id.
func HolderOf(id protocol.NodeID) Holder {
	a := id.Addr()
	switch {
	case id.IsZero():
		return Holder{}
	case id.Named() && !id.Hosted():
		if k, err := protocol.ParseNodeKey(id.String()); err == nil {
			return keyHolder(k)
		}
		return Holder{id: id}
	case !feed.PublicAddr(a):
		return Holder{id: id}
	case a.Is6():
		return networkAt(a)
	}
	return Holder{id: protocol.NewNodeID(a, 0)}
}

// keyed reports whether the account is that of a key.
func (h Holder) keyed() bool { return !h.key.IsZero() }

// keyHolder is the holder of the account of a key.
func keyHolder(k protocol.NodeKey) Holder { return Holder{key: k} }

// networkAt holds the account of a public IPv6 address.
func networkAt(a netip.Addr) Holder {
	return Holder{id: protocol.NewNodeID(netip.PrefixFrom(a, ownedBits).Masked().Addr(), 0)}
}

// ParseHolder reads what String writes.
func ParseHolder(s string) (Holder, error) {
	if s == "" {
		return Holder{}, nil
	}
	var h Holder
	if k, err := protocol.ParseNodeKey(s); err == nil {
		h = keyHolder(k)
	} else if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		h = HolderOf(protocol.NewNodeID(a, 0))
	} else if p, err := netip.ParsePrefix(s); err == nil && strings.HasSuffix(s, "/64") && p.Addr().Is6() {
		h = networkAt(p.Addr())
	} else if err := h.id.UnmarshalText([]byte(s)); err == nil && (h.id.Port() != 0 || h.id.Hosted()) {
		h = Holder{id: h.id}
	} else {
		h = Holder{}
	}
	if h == (Holder{}) {
		return Holder{}, fmt.Errorf("%w: %q: want an address, an IPv6 /64, ip:port or a key", ErrHolder, s)
	}
	return h, nil
}

// Local reports whether the account belongs to one port of an address that is not public, or to one node there that
// cannot be dialled.
func (h Holder) Local() bool { return h.id.Port() != 0 || h.id.Hosted() }

// Compare orders holders by address, by port and then by key.
func (h Holder) Compare(other Holder) int {
	return cmp.Or(h.id.Compare(other.id), bytes.Compare(h.key[:], other.key[:]))
}

// String writes the holder as "ip", as "ipv6/64", as "ip:port" where it is local, as a key writes itself, and as ""
// where it is nobody.
func (h Holder) String() string {
	var buf [64]byte // longer than any
	return string(h.append(buf[:0]))
}

// append appends what String writes.
func (h Holder) append(dst []byte) []byte {
	switch a := h.id.Addr(); {
	case h == Holder{}:
		return dst
	case h.id.Named():
		return append(dst, h.id.String()...)
	case h.keyed():
		return append(dst, h.key.String()...)
	case h.Local():
		return netip.AddrPortFrom(a, h.id.Port()).AppendTo(dst)
	case a.Is6() && feed.PublicAddr(a):
		return netip.PrefixFrom(a, ownedBits).AppendTo(dst)
	default:
		return a.AppendTo(dst)
	}
}

// MarshalText writes the holder as String does.
func (h Holder) MarshalText() ([]byte, error) { return h.append(nil), nil }

// UnmarshalText reads what MarshalText writes.
func (h *Holder) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHolder(string(text))
	return err
}
