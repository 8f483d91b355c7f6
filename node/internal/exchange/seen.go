package exchange

import (
	"encoding/binary"
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

// A window is the set of the latest dids, of a fixed size: a ring whose items are chained by their hash, a third of a
// map and a ring, and no larger than what came.
type window struct {
	size  int
	ring  []windowed
	next  int     // the oldest, once the ring is full
	heads []int32 // of the chains, by hash: an index into ring plus one, 0 for none; a power of two
}

type windowed struct {
	did  protocol.DID
	next int32 // in the chain, as in heads
}

func newWindow(size int) window { return window{size: size} }

// add puts did in, and returns the did that it pushed out, if any.
func (w *window) add(did protocol.DID) (old protocol.DID, pushed bool) {
	if w.Has(did) {
		return old, false
	}
	if len(w.ring) < w.size {
		if len(w.ring) == cap(w.ring) {
			w.ring = append(make([]windowed, 0, min(2*len(w.ring)+8, w.size)), w.ring...)
		}
		w.ring = append(w.ring, windowed{did: did})
		if len(w.ring) > len(w.heads) {
			w.heads = make([]int32, max(8, 2*len(w.heads)))
			for i := range w.ring {
				w.link(i)
			}
			return old, false
		}
		w.link(len(w.ring) - 1)
		return old, false
	}
	old = w.ring[w.next].did
	w.unlink(w.next)
	w.ring[w.next].did = did
	w.link(w.next)
	w.next = (w.next + 1) % len(w.ring)
	return old, true
}

// Has reports whether did is among the latest.
func (w *window) Has(did protocol.DID) bool {
	if len(w.heads) == 0 {
		return false
	}
	for at := *w.head(did); at != 0; at = w.ring[at-1].next {
		if w.ring[at-1].did == did {
			return true
		}
	}
	return false
}

// head is the head of the chain that did belongs into. An attacker can have all dids that it offers in one: that is no
// longer than the window.
func (w *window) head(did protocol.DID) *int32 {
	const golden = 0x9e3779b97f4a7c15 // spreads what differs in any of the bits
	hash := binary.LittleEndian.Uint64(did[:]) * golden >> 32
	return &w.heads[hash&uint64(len(w.heads)-1)]
}

// link puts the item at i at the head of its chain.
func (w *window) link(i int) {
	head := w.head(w.ring[i].did)
	w.ring[i].next, *head = *head, int32(i)+1
}

// unlink takes the item at i out of its chain.
func (w *window) unlink(i int) {
	at := w.head(w.ring[i].did)
	for *at != int32(i)+1 {
		at = &w.ring[*at-1].next
	}
	*at = w.ring[i].next
}
