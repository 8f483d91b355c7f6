package neighbors

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// A Table holds the neighbors and the routes: for each feed, who wants it and at how many hops.
type Table struct {
	config  Config
	list    []*Neighbor // in the order in which they came: effects must not depend on a map's order
	byID    map[protocol.NodeID]*Neighbor
	slots   []*Neighbor // by Neighbor.slot, nil where a slot is free
	routes  map[feed.URL]*route
	own     []*route                // those of our own interest
	weights map[feed.URL]Usefulness // of own feeds, where not 1
	// stranger is our subscription set as strangers hear it, nil where it must be put together anew: connects are
	// tried by the dozen, and hardly anything changes between them.
	stranger protocol.Subset
}

// A Config bounds a Table. All fields but the last must be set.
type Config struct {
	// Max is the most neighbors, 100 or fewer. Paper Table 2, "maximum neighbors".
	Max int
	// MaxHops is the largest hop count advertised and forwarded to. Paper §3.4, max_subset_hops.
	MaxHops int
	// AllowLocal lifts the limit on neighbors of one network for addresses that are not public.
	AllowLocal bool
	// Unspeakable reports of which other feeds the URL says that no neighbor is to hear of them from us.
	// Nil for none.
	Unspeakable func(feed.URL) bool
}

// A Neighbor is a node that we exchange entries with.
type Neighbor struct {
	ID     protocol.NodeID
	Since  time.Time // when the link came about
	Chosen bool      // we asked; otherwise they did
	Static bool      // the owner named it: it is never replaced

	// The host of the table keeps these up to date.
	RTT      time.Duration // smoothed round trip; zero while unknown
	Failures int           // failed calls in a row

	brought tally // what it gave us within a day

	table *Table
	slot  int8 // its place in what the routes keep
	feeds int  // in its subscription set
	bytes int  // of their URLs
	wrong int  // feeds of which it believes otherwise than we would say now
}

// NewTable returns a Table without neighbors.
func NewTable(c Config) *Table {
	return &Table{config: c, byID: make(map[protocol.NodeID]*Neighbor), routes: make(map[feed.URL]*route), weights: make(map[feed.URL]Usefulness)}
}

// Len is the number of neighbors.
func (t *Table) Len() int { return len(t.list) }

// All returns the neighbors, the longest-serving first. The slice is the Table's own: read it, and not
// across Add and Remove.
func (t *Table) All() []*Neighbor { return t.list }

// Add makes id a neighbor whose subscription set is subset, and to which offered was advertised. The
// caller has asked Admit. A neighbor that connects again starts over with its link's age kept:
// repeating connect replaces the earlier state.
func (t *Table) Add(now time.Time, id protocol.NodeID, chosen bool, subset, offered protocol.Subset) *Neighbor {
	n, again := t.byID[id], true
	if n == nil {
		n, again = &Neighbor{ID: id, Since: now, Chosen: chosen, table: t, slot: t.freeSlot()}, false
		t.byID[id] = n
		t.list = append(t.list, n)
		t.slots[n.slot] = n
	} else {
		n.Chosen = n.Chosen || chosen // both of us asked
		t.forget(n)
	}
	said := make(map[*route]int, len(offered))
	for _, in := range offered {
		said[t.route(in.Feed)] = in.Hops
	}
	for _, r := range t.routes {
		hops, ok := said[r]
		if !ok {
			hops = protocol.Withdrawn
		}
		if again && hops != r.told(n) {
			// If both sides connect at once, each has two sets of the other, and nobody knows which of them came
			// last.
			hops = unknown
		}
		t.tell(n, r, hops)
	}
	t.Hear(n, subset)
	return n
}

// freeSlot is a slot that no neighbor has.
func (t *Table) freeSlot() int8 {
	i := slices.Index(t.slots, nil)
	if i < 0 {
		i = len(t.slots)
		t.slots = append(t.slots, nil)
	}
	return int8(i)
}

// Remove ends the neighbor's part in everything; its feeds fall back to other routes at once.
func (t *Table) Remove(id protocol.NodeID) {
	n := t.byID[id]
	if n == nil {
		return
	}
	t.forget(n)
	for _, r := range t.routes {
		if int(n.slot) < len(r.sent) {
			r.sent[n.slot] = belief{count: protocol.Withdrawn} // who has the slot next heard nothing
		}
		t.drop(r)
	}
	t.slots[n.slot] = nil
	n.slot, n.wrong = gone, 0
	delete(t.byID, id)
	t.list = slices.DeleteFunc(t.list, func(other *Neighbor) bool { return other == n })
}

