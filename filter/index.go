package filter

import (
	"errors"
	"fmt"

	"feedex/archive"
	"feedex/feed"
)

// An ID names an expression of an Index. Who puts it there chooses it; IDs near each other take the least room.
type ID uint32

// ErrNothing means that an expression holds no word to look for: everything would answer it.
var ErrNothing = errors.New("the filter asks for nothing")

// An Index is a set of expressions, to be asked which of them an entry answers. The zero Index is empty. It must not be
// used by several goroutines at once.
type Index struct {
	dictionary
	places places
	wide   []wide
	unused []uint32 // in wide
	marking
}

// An expression with one anchor is filed there with its code (term.filed), so that those of a term are read one behind
// the other. One with several is kept apart, and filed at each of them by its number.
type wide struct {
	id    ID
	code  []uint32 // nil for one that was removed
	filed int      // at so many terms, as one that was removed or not
}

// The head of what is filed at a term. Behind it stand the ID and the code of an expression, or the number of a wide
// one.
const (
	sizeMask = 1<<8 - 1 // how much stands behind the head
	isWide   = 1 << 8
	isGone   = 1 << 9 // it was removed
)

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
	if len(x.terms) > termMask-1<<16 {
		return errors.New("there are too many filters")
	}
	code, anchors := x.compile(expr)
	x.Remove(id)
	if len(anchors) == 1 {
		t := &x.terms[anchors[0]]
		x.places.put(id, location{anchors[0], uint32(len(t.filed))})
		t.filed = append(t.filed, uint32(1+len(code)), uint32(id))
		t.filed = append(t.filed, code...)
		return nil
	}
	number := uint32(len(x.wide))
	if last := len(x.unused) - 1; last >= 0 {
		number, x.unused = x.unused[last], x.unused[:last]
	} else {
		x.wide = append(x.wide, wide{})
	}
	x.wide[number] = wide{id, code, len(anchors)}
	x.places.put(id, location{wideTerm, number})
	for _, n := range anchors {
		t := &x.terms[n]
		t.filed = append(t.filed, isWide|1, number)
	}
	return nil
}

// Remove takes an expression out, if it is there.
func (x *Index) Remove(id ID) {
	at, ok := x.places.take(id)
	if !ok {
		return
	}
	var code []uint32
	if at.term == wideTerm {
		w := &x.wide[at.at]
		code, w.code = w.code, nil
		for _, op := range code {
			if isAnchor(op) {
				x.gone(op&termMask, 2)
			}
		}
	} else {
		filed := x.terms[at.term].filed[at.at:]
		size := filed[0]
		filed[0] |= isGone
		code = append(code, filed[2:1+size]...)
		x.gone(at.term, 1+size)
	}
	for _, op := range code {
		if isTerm(op) {
			x.release(op & termMask)
		}
	}
}

// gone counts how much of what is filed at a term has been removed, and clears it away when that is the larger part:
// so it takes no longer, all in all, than it took to file it.
func (x *Index) gone(n, size uint32) {
	t := &x.terms[n]
	if t.gone += size; t.gone <= uint32(len(t.filed))/2 {
		return
	}
	left := make([]uint32, 0, uint32(len(t.filed))-t.gone)
	for filed := t.filed; len(filed) > 0; {
		head := filed[0]
		one := filed[:1+head&sizeMask]
		filed = filed[len(one):]
		switch {
		case head&isGone != 0:
			continue
		case head&isWide == 0:
			x.places.put(ID(one[1]), location{n, uint32(len(left))})
		case x.wide[one[1]].code == nil:
			if x.wide[one[1]].filed--; x.wide[one[1]].filed == 0 {
				x.unused = append(x.unused, one[1])
			}
			continue
		}
		left = append(left, one...)
	}
	t.filed, t.gone = left, 0
}

// Match appends to found the IDs of the expressions that e answers, in ascending order.
func (x *Index) Match(e *feed.Entry, found []ID) []ID {
	if x.Len() == 0 {
		return found
	}
	x.read(&x.dictionary, archive.FoldFields(e))
	before := len(found)
	for _, n := range x.held {
		for filed := x.terms[n].filed; len(filed) > 0; {
			head := filed[0]
			one := filed[1 : 1+head&sizeMask]
			filed = filed[1+len(one):]
			if head&^sizeMask == 0 {
				if x.holds(one[1:], false) {
					found = append(found, ID(one[0]))
				}
			} else if head&isWide != 0 {
				if w := &x.wide[one[0]]; x.first(w.code) == n && x.holds(w.code, false) {
					found = append(found, w.id)
				}
			}
		}
	}
	x.forget()
	x.sortIDs(found[before:])
	return found
}

// first returns the first anchor of a code that the entry holds: for that one it is looked at. There is none in the
// code of one that was removed.
func (x *Index) first(code []uint32) uint32 {
	for _, op := range code {
		if isAnchor(op) && x.marks[op&termMask] != 0 {
			return op & termMask
		}
	}
	return anything
}
