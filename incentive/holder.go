package incentive

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"feedex/feed"
	"feedex/protocol"
)

// A Holder is whoever an account belongs to. It is comparable. The zero Holder is nobody.
//
// On the public Internet it is the IP address, whatever the port: a port costs nothing, and with an
// account a port those who came back every hour on a new one were served in full without ever giving.
// An IPv6 address costs nothing either, for everyone has the 2^64 of a /64; there that network holds
// the account. Local addresses hold one for each port, because a test network shares one address.
type Holder struct {
	net  netip.Prefix // the whole address, or the /64
	port uint16       // 0 for all
}

// ErrHolder is wrapped by the errors of ParseHolder.
var ErrHolder = errors.New("not the holder of an account")

// ownedBits is how many leading bits of a public IPv6 address tell one owner from another.
const ownedBits = 64

// HolderOf is who holds the account of the node id.
func HolderOf(id protocol.NodeID) Holder {
	a := id.Addr()
	switch {
	case id.IsZero():
		return Holder{}
	case !feed.PublicAddr(a):
		return Holder{netip.PrefixFrom(a, a.BitLen()), id.Port()}
	case a.Is6():
		return Holder{netip.PrefixFrom(a, ownedBits).Masked(), 0}
	}
	return Holder{netip.PrefixFrom(a, a.BitLen()), 0}
}

// ParseHolder reads what String writes.
func ParseHolder(s string) (Holder, error) {
	if s == "" {
		return Holder{}, nil
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return Holder{netip.PrefixFrom(a, a.BitLen()), 0}, nil
	}
	if p, err := netip.ParsePrefix(s); err == nil && strings.HasSuffix(s, "/64") && p.Addr().Is6() {
		return Holder{p.Masked(), 0}, nil
	}
	if id, err := protocol.ParseNodeID(s); err == nil {
		return Holder{netip.PrefixFrom(id.Addr(), id.Addr().BitLen()), id.Port()}, nil
	}
	return Holder{}, fmt.Errorf("%w: %q: want an address, an IPv6 /64 or ip:port", ErrHolder, s)
}

// Apart reports whether two ways that entries came have nobody in common. Two nodes of one holder are one.
func Apart(a, b []protocol.NodeID) bool {
	for _, id := range a {
		h := HolderOf(id)
		if slices.ContainsFunc(b, func(other protocol.NodeID) bool { return HolderOf(other) == h }) {
			return false
		}
	}
	return true
}

// Local reports whether the account belongs to one port of an address that is not public.
func (h Holder) Local() bool { return h.port != 0 }

// Compare orders holders by address and then by port.
func (h Holder) Compare(other Holder) int {
	return cmp.Or(h.net.Addr().Compare(other.net.Addr()), cmp.Compare(h.port, other.port))
}

// String writes the holder as "ip", as "ipv6/64", as "ip:port" where it is local, and as "" where it
// is nobody.
func (h Holder) String() string {
	switch {
	case h == Holder{}:
		return ""
	case h.port != 0:
		return netip.AddrPortFrom(h.net.Addr(), h.port).String()
	case h.net.IsSingleIP():
		return h.net.Addr().String()
	}
	return h.net.String()
}

// MarshalText writes the holder as String does.
func (h Holder) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (h *Holder) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHolder(string(text))
	return err
}
