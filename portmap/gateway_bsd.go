//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package portmap

import (
	"fmt"
	"net/netip"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/net/route"
)

// ifScope is the flag of a route that only what is bound to its interface takes, on macOS, where each tunnel has one.
const ifScope = 0x1000000

// unmasked reports whether a netmask is that of all addresses. A VPN may have a route to half of them.
func unmasked(mask route.Addr) bool {
	switch m := mask.(type) {
	case *route.Inet4Addr:
		return m.IP == [4]byte{}
	case *route.Inet6Addr:
		return m.IP == [16]byte{}
	}
	return true
}

// gateway is the router of the machine's default route.
func gateway(version IP) (netip.Addr, error) {
	family := syscall.AF_INET
	if version == IPv6 {
		family = syscall.AF_INET6
	}
	table, err := route.FetchRIB(family, route.RIBTypeRoute, 0)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	messages, err := route.ParseRIB(route.RIBTypeRoute, table)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	for _, m := range messages {
		r, ok := m.(*route.RouteMessage)
		if !ok || len(r.Addrs) <= syscall.RTAX_GATEWAY || r.Flags&syscall.RTF_GATEWAY == 0 ||
			runtime.GOOS == "darwin" && r.Flags&ifScope != 0 || !unmasked(r.Addrs[syscall.RTAX_NETMASK]) {
			continue
		}
		switch to := r.Addrs[syscall.RTAX_DST].(type) {
		case *route.Inet4Addr:
			if by, ok := r.Addrs[syscall.RTAX_GATEWAY].(*route.Inet4Addr); ok && to.IP == [4]byte{} {
				return known(netip.AddrFrom4(by.IP))
			}
		case *route.Inet6Addr:
			by, ok := r.Addrs[syscall.RTAX_GATEWAY].(*route.Inet6Addr)
			if !ok || to.IP != [16]byte{} || by.IP == netip.IPv6Loopback().As16() { // what is refused leads there
				continue
			}
			router := netip.AddrFrom16(by.IP)
			if by.ZoneID != 0 {
				router = router.WithZone(strconv.Itoa(by.ZoneID))
			}
			return known(router)
		}
	}
	return netip.Addr{}, errNoRouter
}
