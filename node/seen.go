package node

import (
	"github.com/bits-and-blooms/bloom/v3"

	"feedex/archive"
	"feedex/protocol"
)

// seenDIDs knows which bundles are stored: the latest exactly, older ones by asking the archive, with a
// Bloom filter in front that answers nearly all questions about unknown ones. A did gets here only
// once its entries are stored; being asked about one changes nothing.
//
// Paper §3.4: "nodes store the bundle identifiers did that have been seen recently (e.g., 1,000 latest
// dids in our prototype) [...] Bloom filter may be used for a large cache."
type seenDIDs struct {
	latest window
	older  rotating
	store  archive.Bundles
}

func newSeenDIDs(latest int, store archive.Bundles) seenDIDs {
	s := seenDIDs{latest: newWindow(latest), older: newRotating(archive.KeptDIDs), store: store}
	for _, did := range store.LatestDIDs(archive.KeptDIDs) {
		s.note(did)
	}
	return s
}

// add records that every entry of the bundle is stored.
func (s *seenDIDs) add(did protocol.DID) {
	s.note(did)
	s.store.KeepDID(did)
}

func (s *seenDIDs) note(did protocol.DID) {
	if old, pushed := s.latest.add(did); pushed {
		s.older.add(old)
	}
}

// has reports whether the bundle is stored. A hit of the Bloom filter is confirmed by the archive,
// because a false "seen" would lose entries.
func (s *seenDIDs) has(did protocol.DID) bool {
	return s.latest.has(did) || s.older.mayHave(did) && s.store.HasDID(did)
}

// rotating is a Bloom filter that forgets: dids go into the current half, questions to both, and when
// the current half is full it becomes the previous one and an empty one takes its place.
type rotating struct {
	current, previous *bloom.BloomFilter // nil until needed
	capacity, count   int                // of current
}

// falsePositives is the rate at which a half answers for a did it does not hold.
const falsePositives = 0.001

// newRotating returns a filter that remembers at least the latest n dids and at most twice as many.
func newRotating(n int) rotating { return rotating{capacity: n} }

func (r *rotating) add(did protocol.DID) {
	if r.current == nil || r.count == r.capacity {
		r.previous = r.current
		r.current = bloom.NewWithEstimates(uint(r.capacity), falsePositives)
		r.count = 0
	}
	r.current.Add(did[:])
	r.count++
}

func (r *rotating) mayHave(did protocol.DID) bool {
	return r.current != nil && r.current.Test(did[:]) || r.previous != nil && r.previous.Test(did[:])
}
