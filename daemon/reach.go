package daemon

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/portmap"
	"feedex/protocol"
	"feedex/reach"
)

const (
	// routerPatience is for how long a node that starts waits for its router's answer. One that connects to others
	// before finds that they cannot call it back, and has them call it over reverse links.
	routerPatience = time.Second
	// trackerPatience is for how long a tracker waits, which calls a node back once a day: a router is silent to all
	// protocols after 18 seconds.
	trackerPatience = 20 * time.Second
)

// dialledFor is for how long a node that was dialled counts as one that others can dial.
const dialledFor = time.Hour

// noteDialled notes that somebody at an address dialled the node.
func (h *host) noteDialled(from protocol.NodeID) {
	if h.config.Node.AllowLocal || feed.PublicAddr(from.Addr()) {
		now, by := time.Now(), portmap.IPv6
		if from.Addr().Is4() {
			by = portmap.IPv4
		}
		h.opening(by).dialled.Store(&now)
	}
}

// isDialled reports whether somebody dialled the node lately by a version of IP.
func (h *host) isDialled(by portmap.IP, now time.Time) bool {
	at := h.opening(by).dialled.Load()
	return at != nil && now.Sub(*at) < dialledFor
}

// reachOf is what is known of how others reach a node of that state.
func (h *host) reachOf(s *node.Status) reach.Facts {
	now := time.Now()
	return reach.Facts{Listen: h.at.Listen, Self: s.Self, Neighbors: s.Neighbors, Hosted: s.Hosted,
		HostedBytes: h.hosting.Bytes(), Undialled: s.Undialled,
		Dialled:    h.isDialled(portmap.IPv4, now) || h.isDialled(portmap.IPv6, now),
		Forwarding: h.forwarding.came.Load(), Firewall: h.firewall.came.Load()}
}

// addressesAgain is how often the node is told at which addresses its machine is: those for privacy come and go.
const addressesAgain = time.Minute

// tellAddresses keeps the node told at which public addresses of IPv6 others may dial it.
func (h *host) tellAddresses(ctx context.Context) {
	for ctx.Err() == nil {
		own, err := net.InterfaceAddrs()
		if err == nil {
			h.discovered(node.Addressed{At: public6(own, h.config.Node.Port)})
		}
		_ = sleep.For(ctx, addressesAgain)
	}
}

// public6 are the public ones of IPv6 among a machine's addresses, with a port.
func public6(own []net.Addr, port uint16) (ids []protocol.NodeID) {
	for _, a := range own {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is6() && !p.Addr().Is4In6() && feed.PublicAddr(p.Addr()) {
			ids = append(ids, protocol.NewNodeID(p.Addr(), port))
		}
	}
	return ids
}

// PortMapping says by which protocols the router is asked to forward the node's port.
type PortMapping string

// The kinds of PortMapping.
const (
	MapNoPort PortMapping = "off"
	MapByPCP  PortMapping = "pcp"  // PCP, or NAT-PMP
	MapByUPnP PortMapping = "upnp" // or UPnP, where the router forwards nothing by these
)

// An opening is what the router was asked for, so that others can dial the node by a version of IP.
type opening struct {
	came    atomic.Pointer[reach.Forwarding] // what came of it
	doubt   chan chan struct{}               // has it asked anew
	dialled atomic.Pointer[time.Time]        // when somebody last dialled the node so, nil for never
}

// mapPort keeps the node's port open at the router, until ctx ends, where that is wanted and of use.
func (h *host) mapPort(ctx context.Context) {
	at, versions := h.toOpen()
	c := portmap.Config{Port: at.Port(), At: at.Addr(), UPnP: h.config.PortMapping == MapByUPnP,
		Secret: sha256.Sum256(append([]byte("feedex port mapping\n"), h.config.Node.Key...))}
	var keepers sync.WaitGroup
	for _, by := range versions {
		c := c
		c.By, c.Told, c.Doubt = by, func(f reach.Forwarding) { h.opened(ctx, by, f) }, h.opening(by).doubt
		keepers.Go(func() { portmap.Run(ctx, c) })
	}
	keepers.Wait()
}

// awaitRouter waits until the router was asked to open the port, if it is, and for no longer than patience. One that
// was asked before may have begun anew, and is asked again.
func (h *host) awaitRouter(ctx context.Context, patience time.Duration) {
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	var asking sync.WaitGroup
	_, versions := h.toOpen()
	for _, by := range versions {
		asking.Go(func() {
			done := make(chan struct{})
			for doubt := h.opening(by).doubt; ; doubt = nil {
				select {
				case doubt <- done:
				case <-done:
					return
				case <-ctx.Done():
					return
				}
			}
		})
	}
	asking.Wait()
}

// toOpen is where the node listens, and by which versions of IP the router is to be asked to open that.
func (h *host) toOpen() (at netip.AddrPort, versions []portmap.IP) {
	at, err := netip.ParseAddrPort(h.at.Listen)
	wanted := h.config.PortMapping == MapByPCP || h.config.PortMapping == MapByUPnP
	if !wanted || h.config.Node.AllowLocal || err != nil || at.Addr().IsLoopback() {
		return at, nil
	}
	if at.Addr().Is4() || at.Addr().IsUnspecified() {
		versions = append(versions, portmap.IPv4)
	}
	if at.Addr().Is6() {
		versions = append(versions, portmap.IPv6)
	}
	return at, versions
}

// opening is the one by a version of IP.
func (h *host) opening(by portmap.IP) *opening {
	if by == portmap.IPv6 {
		return &h.firewall
	}
	return &h.forwarding
}

// opened takes in what came of asking the router.
func (h *host) opened(ctx context.Context, by portmap.IP, f reach.Forwarding) {
	h.opening(by).came.Store(&f)
	h.changes.Add(1)
	version := fmt.Sprintf("IPv%d", by)
	switch {
	case f.Problem != "":
		h.config.Log.Info("no router lets others in at the node's port when asked", "by", version,
			"problem", f.Problem)
	case !f.External.IsValid():
	case f.Outside():
		h.config.Log.Info("the router lets others in at the node's port", "by", version, "at", f.External,
			"as asked by", f.Protocol)
		h.send(ctx, arrival{event: node.Forwarded{IPv6: by == portmap.IPv6}})
	default:
		h.config.Log.Info("the router lets others in at the node's port, but another router is before it",
			"at", f.External)
	}
}
