package node

import (
	"feedex/archive"
	"feedex/feed"
)

// A bare is the digest of what an entry says, without its id.
type bare = feed.Digest

func bareOf(e feed.Entry) bare {
	e.ID = ""
	return e.Digest()
}

// renamed tells which entries of a document are those of the last one under other ids: some publishers make up new
// ones for each fetch, and all of it would be new each time. It is believed where no id of the document is known,
// and half of it says what the last document of this run did. Two entries of one document that say the same are what
// they are.
func (s *subscription) renamed(entries []feed.Entry, known []archive.Version) (again []bool) {
	said := make(map[bare]bool, len(s.said))
	for _, d := range s.said {
		said[d] = true
	}
	s.said = s.said[:0]
	again, count := make([]bool, len(entries)), 0
	for i := range entries {
		d := bareOf(entries[i])
		s.said = append(s.said, d)
		if again[i] = said[d]; again[i] {
			count++
		}
	}
	for i := range known {
		if known[i].Digest != (feed.Digest{}) || 2*count < len(entries) {
			return make([]bool, len(entries))
		}
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
