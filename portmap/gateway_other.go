//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package portmap

import "net/netip"

// gateway is not known here.
func gateway(IP) (netip.Addr, error) { return netip.Addr{}, errNoRouter }
