package archive

import "feedex/feed"

// An Expr is a feed.Match as searches evaluate it, with its words folded.
type Expr struct {
	Op     feed.MatchOp
	Field  feed.MatchField // of a MatchTerm
	Phrase Phrase          // of a MatchTerm
	Of     []Expr          // the operands of any other Op: one of MatchNot, at least one of the others
}

// newExpr folds m. A term without any letter or number asks for nothing and is left out, with what is left
// without operands by that; nil is nothing at all.
func newExpr(m feed.Match) *Expr {
	if m.Op == feed.MatchTerm {
		if phrases := Phrases([]string{m.Term}); len(phrases) > 0 {
			return &Expr{Op: m.Op, Field: m.Field, Phrase: phrases[0]}
		}
		return nil
	}
	x := Expr{Op: m.Op}
	for i := range m.Of {
		if part := newExpr(m.Of[i]); part != nil {
			x.Of = append(x.Of, *part)
		}
	}
	if len(x.Of) == 0 {
		return nil
	}
	return &x
}

// holds reports whether the expression is true of a text.
func (x *Expr) holds(t *foldedText) bool {
	switch x.Op {
	case feed.MatchTerm:
		return t.holds(x.Field, x.Phrase)
	case feed.MatchNot:
		return !x.Of[0].holds(t)
	}
	// Of OR one operand that holds decides, of AND one that does not.
	for i := range x.Of {
		if holds := x.Of[i].holds(t); holds == (x.Op == feed.MatchOr) {
			return holds
		}
	}
	return x.Op == feed.MatchAnd
}
