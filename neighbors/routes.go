package neighbors

import (
	"feedex/feed"
	"feedex/protocol"
)

// Routes tell, for each feed, which neighbors are interested in it, and what the neighbors were told of our interest.
// There is a route as long as anybody is, or may be believed to be. In large networks a node has thousands of routes,
// and few neighbors: so what belongs to a neighbor has a column, by its slot.
type routes struct {
	list  []route // without gaps: the last takes the place of one that is removed
	cells []cell  // as many to each route as there are columns
	width int     // columns
	rows  map[feed.URL]row
}

// A route has the properties of a feed's route beside its cells.
type route struct {
	url   feed.URL
	marks marks
	rest  uint8 // how many judgements the relay rests for
}

// marks are the properties of a feed that do not depend on which neighbors are interested in it.
type marks uint8

const (
	isOwn         marks = 1 << iota // we are interested, and may say so
	isVolunteered                   // we poll it for others, and say that we are
	isProspect                      // we may come to poll it for others
	isPrivate                       // nobody is to hear of it from us, interested or not
	isRelayed                       // we take part for others' sake
	isLeaving                       // we did up to the last choice, and somebody may be about to bring us something
	isSpare                         // all neighbors that want it have from others what came last
	isSpeakable                     // its URL may be said, as far as that was looked into

	holding = isOwn | isVolunteered | isProspect | isPrivate // marks that a route is kept for
)

// A cell is the relation of a neighbor to a feed. The zero cell is nothing.
type cell struct {
	heard int8 // the hop count of its interest, and one; 0 for none
	told  int8 // that of our interest as it last heard it, and one; 0 where it does not know of any
}

// unknown stands for the hop count of a feed of which we do not know what the neighbor believes.
const unknown = -2

// A row is the index of a route. It is good until a route is dropped.
type row int32

// nowhere is the row of a feed that has no route.
const nowhere row = -1

// find is the row of a feed.
func (r *routes) find(u feed.URL) row {
	if i, ok := r.rows[u]; ok {
		return i
	}
	return nowhere
}

// row is the row of a feed, which may be new.
func (r *routes) row(u feed.URL) row {
	if i := r.find(u); i != nowhere {
		return i
	}
	r.list = append(r.list, route{url: u})
	r.cells = append(r.cells, make([]cell, r.width)...)
	if r.rows == nil {
		r.rows = make(map[feed.URL]row)
	}
	i := row(len(r.list) - 1)
	r.rows[u] = i
	return i
}

// remove takes out a route, in whose place comes the one that was at the row moved, or none where both are the same.
func (r *routes) remove(i row) (moved row) {
	moved = row(len(r.list) - 1)
	delete(r.rows, r.list[i].url)
	if i != moved {
		r.list[i] = r.list[moved]
		copy(r.of(i), r.of(moved))
		r.rows[r.list[i].url] = i
	}
	r.list[moved] = route{}
	r.list, r.cells = r.list[:moved], r.cells[:int(moved)*r.width]
	return moved
}

// of are the cells of a route, by slot.
func (r *routes) of(i row) []cell { return r.cells[int(i)*r.width : (int(i)+1)*r.width] }

// widen makes room for one more column.
func (r *routes) widen() {
	cells := make([]cell, len(r.list)*(r.width+1))
	for i := range r.list {
		copy(cells[i*(r.width+1):], r.of(row(i)))
	}
	r.cells = cells
	r.width++
}

// gone is the slot of a node that is no neighbor any more, and of a stranger.
const gone = -1

// place is the slot of n, which may be nil for a stranger.
func (n *Neighbor) place() int {
	if n == nil {
		return gone
	}
	return int(n.slot)
}

// heard is n's hop count of interest in a feed, and whether it has any. The feed may have no route.
func (r *routes) heard(i row, n *Neighbor) (count int, ok bool) {
	if i == nowhere || n.slot == gone {
		return 0, false
	}
	count = int(r.of(i)[n.slot].heard) - 1
	return count, count >= 0
}

// told is at what hop count n last heard of the feed, Withdrawn if it did not.
func (r *routes) told(i row, n *Neighbor) int {
	if n.slot == gone {
		return protocol.Withdrawn
	}
	return int(r.of(i)[n.slot].told) - 1
}

// empty reports whether nobody is interested in the feed, and nobody believes so.
func (r *routes) empty(i row) bool {
	if r.list[i].marks&holding != 0 {
		return false
	}
	for _, c := range r.of(i) {
		if c != (cell{}) {
			return false
		}
	}
	return true
}
