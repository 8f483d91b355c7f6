package archive

import (
	"slices"

	"feedex/feed"
)

// A Matcher decides whether records answer a filter. It is the meaning of feed.Filter in code: what
// a Store finds by other means must be what a Matcher finds one by one. It may be shared between
// goroutines.
type Matcher struct {
	filter       feed.Filter
	words, title []Phrase
	expr         *Expr // nil for none
}

// NewMatcher prepares to match f.
func NewMatcher(f feed.Filter) *Matcher {
	m := &Matcher{filter: f, words: Phrases(f.Words), title: Phrases(f.Title)}
	if !f.Match.IsZero() {
		m.expr = newExpr(f.Match)
	}
	return m
}

// Limit is the most records that a search for the filter returns.
func (m *Matcher) Limit() int {
	if m.filter.Limit <= 0 {
		return feed.DefaultLimit
	}
	return m.filter.Limit
}

// Words returns the phrases of which each must occur in the title or the rest of an entry.
func (m *Matcher) Words() []Phrase { return m.words }

// Title returns the phrases of which each must occur in the title.
func (m *Matcher) Title() []Phrase { return m.title }

// Expr returns what else must hold of the words of an entry, nil for nothing.
func (m *Matcher) Expr() *Expr { return m.expr }

// Wordless reports whether words do not matter.
func (m *Matcher) Wordless() bool { return len(m.words)+len(m.title) == 0 && m.expr == nil }

// Dated reports whether the latest by their time are wanted, in place of the newest arrivals.
func (m *Matcher) Dated() bool {
	return m.filter.Dated && m.Wordless() && len(m.filter.IDs) == 0 && !m.filter.Relevance
}

// Match reports whether r answers the filter. Whether r is shareable it cannot know; that is for the
// Store to see to.
func (m *Matcher) Match(r *Record) bool {
	f := &m.filter
	if f.Feed != "" && r.Entry.Feed != f.Feed ||
		!f.Since.IsZero() && r.Time().Before(f.Since) ||
		!f.Until.IsZero() && !r.Time().Before(f.Until) ||
		len(f.IDs) > 0 && !slices.Contains(f.IDs, r.ID) {
		return false
	}
	return m.Wordless() || m.matchText(&r.Entry)
}

// matchText reports whether every phrase occurs where it must, and the expression holds. The title is looked
// at first, because it is short and may decide alone.
func (m *Matcher) matchText(e *feed.Entry) bool {
	t := foldedText{entry: e, title: foldTitle(e)}
	for _, p := range m.title {
		if !p.In(t.title) {
			return false
		}
	}
	for _, p := range m.words {
		if !t.holds(feed.FieldAny, p) {
			return false
		}
	}
	return m.expr == nil || m.expr.holds(&t)
}

// A foldedText is the words of an entry. The rest beside the title is folded when it is looked at.
type foldedText struct {
	entry                     *feed.Entry
	title                     string
	rest, authors, categories string
	folded                    bool
}

// holds reports whether the phrase occurs in a field.
func (t *foldedText) holds(field feed.MatchField, p Phrase) bool {
	switch field {
	case feed.FieldAny:
		return p.In(t.title) || p.In(t.fold().rest)
	case feed.FieldTitle:
		return p.In(t.title)
	case feed.FieldAuthor:
		return p.In(t.fold().authors)
	case feed.FieldCategory:
		return p.In(t.fold().categories)
	}
	return p.In(FoldFeed(t.entry.Feed))
}

// fold folds the rest, if that has not been done.
func (t *foldedText) fold() *foldedText {
	if !t.folded {
		t.rest, t.authors, t.categories = foldRest(t.entry)
		t.folded = true
	}
	return t
}
