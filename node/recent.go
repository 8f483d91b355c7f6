package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

const (
	// recentFor is how far back a new neighbor is offered what went round. One that says that it had no neighbors
	// for longer is offered more, as far as it is remembered: recentAtMost, recentBundles and recentBytes bound that.
	recentFor     = time.Hour
	recentAtMost  = 24 * time.Hour
	recentBundles = 1000
	recentBytes   = 8 << 20
	// recollected is how many of the latest entries of the archive are looked through after a start.
	recollected = 500
	// recollecting is how long that may take: nobody waits for it.
	recollecting = 10 * time.Second
)

// recent is a bundle that went round lately.
type recent struct {
	protocol.Packed
	at int64 // Unix nanoseconds
}

// ago is how long ago that was.
func (r *recent) ago(now time.Time) time.Duration { return time.Duration(now.UnixNano() - r.at) }

// keep remembers a bundle that went round at that time.
func (g *gossip) keep(b *protocol.Bundle, at time.Time) {
	r := recent{b.Pack(g.trailOf(b.Path)), at.UnixNano()}
	g.recent = append(g.recent, r)
	g.bytes += r.WireBytes()
}

// trailOf is the trail of a path. What is remembered of the same path in a row, as claims and bundles are, shares it.
func (g *gossip) trailOf(path []protocol.NodeID) protocol.Trail {
	if t := protocol.TrailOf(path); t != g.trail {
		g.trail = t
	}
	return g.trail
}

// shorten lets go of the bundles that are too old, or too many.
func (g *gossip) shorten(now time.Time) {
	drop := 0
	for drop < len(g.recent) && (g.recent[drop].ago(now) > recentAtMost ||
		len(g.recent)-drop > recentBundles || g.bytes > recentBytes) {
		g.bytes -= g.recent[drop].WireBytes()
		drop++
	}
	g.recent = slices.Delete(g.recent, 0, drop)
}

// catchUp offers a new neighbor what went round within the last hour, so that nobody misses what was
// published while links were being made, and one that was away for longer what went round meanwhile.
func (n *Node) catchUp(l *link) {
	for _, r := range n.gossip.recent {
		if r.ago(n.now) <= max(recentFor, l.away+saidFor) {
			n.offer(l, r.Bundle())
		}
	}
}

// recollect has the node remember, after a restart, what went round before: nodes that were away meanwhile may depend
// on it.
func (n *Node) recollect() {
	if len(n.store.LoadPeers()) == 0 {
		return // nothing ever went round
	}
	n.searchFor(feed.Filter{Limit: recollected, Shareable: true}, recollecting, func(found Found) {
		if found.Err != nil {
			return // the archive has enough to do
		}
		slices.Reverse(found.Records) // the oldest arrival first
		later := n.gossip.recent
		n.gossip.recent, n.gossip.bytes = nil, 0
		n.regather(found.Records)
		for _, r := range later {
			n.gossip.recent = append(n.gossip.recent, r)
			n.gossip.bytes += r.WireBytes()
		}
		n.gossip.shorten(n.now)
	})
}

// regather puts entries together again as they went round, and remembers the bundles: what came of one feed, within a
// second, from one source, or each of these alone. Where neither gives a bundle that went round, as of a document that
// was not offered, they are left out.
func (n *Node) regather(records []archive.Record) {
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
		together, _ := protocol.Split(first.Entry.Feed, entries)
		for _, b := range together {
			for _, b := range n.wentRound(b) {
				if !first.Source.IsZero() {
					b.Path = []protocol.NodeID{first.Source}
				}
				n.gossip.keep(b, first.Seen)
			}
		}
		records = records[end:]
	}
}

// wentRound is the bundle, or those with one of its entries each, as far as they are known.
func (n *Node) wentRound(b *protocol.Bundle) (list []*protocol.Bundle) {
	if n.gossip.seen.has(b.DID) {
		return []*protocol.Bundle{b}
	}
	for i := range b.Entries {
		if one := protocol.NewBundle(b.Feed, b.Entries[i:i+1]); n.gossip.seen.has(one.DID) {
			list = append(list, one)
		}
	}
	return list
}
