package sqlite

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"feedex/archive"
)

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
	var list []byte
	if err := scan(s.tx.QueryRowContext(s.ctx, query, stem, s.maxTerms), &list); err != nil {
		return nil, err
	}
	err = json.Unmarshal(list, &terms)
	if s.stems == nil {
		s.stems = make(map[string][]string)
	}
	s.stems[stem] = terms
	return terms, err
}

// verified reads what the index names for a loose question, newest first, and returns the first limit that answer the
// filter.
func (s *search) verified(match string, limit int) (found []int64, err error) {
	before := int64(math.MaxInt64)
	for {
		seqs, err := s.indexed(match, before, scanPage)
		if err != nil || len(seqs) == 0 {
			return found, err
		}
		if seqs[0] >= before {
			return nil, errOrder
		}
		before = seqs[len(seqs)-1]
		if found, err = s.matching(found, seqs, limit); err != nil || len(found) == limit {
			return found, err
		}
	}
}
