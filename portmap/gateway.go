package portmap

import (
	"errors"
	"net/netip"
)

// errNoRouter means that this machine knows of no router. That it has none for IPv6 is not told.
var errNoRouter = errors.New("this machine knows of no router for IPv4")

// known is a router that the system named, or an error where it is none.
func known(router netip.Addr) (netip.Addr, error) {
	if !router.IsValid() || router.IsUnspecified() {
		return netip.Addr{}, errNoRouter
	}
	return router, nil
}
