package node

import (
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// callTimeout is how long a small call may take.
	callTimeout = 10 * time.Second
	// putTimeout is how long the delivery of a bundle may take.
	putTimeout = 30 * time.Second
	// maxFailures is after how many failed calls in a row a neighbor is declared gone.
	maxFailures = 3
	// offeredWindow is how many of a neighbor's own offers are remembered.
	offeredWindow = 256
	// settleIn is how long a new link rests before it is used: the other side must have heard of it.
	settleIn = 500 * time.Millisecond
)

// A link is what goes on between the node and one neighbor. Package neighbors keeps the rest: its
// subscription set and what we advertised.
type link struct {
	peer    *neighbors.Neighbor
	static  string // the owner's name for it, "" for none
	token   string // what we send so that it knows us
	session string // what it must send so that we know it; "" for a plain peer
	batches bool   // it has check_dids
	telling bool   // an advert of a change of our own is on the agenda

	// What it offers us.
	offered window // latest dids it offered or delivered
	owed    []owed // bundles we asked it for, earliest due first

	// What we offer it.
	waiting           []*protocol.Bundle // to be offered, oldest first
	asked             []*protocol.Bundle // to be delivered: it answered "unseen"
	checking, putting bool               // an offer, a delivery is under way

	searches             int // queries of it under way
	heard                time.Time
	rtt                  time.Duration // smoothed; zero while unknown
	failures             int           // failed calls in a row
	lastError            string
	delivered, forwarded int64
}

func (l *link) id() protocol.NodeID { return l.peer.ID }

// join makes a node a neighbor, whose subscription set is subset, and to which offered was advertised.
func (n *Node) join(id protocol.NodeID, chosen bool, static, token, session string, subset, offered protocol.Subset) {
	if old := n.links[id]; old != nil {
		// It connected anew: it forgot us, or both of us asked at once.
		n.abandon(old)
		static = firstNonEmpty(static, old.static)
	} else {
		defer n.tell(Linked{Peer: id, Chosen: chosen})
	}
	l := &link{
		peer:   n.table.Add(n.now, id, chosen, subset, offered),
		static: static, token: token, session: session,
		offered: newWindow(offeredWindow), heard: n.now,
	}
	n.links[id] = l
	n.status.Neighbors = len(n.links)
	n.store.KeepPeer(archive.Peer(n.book.Met(n.now, id)))
	n.after(n.between(settleIn, 2*settleIn), func() {
		if n.links[id] == l {
			n.learn(l)
			n.catchUp(l)
		}
	})
	n.advertiseEvery(l)
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// learn asks a new neighbor what it can do and under which address it knows us.
func (n *Node) learn(l *link) {
	n.ask(l, protocol.ListMethods{}, callTimeout, func(a Answered) {
		if methods, ok := a.Reply.(protocol.Methods); ok {
			l.batches = slices.Contains(methods, protocol.CheckDIDs{}.Method())
		}
	})
	n.ask(l, protocol.WhoAmI{}, callTimeout, func(a Answered) {
		if id, ok := a.Reply.(protocol.NodeID); ok {
			n.learnSelf(l, id)
		}
	})
}

// part ends a link. Its feeds fall back at once, and somebody else is looked for.
func (n *Node) part(l *link, reason string) {
	if n.links[l.id()] != l {
		return
	}
	delete(n.links, l.id())
	n.status.Neighbors = len(n.links)
	n.table.Remove(l.id())
	n.abandon(l)
	n.store.KeepPeer(archive.Peer(n.book.Parted(n.now, l.id(), l.peer.Since)))
	n.tell(Unlinked{Peer: l.id(), Reason: reason})
	if l.static != "" {
		n.seekStatic(l.static)
	}
	if len(n.links) == n.config.MinNeighbors-1 {
		n.askTrackers() // there were enough until now, so they were asked long ago
	}
	n.refillSoon(0)
}

// abandon lets go of what a link that is over was to deliver.
func (n *Node) abandon(l *link) {
	for len(l.owed) > 0 {
		n.giveUp(l, l.owed[0].did)
	}
	l.waiting, l.asked = nil, nil
}

// ask calls a neighbor and has f called with the answer, unless the link is over by then. Failures count
// against the neighbor: it is declared gone after maxFailures in a row.
func (n *Node) ask(l *link, c protocol.Call, timeout time.Duration, f func(Answered)) {
	n.call(Target{Node: l.id()}, l.token, c, timeout, func(a Answered) {
		if n.links[l.id()] != l {
			return
		}
		var refused *protocol.RemoteError
		switch {
		case a.Err == nil:
			l.heard, l.failures = n.now, 0
			l.rtt = smooth(l.rtt, a.RTT)
		case errors.As(a.Err, &refused):
			l.heard, l.failures = n.now, 0
			l.lastError = a.Err.Error()
			if refused.Code == protocol.UnknownNeighbor || refused.Code == protocol.NotVouched {
				n.part(l, "it no longer knows us")
				return
			}
		default:
			l.lastError = a.Err.Error()
			if l.failures++; l.failures >= maxFailures {
				n.part(l, "does not answer: "+a.Err.Error())
				return
			}
		}
		f(a)
	})
}

// smooth is the running mean of round trips (RFC 6298 §2.3, alpha 1/8).
func smooth(mean, sample time.Duration) time.Duration {
	if mean == 0 {
		return sample
	}
	return mean + (sample-mean)/8
}
