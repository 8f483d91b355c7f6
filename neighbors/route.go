package neighbors

import (
	"slices"

	"feedex/feed"
	"feedex/protocol"
)

// A route tells who is interested in a feed, and what the neighbors were told of our interest. There is one as
// long as anybody is, or may be believed to be. It knows neighbors by their slot: a node has many routes, and few
// neighbors.
type route struct {
	url       feed.URL
	own       bool // we are interested, and may say so
	discreet  bool // but not that it is we
	cover     bool // we say that we are
	private   bool // nobody is to hear of it from us, whoever is interested
	speakable bool // its URL may be said, as far as that was looked into
	via       []hop
	sent      []belief // by slot; neighbors beyond the end heard nothing
}

// A belief is what a neighbor believes of our interest in a feed.
type belief struct {
	count int8 // our hop count as it last heard it, Withdrawn, or unknown
	wrong bool // it is another than we would say now
}

// A hop is one neighbor's interest in a feed.
type hop struct{ slot, count int8 }

// gone is the slot of who is no neighbor any more, and of a stranger.
const gone = -1

// place is the slot of n, which may be nil for a stranger.
func (n *Neighbor) place() int8 {
	if n == nil {
		return gone
	}
	return n.slot
}

// unknown stands for the hop count of a feed of which we do not know what the neighbor believes.
const unknown = -2

// hop is the index of n's interest in via, negative where it has none.
func (r *route) hop(n *Neighbor) int {
	for i := range r.via {
		if r.via[i].slot == n.slot {
			return i
		}
	}
	return -1
}

// heard is n's hop count of interest, and whether it has any. The route may be nil.
func (r *route) heard(n *Neighbor) (count int, ok bool) {
	if r == nil {
		return 0, false
	}
	i := r.hop(n)
	if i < 0 {
		return 0, false
	}
	return int(r.via[i].count), true
}

// told is at what hop count n last heard of the feed, Withdrawn if it did not.
func (r *route) told(n *Neighbor) int {
	if n.slot == gone || int(n.slot) >= len(r.sent) {
		return protocol.Withdrawn
	}
	return int(r.sent[n.slot].count)
}

// wrong reports whether n believes otherwise of the feed than we would say now.
func (r *route) wrong(n *Neighbor) bool {
	return n.slot != gone && int(n.slot) < len(r.sent) && r.sent[n.slot].wrong
}

// belief is n's belief about the feed, to be changed.
func (r *route) belief(n *Neighbor) *belief {
	for len(r.sent) <= int(n.slot) {
		r.sent = append(r.sent, belief{count: protocol.Withdrawn})
	}
	return &r.sent[n.slot]
}

// tell notes what n believes of our interest in the feed.
func (t *Table) tell(n *Neighbor, r *route, count int) {
	if n.slot == gone {
		return
	}
	r.belief(n).count = int8(count)
	t.compare(n, r)
	t.drop(r)
}

// compare sees to it that n is told of the feed if it believes otherwise.
func (t *Table) compare(n *Neighbor, r *route) {
	wrong := r.told(n) != t.advertised(r, n)
	if wrong == r.wrong(n) {
		return
	}
	r.belief(n).wrong = wrong
	if wrong {
		n.wrong++
	} else {
		n.wrong--
	}
}

// route is the feed's route, which may be new.
func (t *Table) route(u feed.URL) *route {
	r := t.routes[u]
	if r == nil {
		r = &route{url: u}
		t.routes[u] = r
	}
	return r
}

// touch has the feed's advert looked at again to every neighbor that was told otherwise. What is as the neighbor
// believes needs no look: feeds that come and go between two adverts must not pile up.
func (t *Table) touch(r *route) {
	t.stranger = nil
	for _, n := range t.list {
		t.compare(n, r)
	}
	t.drop(r)
}

// drop forgets a route that nobody is interested in, and of which nobody believes so.
func (t *Table) drop(r *route) {
	if !r.own && !r.discreet && !r.cover && !r.private && len(r.via) == 0 &&
		!slices.ContainsFunc(r.sent, func(b belief) bool { return b.count != protocol.Withdrawn }) {
		delete(t.routes, r.url)
	}
}
