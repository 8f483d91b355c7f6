package node

import (
	"encoding/binary"

	"feedex/archive"
	"feedex/feed"
)

// said is what an entry of a document says, with its id and without. It compares entries of one publisher with each
// other, so that the beginnings of their digests will do.
type said struct{ whole, bare uint64 }

func beginning(d feed.Digest) uint64 { return binary.BigEndian.Uint64(d[:]) }

// renamed tells which entries of a document are those of the last one under other ids: some publishers make up new
// ones for each fetch, and all of it would be new each time. It is believed where no id of the document is known,
// and half of it says what the last document of this run did. Two entries of one document that say the same are what
// they are.
func (s *subscription) renamed(listed []archive.Record, known []archive.Version) (again []bool) {
	before, bare := make(map[uint64]bool, len(s.said)), make(map[uint64]uint64, len(s.said))
	for _, e := range s.said {
		before[e.bare], bare[e.whole] = true, e.bare
	}
	if s.said = s.said[:0]; cap(s.said) < len(listed) {
		s.said = make([]said, 0, len(listed)) // no more than it takes: there are as many as feeds
	}
	again, count := make([]bool, len(listed)), 0
	for i := range listed {
		e := said{whole: beginning(listed[i].Digest)}
		if same, ok := bare[e.whole]; ok { // most of a document was in the last one
			e.bare = same
		} else {
			e.bare = listed[i].Entry.Bare()
		}
		s.said = append(s.said, e)
		if again[i] = before[e.bare]; again[i] {
			count++
		}
	}
	for i := range known {
		if !known[i].New() || 2*count < len(listed) {
			return make([]bool, len(listed))
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
