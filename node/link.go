package node

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"feedex/archive"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/protocol"
	"feedex/search"
)

const (
	// callTimeout is how long a small call may take.
	callTimeout = 10 * time.Second
	// The delivery of a bundle may take as long again for each putRate bytes of it, up to maxPutTimeout.
	maxPutTimeout = 30 * time.Second
	putRate       = 512 << 10
	// maxFailures is after how many failed calls in a row a neighbor is declared gone.
	maxFailures = 3
	// establishedIn is how long a new link rests before it is used: the other side must have heard of it.
	establishedIn = 500 * time.Millisecond
)

// A link is what goes on between the node and one neighbor. Package neighbors keeps the rest: its
// subscription set and what we advertised.
type link struct {
	// What most calls touch stands first.
	session     string    // what it must send so that we know it; "" for a plain peer
	usage       *usage    // what it caused in the current minute
	heard       time.Time // of it, last
	peer        *neighbors.Neighbor
	holder      incentive.Holder // of its account
	shared      bool             // that is the account of another neighbor as well
	over        bool
	established bool   // both sides have heard of it
	batches     bool   // it has check_dids
	token       string // what we send so that it knows us

	// What it offers us.
	*outstanding
	offered  offered // latest dids it offered, delivered or said that it has
	searches int     // queries of it under way

	// What we offer it.
	checking, putting bool               // an offer, a delivery is under way
	waiting           []*protocol.Bundle // to be offered, oldest first
	waitingBytes      int                // of them on the wire
	postponed         int                // bundles that were beyond its quota for us, to be offered again

	// How it does.
	rtt                  time.Duration // smoothed; zero while unknown
	failures             int           // failed calls in a row
	putFailures          int           // failed deliveries in a row, whatever else it answered
	delivered, forwarded int64         // entries
	probing              bool          // a call that shows whether it is still there is to be made
	lastError            string

	// The account.
	accounts  bool             // it has feedex.account
	toldBound bool             // it was told that it came to its bound, and has not left it since
	ours      protocol.Account // how we stand with it, by its word
	oursAt    time.Time        // when it said so
	stated    time.Time        // when we told it how it stands with us

	// Our adverts to it.
	telling     bool // one about a change of our own is to be sent
	advertising bool // one is under way
	again       bool // and there was more to say meanwhile

	// What we ask it for.
	inquiries  int               // queries under way
	queryLimit search.QueryLimit // of queries

	static string        // the owner's name for it, "" for none
	away   time.Duration // for how long it had no neighbors before, by its word
}

func (l *link) id() protocol.NodeID { return l.peer.ID }

// join makes a node a neighbor, whose subscription set is subset, and to which offered was advertised. We send it
// token, and it sends us session.
func (n *Node) join(id protocol.NodeID, chosen bool, static, token, session string, subset, offered protocol.Subset) {
	old, holder := n.linkTo(id), n.accounts.ledger.HolderOf(id)
	l := &link{
		peer:   n.table.Add(n.now, id, chosen, subset, offered),
		holder: holder, usage: n.usageOf(holder),
		static: static, token: token, session: session,
		heard: n.now,
	}
	if len(n.linked) == 0 {
		n.absence.ended(n.now)
	}
	n.enlist(l, old)
	n.noteShared()
	if old != nil {
		// It connected anew: it forgot us, or both of us asked at once.
		l.static = cmp.Or(static, old.static)
		n.abandon(old)
	} else {
		n.tell(Linked{Peer: id, Chosen: chosen})
	}
	n.takeUp(l)
	l.peer.Static = l.static != ""
	n.counted()
	n.accounts.ledger.Met(n.now, l.holder)
	p, forgotten := n.book.Met(n.now, l.peer)
	n.keepPeer(p)
	if !forgotten.IsZero() {
		n.store.DropPeer(forgotten)
	}
	n.after(n.between(establishedIn, 2*establishedIn), func() {
		if !l.over {
			l.established = true
			n.learn(l)
			n.catchUp(l)
			n.pump(l)
		}
	})
	n.tellMissed(l)
}

// enlist puts the link in the place of old, or behind all others where that is nil.
func (n *Node) enlist(l, old *link) {
	if old == nil {
		n.linked, n.linkedIDs = append(n.linked, l), append(n.linkedIDs, l.id())
		return
	}
	old.over = true
	n.linked[slices.Index(n.linked, old)] = l
}

// noteShared notes which neighbors share an account.
func (n *Node) noteShared() {
	for _, l := range n.linked {
		l.shared = slices.ContainsFunc(n.linked, func(other *link) bool {
			return other != l &&
				other.holder == l.holder
		})
	}
}