// forget takes back everything that n advertised.
func (t *Table) forget(n *Neighbor) {
	for _, r := range t.routes {
		t.setHop(n, r, protocol.Withdrawn)
	}
	n.feeds, n.bytes = 0, 0
}

// maxHeardBytes bounds the URLs that are kept of one neighbor: no reading list is longer.
const maxHeardBytes = 1 << 20

// Hear applies changes that n advertised to its subscription set. What would make the set larger than
// protocol.MaxSubset is left out, and so are feeds that no node should advertise: whose URL is a secret,
// or on a private network, or that are Unspeakable.
func (t *Table) Hear(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		r := t.routes[in.Feed]
		old, known := r.heard(n)
		switch {
		case in.Hops < 0:
			if !known {
				continue
			}
			n.feeds--
			n.bytes -= len(in.Feed)
		case known && old == in.Hops:
			continue
		case known:
		case (r == nil || !r.speakable) && t.unspeakable(in.Feed), n.feeds >= protocol.MaxSubset, n.bytes+len(in.Feed) > maxHeardBytes:
			continue
		default:
			r = t.route(in.Feed)
			r.speakable = true
			n.feeds++
			n.bytes += len(in.Feed)
		}
		t.setHop(n, r, in.Hops)
	}
}

// unspeakable reports whether the URL alone says that no node should advertise the feed.
func (t *Table) unspeakable(u feed.URL) bool {
	return u.Secret() || u.Local() && !t.config.AllowLocal || t.config.Unspeakable != nil && t.config.Unspeakable(u)
}

// setHop records n's interest in a feed, or with a negative count that there is none any more.
func (t *Table) setHop(n *Neighbor, r *route, count int) {
	i := r.hop(n)
	switch {
	case count >= 0 && i >= 0:
		r.via[i].count = int8(count)
	case count >= 0:
		r.via = append(r.via, hop{n.slot, int8(count)})
	case i >= 0:
		r.via = slices.Delete(r.via, i, i+1)
	default:
		return
	}
	t.touch(r)
}

// Own says whether the feed is in our own direct interest, and may be told to others.
func (t *Table) Own(u feed.URL, own bool) {
	r := t.route(u)
	if own != r.own {
		t.own = slices.DeleteFunc(t.own, func(other *route) bool { return other == r })
		if own {
			t.own = append(t.own, r)
		}
	}
	t.set(r, &r.own, own)
}

// Private says whether the feed must not leave the node. Then it is not advertised, not forwarded and not
// wanted, even if neighbors are interested in it.
func (t *Table) Private(u feed.URL, private bool) {
	r := t.route(u)
	t.set(r, &r.private, private)
}

// set sets a mark of the feed's route, and has the adverts looked at again if that changed it.
func (t *Table) set(r *route, mark *bool, value bool) {
	if *mark == value {
		t.drop(r)
		return
	}
	*mark = value
	t.touch(r)
}

// Wanted reports whether a bundle of the feed is welcome from n: whether we advertise the feed to it,
// because we or other neighbors within reach are interested. What n alone wants it need not bring us.
func (t *Table) Wanted(u feed.URL, n *Neighbor) bool {
	r := t.routes[u]
	return r != nil && t.advertised(r, n) >= 0
}

// Hops is the hop count of our own interest in the feed as n hears of it: 0 where we are interested
// ourselves (see Discreet and Cover), protocol.Withdrawn where nobody within reach is.
func (t *Table) Hops(u feed.URL, n *Neighbor) int {
	if r := t.routes[u]; r != nil {
		return t.advertised(r, n)
	}
	return protocol.Withdrawn
}

// Interested returns the neighbors to which bundles of the feed are forwarded: those in whose
// subscription set it stands at a hop count within MaxHops (Paper §3.4).
func (t *Table) Interested(u feed.URL) []*Neighbor {
	r := t.routes[u]
	if r == nil || r.private {
		return nil
	}
	out := make([]*Neighbor, 0, len(r.via))
	for _, h := range r.via {
		if int(h.count) <= t.config.MaxHops {
			out = append(out, t.slots[h.slot])
		}
	}
	return out
}

// Forwards reports whether bundles of the feed are forwarded to n, which is to say whether it is among those
// Interested.
func (t *Table) Forwards(u feed.URL, n *Neighbor) bool {
	r := t.routes[u]
	count, ok := r.heard(n)
	return ok && !r.private && count <= t.config.MaxHops
}

// Hops is n's hop count of interest in the feed, and whether it has any.
func (n *Neighbor) Hops(u feed.URL) (int, bool) { return n.table.routes[u].heard(n) }

// Feeds is the number of feeds in n's subscription set.
func (n *Neighbor) Feeds() int { return n.feeds }
