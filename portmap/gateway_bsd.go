//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package portmap

import (
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/net/route"
)

// gateway is the router of the machine's default route.
func gateway() (netip.Addr, error) {
	table, err := route.FetchRIB(syscall.AF_INET, route.RIBTypeRoute, 0)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	messages, err := route.ParseRIB(route.RIBTypeRoute, table)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	for _, m := range messages {
		r, ok := m.(*route.RouteMessage)
		if !ok || len(r.Addrs) <= syscall.RTAX_GATEWAY || r.Flags&syscall.RTF_GATEWAY == 0 {
			continue
		}
		to, ok := r.Addrs[syscall.RTAX_DST].(*route.Inet4Addr)
		by, ok2 := r.Addrs[syscall.RTAX_GATEWAY].(*route.Inet4Addr)
		if ok && ok2 && to.IP == [4]byte{} {
			return known(netip.AddrFrom4(by.IP))
		}
	}
	return netip.Addr{}, errNoRouter
}
