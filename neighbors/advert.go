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
func (t *RoutingTable) Offer(id protocol.NodeID) protocol.Subset {
	n := t.byID[id]
	subset := make(protocol.Subset, 0, len(t.routes.list))
	for i, r := range t.routes.list {
		if count := t.advertised(row(i), n); count >= 0 {
			subset = append(subset, protocol.Interest{Feed: r.url, Hops: count})
		}
	}
	return bounded(subset)
}

// MaxIntroduction is how many feeds a stranger hears of before it is a neighbor. Most of those that are asked in a
// large network have no place, and the nearest feeds tell well enough what we would be worth.
const MaxIntroduction = 500

// Introduction is the part of the Offer to a node with which we ask it to become a neighbor: the nearest feeds, our
// own first. The slice is the table's own: read it only.
//
// Differs from the paper, whose connect carries the whole set (§3.1). The rest are Changes once there is a link.
func (t *RoutingTable) Introduction(id protocol.NodeID) protocol.Subset {
	known := t.byID[id] != nil
	if !known && t.stranger != nil {
		return t.stranger
	}
	subset := t.Offer(id)
	if len(subset) > MaxIntroduction {
		subset = slices.Clone(subset[:MaxIntroduction])
	}
	if !known {
		t.stranger = subset
	}
	return subset
}

// Silent reports whether that set is empty.
func (t *RoutingTable) Silent(id protocol.NodeID) bool {
	n := t.byID[id]
	for i := range t.routes.list { // any of them will do
		if t.advertised(row(i), n) >= 0 {
			return false
		}
	}
	return true
}

// Changes is the difference between our subscription set as n is to hear it and as it last heard it,
// empty where there is nothing to say, which costs no time. Call Advertised once n has taken it.
func (t *RoutingTable) Changes(n *Neighbor) protocol.Subset {
	if n.slot == gone || n.knows == t.changed {
		return nil
	}
	var changes protocol.Subset
	for i, r := range t.routes.list {
		if count := t.advertised(row(i), n); count != t.routes.told(row(i), n) {
			changes = append(changes, protocol.Interest{Feed: r.url, Hops: count})
		}
	}
	if len(changes) == 0 {
		n.knows = t.changed
	}
	return bounded(changes)
}

// Misinformed reports whether n believes otherwise of our interest in the feed than we would say now.
func (t *RoutingTable) Misinformed(n *Neighbor, u feed.URL) bool {
	i := t.routes.find(u)
	return i != nowhere && n.slot != gone && t.advertised(i, n) != t.routes.told(i, n)
}

// Advertised records that n has taken changes. Feeds that changed again meanwhile are found with the next.
func (t *RoutingTable) Advertised(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		t.tell(n, t.routes.row(in.Feed), max(in.Hops, protocol.Withdrawn))
	}
}

// Advertises reports whether n may still believe that we want the feed: it was not told otherwise yet.
func (t *RoutingTable) Advertises(n *Neighbor, u feed.URL) bool {
	i := t.routes.find(u)
	return i != nowhere && t.routes.told(i, n) != protocol.Withdrawn
}

// Doubt records that n may or may not have taken changes: no answer came. They are said again.
func (t *RoutingTable) Doubt(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		t.tell(n, t.routes.row(in.Feed), unknown)
	}
}

// advertised is the hop count at which n is to hear of the feed, Withdrawn if it is not.
func (t *RoutingTable) advertised(i row, n *Neighbor) int { return t.interest(i, n, isRelayed) }

// interest is the hop count of our interest in the feed as it is to n, where others' feeds count that have one of these
// marks; Withdrawn if there is none.
func (t *RoutingTable) interest(i row, n *Neighbor, others marks) int {
	switch is := t.routes.list[i].marks; {
	case is&isPrivate != 0:
		return protocol.Withdrawn
	case is&(isOwn|isVolunteered) != 0:
		return 0
	case is&isProspect != 0:
		return 1
	case is&others == 0:
		return protocol.Withdrawn
	}
	best, slot := t.config.MaxHops, n.place() // one more would be too far
	for k, c := range t.routes.of(i) {
		if c.heard > 0 && k != slot {
			best = min(best, int(c.heard)-1)
		}
	}
	if best >= t.config.MaxHops {
		return protocol.Withdrawn
	}
	return best + 1
}

// maxAdvertBytes bounds an advert on the wire; the rest of the 4 MiB is for the envelope.
const maxAdvertBytes = 4<<20 - 16<<10

// bounded sorts the set, nearest interest first, and cuts it to what one message may carry. Changes that are cut from a
// set are told with the next.
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
func (t *RoutingTable) Overlap(n *Neighbor) int {
	count := 0
	for _, i := range t.own {
		if _, ok := t.routes.heard(i, n); ok {
			count++
		}
	}
	return count
}

// Nearest counts the feeds of our own interest in n's subscription set by hop count, 0 to 3.
func (t *RoutingTable) Nearest(n *Neighbor) (counts [4]int) {
	for _, i := range t.own {
		if hops, ok := t.routes.heard(i, n); ok && hops < len(counts) {
			counts[hops]++
		}
	}
	return counts
}

// Offering counts the neighbors that have the feed in their set, within reach.
func (t *RoutingTable) Offering(u feed.URL) int {
	if i := t.routes.find(u); i != nowhere {
		return t.offersBeside(i, nil)
	}
	return 0
}

// Interests returns the feeds in n's subscription set at hop count 0, its own, and at hop count 1. Those that the node
// keeps to itself are left out.
func (t *RoutingTable) Interests(n *Neighbor) (own, near []feed.URL) {
	for i, r := range t.routes.list {
		heard, ok := t.routes.heard(row(i), n)
		switch {
		case !ok || r.marks&isPrivate != 0:
		case heard == 0:
			own = append(own, r.url)
		case heard == 1:
			near = append(near, r.url)
		}
	}
	return own, near
}

// OwnFeeds returns the feeds of our own interest that others may hear of.
func (t *RoutingTable) OwnFeeds() (list []feed.URL) {
	for _, i := range t.own {
		if r := t.routes.list[i]; r.marks&isPrivate == 0 {
			list = append(list, r.url)
		}
	}
	return list
}
