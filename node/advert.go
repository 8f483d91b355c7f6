package node

import (
	"time"

	"feedex/protocol"
)

// ownChange is how soon a change of the owner's own subscriptions is advertised. It cannot feed back on
// itself, so it need not wait for the period; a moment lets several changes go together.
const ownChange = time.Second

// advertiseLater advertises to all neighbors, period after period, for as long as the node runs.
//
// Paper §3.1: "the node advertises (using update_subset) its subscription set periodically and not
// immediately upon change. The immediate response to set changes may cause considerable traffic due to
// feedback loops. [...] only the difference from the previous advertisement is transmitted."
func (n *Node) advertiseLater() {
	n.after(n.config.AdvertInterval, func() {
		n.weighRelays()
		n.table.Relay(n.now, n.rng)
		for _, l := range n.linked {
			if l.established {
				n.advertise(l)
				n.keepPeer(n.book.Remembered(n.now, l.peer))
				n.stateAccount(l)
			}
		}
		n.advertiseLater()
	})
}

// advertise sends what changed in our subscription set as the neighbor is to hear it, and reports
// whether there was anything to say. One advert is under way at a time; one that may not have been heard
// is said again with the next.
func (n *Node) advertise(l *link) bool {
	if l.advertising {
		l.again = true
		return true
	}
	changes := n.table.Changes(l.peer)
	if len(changes) == 0 {
		return false
	}
	l.advertising = true
	n.ask(l, protocol.UpdateSubset{Changes: changes}, callTimeout, func(a Answered) {
		l.advertising = false
		if a.Err == nil {
			n.table.Advertised(l.peer, changes)
		} else {
			n.table.Doubt(l.peer, changes)
		}
		if l.again {
			l.again = false
			n.tellSoon(l)
		}
	})
	return true
}

// advertiseSoon tells all neighbors of a change of our own interest.
//
// Differs from the paper, which has a direct subscription set that never changes during a connection.
func (n *Node) advertiseSoon() {
	for _, l := range n.linked {
		n.tellSoon(l)
	}
	n.refillSoon(ownChange / 4)
}

// tellSoon tells one neighbor.
func (n *Node) tellSoon(l *link) {
	if l.telling {
		return
	}
	l.telling = true
	n.after(ownChange, func() {
		l.telling = false
		if !l.over {
			n.advertise(l)
		}
	})
}

// tellMissed tells a new neighbor what changed of our own interest while it connected.
func (n *Node) tellMissed(l *link) {
	for u := range n.feeds {
		if n.openly(u) != nil && n.table.Misinformed(l.peer, u) {
			n.tellSoon(l)
			return
		}
	}
}

// updated takes in a neighbor's advert.
func (n *Node) updated(l *link, ev Asked, changes protocol.Subset) {
	n.table.Hear(l.peer, changes)
	n.respond(ev, protocol.OK{})
}
