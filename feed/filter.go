package feed

import (
	"slices"
	"strings"
	"time"
)

// A Filter says which entries an archive search is to find. Conditions are joined by "and"; the zero
// Filter matches every entry. Paper §3.6: "in terms of feed titles, entry titles, published dates,
// and others".
type Filter struct {
	Feed URL `json:"feed,omitempty"` // published by this feed; "" is any
	// Words must each occur in the title, summary, content, authors or categories; Title words must each occur in the
	// title. A word is matched whole, without regard to case and diacritics; a trailing * matches
	// any ending; several words in one string must follow one another.
	Words []string `json:"words,omitempty"`
	Title []string `json:"title,omitempty"`
	// Match is a further condition on the words of the title, summary, content, authors, categories or the feed's
	// address; the zero Match is none. Ask sets it.
	Match Match `json:"match,omitzero"`
	// Since and Until bound the entry's time, Since ≤ t < Until: when it was published or, where
	// the publisher does not say, last changed or, without any date, first seen. Zero is open.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	IDs   []EntryID `json:"-"` // one of these; empty is any. Whoever writes a Filter as JSON writes them as texts.
	// Limit is the most entries to return, newest arrival first. 0 is DefaultLimit.
	Limit int `json:"limit,omitempty"`
	// Relevance asks for the entries that fit best, in that order, in place of the newest.
	Relevance bool `json:"relevance,omitempty"`
	// Dated asks for the entries of the latest time, in that order, in place of the newest arrivals. It goes for
	// filters without words, ids and Relevance, and says nothing in others.
	Dated bool `json:"dated,omitempty"`
	// Shareable leaves out entries that may not be served to others.
	Shareable bool `json:"shareable,omitempty"`
	// NoSecrets leaves out entries of feeds whose URL is a secret.
	NoSecrets bool `json:"no_secrets,omitempty"`
}

// Prefixes is how many words of the filter have any ending: those take the most work.
func (f *Filter) Prefixes() (n int) {
	for _, w := range slices.Concat(f.Words, f.Title, f.Match.terms(nil)) {
		if strings.HasSuffix(w, "*") {
			n++
		}
	}
	return n
}

// DefaultLimit is how many entries a search returns where nothing else is asked for.
const DefaultLimit = 50
