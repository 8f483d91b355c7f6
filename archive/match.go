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
}

// NewMatcher prepares to match f.
func NewMatcher(f feed.Filter) *Matcher {
	return &Matcher{filter: f, words: Phrases(f.Words), title: Phrases(f.Title)}
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
	return len(m.words)+len(m.title) == 0 || m.matchText(&r.Entry)
}

// matchText reports whether every phrase occurs where it must. The title is looked at first, because
// it is short and may decide alone.
func (m *Matcher) matchText(e *feed.Entry) bool {
	title := foldTitle(e)
	for _, p := range m.title {
		if !p.in(title) {
			return false
		}
	}
	rest, folded := "", false
	for _, p := range m.words {
		if p.in(title) {
			continue
		}
		if !folded {
			rest, folded = foldRest(e), true
		}
		if !p.in(rest) {
			return false
		}
	}
	return true
}
