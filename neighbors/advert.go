package neighbors

import (
	"cmp"
	"slices"
	"strings"

	"feedex/feed"
	"feedex/protocol"
)

// Offer is our whole subscription set as the node id is to hear it: computed without that node's own
// advert, or it would hear its own interest back from us (Paper §3.1). id may be a stranger.
func (t *Table) Offer(id protocol.NodeID) protocol.Subset {
	n := t.byID[id]
	if n == nil && t.stranger != nil {
		return t.stranger
	}
	subset := make(protocol.Subset, 0, len(t.routes))
	for u, r := range t.routes {
		if count := t.advertised(r, n); count >= 0 {
			subset = append(subset, protocol.Interest{Feed: u, Hops: count})
		}
	}
	subset = bounded(subset)
	if n == nil {
		t.stranger = subset
	}
	return subset
}

// Silent reports whether that set is empty.
func (t *Table) Silent(id protocol.NodeID) bool {
	n := t.byID[id]
	for _, r := range t.routes { // any of them will do
		if t.advertised(r, n) >= 0 {
			return false
		}
	}
	return true
}

// Changes is the difference between our subscription set as n is to hear it and as it last heard it,
// empty where there is nothing to say, which costs no time. Call Advertised once n has taken it.
func (t *Table) Changes(n *Neighbor) protocol.Subset {
	if n.wrong == 0 {
		return nil
	}
	changes := make(protocol.Subset, 0, n.wrong)
	for _, r := range t.routes {
		if r.wrong(n) {
			changes = append(changes, protocol.Interest{Feed: r.url, Hops: t.advertised(r, n)})
		}
	}
	return bounded(changes)
}

// Advertised records that n has taken changes. What changed again meanwhile is found with the next.
func (t *Table) Advertised(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		t.tell(n, t.route(in.Feed), max(in.Hops, protocol.Withdrawn))
	}
}

// Advertises reports whether n may still believe that we want the feed: it was not told otherwise yet.
func (t *Table) Advertises(n *Neighbor, u feed.URL) bool {
	r := t.routes[u]
	return r != nil && r.told(n) != protocol.Withdrawn
}

// Doubt records that n may or may not have taken changes: no answer came. They are said again.
func (t *Table) Doubt(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		t.tell(n, t.route(in.Feed), unknown)
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
	best, slot := t.config.MaxHops, n.place() // one more would be too far
	for _, h := range r.via {
		if h.slot != slot {
			best = min(best, int(h.count))
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
		if a.Hops != b.Hops {
			return cmp.Compare(a.Hops, b.Hops)
		}
		return strings.Compare(string(a.Feed), string(b.Feed))
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
	for _, r := range t.own {
		if r.hop(n) >= 0 {
			count++
		}
	}
	return count
}

// Nearest counts the feeds of our own interest in n's subscription set by hop count, 0 to 3.
func (t *Table) Nearest(n *Neighbor) (counts [4]int) {
	for _, r := range t.own {
		if hops, ok := r.heard(n); ok && hops < len(counts) {
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
