package node

import (
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

const (
	// wishLife is how long we remember nodes that wait for entries of ours, and what we wish for ourselves of holders
	// that refused it.
	wishLife = time.Hour
	// nextRound is how long after our own part of a round we ask for what is to come in return: our answer arrives
	// first.
	nextRound = 2 * time.Second
)

// rings are the exchanges between two or three nodes that serve each other what they would give to nobody (Paper §3.6).
type rings struct {
	tabs   *incentive.Exchanges
	askers []asker // one entry a holder, the latest at the end
	parked []*pull // downloads that ended with wishes that somebody refused, in the order in which they ended
}

// An asker waits for entries of ours.
type asker struct {
	id protocol.NodeID
	at time.Time
}

// askedUs notes that a node wants entries that we have, and whether it goes on waiting for some.
func (n *Node) askedUs(id protocol.NodeID, waits bool) {
	h := incentive.HolderOf(id)
	list := slices.DeleteFunc(n.rings.askers, func(a asker) bool {
		return incentive.HolderOf(a.id) == h || n.now.Sub(a.at) >= wishLife
	})
	if waits && (n.config.AllowLocal || feed.PublicAddr(id.Addr())) {
		if len(list) == protocol.MaxAskers {
			list = slices.Delete(list, 0, 1)
		}
		list = append(list, asker{id, n.now})
	}
	n.rings.askers = list
}

// askersBut are the nodes that wait for entries of ours, but for one.
func (n *Node) askersBut(id protocol.NodeID) (askers []protocol.NodeID) {
	for _, a := range n.rings.askers {
		if a.id != id && n.now.Sub(a.at) < wishLife {
			askers = append(askers, a.id)
		}
	}
	return askers
}

// A round is how many entries, by incentive.Weight, may be served to a node in exchange, and the giver of as many to
// us: it is asked for them where a ring was found, or has given them.
type round struct {
	weight int
	giver  protocol.NodeID
	ring   bool
}

// roundOf is the round of a node that asks.
func (n *Node) roundOf(from protocol.NodeID, h incentive.Holder, askers []protocol.NodeID) (t round) {
	wishes := make(map[protocol.NodeID]int, 1+len(askers))
	if n.pullable(from) {
		wishes[from] = 0
	}
	for _, id := range askers {
		if n.pullable(id) {
			wishes[id] = 0
		}
	}
	for _, p := range n.wishing() {
		p.Count(wishes)
	}
	t.giver, t.ring = incentive.FindRing(from, askers, func(id protocol.NodeID) int { return wishes[id] })
	if !t.ring {
		t.giver = n.rings.tabs.By(h)
	}
	t.weight = n.rings.tabs.Allowed(n.now, h, t.ring)
	return t
}

// took notes that a node was served entries of that weight in exchange, and returns the node that they are for. Where
// that closes a ring, we ask for what comes in return.
func (n *Node) took(from protocol.NodeID, h incentive.Holder, weight int, t round) (to protocol.NodeID) {
	n.rings.tabs.Served(n.now, h, weight)
	if t.ring {
		n.after(nextRound, func() { n.askAgain(t.giver) })
	}
	if t.giver == from {
		return protocol.NodeID{}
	}
	return t.giver
}

// gave notes that a node served us entries in exchange: as much is owed to it, or to the node that it names, but no
// more than it served.
func (n *Node) gave(from protocol.NodeID, b protocol.Batch) {
	weight := 0
	for i := range b.Entries {
		weight += incentive.Weight(b.Entries[i].WireBytes())
	}
	to, by := b.For, from
	if to.IsZero() || to == from {
		to, by = from, protocol.NodeID{}
	}
	if to != n.self.id {
		n.rings.tabs.Owed(n.now, n.accounts.ledger.HolderOf(to), by, min(b.Owed, weight))
	}
}

// wishing are the downloads that wish for something, in an order that does not depend on chance.
func (n *Node) wishing() (pulls []*pull) {
	for _, tag := range slices.Sorted(maps.Keys(n.queries.pulls)) {
		pulls = append(pulls, n.queries.pulls[tag])
	}
	return append(pulls, n.rings.parked...)
}

// askAgain asks a holder that refused for what is still wished for.
func (n *Node) askAgain(id protocol.NodeID) {
	for _, p := range n.wishing() {
		p.forgetKnown()
		if p.Again(id) {
			p.advance()
		}
	}
}

// park keeps those wishes of a download that ended which somebody refused for lack of gifts, until one of them wants
// something of us, in a ring.
func (p *pull) park() {
	n := p.n
	p.KeepSpent()
	parked := p.Len()
	for _, other := range n.rings.parked {
		parked += other.Len()
	}
	if p.Len() == 0 || parked > MaxWishes {
		p.over = true
		return
	}
	p.parked = true
	n.rings.parked = append(n.rings.parked, p)
	n.after(wishLife, p.unpark)
}

// unpark ends a download for good.
func (p *pull) unpark() {
	p.over = true
	p.n.rings.parked = slices.DeleteFunc(p.n.rings.parked, func(other *pull) bool { return other == p })
}

// forgetKnown drops wishes for what has come by another way.
func (p *pull) forgetKnown() {
	ids := p.IDs()
	known := make(map[feed.EntryID]bool, len(ids))
	for i, v := range p.n.store.Known(ids) {
		known[ids[i]] = !v.New()
	}
	p.Drop(func(w protocol.Wanted) bool { return known[w.ID] })
}
