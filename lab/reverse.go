package lab

import (
	"context"
	"errors"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// How reverse links begin and end. The other side of one notices at once that a program ended, and after a while that
// a machine did, as package transport has it.
const (
	reverseTrips = 4 // ways that opening one takes: of the connection, and of the change of roles
	cutAfter     = 30 * time.Second
	// linksASlot is how many reverse links there may be for each place of hosted neighbors.
	linksASlot = 2
)

var (
	errNotHosted = errors.New("no place for a reverse link")
	errNoReverse = errors.New("no reverse link")
)

// behind has a host be behind a router: its id is then that of a hosted neighbor.
func (h *Host) behind(key protocol.NodeKey) {
	if !h.member.Behind.IsValid() {
		return
	}
	delete(h.world.byID, h.ID)
	h.ID = protocol.HostedID(h.member.Behind, key)
	h.seen = protocol.NewNodeID(h.member.Behind, protocol.DefaultPort)
	h.world.byID[h.ID] = h
}

// Unreachable reports whether the member is behind a router, so that nobody can dial it.
func (h *Host) Unreachable() bool { return h.member.Behind.IsValid() }

// reverse opens a reverse link of a host.
func (w *World) reverse(h *Host, e node.Reverse) {
	to := w.byID[e.To]
	takes, err := e.Timeout, context.DeadlineExceeded
	if to != nil && !w.cut(h, to) && to.state != vanished {
		if d, lost := w.delay(h.index, to.index, 2*e.ID); !lost && reverseTrips*d < e.Timeout {
			takes, err = reverseTrips*d, nil
		}
	}
	life := h.life
	w.At(w.Now().Add(takes), func() {
		switch {
		case h.life != life || !h.Running():
			return
		case err != nil:
		case to.state != running:
			err = errRefused
		case to.reversals >= linksASlot*to.node.Hosts() && !h.reversed[to]:
			err = errNotHosted
		case !h.reversed[to]:
			h.reversed[to] = true
			to.reversals++
		}
		h.step(node.Answered{ID: e.ID, Err: err, RTT: takes})
	})
}

// Unreverse has the reverse link of a host to another break, which the host is not told.
func (h *Host) Unreverse(to *Host) { h.release(to) }

// release ends the reverse link of a host to another, if there is one.
func (h *Host) release(to *Host) {
	if h.reversed[to] {
		delete(h.reversed, to)
		to.reversals--
	}
}

// endReversals ends all reverse links of a host that is no more, and has the others notice.
func (h *Host) endReversals() {
	w := h.world
	wait := time.Duration(0)
	if h.state == vanished {
		wait = cutAfter
	}
	for _, other := range w.hosts {
		h.release(other)
		if !other.reversed[h] {
			continue
		}
		life := other.life
		other.release(h)
		w.At(w.Now().Add(wait), func() {
			if other.life == life && other.Running() {
				other.step(node.Broke{To: h.ID})
			}
		})
	}
}

// calledAs is how a call of the host's looks where it arrives.
func (h *Host) calledAs(to *Host) (from protocol.NodeID, reversed bool) {
	if to.reversed[h] {
		return h.ID, true
	}
	return h.seen, false
}
