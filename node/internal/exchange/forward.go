package exchange

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// atOnce is to how many random interested neighbors a bundle is offered without delay; the rest follow at one
	// random moment within LaterOffers unless they offered it themselves meanwhile. This costs as few checks as when
	// all wait, each until a moment of its own, and is nearly as fast as when none does.
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
	passed := m.asPassedOn(b)
	if len(passed.Path) == 0 && len(b.Path) > 0 {
		m.holdBack(b) // nobody can be named for it, and who names nobody says that it polled
		return
	}
	m.Gossip.Seen.Add(b.DID)
	m.fulfil(b.DID)
	b = passed
	m.Gossip.keep(b, m.Now)
	m.Gossip.shorten(m.Now)
	var to []*link
	for _, p := range m.Table.Interested(b.Feed) {
		if l := Of(m.LinkOf(p)); p.ID != from && !l.Offered.has(b.DID) {
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

// asPassedOn is the bundle with a path that the next hop takes: where secluded neighbors are is nobody's
// business, and of a longer one the first forwarders are left out. To drop the bundle instead would let an
// attacker that offers it first with a long path suppress it.
func (m *Machine) asPassedOn(b *protocol.Bundle) *protocol.Bundle {
	if len(b.Path) <= protocol.MaxPath && !slices.ContainsFunc(b.Path, m.Secluded) {
		return b
	}
	passed := *b
	passed.Path = m.outward(b.Path[max(0, len(b.Path)-protocol.MaxPath):])
	return &passed
}

// outward is a path as others are to hear of it.
func (m *Machine) outward(path []protocol.NodeID) (out []protocol.NodeID) {
	for _, id := range path {
		if id = m.Outward(id); !id.IsZero() {
			out = append(out, id)
		}
	}
	return out
}

// Publish offers what an own poll brought first, and the revisions that it showed, to the neighbors that want it.
func (m *Machine) Publish(u feed.URL, fresh, revised []feed.Entry) {
	bundles := protocol.Split(u, fresh)
	for _, b := range bundles {
		m.Stored(b, b.Entries, nil)
		m.Spread(b, protocol.NodeID{})
	}
	m.passRevisions(u, revised, nil, protocol.NodeID{})
}

// passRevisions offers revisions of a feed's entries that the publisher dated, a few a day for each.
func (m *Machine) passRevisions(u feed.URL, entries []feed.Entry, path []protocol.NodeID, from protocol.NodeID) {
	entries = slices.DeleteFunc(entries,
		func(e feed.Entry) bool { return !m.Hearsay.Versions.Pass(m.Now, u, e.EntryID(), path) })
	bundles := protocol.Split(u, entries)
	for _, b := range bundles {
		b.Path = path
		m.Spread(b, from)
	}
}

const (
	// Bundles that went round are remembered for recentAtMost, and no more than recentBundles and RecentBytes of them.
	recentAtMost  = 24 * time.Hour
	recentBundles = 1000
	RecentBytes   = 8 << 20
	// recollected is how many of the latest entries of the archive are looked through after a start.
	recollected = 500
	// recollecting is how long that may take: nobody waits for it.
	recollecting = 10 * time.Second
)

// recent is a bundle that went round lately.
type recent struct {
	*protocol.Bundle
	at int64 // Unix nanoseconds
}

// ago is how long ago that was.
func (r *recent) ago(now time.Time) time.Duration { return time.Duration(now.UnixNano() - r.at) }

// keep remembers a bundle that went round at that time.
func (g *gossip) keep(b *protocol.Bundle, at time.Time) {
	g.Recent = append(g.Recent, recent{b, at.UnixNano()})
	g.bytes += b.WireBytes()
}

// shorten lets go of the bundles that are too old, or too many. Where they are too long, those go that heaviest names:
// a few long ones of one neighbor leave what others brought.
func (g *gossip) shorten(now time.Time) {
	drop := 0
	for drop < len(g.Recent) && (g.Recent[drop].ago(now) > recentAtMost || len(g.Recent)-drop > recentBundles) {
		g.bytes -= g.Recent[drop].WireBytes()
		drop++
	}
	g.Recent = slices.Delete(g.Recent, 0, drop)
	for g.bytes > RecentBytes {
		i := heaviest(len(g.Recent), func(i int) (*protocol.Bundle, int) {
			return g.Recent[i].Bundle, g.Recent[i].WireBytes()
		})
		g.bytes -= g.Recent[i].WireBytes()
		g.Recent = slices.Delete(g.Recent, i, i+1)
	}
}

// heaviest is which of so many bundles, the oldest first, is the oldest of the network that brought most of them by
// weight, or of own polls where these did.
func heaviest(count int, of func(i int) (b *protocol.Bundle, weight int)) (oldest int) {
	weights, most := make(map[protocol.Network]int), 0
	for i := range count {
		b, weight := of(i)
		weights[broughtBy(b.Path)] += weight
	}
	for i := range count {
		b, _ := of(i)
		if weight := weights[broughtBy(b.Path)]; weight > most {
			oldest, most = i, weight
		}
	}
	return oldest
}

// broughtBy is the network of the neighbor that brought what came by a path, and none of an own poll.
func broughtBy(path []protocol.NodeID) (network protocol.Network) {
	if len(path) > 0 {
		network = path[len(path)-1].Network()
	}
	return network
}

// CatchUp offers a new neighbor what went round within the last hour, so that nobody misses what was
// published while links were being made, and one that was away for longer what went round meanwhile.
func (m *Machine) CatchUp(to *core.Link) {
	l := Of(to)
	for _, r := range m.Gossip.Recent {
		if r.ago(m.Now) <= max(core.RecentFor, l.Away+core.SaidFor) {
			m.Offer(l, r.Bundle)
		}
	}
	m.pump(l)
}

// recollect has the node remember, after a restart, what went round before: nodes that were away meanwhile may depend
// on it.
func (m *Machine) recollect() {
	if len(m.Store.LoadPeers()) == 0 {
		return // nothing ever went round
	}
	m.SearchFor(feed.Filter{Limit: recollected, Shareable: true}, recollecting, func(found core.Searched) {
		if found.Err != nil {
			return // the archive has enough to do
		}
		slices.Reverse(found.Records) // the oldest arrival first
		later := m.Gossip.Recent
		m.Gossip.Recent, m.Gossip.bytes = nil, 0
		m.regather(found.Records)
		for _, r := range later {
			m.Gossip.Recent = append(m.Gossip.Recent, r)
			m.Gossip.bytes += r.WireBytes()
		}
		m.Gossip.shorten(m.Now)
	})
}

// regather puts entries together again as they went round, and remembers the bundles: what came of one feed, within a
// second, from one source, or each of these alone. Where neither gives a bundle that went round, as of a document that
// was not offered, they are left out, and so is what a near node brought until an own poll has shown it.
func (m *Machine) regather(records []archive.Record) {
	for len(records) > 0 {
		first := &records[0]
		end := slices.IndexFunc(records, func(r archive.Record) bool {
			return r.Entry.Feed != first.Entry.Feed || !r.Seen.Equal(first.Seen) || r.Source != first.Source
		})
		if end < 0 {
			end = len(records)
		}
		var entries []feed.Entry
		for i := range records[:end] {
			entries = append(entries, records[i].Entry)
		}
		together := protocol.Split(first.Entry.Feed, entries)
		for _, b := range together {
			for _, b := range m.wentRound(b) {
				switch {
				case m.Local(first.Source):
					// No link tells its key yet.
					if polled, _ := m.polledOf(b); len(polled) < len(b.Entries) {
						continue
					}
				case !first.Source.IsZero():
					b.Path = []protocol.NodeID{first.Source}
				}
				m.Gossip.keep(b, first.Seen)
			}
		}
		records = records[end:]
	}
}

// wentRound is the bundle, or those with one of its entries each, as far as they are known.
func (m *Machine) wentRound(b *protocol.Bundle) (list []*protocol.Bundle) {
	if m.Gossip.Seen.Has(b.DID) {
		return []*protocol.Bundle{b}
	}
	for i := range b.Entries {
		if one := protocol.NewBundle(b.Feed, b.Entries[i:i+1]); m.Gossip.Seen.Has(one.DID) {
			list = append(list, one)
		}
	}
	return list
}
