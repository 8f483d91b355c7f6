// Package portmap has the router let others dial this machine at a port. By IPv4 it forwards the port: by PCP (RFC
// 6887), by NAT-PMP (RFC 6886) where that is what the router knows, or by UPnP where the owner says so. By IPv6 it lets
// the port through its firewall, by PCP. It is asked for TCP, and for the same port outside or none, since a node is
// known by the port at which it listens.
package portmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"feedex/feed"
	"feedex/reach"
)

// An IP is a version of the Internet Protocol.
type IP int

// The versions.
const (
	IPv4 IP = 4
	IPv6 IP = 6
)

// Config says what is to be let in. Port, By and Told must be set.
type Config struct {
	Port uint16     // at which the node listens
	By   IP         // by which version of IP
	At   netip.Addr // where it listens, if that is one address of this machine only
	// Secret tells this node from others on the machine. By what is made of it a router knows who may change what it
	// lets in, also after the node was killed.
	Secret [32]byte
	// UPnP has it ask by UPnP, and by the other protocols where the router does not know that. Only for IPv4.
	UPnP bool
	// Told is called with what came of it: at first, and whenever that changes. What has neither an External address
	// nor a Problem says that nobody has to be asked.
	Told func(reach.Forwarding)
	// Doubt takes channels that are closed once the router has answered anew, or was silent: it may have begun anew
	// since it was asked, and forward nothing. Who was asked within freshFor is not asked again. Nil for never.
	Doubt <-chan chan struct{}
}

const (
	// lease is for how long the router is asked to forward the port: so long it does so at most once the node is gone.
	// It is asked again after half of that, also where it refused or was silent.
	lease = 20 * time.Minute
	// lookEvery is how often it is looked whether the router, or the machine's address, is another one, or something is
	// due, also by the clock of a machine that slept.
	lookEvery = time.Minute
	// freshFor is for how long nobody doubts an answer, or a silence: a router that starts beside its machine may know
	// the protocol seconds later.
	freshFor = 10 * time.Second
	// Each question is asked so often, and each time twice as long is waited for an answer (RFC 6886 §3.1 goes on for a
	// minute; who does not answer within a few seconds knows the protocol not).
	firstWait = 250 * time.Millisecond
	tries     = 4
	// farewell bounds how long it takes to tell the router that nothing need be forwarded any more. By UPnP it is
	// looked for again first, and may take a second to answer (UPnP Device Architecture 1.1 §1.3.3).
	farewell = 3 * time.Second
)

// routerPort is where routers take requests, by both protocols.
const routerPort = 5351

// A keeper keeps the port forwarded, or let through.
type keeper struct {
	config  Config
	gateway func(IP) (netip.Addr, error)
	machine func(IP) net.IP // from which this machine calls others, nil for none
	port    uint16
	wait    time.Duration // the first for an answer
	search  func(ctx context.Context, router, machine netip.Addr) (*url.URL, error)

	last   *reach.Forwarding // as was told; nil before
	opened netip.Addr        // the router that was last had to forward the port, and may do so still
	// By the wall clock, which may be set back: when the router was asked, and is to be asked again.
	asked, due time.Time
}

// Run keeps the port forwarded until ctx ends, and then has the router end that.
func Run(ctx context.Context, c Config) {
	k := &keeper{config: c, gateway: gateway, machine: source, port: routerPort, wait: firstWait, search: searchSSDP}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	k.look(ctx, time.Now().Round(0))
	for {
		select {
		case <-ctx.Done():
			k.end(context.WithoutCancel(ctx))
			return
		case <-look.C:
			k.look(ctx, time.Now().Round(0))
		case done := <-c.Doubt:
			k.doubt(ctx, time.Now().Round(0))
			close(done)
		}
	}
}

// doubt asks the router unless it was asked a moment ago.
func (k *keeper) doubt(ctx context.Context, now time.Time) {
	if now.Sub(k.asked) >= freshFor {
		k.due = now
	}
	k.look(ctx, now)
}

