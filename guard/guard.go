// Package guard keeps a node from being sent to places that are not its business. Feed URLs,
// redirects, tracker lists and neighbors' addresses are all chosen by strangers; whatever they name,
// this machine, its private network and the cloud's metadata service stay out of their reach.
//
// The check is made on the resolved address, inside the dial and before the first packet leaves. So
// no spelling of an address passes, nor a name that resolves to a public address when it is looked
// at and to a private one when it is used (DNS rebinding).
package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"feedex/feed"
)

// ErrForbidden is wrapped by the error of a dial that was refused for its address.
var ErrForbidden = errors.New("address refused")

// Dialer returns a dialer that refuses, after name resolution and before the first packet, every
// address for which allow returns an error. That error is wrapped by the one the dial returns. A nil
// allow allows all. A name with several addresses is dialed at those that are allowed.
//
// The caller may set the dialer's other fields, but not Control and ControlContext. Queries to the
// name server are not checked: its address comes from the system, not from strangers.
func Dialer(allow func(netip.AddrPort) error) *net.Dialer {
	if allow == nil {
		return &net.Dialer{}
	}
	return &net.Dialer{
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil { // a Unix socket, say: not something a stranger may name
				return fmt.Errorf("%w: %s %q has no IP address", ErrForbidden, network, address)
			}
			return allow(ap)
		},
	}
}

// Unless is allow with a refusal that names the setting which would permit the address.
func Unless(setting string, allow func(netip.AddrPort) error) func(netip.AddrPort) error {
	return func(ap netip.AddrPort) error {
		if err := allow(ap); err != nil {
			return fmt.Errorf("%w; the setting %s permits it", err, setting)
		}
		return nil
	}
}

// Web allows addresses of the public Internet at ports where feeds and other sites may be expected: 80, 443 and those
// from 1024 on. The others belong to mail, shells and the like, whose servers a stranger's URL must not make us talk
// to. At public addresses of this machine, where its owner may have a blog, only the first two are for strangers. Its
// error wraps ErrForbidden.
func Web(ap netip.AddrPort) error {
	p := ap.Port()
	switch {
	case p == 80 || p == 443:
		return Public(ap)
	case p < 1024:
		return fmt.Errorf("%w: port %d belongs to another service", ErrForbidden, p)
	}
	return Others(ap)
}

// Public allows the addresses of the public Internet, at any port, also through NAT64; see feed.PublicAddr and
// feed.Destination. Some of them may be this machine's own. Its error wraps ErrForbidden.
func Public(ap netip.AddrPort) error {
	if feed.PublicAddr(feed.Destination(ap.Addr())) {
		return nil
	}
	return fmt.Errorf("%w: not on the public Internet", ErrForbidden)
}

// Others allows the addresses of the public Internet that are not this machine's: at those it may serve what its
// firewall keeps from everybody else. Its error wraps ErrForbidden.
func Others(ap netip.AddrPort) error {
	if err := Public(ap); err != nil {
		return err
	}
	return NotHere(ap)
}

// NotHere allows addresses that are not this machine's, neither on its loopback interface nor on another one. Its error
// wraps ErrForbidden.
func NotHere(ap netip.AddrPort) error {
	a := feed.Destination(ap.Addr()).Unmap().WithZone("")
	if a.IsLoopback() || a.IsUnspecified() { // a connection to the latter leads here as well
		return fmt.Errorf("%w: this machine", ErrForbidden)
	}
	own, err := net.InterfaceAddrs() // anew each time: machines move from network to network
	if err != nil {
		return fmt.Errorf("%w: this machine does not know its own addresses: %w", ErrForbidden, err)
	}
	for _, n := range own {
		if n, ok := n.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && ip.Unmap() == a {
				return fmt.Errorf("%w: this machine", ErrForbidden)
			}
		}
	}
	return nil
}