// linkTo is the link to the node id, nil where there is none.
func (n *Node) linkTo(id protocol.NodeID) *link {
	if i := slices.Index(n.linkedIDs, id); i >= 0 {
		return n.linked[i]
	}
	return nil
}

// linkOf is the link to a neighbor.
func (n *Node) linkOf(p *neighbors.Neighbor) *link { return n.linked[slices.Index(n.table.All(), p)] }

// keepPeer remembers a neighbor beyond this run.
func (n *Node) keepPeer(p neighbors.Peer) { n.store.KeepPeer(archive.Peer(p)) }

// learn asks a new neighbor what it can do and under which address it knows us.
func (n *Node) learn(l *link) {
	n.ask(l, protocol.ListMethods{}, callTimeout, func(a Answered) {
		if methods, ok := a.Reply.(protocol.Methods); ok {
			l.batches, l.accounts = has(methods, protocol.CheckDIDs{}), has(methods, protocol.StateAccount{})
			n.stateAccount(l)
		}
	})
	n.ask(l, protocol.WhoAmI{}, callTimeout, func(a Answered) {
		if id, ok := a.Reply.(protocol.NodeID); ok {
			n.learnSelf(l, id)
		}
	})
}

// keep ends a link. Its feeds fall back at once, and somebody else is looked for.
func (n *Node) part(l *link, reason string) {
	if l.over {
		return
	}
	l.over = true
	n.limits.keep(n.now, l)
	n.absence.parted(l.heard)
	i := slices.Index(n.linked, l)
	n.linked, n.linkedIDs = slices.Delete(n.linked, i, i+1), slices.Delete(n.linkedIDs, i, i+1)
	n.noteShared()
	n.counted()
	n.table.Remove(l.id())
	n.gossip.weighed = n.now.UnixNano() // the neighbors left may have had it all from l
	n.abandon(l)
	n.keepPeer(n.book.Parted(n.now, l.peer))
	n.tell(Unlinked{Peer: l.id(), Reason: reason})
	if l.static != "" {
		n.seekStatic(l.static)
	}
	if len(n.linked) == n.config.MinNeighbors-1 {
		n.askTrackers() // there were enough until now, so they were asked long ago
	}
	n.refillSoon(0)
}

// abandon lets others deliver what a link that is over was to. It is owed all the same.
func (n *Node) abandon(l *link) {
	for _, o := range slices.Clone(l.owed) {
		n.release(l, o.did)
	}
	l.waiting, l.waitingBytes = nil, 0
	n.leaveOpen(l)
}

// ask calls a neighbor and has f called with the answer, unless the link is over by then.
func (n *Node) ask(l *link, c protocol.Call, timeout time.Duration, f func(Answered)) {
	n.begin(l, Call{To: Target{Node: l.id()}, Call: c, Session: l.token, Timeout: timeout}, f)
}

// answeredBy takes in how a call to a neighbor ended, and has f called unless the link is over. Failures
// count against the neighbor: it is declared gone after maxFailures in a row.
func (n *Node) answeredBy(l *link, a Answered, f func(Answered)) {
	if l.over {
		return
	}
	if a.Err == nil {
		l.heard, l.failures = n.now, 0
		l.rtt = smooth(l.rtt, a.RTT)
		l.peer.RTT, l.peer.Failures = l.rtt, 0
		f(a)
		return
	}
	l.lastError = a.Err.Error()
	switch code := codeOf(a.Err); {
	case code == protocol.UnknownNeighbor || code == protocol.NotVouched || code == protocol.Dropped:
		n.part(l, "it ended the link: "+a.Err.Error())
		return
	case code != 0 && code != protocol.Internal:
		l.heard, l.failures = n.now, 0 // it is there, and knows why it refuses
	case a.Queued && n.now.Sub(l.heard) < silence:
		n.probe(l) // it was not asked; but a neighbor that is silent for long does not answer those calls either
	default:
		l.failures++
		l.peer.Failures = l.failures
		if l.failures >= maxFailures {
			n.part(l, "does not answer: "+a.Err.Error())
			n.book.Lost(n.now, l.id())
			return
		}
		n.probe(l)
	}
	f(a)
}

// codeOf is the code of the fault that a call ended with, 0 where it did not end with a fault.
func codeOf(err error) protocol.Code {
	var refused *protocol.RemoteError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// smooth is the running mean of round trips (RFC 6298 §2.3, alpha 1/8).
func smooth(mean, sample time.Duration) time.Duration {
	if mean == 0 {
		return sample
	}
	return mean + (sample-mean)/8
}
