package exchange

import (
	"feedex/feed"
	"feedex/protocol"
	"slices"
	"time"
)

const (
	// atOnce is to how many random interested neighbors a bundle is offered without delay; the rest
	// follow at one random moment within laterOffers unless they offered it themselves meanwhile. That
	// costs as few checks as when all wait, each until a moment of its own, and is nearly as fast as when
	// none does.
	atOnce      = 3
	LaterOffers = 2 * time.Second
)

// Spread offers a bundle whose entries are stored to the neighbors that want it: not to the one that brought it, and
// not to neighbors that offered it to us, because they have it.
//
// Paper §3.4: "The bundle is forwarded to a neighbor only if the neighbor is interested in the bundle,
// which means that the neighbor's subscription set includes the bundle's originating URL and that the
// hop count for the matching feed is not greater than a system parameter max_subset_hops."
func (m *Machine) Spread(b *protocol.Bundle, from protocol.NodeID) {
	m.Gossip.Seen.Add(b.DID)
	m.fulfil(b.DID)
	b = shortPath(b)
	m.Gossip.keep(b, m.Now)
	m.Gossip.shorten(m.Now)
	var to []*link
	for _, p := range m.Table.Interested(b.Feed) {
		if l := Of(m.LinkOf(p)); p.ID != from && !l.Offered.Has(b.DID) {
			to = append(to, l)
		}
	}
	m.Rng.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	first := min(atOnce, len(to))
	m.offerAll(to[:first], b)
	if rest := to[first:]; len(rest) > 0 {
		m.After(m.Between(0, LaterOffers), func() { m.offerAll(rest, b) })
	}
}

// offerAll offers the bundle to each of these neighbors.
func (m *Machine) offerAll(to []*link, b *protocol.Bundle) {
	for _, l := range to {
		m.Offer(l, b)
	}
}

// shortPath is the bundle with a path that the next hop takes: of a longer one the first forwarders are left out. To
// drop the bundle instead would let an attacker that offers it first with a long path suppress it.
func shortPath(b *protocol.Bundle) *protocol.Bundle {
	if len(b.Path) <= protocol.MaxPath {
		return b
	}
	short := *b
	short.Path = b.Path[len(b.Path)-protocol.MaxPath:]
	return &short
}

// Publish offers what an own poll brought first, and the revisions that it showed, to the neighbors that want it.
func (m *Machine) Publish(u feed.URL, fresh, revised []feed.Entry) {
	bundles, _ := protocol.Split(u, fresh)
	for _, b := range bundles {
		m.Stored(b, b.Entries, nil)
		m.Spread(b, protocol.NodeID{})
	}
	m.passRevisions(u, revised, nil, protocol.NodeID{})
}

// passRevisions offers revisions of a feed's entries that the publisher dated, a few a day for each.
func (m *Machine) passRevisions(u feed.URL, entries []feed.Entry, path []protocol.NodeID, from protocol.NodeID) {
	entries = slices.DeleteFunc(entries,
		func(e feed.Entry) bool { return !m.Hearsay.Versions.Pass(m.Now, e.EntryID()) })
	bundles, _ := protocol.Split(u, entries)
	for _, b := range bundles {
		b.Path = path
		m.Spread(b, from)
	}
}
