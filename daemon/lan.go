package daemon

import (
	"context"
	"net"
	"net/netip"

	"feedex/lan"
	"feedex/neighbors"
	"feedex/node"
	"feedex/protocol"
)

// newResponder is what finds other nodes on this machine's networks and has them find this one, nil where the
// owner does not want that or nobody there could call it: a node that cannot be called back there gets no
// neighbors there either.
func newResponder(c Config, peers net.Listener, found func(node.Discovered)) *lan.Responder {
	if !c.LAN || peers == nil {
		return nil
	}
	at := peers.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	if at.IsLoopback() {
		return nil
	}
	return lan.New(lan.Config{Key: protocol.NodeKeyOf(c.Node.Key), Port: c.Node.Port, At: at, Log: c.Log,
		Found: func(nodes []lan.Neighboring, own []protocol.NodeID) {
			ev := node.Discovered{By: neighbors.Near, Own: own}
			for _, n := range nodes {
				ev.Nodes, ev.Keys = append(ev.Nodes, n.ID), append(ev.Keys, n.Key)
			}
			found(ev)
		}})
}

// nearOn says at which addresses that are not public calls may go.
func nearOn(r *lan.Responder) func(netip.AddrPort) bool {
	if r == nil {
		return nil
	}
	return r.Near
}

// findNear finds nodes on this machine's networks until ctx ends.
func (h *host) findNear(ctx context.Context) {
	if h.onLAN == nil {
		return
	}
	if err := h.onLAN.Run(ctx); err != nil {
		h.config.Log.Warn("nodes on the LAN are not found", "err", err)
	}
}

// discovered tells the node who is near. Where that is to wait it is left out: it is told again soon.
func (h *host) discovered(ev node.Discovered) {
	select {
	case h.events <- arrival{event: ev}:
	default:
	}
}
