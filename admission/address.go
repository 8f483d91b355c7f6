package admission

import "net/netip"

// levels are how many times addresses are divided: into regions, networks and hosts.
const levels = 3

// Bits of the prefixes that stand for one owner, as far as an address tells. A region is a range that one owner may
// hold as a whole, of IPv4 with much money and of IPv6 for a registry's fee. A network is a range that anybody may
// rent, and a host the range that a network gives to one customer, of whose IPv6 addresses 64 bits are theirs to
// choose.
var (
	bits4 = [levels]int{16, 24, 32}
	bits6 = [levels]int{32, 48, 64}
)

// prefixes are the region, the network and the host of an address. An IPv4 address that is mapped into IPv6 counts as
// such. The zero Addr has prefixes of its own.
func prefixes(a netip.Addr) (all [levels]netip.Prefix) {
	a = a.Unmap().WithZone("")
	bits := bits6
	if a.Is4() {
		bits = bits4
	}
	for i := range all {
		all[i], _ = a.Prefix(bits[i])
	}
	return all
}
