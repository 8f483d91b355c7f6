package filter

import (
	"errors"
	"fmt"

	"feedex/archive"
	"feedex/feed"
)

// An ID names an expression of an Index. Who puts it there chooses it; what IDs that are near each other need is the
// least.
type ID uint32

// ErrNothing means that an expression holds no word to look for: everything would answer it.
var ErrNothing = errors.New("the filter asks for nothing")

// An Index is a set of expressions, to be asked which of them an entry answers. The zero Index is empty. It must not be
// used by several goroutines at once.
type Index struct {
	dictionary
	places places
	blocks []uint32 // of all expressions, see block
	unused int      // how much of blocks is of expressions that are not there any more
	reading
}

// A block is what is kept of one expression: its ID; how many anchors it has and how long its code is; for each anchor,
// in the order of the code, at which place of term.anchored the block is; and the code.
type block []uint32

const (
	anchorBits = 8
	anchorMask = 1<<anchorBits - 1
	headSize   = 2
	gone       = 1 << 31 // in the head of an expression that is not there any more

	maxBlocks = 1 << 32 // that a uint32 tells apart
	// fewUnused is what is not worth to be cleared away.
	fewUnused = 4096
)

func (b block) id() ID { return ID(b[0]) }

// anchors is how many terms anchor the expression; where there are none, anything does.
func (b block) anchors() int { return int(b[1] & anchorMask) }

// at are the places of the block, one for each anchor.
func (b block) at() []uint32 { return b[headSize : headSize+max(1, b.anchors())] }

func (b block) code() []uint32 {
	from := headSize + max(1, b.anchors())
	return b[from : from+int(b[1]&^gone>>anchorBits)]
}

func (b block) size() int { return headSize + max(1, b.anchors()) + int(b[1]&^gone>>anchorBits) }

// eachAnchor yields the anchors, which are marked in the code.
func (b block) eachAnchor(yield func(i int, n uint32) bool) {
	if b.anchors() == 0 {
		yield(0, anything)
		return
	}
	i := 0
	for _, op := range b.code() {
		if isTerm(op) && op&opAnchor != 0 {
			if !yield(i, op&termMask) {
				return
			}
			i++
		}
	}
}

// Len is how many expressions there are.
func (x *Index) Len() int { return x.places.n }

// Put adds an expression, in place of the one of that ID if there is one. An error leaves that one as it was.
func (x *Index) Put(id ID, m feed.Match) error {
	expr := archive.NewMatcher(feed.Filter{Match: m}).Expr()
	if expr == nil {
		return ErrNothing
	}
	if n := countTerms(expr); n > feed.MaxMatchTerms {
		return fmt.Errorf("the filter has %d words and phrases, the limit is %d", n, feed.MaxMatchTerms)
	}
	if len(x.blocks) > maxBlocks-1<<anchorBits || len(x.terms) > termMask-1<<16 {
		return errors.New("there are too many filters")
	}
	code, anchors := x.compile(expr)
	x.Remove(id)
	at := uint32(len(x.blocks))
	x.places.put(id, at)
	x.blocks = append(x.blocks, uint32(id), uint32(len(code)<<anchorBits|anchors))
	for range max(1, anchors) {
		x.blocks = append(x.blocks, 0)
	}
	x.blocks = append(x.blocks, code...)
	b := block(x.blocks[at:])
	for i, n := range b.eachAnchor {
		t := &x.terms[n]
		b.at()[i] = uint32(len(t.anchored))
		t.anchored = append(t.anchored, at)
	}
	return nil
}

// Remove takes an expression out, if it is there.
func (x *Index) Remove(id ID) {
	at, ok := x.places.take(id)
	if !ok {
		return
	}
	b := block(x.blocks[at:])
	for i, n := range b.eachAnchor {
		x.unanchor(n, b.at()[i])
	}
	for _, op := range b.code() {
		if isTerm(op) {
			x.release(op & termMask)
		}
	}
	b[1] |= gone
	if x.unused += b.size(); x.unused > max(len(x.blocks)/2, fewUnused) {
		x.compact()
	}
}

// unanchor takes a block from those of a term, of which the last comes to its place.
func (x *Index) unanchor(n, place uint32) {
	t := &x.terms[n]
	last := len(t.anchored) - 1
	moved := t.anchored[last]
	t.anchored[place] = moved
	b := block(x.blocks[moved:])
	for i, anchor := range b.eachAnchor {
		if anchor == n {
			b.at()[i] = place
		}
	}
	if t.anchored = t.anchored[:last]; cap(t.anchored) > 8 && last < cap(t.anchored)/4 {
		t.anchored = append(make([]uint32, 0, 2*last), t.anchored...)
	}
}

// compact clears away the blocks that are not there any more. It takes as long as as many were removed took, and more.
func (x *Index) compact() {
	left := make([]uint32, 0, len(x.blocks)-x.unused)
	for rest := block(x.blocks); len(rest) > 0; {
		b := rest[:rest.size()]
		rest = rest[len(b):]
		if b[1]&gone != 0 {
			continue
		}
		at := uint32(len(left))
		left = append(left, b...)
		x.places.put(b.id(), at)
		for i, n := range b.eachAnchor {
			x.terms[n].anchored[b.at()[i]] = at
		}
	}
	x.blocks, x.unused = left, 0
}

// Match appends to found the IDs of the expressions that e answers, in ascending order.
func (x *Index) Match(e *feed.Entry, found []ID) []ID {
	if x.Len() == 0 {
		return found
	}
	x.read(&x.dictionary, archive.FoldFields(e))
	before := len(found)
	for _, n := range x.held {
		for _, at := range x.terms[n].anchored {
			if b := block(x.blocks[at:]); x.first(b, n) && x.holds(b.code(), false) {
				found = append(found, b.id())
			}
		}
	}
	x.forget()
	sortIDs(found[before:])
	return found
}

// first reports whether n is the first anchor of the expression that the entry holds: for that one it is looked at.
func (x *Index) first(b block, n uint32) bool {
	if b.anchors() <= 1 {
		return true
	}
	for _, anchor := range b.eachAnchor {
		if x.marks[anchor] != 0 {
			return anchor == n
		}
	}
	return true
}
