package daemon

import (
	"context"
	"net"
	"net/netip"
	"time"

	"feedex/internal/sleep"
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

// nearAgain is how long no nodes on the LAN are looked for after that failed.
const nearAgain = time.Minute

// findNear has run, as that of a lan.Responder, find nodes on this machine's networks until ctx ends. What it fails for
// may pass, as another program that has the port or an interface that is gone, so it is called again; the owner is told
// once of each reason.
func (h *host) findNear(ctx context.Context, run func(context.Context) error) {
	for told := ""; ctx.Err() == nil; _ = sleep.For(ctx, nearAgain) {
		if err := run(ctx); ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			h.config.Log.Warn("nodes on the LAN are not found for now", "err", err)
		}
	}
}

// discovered tells the node who is near, or where it is. Where that is to wait it is left out: it is told again soon.
func (h *host) discovered(ev node.Event) {
	select {
	case h.events <- arrival{event: ev}:
	default:
	}
}
