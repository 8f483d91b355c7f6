package archive

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"feedex/feed"
)

// A search by relevance (Filter.Relevance) ranks the newest RankCandidates entries that match, and as many of the
// newest that have all its words in their titles: to rank everything that holds a common word would take seconds, and
// most of it nobody would look at. The score of an entry depends on the entry alone, so that answers of several
// archives can be put together.

// RankCandidates is how many of the newest entries that match are ranked.
const RankCandidates = 1000

// ErrCut is returned by a Search by relevance together with what it found, where time ran out before all
// candidates were ranked: those that were not stand behind the others.
var ErrCut = errors.New("not everything was ranked in time")

// InTitles is the filter for entries that have its words in their titles, and false where it has none.
func InTitles(f feed.Filter) (feed.Filter, bool) {
	some := len(f.Words) > 0
	f.Title, f.Words = slices.Concat(f.Title, f.Words), nil
	return f, some
}

// A Candidate is an entry that matches, and how well.
type Candidate struct {
	Seq   int64
	Score int // below zero where it was not ranked
}

// Best orders candidates, the best first and among equals the newest, and returns at most limit of them. Each is
// taken once.
func Best(candidates []Candidate, limit int) []Candidate {
	slices.SortFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Seq, a.Seq))
	})
	candidates = slices.Compact(candidates)
	return candidates[:min(limit, len(candidates))]
}

// Score is how well an entry that matches does so: the more often it holds what is looked for, in few words, and
// above all in its title, the better.
func (m *Matcher) Score(e *feed.Entry) (score int) {
	title, rest := Fold(e)
	titleWords, restWords := strings.Count(title, " ")-1, strings.Count(rest, " ")-1
	for _, p := range m.wanted() {
		score += 4*share(p.count(title), titleWords/8) + share(p.count(rest), restWords/128)
	}
	return score
}

// share is the score of so many occurrences in a text of that length: the first counts most, and no number of them more
// than a thousand.
func share(occurrences, length int) int { return 1000 * occurrences / (occurrences + 1 + length) }

// wanted are the phrases that an entry should hold.
func (m *Matcher) wanted() []Phrase {
	phrases := slices.Concat(m.words, m.title)
	if m.expr != nil {
		phrases = m.expr.wanted(phrases, true)
	}
	return phrases
}

func (x *Expr) wanted(phrases []Phrase, yes bool) []Phrase {
	if x.Op == feed.MatchTerm && yes && x.Field != feed.FieldFeed {
		return append(phrases, x.Phrase)
	}
	for i := range x.Of {
		phrases = x.Of[i].wanted(phrases, yes != (x.Op == feed.MatchNot))
	}
	return phrases
}

// count is how often the phrase occurs in a folded text.
func (p Phrase) count(folded string) (n int) {
	text := " " + p.Text
	if !p.Prefix {
		text += " "
	}
	for {
		i := strings.Index(folded, text)
		if i < 0 {
			return n
		}
		n++
		folded = folded[i+len(text)-1:] // one may begin with the blank that ends another
	}
}