// look asks the router if that is due, or if it is another one than before.
func (k *keeper) look(ctx context.Context, now time.Time) {
	router, err := k.gateway(k.config.By)
	at, _ := netip.AddrFromSlice(k.machine(k.config.By))
	at = at.Unmap()
	switch {
	case k.config.By == IPv6 && !feed.PublicAddr(at):
		k.tell(reach.Forwarding{}) // most homes have no IPv6, and without a public address it would help nobody
		return
	case err != nil && feed.PublicAddr(at): // its way out is an interface, as by PPP or a tunnel
		k.tell(reach.Forwarding{Machine: at})
		return
	case err != nil:
		k.tell(reach.Forwarding{Machine: at, Problem: err.Error()})
		return
	}
	conn, err := k.dial(router)
	if err != nil {
		k.tell(reach.Forwarding{Router: router, Problem: err.Error()})
		return
	}
	defer conn.Close()
	f := reach.Forwarding{Router: router, Machine: addrOf(conn.LocalAddr())}
	if k.last != nil && f.Router == k.last.Router && f.Machine == k.last.Machine && !now.Before(k.asked) &&
		now.Before(k.due) {
		return
	}
	again := lease / 2
	switch at := k.config.At.Unmap(); {
	case k.config.By == IPv4 && feed.PublicAddr(f.Machine): // nobody has to
	case at.IsValid() && !at.IsUnspecified() && at != f.Machine:
		f.Problem = fmt.Sprintf("the node listens at %s alone, and the router knows this machine as %s", at, f.Machine)
	default:
		m, name, err := k.ask(ctx, conn, lease)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.Problem = fmt.Sprintf("%s %v", router, err)
			break
		}
		f.Protocol, f.External, k.opened = name, m.external, router
		again = min(max(m.lifetime, 2*lookEvery), lease) / 2
	}
	k.asked, k.due = now, now.Add(again)
	k.tell(f)
}

// dial opens a socket that takes packets of the router alone. A firewall opens for the address that asks (RFC 6887
// §8.1), so by IPv6 that has to be the one by which others know this machine.
func (k *keeper) dial(router netip.Addr) (*net.UDPConn, error) {
	network, from := "udp4", (*net.UDPAddr)(nil)
	if k.config.By == IPv6 {
		network, from = "udp6", &net.UDPAddr{IP: k.machine(IPv6)}
	}
	conn, err := net.DialUDP(network, from, net.UDPAddrFromAddrPort(netip.AddrPortFrom(router, k.port)))
	if err != nil {
		return nil, fmt.Errorf("the router %s cannot be asked: %w", router, err)
	}
	return conn, nil
}

