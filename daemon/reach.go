package daemon

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/portmap"
	"feedex/protocol"
	"feedex/reach"
)

// routerPatience is for how long a node that starts waits for its router's answer. One that connects to others before
// finds that they cannot call it back, and has them call it over reverse links.
const routerPatience = time.Second

// dialledFor is for how long a node that was dialled counts as one that others can dial.
const dialledFor = time.Hour

// noteDialled notes that somebody at an address dialled the node.
func (h *host) noteDialled(from protocol.NodeID) {
	if h.config.Node.AllowLocal || feed.PublicAddr(from.Addr()) {
		h.dialled.Store(time.Now().Unix())
	}
}

// isDialled reports whether somebody dialled the node lately.
func (h *host) isDialled() bool { return time.Since(time.Unix(h.dialled.Load(), 0)) < dialledFor }

// reachOf is what is known of how others reach a node of that state.
func (h *host) reachOf(s *node.Status) reach.Facts {
	return reach.Facts{Listen: h.at.Listen, Self: s.Self, Neighbors: s.Neighbors, Hosted: s.Hosted,
		HostedBytes: h.hosting.Bytes(), Undialled: s.Undialled, Dialled: h.isDialled(),
		Forwarding: h.forwarding.Load()}
}

// PortMapping says by which protocols the router is asked to forward the node's port.
type PortMapping string

// The kinds of PortMapping.
const (
	MapNoPort PortMapping = "off"
	MapByPCP  PortMapping = "pcp"  // PCP, or NAT-PMP
	MapByUPnP PortMapping = "upnp" // or UPnP, where the router forwards nothing by these
)

// mapPort keeps the node's port forwarded by the router, until ctx ends, where that is wanted and of use.
func (h *host) mapPort(ctx context.Context) {
	if at, ok := h.toForward(); ok {
		c := portmap.Config{Port: at.Port(), At: at.Addr(), UPnP: h.config.PortMapping == MapByUPnP,
			Told: func(f reach.Forwarding) { h.forwarded(ctx, f) }}
		sum := sha256.Sum256(append([]byte("feedex port mapping\n"), h.config.Node.Key...))
		copy(c.Nonce[:], sum[:])
		portmap.Run(ctx, c)
	}
}

// awaitRouter waits until the router was asked to forward the port, if it is, and for no longer than a moment.
func (h *host) awaitRouter(ctx context.Context) {
	if _, ok := h.toForward(); ok {
		waiting, end := context.WithTimeout(ctx, routerPatience)
		defer end()
		select {
		case <-h.routerAsked:
		case <-waiting.Done():
		}
	}
}

// toForward is where the node listens, and whether the router is to be asked to forward that.
func (h *host) toForward() (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(h.at.Listen)
	wanted := h.config.PortMapping == MapByPCP || h.config.PortMapping == MapByUPnP
	return at, wanted && !h.config.Node.AllowLocal && err == nil && !at.Addr().IsLoopback()
}

// forwarded takes in what came of asking the router to forward the port.
func (h *host) forwarded(ctx context.Context, f reach.Forwarding) {
	if h.forwarding.Swap(&f) == nil {
		close(h.routerAsked)
	}
	h.changes.Add(1)
	switch self := h.whoami(); {
	case f.Problem != "":
		h.config.Log.Info("the router does not forward the node's port", "problem", f.Problem)
	case !f.External.IsValid():
	case f.Outside(self):
		h.config.Log.Info("the router forwards the node's port", "at", f.External, "by", f.Protocol)
		h.send(ctx, arrival{event: node.Forwarded{}})
	default:
		h.config.Log.Info("the router forwards the node's port, but another router is before it", "at", f.External,
			"node", self)
	}
}
