package portmap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// gateway is the router of the machine's default route.
func gateway(version IP) (netip.Addr, error) {
	// The tables are among what the process knows of itself also where all else of /proc is hidden, as by systemd.
	file, in := "/proc/self/net/route", gatewayIn
	if version == IPv6 {
		file, in = "/proc/self/net/ipv6_route", gateway6In
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%w: %w", errNoRouter, err)
	}
	return known(in(string(text)))
}

// gatewayIn is that of the default route that is preferred, by the kernel's table: a line each of interface,
// destination, gateway, flags, three numbers of which the last is the metric, and the mask. Addresses are numbers as
// the machine has them, in hexadecimal.
func gatewayIn(table string) (router netip.Addr) {
	least := uint64(1<<64 - 1)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		at, err := strconv.ParseUint(f[2], 16, 32)
		metric, err2 := strconv.ParseUint(f[6], 10, 64)
		if err == nil && err2 == nil && at != 0 && metric < least {
			var bytes [4]byte
			binary.NativeEndian.PutUint32(bytes[:], uint32(at))
			router, least = netip.AddrFrom4(bytes), metric
		}
	}
	return router
}

// gateway6In is that for IPv6: a line each of destination and its length, source and its length, gateway, metric, two
// counts, flags, and interface, all numbers in hexadecimal.
func gateway6In(table string) (router netip.Addr) {
	least := uint64(1<<64 - 1)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || strings.Trim(f[0]+f[1]+f[2]+f[3], "0") != "" { // a route of some sources is not for all
			continue
		}
		at, err := hex.DecodeString(f[4])
		metric, err2 := strconv.ParseUint(f[5], 16, 64)
		next, ok := netip.AddrFromSlice(at)
		if err == nil && err2 == nil && ok && next.Is6() && !next.IsUnspecified() && metric < least {
			router, least = next, metric
			if next.IsLinkLocalUnicast() {
				router = next.WithZone(f[9])
			}
		}
	}
	return router
}
