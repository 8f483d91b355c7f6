package sqlite

import (
	"cmp"
	"fmt"
	"strings"

	"feedex/archive"
	"feedex/feed"
)

// A ftsQuery is a question to the full-text index (https://sqlite.org/fts5.html#full_text_query_syntax). The
// index cannot tell which entries lack a word, only which of those that hold one word lack another: so a
// question may stand for all entries but those that it finds.
type ftsQuery struct {
	text  string
	but   bool // all entries but those
	loose bool // text finds all that it is to find, and more: what it finds has to be read
}

// ftsPhrase asks for a phrase in some columns. Phrases are folded, so they hold letters, digits and blanks
// only and need no more than quotes.
func (s *search) ftsPhrase(columns string, p archive.Phrase) (ftsQuery, error) {
	if p.Prefix {
		return s.prefixed(columns, p)
	}
	return ftsQuery{text: columns + ` : "` + p.Text + `"`}, nil
}

// ftsExpr asks what x asks.
func (s *search) ftsExpr(x *archive.Expr) (ftsQuery, error) {
	if x.Op == feed.MatchTerm {
		return s.ftsPhrase(`{title rest}`, x.Phrase)
	}
	operands := make([]ftsQuery, len(x.Of))
	for i := range x.Of {
		var err error
		if operands[i], err = s.ftsExpr(&x.Of[i]); err != nil {
			return ftsQuery{}, err
		}
	}
	switch x.Op {
	case feed.MatchNot:
		operands[0].but = !operands[0].but
		return operands[0], nil
	case feed.MatchOr: // either is what is not neither
		for i := range operands {
			operands[i].but = !operands[i].but
		}
		neither := ftsAll(operands)
		neither.but = !neither.but
		return neither, nil
	}
	return ftsAll(operands), nil
}

// ftsAll asks for what answers every one of the questions. What is wanted may be loose; what is unwanted may not, or
// too much would be left out.
func ftsAll(operands []ftsQuery) ftsQuery {
	var wanted, unwanted []string
	var looseWanted, looseUnwanted bool
	for _, q := range operands {
		if q.but {
			unwanted, looseUnwanted = append(unwanted, q.text), looseUnwanted || q.loose
		} else {
			wanted, looseWanted = append(wanted, q.text), looseWanted || q.loose
		}
	}
	excluded := strings.Join(unwanted, ` OR `)
	all := `(` + strings.Join(wanted, ` AND `) + `)`
	switch {
	case len(wanted) == 0:
		return ftsQuery{`(` + excluded + `)`, true, looseUnwanted}
	case len(unwanted) == 0, looseUnwanted:
		return ftsQuery{all, false, looseWanted || looseUnwanted}
	}
	return ftsQuery{`(` + all + ` NOT (` + excluded + `))`, false, looseWanted}
}

// match is what the index is asked about the words of the filter, and about its feed, which it knows by a number. What
// others know apart may be there by the one or the other.
func (s *search) match() (ftsQuery, error) {
	var all []ftsQuery
	var err error
	wanted := func(columns string, p archive.Phrase) {
		if err == nil {
			var q ftsQuery
			q, err = s.ftsPhrase(columns, p)
			all = append(all, q)
		}
	}
	if s.feedID != 0 {
		all = append(all, ftsQuery{text: fmt.Sprintf(`feed : ("%d" OR "%d")`, s.feedID, cmp.Or(s.apart, s.feedID))})
	}
	for _, p := range s.Title() {
		wanted(`title`, p)
	}
	for _, p := range s.Words() {
		wanted(`{title rest}`, p)
	}
	if x := s.Expr(); x != nil && err == nil {
		var q ftsQuery
		q, err = s.ftsExpr(x)
		all = append(all, q)
	}
	if err != nil {
		return ftsQuery{}, err
	}
	return ftsAll(all), nil
}
