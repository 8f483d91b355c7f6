package feed

import (
	"net/netip"
	"slices"
)

// notPublic lists the address blocks that are not part of the public Internet (IANA special-purpose
// registries, RFC 6890): of IPv4 all of them, of IPv6 those within allocated.
var notPublic = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // this machine
	"169.254.0.0/16",  // link-local
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relay
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarking
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
	"2001::/23",       // protocol assignments, Teredo
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4: an IPv4 address of any kind inside
	"3fff::/20",       // documentation
)

// allocated is where all public unicast addresses of IPv6 are (RFC 4291 §2.4). Outside of it lie
// several forms that hold an IPv4 address of any kind: NAT64, IPv4-compatible, IPv4-translated.
var allocated = netip.MustParsePrefix("2000::/3")

// mixed[b] is set where some IPv4 addresses whose first byte is b are not public.
var mixed = func() (table [256]bool) {
	for b := range table {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(b)}), 8)
		table[b] = slices.ContainsFunc(notPublic, network.Overlaps)
	}
	return table
}()

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
	if a.Is4() && !mixed[a.As4()[0]] {
		return true // nearly all of them
	}
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

// translated is what a network of IPv6 alone gives out for the names of hosts that have IPv4 alone (RFC 6052 §2.1): the
// last 32 bits are the host's address, to which NAT64 leads.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Destination is where a connection to a ends: the host of IPv4 behind NAT64, and a itself elsewhere.
func Destination(a netip.Addr) netip.Addr {
	if !translated.Contains(a) {
		return a
	}
	bytes := a.As16()
	return netip.AddrFrom4([4]byte(bytes[12:]))
}
