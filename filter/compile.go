package filter

import (
	"slices"

	"feedex/archive"
	"feedex/feed"
)

// The code of an expression is a list of operations of which each must hold. One is a term, with the fields in which it
// is looked for, or it joins those behind it by AND or OR. NOT stands at terms only.
//
//	term:   fields (5 bits, not 0), negated, anchor, number of the term (25 bits)
//	joined: 0 (5 bits), or, 0, how long its operands are (25 bits)
const (
	termBits = 25
	termMask = 1<<termBits - 1

	opAnchor  = 1 << termBits
	opNegated = 1 << (termBits + 1)
	opOr      = 1 << (termBits + 1) // where there are no fields
	opFields  = termBits + 2
)

// Fields in which words stand, as bits.
const (
	inTitle = 1 << iota
	inAuthors
	inCategories
	inText
	inFeed
)

// fieldsOf are the fields in which a term may stand.
var fieldsOf = [...]uint32{
	feed.FieldAny:      inTitle | inAuthors | inCategories | inText,
	feed.FieldTitle:    inTitle,
	feed.FieldAuthor:   inAuthors,
	feed.FieldCategory: inCategories,
	feed.FieldFeed:     inFeed,
}

// A compiled is the code of an expression and its anchors, as they are found.
type compiled struct {
	*dictionary
	code []uint32
}

// A cover is a set of terms of which an entry holds one if it answers an expression: where their operations stand in
// the code. It is nil where there is no such set.
type cover struct {
	at   []int
	cost int
}

// better reports whether c is a cover, and to be preferred to another.
func (c cover) better(other cover) bool {
	return c.at != nil && (other.at == nil || c.cost < other.cost)
}

// write appends the code of x, or of what is not x. Its terms are entered.
func (c *compiled) write(x *archive.Expr, negated bool) cover {
	switch x.Op {
	case feed.MatchTerm:
		n := c.enter(x.Phrase)
		op := fieldsOf[x.Field]<<opFields | n
		if negated {
			c.code = append(c.code, op|opNegated)
			return cover{}
		}
		c.code = append(c.code, op)
		return cover{[]int{len(c.code) - 1}, c.cost(n)}
	case feed.MatchNot:
		return c.write(&x.Of[0], !negated)
	}
	joined := len(c.code)
	c.code = append(c.code, 0)
	var all cover
	if or := (x.Op == feed.MatchOr) != negated; or {
		c.code[joined] = opOr
		all = c.writeOr(x.Of, negated)
	} else {
		all = c.writeAnd(x.Of, negated)
	}
	c.code[joined] |= uint32(len(c.code) - joined - 1)
	return all
}

// writeAnd returns the best cover of an operand.
func (c *compiled) writeAnd(operands []archive.Expr, negated bool) (best cover) {
	for i := range operands {
		if found := c.write(&operands[i], negated); found.better(best) {
			best = found
		}
	}
	return best
}

// writeOr returns the covers of all operands together.
func (c *compiled) writeOr(operands []archive.Expr, negated bool) (all cover) {
	covered := true
	for i := range operands {
		found := c.write(&operands[i], negated)
		covered = covered && found.at != nil
		all.at, all.cost = append(all.at, found.at...), all.cost+found.cost
	}
	if !covered {
		return cover{}
	}
	return all
}

// compile returns the code of x, and its anchors in the order in which they are marked there, none of them twice; only
// anything where there is no cover.
func (d *dictionary) compile(x *archive.Expr) (code, anchors []uint32) {
	c := compiled{dictionary: d}
	found := c.write(x, false)
	for _, at := range found.at {
		if n := c.code[at] & termMask; !slices.Contains(anchors, n) {
			anchors = append(anchors, n)
			c.code[at] |= opAnchor
		}
	}
	if len(anchors) == 0 {
		anchors = []uint32{anything}
	}
	if first := c.code[0]; !isTerm(first) && first&opOr == 0 {
		c.code = c.code[1:] // operands of AND, as all of the code
	}
	return c.code, anchors
}

// isTerm reports whether an operation looks for a term.
func isTerm(op uint32) bool { return op>>opFields != 0 }

// isAnchor reports whether it looks for one that is an anchor.
func isAnchor(op uint32) bool { return isTerm(op) && op&opAnchor != 0 }

// countTerms is how many terms x has.
func countTerms(x *archive.Expr) int {
	if x.Op == feed.MatchTerm {
		return 1
	}
	n := 0
	for i := range x.Of {
		n += countTerms(&x.Of[i])
	}
	return n
}
