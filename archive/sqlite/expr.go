package sqlite

import (
	"strconv"
	"strings"

	"feedex/archive"
	"feedex/feed"
)

// A ftsQuery is a question to the full-text index (https://sqlite.org/fts5.html#full_text_query_syntax). The
// index cannot tell which entries lack a word, only which of those that hold one word lack another: so a
// question may stand for all entries but those that it finds.
type ftsQuery struct {
	text string
	but  bool // all entries but those
}

// ftsPhrase asks for a phrase in some columns. Phrases are folded, so they hold letters, digits and blanks
// only and need no more than quotes.
func ftsPhrase(columns string, p archive.Phrase) string {
	q := columns + ` : "` + p.Text + `"`
	if p.Prefix {
		q += ` *`
	}
	return q
}

// ftsExpr asks what x asks.
func ftsExpr(x *archive.Expr) ftsQuery {
	if x.Op == feed.MatchTerm {
		return ftsQuery{text: ftsPhrase(`{title rest}`, x.Phrase)}
	}
	operands := make([]ftsQuery, len(x.Of))
	for i := range x.Of {
		operands[i] = ftsExpr(&x.Of[i])
	}
	switch x.Op {
	case feed.MatchNot:
		return ftsQuery{operands[0].text, !operands[0].but}
	case feed.MatchOr: // either is what is not neither
		for i := range operands {
			operands[i].but = !operands[i].but
		}
		neither := ftsAll(operands)
		return ftsQuery{neither.text, !neither.but}
	}
	return ftsAll(operands)
}

// ftsAll asks for what answers every one of the questions.
func ftsAll(operands []ftsQuery) ftsQuery {
	var wanted, unwanted []string
	for _, q := range operands {
		if q.but {
			unwanted = append(unwanted, q.text)
		} else {
			wanted = append(wanted, q.text)
		}
	}
	excluded := strings.Join(unwanted, ` OR `)
	switch {
	case len(wanted) == 0:
		return ftsQuery{`(` + excluded + `)`, true}
	case len(unwanted) == 0:
		return ftsQuery{text: `(` + strings.Join(wanted, ` AND `) + `)`}
	}
	return ftsQuery{text: `((` + strings.Join(wanted, ` AND `) + `) NOT (` + excluded + `))`}
}

// match is what the index is asked about the words of the filter, and about its feed, which it knows by a
// number.
func (s *search) match() ftsQuery {
	var all []ftsQuery
	wanted := func(columns string, p archive.Phrase) { all = append(all, ftsQuery{text: ftsPhrase(columns, p)}) }
	if s.feedID != 0 {
		wanted(`feed`, archive.Phrase{Text: strconv.FormatInt(s.feedID, 10)})
	}
	for _, p := range s.Title() {
		wanted(`title`, p)
	}
	for _, p := range s.Words() {
		wanted(`{title rest}`, p)
	}
	if x := s.Expr(); x != nil {
		all = append(all, ftsExpr(x))
	}
	return ftsAll(all)
}
