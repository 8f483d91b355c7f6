package query

import (
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// WishLife is how long we remember nodes that wait for entries of ours, and what we wish for ourselves of holders
	// that refused it.
	WishLife = time.Hour
	// nextRound is how long after our own part of a round we ask for what is to come in return: our answer arrives
	// first.
	nextRound = 2 * time.Second
)

// rings are the exchanges between two or three nodes that serve each other what they would give to nobody (Paper §3.6).
type rings struct {
	Tabs   *incentive.Exchanges
	askers []asker // one entry a holder, the latest at the end
	Parked []*pull // downloads that ended with wishes that somebody refused, in the order in which they ended
}

// An asker waits for entries of ours.
type asker struct {
	id protocol.NodeID
	at time.Time
}

// AskedUs notes that a node wants entries that we have, and whether it goes on waiting for some.
func (m *Machine) AskedUs(id protocol.NodeID, waits bool) {
	h := incentive.HolderOf(id)
	list := slices.DeleteFunc(m.Rings.askers, func(a asker) bool {
		return incentive.HolderOf(a.id) == h || m.Now.Sub(a.at) >= WishLife
	})
	// Nobody else could ask a hosted node, or is to hear where it is.
	if waits && !id.Hosted() && (m.Config.AllowLocal || feed.PublicAddr(id.Addr())) {
		if len(list) == protocol.MaxAskers {
			list = slices.Delete(list, 0, 1)
		}
		list = append(list, asker{id, m.Now})
	}
	m.Rings.askers = list
}

// AskersBut are the nodes that wait for entries of ours, but for one.
func (m *Machine) AskersBut(id protocol.NodeID) (askers []protocol.NodeID) {
	for _, a := range m.Rings.askers {
		if a.id != id && m.Now.Sub(a.at) < WishLife {
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
func (m *Machine) roundOf(from protocol.NodeID, h incentive.Holder, askers []protocol.NodeID) (t round) {
	wishes := make(map[protocol.NodeID]int, 1+len(askers))
	if !from.Hosted() && m.pullable(from) {
		wishes[from] = 0
	}
	for _, id := range askers {
		if m.pullable(id) {
			wishes[id] = 0
		}
	}
	for _, p := range m.wishing() {
		p.Count(wishes)
	}
	t.giver, t.ring = incentive.FindRing(from, askers, func(id protocol.NodeID) int { return wishes[id] })
	if !t.ring {
		t.giver = m.Rings.Tabs.By(h)
	}
	t.weight = m.Rings.Tabs.Allowed(m.Now, h, t.ring)
	return t
}

// took notes that a node was served entries of that weight in exchange, and returns the node that they are for. Where
// that closes a ring, we ask for what comes in return.
func (m *Machine) took(from protocol.NodeID, h incentive.Holder, weight int, t round) (to protocol.NodeID) {
	m.Rings.Tabs.Served(m.Now, h, weight)
	if t.ring {
		m.After(nextRound, func() { m.askAgain(t.giver) })
	}
	if t.giver == from || t.giver.Hosted() {
		return protocol.NodeID{}
	}
	return t.giver
}

// gave notes that a node served us entries in exchange: as much is owed to it, or to the node that it names, but no
// more than it served.
func (m *Machine) gave(from protocol.NodeID, b protocol.Batch) {
	weight := 0
	for i := range b.Entries {
		weight += incentive.Weight(b.Entries[i].WireBytes())
	}
	to, by := b.For, from
	if to.IsZero() || to == from {
		to, by = from, protocol.NodeID{}
	}
	if !m.Self.Has(to) {
		m.Rings.Tabs.Owed(m.Now, m.Ledger.At(m.Ledger.HolderOf(to)), by, min(b.Owed, weight))
	}
}

// wishing are the downloads that wish for something, in an order that does not depend on chance.
func (m *Machine) wishing() (pulls []*pull) {
	for _, tag := range slices.Sorted(maps.Keys(m.Queries.pulls)) {
		pulls = append(pulls, m.Queries.pulls[tag])
	}
	return append(pulls, m.Rings.Parked...)
}

// askAgain asks a holder that refused for what is still wished for.
func (m *Machine) askAgain(id protocol.NodeID) {
	for _, p := range m.wishing() {
		p.forgetKnown()
		if p.Again(id) {
			p.advance()
		}
	}
}

// park keeps those wishes of a download that ended which somebody refused for lack of gifts, until one of them wants
// something of us, in a ring.
func (p *pull) park() {
	m := p.m
	p.KeepSpent()
	parked := p.Len()
	for _, other := range m.Rings.Parked {
		parked += other.Len()
	}
	if p.Len() == 0 || parked > core.MaxWishes {
		p.over = true
		return
	}
	p.parked = true
	m.Rings.Parked = append(m.Rings.Parked, p)
	m.After(WishLife, p.unpark)
}

// unpark ends a download for good.
func (p *pull) unpark() {
	p.over = true
	p.m.Rings.Parked = slices.DeleteFunc(p.m.Rings.Parked, func(other *pull) bool { return other == p })
}

// forgetKnown drops wishes for what has come by another way.
func (p *pull) forgetKnown() {
	ids := p.IDs()
	known := make(map[feed.EntryID]bool, len(ids))
	for i, v := range p.m.Store.Known(ids) {
		known[ids[i]] = !v.New()
	}
	p.Drop(func(w protocol.Wanted) bool { return known[w.ID] })
}
