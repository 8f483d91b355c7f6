package daemon

import (
	"context"

	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

// A reversed is a reverse link that is open, or is being opened. It belongs to the loop.
type reversed struct {
	open bool
	end  context.CancelFunc
}

// reverse opens a reverse link, and has the calls that come over it answered until it ends, which the node is told.
func (h *host) reverse(ctx context.Context, e node.Reverse) {
	life := h.life
	if old := h.reversed[e.To]; old != nil {
		if old.open {
			h.workers.Go(func() { h.send(ctx, arrival{event: node.Answered{ID: e.ID}, life: life}) })
			return
		}
		old.end()
	}
	serving, end := context.WithCancel(ctx)
	r := &reversed{end: end}
	h.reversed[e.To] = r
	h.workers.Go(func() {
		defer end()
		dialing, dialed := context.WithTimeout(serving, e.Timeout)
		link, err := h.client.Reverse(dialing, e.To)
		dialed()
		ok := err == nil
		opened := func(*node.Node) {
			if r.open = ok; !ok {
				h.forgetReversed(e.To, r)
			}
		}
		if !h.send(ctx, arrival{look: opened}) && link != nil {
			link.Close()
			return
		}
		h.send(ctx, arrival{event: node.Answered{ID: e.ID, Err: err}, life: life})
		if !ok {
			return
		}
		ended := link.Serve(serving, h.peers, transport.ServerConfig{Log: h.config.Log})
		h.config.Log.Debug("reverse link ended", "peer", e.To, "err", ended)
		h.send(ctx, arrival{look: func(*node.Node) { h.forgetReversed(e.To, r) }})
		if serving.Err() == nil { // nobody released it
			h.send(ctx, arrival{event: node.Broke{To: e.To}, life: life})
		}
	})
}

// forgetReversed notes that a reverse link is over.
func (h *host) forgetReversed(to protocol.NodeID, r *reversed) {
	if h.reversed[to] == r {
		delete(h.reversed, to)
	}
}

// release ends a reverse link.
func (h *host) release(to protocol.NodeID) {
	if r := h.reversed[to]; r != nil {
		delete(h.reversed, to)
		r.end()
	}
}

// newHosting takes the reverse links of as many nodes as the owner hosts, nil for none. Without a key nobody can prove
// to this node that it has one. h is there before the first link is.
func newHosting(c Config, h func() *host) *transport.Hosting {
	slots := c.Node.HostingSlots()
	if slots == 0 || c.Node.Key == nil {
		return nil
	}
	return transport.NewHosting(transport.HostingConfig{
		Key: c.Node.Key, Slots: slots, Log: c.Log,
		Dialled:  func(from, at protocol.NodeID) bool { return h().whoami().Dialled(from, at) },
		Neighbor: func(id protocol.NodeID) bool { return h().known.hosts(id) },
	})
}