// source is the address from which this machine calls others. No packet is sent to those here, which are nobody's (RFC
// 5737, RFC 3849).
func source(by IP) net.IP {
	network, to := "udp4", "192.0.2.1:9"
	if by == IPv6 {
		network, to = "udp6", "[2001:db8::1]:9"
	}
	conn, err := net.Dial(network, to)
	if err != nil {
		return nil
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP
}

// tell says what came of it, where that is new.
func (k *keeper) tell(f reach.Forwarding) {
	if k.last == nil || *k.last != f {
		k.last = &f
		k.config.Told(f)
	}
}

// end has the router forward nothing any more.
func (k *keeper) end(ctx context.Context) {
	if !k.opened.IsValid() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if conn, err := k.dial(k.opened); err == nil {
		defer conn.Close()
		_, _, _ = k.ask(ctx, conn, 0) // whatever it says: the lease ends as well
	}
}

// The names of the protocols.
const pcp, natPMP, upnp = "PCP", "NAT-PMP", "UPnP"

// A mapping is what a router forwards: where it takes it, and for how long it will.
type mapping struct {
	external netip.AddrPort
	lifetime time.Duration
}

var (
	// errSilent means that no answer came.
	errSilent = errors.New("answers neither PCP nor NAT-PMP")
	// errSilent6 means it by IPv6, which NAT-PMP does not know.
	errSilent6 = errors.New("does not answer PCP")
	// errOlder means that the router knows NAT-PMP alone.
	errOlder = errors.New("answers by NAT-PMP")
)

// ask has the router forward the port for so long, or end that where lifetime is 0. It returns by which protocol. The
// error is what the router does.
func (k *keeper) ask(ctx context.Context, conn *net.UDPConn, lifetime time.Duration) (mapping, string, error) {
	m, name, err := k.byAny(ctx, conn, lifetime)
	switch {
	case err != nil || lifetime == 0:
		return mapping{}, name, err
	case m.external.Port() != k.config.Port:
		_, _, _ = k.ask(ctx, conn, 0)
		return mapping{}, name, fmt.Errorf("would open port %d in place of %d, which another machine may have there",
			m.external.Port(), k.config.Port)
	case !m.external.Addr().IsValid() || m.external.Addr().IsUnspecified():
		_, _, _ = k.ask(ctx, conn, 0)
		return mapping{}, name, errors.New("has no address outside: is it online?")
	case k.config.By == IPv6 && m.external.Addr() != addrOf(conn.LocalAddr()):
		_, _, _ = k.ask(ctx, conn, 0)
		return mapping{}, name, fmt.Errorf("would have others dial %s in place of this machine's address",
			m.external.Addr())
	}
	return m, name, nil
}

// byAny asks by one protocol after the other, and by the one first by which the router forwarded the port before. Where
// the owner lets it ask by UPnP, that is because the router knows the others not: it comes first.
func (k *keeper) byAny(ctx context.Context, conn *net.UDPConn, lifetime time.Duration) (mapping, string, error) {
	if k.config.By == IPv6 {
		m, err := k.byPCP(ctx, conn, lifetime)
		if errors.Is(err, errOlder) || errors.Is(err, errSilent) {
			err = errSilent6
		}
		return m, pcp, err
	}
	var last string
	if k.last != nil && k.last.Router == addrOf(conn.RemoteAddr()) {
		last = k.last.Protocol
	}
	silent := errSilent
	if k.config.UPnP && last != pcp && last != natPMP {
		m, err := k.byUPnP(ctx, addrOf(conn.RemoteAddr()), addrOf(conn.LocalAddr()), lifetime)
		if err == nil || last == upnp || !errors.Is(err, errNoUPnP) {
			return m, upnp, err
		}
		silent = errNoUPnP
	}
	name, m, err := pcp, mapping{}, errOlder
	if last != natPMP {
		m, err = k.byPCP(ctx, conn, lifetime)
	}
	if errors.Is(err, errOlder) || errors.Is(err, errSilent) {
		name = natPMP
		m, err = k.byNATPMP(ctx, conn, lifetime)
	}
	if errors.Is(err, errSilent) {
		err = silent
	}
	return m, name, err
}

// addrOf is the IP address of an end of a socket.
func addrOf(end net.Addr) netip.Addr { return end.(*net.UDPAddr).AddrPort().Addr().Unmap() }

// exchange sends a packet and returns the first answer that is one to it. The error wraps errSilent where none comes.
func (k *keeper) exchange(ctx context.Context, conn *net.UDPConn, packet []byte,
	answers func([]byte) bool) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	data := make([]byte, maxAnswer)
	for wait := k.wait; wait < k.wait<<tries; wait *= 2 {
		if _, err := conn.Write(packet); err != nil && ctx.Err() == nil {
			continue // the router may have said that nobody is there
		}
		conn.SetReadDeadline(time.Now().Add(wait))
		for ctx.Err() == nil { // which may have ended before the deadline was set
			n, err := conn.Read(data)
			if err != nil {
				break
			}
			if answers(data[:n]) {
				return data[:n], nil
			}
		}
	}
	return nil, cmp.Or(ctx.Err(), errSilent)
}
