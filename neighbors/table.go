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
	routes  map[feed.URL]*route
	weights map[feed.URL]Usefulness // of own feeds, where not 1
}

// A Config bounds a Table. All fields but the last must be set.
type Config struct {
	// Max is the most neighbors. Paper Table 2, "maximum neighbors".
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

	heard map[feed.URL]int      // its subscription set: hop count of interest
	bytes int                   // of the URLs in heard
	sent  map[feed.URL]int      // our set as it last heard it
	dirty map[feed.URL]struct{} // feeds whose advert to it may have changed since
}

// A route tells who is interested in a feed.
type route struct {
	own      bool // we are, and may say so
	discreet bool // but not that it is we
	cover    bool // we say that we are
	private  bool // nobody is to hear of it from us, whoever is interested
	via      []hop
}

// A hop is one neighbor's interest in a feed.
type hop struct {
	to    *Neighbor
	count int
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
	n := t.byID[id]
	if n == nil {
		n = &Neighbor{ID: id, Since: now, Chosen: chosen}
		t.byID[id] = n
		t.list = append(t.list, n)
	} else {
		n.Chosen = n.Chosen || chosen // both of us asked
		t.forget(n)
	}
	before := n.sent
	n.heard = make(map[feed.URL]int, len(subset))
	n.sent = make(map[feed.URL]int, len(offered))
	n.dirty = make(map[feed.URL]struct{})
	for _, in := range offered {
		n.sent[in.Feed] = in.Hops
	}
	n.doubtBefore(before, offered)
	t.Hear(n, subset)
	// Whatever changed since offered was computed is found at the next advert.
	for u := range t.routes {
		n.dirty[u] = struct{}{}
	}
	for u := range n.sent {
		n.dirty[u] = struct{}{} // it may have no route any more
	}
	return n
}

// doubtBefore doubts where offered differs from what was advertised in an earlier connect. If both sides connect
// at once, each has two sets of the other, and nobody knows which of them came last.
func (n *Neighbor) doubtBefore(before map[feed.URL]int, offered protocol.Subset) {
	if before == nil {
		return
	}
	for _, in := range offered {
		if hops, ok := before[in.Feed]; !ok || hops != in.Hops {
			n.sent[in.Feed] = unknown
		}
	}
	for u := range before {
		if _, ok := n.sent[u]; !ok {
			n.sent[u] = unknown
		}
	}
}

// Remove ends the neighbor's part in everything; its feeds fall back to other routes at once.
func (t *Table) Remove(id protocol.NodeID) {
	n := t.byID[id]
	if n == nil {
		return
	}
	t.forget(n)
	delete(t.byID, id)
	t.list = slices.DeleteFunc(t.list, func(other *Neighbor) bool { return other == n })
}

// forget takes back everything that n advertised.
func (t *Table) forget(n *Neighbor) {
	for u := range n.heard {
		t.setHop(n, u, protocol.Withdrawn)
	}
	n.heard, n.bytes = nil, 0
}

// maxHeardBytes bounds the URLs that are kept of one neighbor: no reading list is longer.
const maxHeardBytes = 1 << 20

// Hear applies changes that n advertised to its subscription set. What would make the set larger than
// protocol.MaxSubset is left out, and so are feeds that no node should advertise: whose URL is a secret,
// or on a private network, or that are Unspeakable.
func (t *Table) Hear(n *Neighbor, changes protocol.Subset) {
	for _, in := range changes {
		old, known := n.heard[in.Feed]
		switch {
		case in.Hops < 0:
			if !known {
				continue
			}
			delete(n.heard, in.Feed)
			n.bytes -= len(in.Feed)
		case known && old == in.Hops, t.unspeakable(in.Feed):
			continue
		case known:
			n.heard[in.Feed] = in.Hops
		case len(n.heard) >= protocol.MaxSubset || n.bytes+len(in.Feed) > maxHeardBytes:
			continue
		default:
			n.heard[in.Feed] = in.Hops
			n.bytes += len(in.Feed)
		}
		t.setHop(n, in.Feed, in.Hops)
	}
}

// unspeakable reports whether the URL alone says that no node should advertise the feed.
func (t *Table) unspeakable(u feed.URL) bool {
	return u.Secret() || u.Local() && !t.config.AllowLocal || t.config.Unspeakable != nil && t.config.Unspeakable(u)
}

// setHop records n's interest in u, or with a negative count that there is none any more.
func (t *Table) setHop(n *Neighbor, u feed.URL, count int) {
	r := t.route(u)
	i := slices.IndexFunc(r.via, func(h hop) bool { return h.to == n })
	switch {
	case count < 0 && i >= 0:
		r.via = slices.Delete(r.via, i, i+1)
	case i >= 0:
		r.via[i].count = count
	case count >= 0:
		r.via = append(r.via, hop{n, count})
	}
	t.touch(u, r)
}

// Own says whether the feed is in our own direct interest, and may be told to others.
func (t *Table) Own(u feed.URL, own bool) {
	r := t.route(u)
	t.set(u, r, &r.own, own)
}

// Private says whether the feed must not leave the node. Then it is not advertised, not forwarded and not
// wanted, even if neighbors are interested in it.
func (t *Table) Private(u feed.URL, private bool) {
	r := t.route(u)
	t.set(u, r, &r.private, private)
}

// set sets a mark of the feed's route, and has the adverts looked at again if that changed it.
func (t *Table) set(u feed.URL, r *route, mark *bool, value bool) {
	if *mark == value {
		t.drop(u, r)
		return
	}
	*mark = value
	t.touch(u, r)
}

func (t *Table) route(u feed.URL) *route {
	r := t.routes[u]
	if r == nil {
		r = &route{}
		t.routes[u] = r
	}
	return r
}

// touch has the feed's advert looked at again to every neighbor that was told otherwise. What is as the neighbor
// believes needs no look: feeds that come and go between two adverts must not pile up.
func (t *Table) touch(u feed.URL, r *route) {
	for _, n := range t.list {
		if n.told(u) == t.advertised(r, n) {
			delete(n.dirty, u)
		} else {
			n.dirty[u] = struct{}{}
		}
	}
	t.drop(u, r)
}

// drop forgets a route that nobody is interested in.
func (t *Table) drop(u feed.URL, r *route) {
	if !r.own && !r.discreet && !r.cover && !r.private && len(r.via) == 0 {
		delete(t.routes, u)
	}
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
		if h.count <= t.config.MaxHops {
			out = append(out, h.to)
		}
	}
	return out
}

// Hops is n's hop count of interest in the feed, and whether it has any.
func (n *Neighbor) Hops(u feed.URL) (int, bool) {
	count, ok := n.heard[u]
	return count, ok
}

// Feeds is the number of feeds in n's subscription set.
func (n *Neighbor) Feeds() int { return len(n.heard) }
