package feed

import "net/netip"

// notPublic lists the address blocks that are not part of the public Internet (IANA special-purpose
// registries, RFC 6890), besides what netip's own predicates know and, in IPv6, besides all that lies
// outside of allocated.
var notPublic = prefixes(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // carrier-grade NAT
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relay
	"198.18.0.0/15",   // benchmarking
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"240.0.0.0/4",     // reserved, broadcast
	"2001::/23",       // protocol assignments, Teredo
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4: an IPv4 address of any kind inside
	"3fff::/20",       // documentation
)

// allocated is where all public unicast addresses of IPv6 are (RFC 4291 §2.4). Outside of it lie
// several forms that hold an IPv4 address of any kind: NAT64, IPv4-compatible, IPv4-translated.
var allocated = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// PublicAddr reports whether a is an ordinary address of the public Internet: not this machine, not
// a private, link-local or shared network, not multicast, not reserved, and not a form of IPv6 that
// hides an IPv4 address inside. Polls and calls to other addresses need the owner's leave.
func PublicAddr(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is6() && !allocated.Contains(a) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
