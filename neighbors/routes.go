package neighbors

import (
	"hash/maphash"

	"feedex/feed"
	"feedex/protocol"
)

// Routes tell, for each feed, which neighbors are interested in it, and what the neighbors were told of our interest.
// There is a route as long as anybody is, or may be believed to be. In large networks a node has thousands of routes,
// and few neighbors: so what belongs to a neighbor has a column, by its slot, and all lie in two lists, in a third of
// what maps and lists of their own take.
type routes struct {
	list  []route // without gaps: the last takes the place of one that is removed
	cells []cell  // as many to each route as there are columns
	width int     // columns
	heads []int32 // of chains through routes of like hash: an index into list plus one, 0 for none; a power of two
	seed  maphash.Seed
}

// A route is what there is to say of a feed's route beside its cells.
type route struct {
	url   feed.URL
	next  int32 // in the chain, as in heads
	marks marks
	rest  uint8 // how many judgements the relay rests for
}

// marks are what a table knows of a feed whichever neighbors are interested in it.
type marks uint8

const (
	isOwn       marks = 1 << iota // we are interested, and may say so
	isCover                       // we say that we are
	isPrivate                     // nobody is to hear of it from us, interested or not
	isRelayed                     // we take part for others' sake
	isLeaving                     // we did up to the last choice, and somebody may be about to bring us something
	isSpare                       // all neighbors that want it have from others what came last
	isSpeakable                   // its URL may be said, as far as that was looked into

	holding = isOwn | isCover | isPrivate // marks that a route is kept for
)

// A cell is what a neighbor has to do with a feed. The zero cell is nothing.
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
	if len(r.list) == 0 {
		return nowhere
	}
	at := *r.head(u)
	for at != 0 && r.list[at-1].url != u {
		at = r.list[at-1].next
	}
	return row(at) - 1
}

// row is the row of a feed, which may be new.
func (r *routes) row(u feed.URL) row {
	if i := r.find(u); i != nowhere {
		return i
	}
	if n := len(r.list); n == cap(r.list) { // an eighth more, so that not each has all of them moved
		r.list = append(make([]route, 0, n+n/8+8), r.list...)
		r.cells = append(make([]cell, 0, cap(r.list)*r.width), r.cells...)
	}
	r.list = append(r.list, route{url: u})
	r.cells = append(r.cells, make([]cell, r.width)...)
	i := row(len(r.list) - 1)
	if len(r.list) > len(r.heads) {
		r.chain()
	} else {
		r.link(i)
	}
	return i
}

// remove takes out a route, in whose place comes the one that was at the row moved, or none where both are the same.
func (r *routes) remove(i row) (moved row) {
	moved = row(len(r.list) - 1)
	r.unlink(i)
	if i != moved {
		r.unlink(moved)
		r.list[i] = r.list[moved]
		copy(r.of(i), r.of(moved))
		r.link(i)
	}
	r.list[moved] = route{}
	r.list, r.cells = r.list[:moved], r.cells[:int(moved)*r.width]
	return moved
}

// of are the cells of a route, by slot.
func (r *routes) of(i row) []cell { return r.cells[int(i)*r.width : (int(i)+1)*r.width] }

// widen makes room for one more column.
func (r *routes) widen() {
	cells := make([]cell, len(r.list)*(r.width+1), cap(r.list)*(r.width+1))
	for i := range r.list {
		copy(cells[i*(r.width+1):], r.of(row(i)))
	}
	r.cells = cells
	r.width++
}

// chain makes the chains anew, as many as there may be routes.
func (r *routes) chain() {
	if len(r.heads) == 0 {
		r.seed = maphash.MakeSeed()
	}
	r.heads = make([]int32, max(8, 2*len(r.heads)))
	for i := range r.list {
		r.link(row(i))
	}
}

// link puts a route at the head of its chain, and unlink takes it out.
func (r *routes) link(i row) {
	head := r.head(r.list[i].url)
	r.list[i].next, *head = *head, int32(i)+1
}

func (r *routes) unlink(i row) {
	at := r.head(r.list[i].url)
	for *at != int32(i)+1 {
		at = &r.list[*at-1].next
	}
	*at = r.list[i].next
}

// head is the head of the chain that a feed belongs into. URLs can be chosen; the seed is nobody's choice.
func (r *routes) head(u feed.URL) *int32 {
	return &r.heads[maphash.String(r.seed, string(u))&uint64(len(r.heads)-1)]
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
