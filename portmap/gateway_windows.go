package portmap

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

// gateway is the router of the machine's default route.
func gateway() (netip.Addr, error) {
	var table *windows.MibIpForwardTable2
	if err := windows.GetIpForwardTable2(windows.AF_INET, &table); err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	defer windows.FreeMibTable(unsafe.Pointer(table))
	var router netip.Addr
	least := uint32(1<<32 - 1)
	for _, r := range table.Rows() {
		to, by := (*windows.RawSockaddrInet4)(unsafe.Pointer(&r.DestinationPrefix.Prefix)),
			(*windows.RawSockaddrInet4)(unsafe.Pointer(&r.NextHop))
		if r.DestinationPrefix.PrefixLength == 0 && to.Addr == [4]byte{} && by.Addr != [4]byte{} && r.Metric < least {
			router, least = netip.AddrFrom4(by.Addr), r.Metric
		}
	}
	return known(router)
}
