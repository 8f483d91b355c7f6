package filter

import (
	"errors"
	"maps"
	"slices"

	"feedex/archive"
	"feedex/feed"
)

// An ID names an expression of an Index. Who puts it there chooses it.
type ID uint32

// ErrNothing means that an expression holds no word to look for: everything would answer it.
var ErrNothing = errors.New("the filter asks for nothing")

// An Index is a set of expressions, to be asked which of them an entry answers. The zero Index is empty. It must not be
// used by several goroutines at once.
type Index struct {
	matchers map[ID]*archive.Matcher
}

// Len is how many expressions there are.
func (x *Index) Len() int { return len(x.matchers) }

// Put adds an expression, in place of the one of that ID if there is one. ErrNothing leaves that one as it was.
func (x *Index) Put(id ID, m feed.Match) error {
	matcher := archive.NewMatcher(feed.Filter{Match: m})
	if matcher.Wordless() {
		return ErrNothing
	}
	if x.matchers == nil {
		x.matchers = make(map[ID]*archive.Matcher)
	}
	x.matchers[id] = matcher
	return nil
}

// Remove takes an expression out, if it is there.
func (x *Index) Remove(id ID) { delete(x.matchers, id) }

// Match appends to found the IDs of the expressions that e answers, in ascending order.
func (x *Index) Match(e *feed.Entry, found []ID) []ID {
	r := archive.Record{Entry: *e}
	for _, id := range slices.Sorted(maps.Keys(x.matchers)) {
		if x.matchers[id].Match(&r) {
			found = append(found, id)
		}
	}
	return found
}
