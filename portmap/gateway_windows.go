package portmap

import (
	"fmt"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// gateway is the router of the machine's default route.
func gateway(version IP) (netip.Addr, error) {
	family := uint16(windows.AF_INET)
	if version == IPv6 {
		family = windows.AF_INET6
	}
	var table *windows.MibIpForwardTable2
	if err := windows.GetIpForwardTable2(family, &table); err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	defer windows.FreeMibTable(unsafe.Pointer(table))
	var router netip.Addr
	least := uint64(1<<64 - 1)
	for _, r := range table.Rows() {
		to, by := routeEnd(&r.DestinationPrefix.Prefix), routeEnd(&r.NextHop)
		if by.IsLinkLocalUnicast() {
			by = by.WithZone(strconv.FormatUint(uint64(r.InterfaceIndex), 10))
		}
		if r.DestinationPrefix.PrefixLength != 0 || !to.IsUnspecified() || !by.IsValid() || by.IsUnspecified() {
			continue
		}
		// A route is preferred by what it costs with its interface: often all of them cost nothing by themselves.
		is := windows.MibIpInterfaceRow{Family: family, InterfaceLuid: r.InterfaceLuid}
		found := windows.GetIpInterfaceEntry(&is) == nil
		if cost := uint64(r.Metric) + uint64(is.Metric); cost < least && (!found || is.Connected != 0) {
			router, least = by, cost
		}
	}
	return known(router)
}

// routeEnd is an address of the table.
func routeEnd(raw *windows.RawSockaddrInet) netip.Addr {
	if raw.Family == windows.AF_INET {
		return netip.AddrFrom4((*windows.RawSockaddrInet4)(unsafe.Pointer(raw)).Addr)
	}
	return netip.AddrFrom16((*windows.RawSockaddrInet6)(unsafe.Pointer(raw)).Addr)
}
