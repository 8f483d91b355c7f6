package node

import (
	"slices"

	"feedex/archive"
)

// renamed tells which entries of a document are those of the last one under other ids: some publishers make up new
// ones for each fetch, and all of it would be new each time. It is believed where no id of the document is known,
// and half of it says what the last document of this run did. Two entries of one document that say the same are what
// they are.
func (s *subscription) renamed(items []item, known []archive.Version) (again []bool) {
	if !slices.ContainsFunc(known, func(v archive.Version) bool { return !v.New() }) {
		again = s.repeated(items)
	}
	if s.said = s.said[:0]; cap(s.said) < len(items) {
		s.said = make([]uint64, 0, len(items)) // no more than it takes: there are as many as feeds
	}
	for i := range items {
		s.said = append(s.said, items[i].Bare)
	}
	return again
}

// repeated tells which items say what the last document did, nil where it is less than half of them.
func (s *subscription) repeated(items []item) []bool {
	before := make(map[uint64]bool, len(s.said))
	for _, bare := range s.said {
		before[bare] = true
	}
	again, count := make([]bool, len(items)), 0
	for i := range items {
		if again[i] = before[items[i].Bare]; again[i] {
			count++
		}
	}
	if 2*count < len(items) {
		return nil
	}
	return again
}

// without is the list without the items that are marked.
func without[T any](list []T, marked []bool) []T {
	kept := list[:0]
	for i := range list {
		if !marked[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}
