package exchange

import (
	"slices"

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
	Latest window
	older  rotating
	store  archive.Bundles
}

func newSeenDIDs(latest int, store archive.Bundles) seenDIDs {
	s := seenDIDs{Latest: newWindow(latest), older: newRotating(archive.KeptDIDs), store: store}
	for _, did := range store.LatestDIDs(archive.KeptDIDs) {
		s.note(did)
	}
	return s
}

// Add records that every entry of the bundle is stored.
func (s *seenDIDs) Add(did protocol.DID) {
	s.note(did)
	s.store.KeepDID(did)
}

func (s *seenDIDs) note(did protocol.DID) {
	if old, pushed := s.Latest.add(did); pushed {
		s.older.add(old)
	}
}

// Has reports whether the bundle is stored. A hit of the Bloom filter is confirmed by the archive,
// because a false "seen" would lose entries.
func (s *seenDIDs) Has(did protocol.DID) bool {
	return s.Latest.Has(did) || s.older.mayHave(did) && s.store.HasDID(did)
}

// rotating is a row of Bloom filters that forgets: dids go into the last, questions to all. When the last is full
// another begins, four times as large up to the capacity, and the first goes as soon as the others hold enough
// without it.
type rotating struct {
	filters  []filter
	capacity int // of all together, at least
}

type filter struct {
	*bloom.BloomFilter
	count, size int
}

const (
	// falsePositives is the rate at which a filter answers for a did that it does not hold.
	falsePositives = 0.001
	// firstFilter is how many dids the first one holds: most nodes need no more within a day.
	firstFilter = 2048
)

// newRotating returns filters that remember at least the latest n dids and at most twice as many.
func newRotating(n int) rotating { return rotating{capacity: n} }

func (r *rotating) add(did protocol.DID) {
	last := len(r.filters) - 1
	if last < 0 || r.filters[last].count == r.filters[last].size {
		size := firstFilter
		if last >= 0 {
			size = 4 * r.filters[last].size
		}
		size = min(size, r.capacity)
		r.filters = append(r.filters, filter{BloomFilter: bloom.NewWithEstimates(uint(size), falsePositives),
			size: size})
		r.forget()
		last = len(r.filters) - 1
	}
	r.filters[last].Add(did[:])
	r.filters[last].count++
}

// forget lets go of the oldest filters that are not needed.
func (r *rotating) forget() {
	rest := 0
	for i := len(r.filters) - 1; i >= 0; i-- {
		if rest >= r.capacity {
			r.filters = slices.Delete(r.filters, 0, i+1)
			return
		}
		rest += r.filters[i].count
	}
}

func (r *rotating) mayHave(did protocol.DID) bool {
	return slices.ContainsFunc(r.filters, func(f filter) bool { return f.Test(did[:]) })
}

// A window is the set of the latest dids, of a fixed size.
type window struct {
	size int
	ring []protocol.DID
	next int // the oldest, once the ring is full
	has  map[protocol.DID]bool
}

func newWindow(size int) window { return window{size: size, has: make(map[protocol.DID]bool)} }

// add puts did in, and returns the did that it pushed out, if any.
func (w *window) add(did protocol.DID) (old protocol.DID, pushed bool) {
	if w.has[did] {
		return old, false
	}
	w.has[did] = true
	if len(w.ring) < w.size {
		w.ring = append(w.ring, did)
		return old, false
	}
	old, w.ring[w.next] = w.ring[w.next], did
	delete(w.has, old)
	w.next = (w.next + 1) % w.size
	return old, true
}

// Has reports whether did is among the latest.
func (w *window) Has(did protocol.DID) bool { return w.has[did] }
