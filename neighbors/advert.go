package neighbors

import (
	"cmp"
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

// Offer is our whole subscription set as the node id is to hear it: computed without that node's own
// advert, or it would hear its own interest back from us (Paper §3.1). id may be a stranger.
func (t *Table) Offer(id protocol.NodeID) protocol.Subset {
	n := t.byID[id]
	subset := make(protocol.Subset, 0, len(t.routes))
	for u, r := range t.routes {
		if count := t.advertised(r, n); count >= 0 {
			subset = append(subset, protocol.Interest{Feed: u, Hops: count})
		}
	}
	return bounded(subset)
}

// Changes is the difference between our subscription set as n is to hear it and as it last heard it,
// empty where there is nothing to say. It costs time in proportion to what changed. Call Advertised
// once n has taken it.
func (t *Table) Changes(n *Neighbor) protocol.Subset {
	var changes protocol.Subset
	for u := range n.dirty {
		want := protocol.Withdrawn
		if r := t.routes[u]; r != nil {
			want = t.advertised(r, n)
		}
		if want == n.told(u) {
			delete(n.dirty, u)
			continue
		}
		changes = append(changes, protocol.Interest{Feed: u, Hops: want})
	}
	return bounded(changes)
}

// told is at what hop count n last heard of the feed, Withdrawn if it did not.
func (n *Neighbor) told(u feed.URL) int {
	if hops, ok := n.sent[u]; ok {
		return hops
	}
	return protocol.Withdrawn
}

// Advertised records that n has taken changes. What changed again meanwhile is found with the next.
func (t *Table) Advertised(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		if in.Hops < 0 {
			delete(n.sent, in.Feed)
		} else {
			n.sent[in.Feed] = in.Hops
		}
		n.dirty[in.Feed] = struct{}{}
	}
}

// Advertises reports whether n may still believe that we want the feed: it was not told otherwise yet.
func (t *Table) Advertises(n *Neighbor, u feed.URL) bool {
	_, ok := n.sent[u]
	return ok
}

// unknown stands in sent for a feed of which we do not know what the neighbor believes.
const unknown = -2

// Doubt records that n may or may not have taken changes: no answer came. They are said again.
func (t *Table) Doubt(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		n.sent[in.Feed] = unknown
		n.dirty[in.Feed] = struct{}{}
	}
}

// advertised is the hop count at which n is to hear of the feed, Withdrawn if it is not.
func (t *Table) advertised(r *route, n *Neighbor) int {
	switch {
	case r.private:
		return protocol.Withdrawn
	case r.own && !r.discreet, r.cover:
		return 0
	case r.own:
		return 1
	}
	best := t.config.MaxHops // one more would be too far
	for _, h := range r.via {
		if h.to != n {
			best = min(best, h.count)
		}
	}
	if best >= t.config.MaxHops {
		return protocol.Withdrawn
	}
	return best + 1
}

// maxAdvertBytes bounds an advert on the wire; the rest of the 4 MiB is for the envelope.
const maxAdvertBytes = 4<<20 - 16<<10

// bounded sorts the set, nearest interest first, and cuts it to what one message may carry. What is
// cut from a set of changes is said with the next.
func bounded(s protocol.Subset) protocol.Subset {
	slices.SortFunc(s, func(a, b protocol.Interest) int {
		return cmp.Or(cmp.Compare(a.Hops, b.Hops), cmp.Compare(a.Feed, b.Feed))
	})
	bytes := 0
	for i, in := range s {
		if bytes += in.WireBytes(); bytes > maxAdvertBytes || i == protocol.MaxSubset {
			return s[:i]
		}
	}
	return s
}

// Overlap counts the feeds of our own interest in n's subscription set: S_P ∩ S'_Q of Paper §3.2.
func (t *Table) Overlap(n *Neighbor) int {
	count := 0
	for u := range n.heard {
		if r := t.routes[u]; r != nil && r.own {
			count++
		}
	}
	return count
}

// Nearest counts the feeds of our own interest in n's subscription set by hop count, 0 to 3.
func (t *Table) Nearest(n *Neighbor) (counts [4]int) {
	for u, hops := range n.heard {
		if r := t.routes[u]; r != nil && r.own && hops < len(counts) {
			counts[hops]++
		}
	}
	return counts
}

// Offering counts the neighbors that have the feed in their set, within reach.
func (t *Table) Offering(u feed.URL) int {
	if r := t.routes[u]; r != nil {
		return t.offersBeside(r, nil)
	}
	return 0
}
