package sqlite

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

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
		return s.ftsTerm(x.Field, x.Phrase)
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
	case feed.MatchOr: // either is the complement of neither
		for i := range operands {
			operands[i].but = !operands[i].but
		}
		neither := ftsAll(operands)
		neither.but = !neither.but
		return neither, nil
	}
	return ftsAll(operands), nil
}

// ftsTerm asks for a phrase in a field. Of what is no title the index does not know the fields.
func (s *search) ftsTerm(field feed.MatchField, p archive.Phrase) (ftsQuery, error) {
	switch field {
	case feed.FieldTitle:
		return s.ftsPhrase(`title`, p)
	case feed.FieldFeed:
		return s.ftsFeeds(p)
	case feed.FieldAuthor, feed.FieldCategory:
		q, err := s.ftsPhrase(`rest`, p)
		q.loose = true
		return q, err
	}
	return s.ftsPhrase(`{title rest}`, p)
}

// ftsFeeds asks for the entries of feeds whose addresses hold a phrase. Where those are many it asks for the entries
// of all feeds: their numbers begin with a digit.
func (s *search) ftsFeeds(p archive.Phrase) (ftsQuery, error) {
	if s.addresses == nil {
		s.addresses = []addressWords{}
		for a, err := range found(s.ctx, s.tx, readAddress, `SELECT id, url FROM feeds`) {
			if err != nil {
				return ftsQuery{}, err
			}
			s.addresses = append(s.addresses, a)
		}
	}
	numbers := []string{`"0"`} // which is that of no feed
	for _, a := range s.addresses {
		if p.In(a.folded) {
			numbers = append(numbers, `"`+strconv.FormatInt(a.feed, 10)+`"`)
		}
	}
	if len(numbers) > s.maxTerms {
		return ftsQuery{text: `feed : ("1" * OR "2" * OR "3" * OR "4" * OR "5" * OR "6" * OR "7" * OR "8" * OR "9" *)`,
			loose: true}, nil
	}
	s.maxTerms -= len(numbers)
	return ftsQuery{text: `feed : (` + strings.Join(numbers, ` OR `) + `)`}, nil
}

// addressWords are the address of a feed, folded.
type addressWords struct {
	feed   int64
	folded string
}

func readAddress(row rowScanner) (a addressWords, err error) {
	var u feed.URL
	err = scan(row, &a.feed, &u)
	u, _ = apartOf(u)
	a.folded = archive.FoldFeed(u)
	return a, err
}

// ftsAll asks for what answers every one of the questions. A wanted operand may be loose; an unwanted one may not, or
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

// match is the question to the index about the words of the filter, and about its feed, which it knows by a number.
// Entries that others know apart may be there by the one or the other.
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

// The index is asked for a word with any ending in a way that takes the less time the less that is, however much the
// archive holds: by itself it would first merge the lists of all words that begin so, which may be a good part of the
// index, within one step that heeds no deadline.
//
//   - For the first one or two characters it has such lists already.
//   - Otherwise it is asked for each of the words that begin so, if they are few.
//   - If they are many it is asked for the first two characters: the answer is then loose, and what it names is read.

const (
	// indexedPrefix is how many characters have a list of their own: see the table words.
	indexedPrefix = 2
	// maxTerms is how many words stand for the prefixes of one search together, unless a Reader says otherwise. It
	// takes some 30 µs to find one, as much to open its list, and a few pages of memory.
	maxTerms = 500
)

// prefixed asks for a phrase of which the last word may have any ending.
func (s *search) prefixed(columns string, p archive.Phrase) (ftsQuery, error) {
	at := strings.LastIndexByte(p.Text, ' ') + 1
	head, stem := p.Text[:at], p.Text[at:]
	whole := ftsQuery{text: columns + ` : "` + p.Text + `" *`}
	if utf8.RuneCountInString(stem) <= indexedPrefix {
		return whole, nil
	}
	terms, err := s.terms(stem)
	switch {
	case err != nil:
		return ftsQuery{}, err
	case len(terms) == 0:
		return whole, nil // there is nothing to merge
	case len(terms) > s.maxTerms:
		runes := []rune(stem)
		return ftsQuery{text: columns + ` : "` + head + string(runes[:indexedPrefix]) + `" *`, loose: true}, nil
	}
	s.maxTerms -= len(terms)
	phrases := make([]string, len(terms))
	for i, term := range terms {
		phrases[i] = `"` + head + term + `"`
	}
	return ftsQuery{text: columns + ` : (` + strings.Join(phrases, ` OR `) + `)`}, nil
}

// terms are the words of the index that begin with a stem, or a few more than maxTerms of them.
func (s *search) terms(stem string) (terms []string, err error) {
	if terms, ok := s.stems[stem]; ok {
		return terms, nil
	}
	// From one word to the next, past all places where that one stands.
	const query = `
		WITH RECURSIVE next (term, n) AS (
			SELECT (SELECT term FROM terms WHERE term >= ?1 ORDER BY term LIMIT 1), 0
			UNION ALL
			SELECT (SELECT term FROM terms WHERE term >= next.term || char(1) ORDER BY term LIMIT 1), n + 1
				FROM next WHERE substr(next.term, 1, length(?1)) = ?1 AND n <= ?2
		)
		SELECT json_group_array(term) FROM next WHERE substr(term, 1, length(?1)) = ?1 AND n <= ?2`
	if terms, err = one(s.ctx, s.tx, inOne[string], query, stem, s.maxTerms); err != nil {
		return nil, err
	}
	if s.stems == nil {
		s.stems = make(map[string][]string)
	}
	s.stems[stem] = terms
	return terms, nil
}

// verified reads what the index names for a loose question, newest first, and returns the first limit that answer the
// filter.
func (s *search) verified(match string, limit int) ([]int64, error) {
	return s.paged(limit, func(before int64) ([]int64, error) { return s.indexed(`words`, match, before, scanPage) })
}
