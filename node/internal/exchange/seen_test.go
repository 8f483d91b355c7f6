package exchange

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"feedex/archive"
	"feedex/protocol"
)

func did(i int) (d protocol.DID) {
	binary.BigEndian.PutUint32(d[:], uint32(i))
	return d
}

func TestWindowHoldsTheLatest(t *testing.T) {
	w := newWindow(3)
	for i := range 5 {
		old, pushed := w.add(did(i))
		if pushed != (i >= 3) || pushed && old != did(i-3) {
			t.Errorf("adding %d pushed out %v, %v", i, old, pushed)
		}
	}
	if _, pushed := w.add(did(4)); pushed {
		t.Error("a did that is in already pushed another out")
	}
	for i := range 5 {
		if w.Has(did(i)) != (i >= 2) {
			t.Errorf("has %d: %v", i, w.Has(did(i)))
		}
	}
}

// Paper §3.4: "Bloom filter may be used for a large cache".
func TestOlderBundlesAreRemembered(t *testing.T) {
	store := &countingStore{Memory: archive.NewMemory()}
	seen := newSeenDIDs(10, store)
	const n = 5000
	for i := range n {
		seen.Add(did(i))
	}
	for i := range n {
		if !seen.Has(did(i)) {
			t.Fatalf("did %d was seen and is not known any more", i)
		}
	}
	store.asked = 0
	for i := range n {
		if seen.Has(did(n + i)) {
			t.Fatalf("did %d was never seen", n+i)
		}
	}
	if store.asked > n/100 {
		t.Errorf("the archive was asked about %d of %d unknown dids: the filter is there to prevent that",
			store.asked, n)
	}
	again := newSeenDIDs(10, store)
	if !again.Has(did(0)) || !again.Has(did(n-1)) {
		t.Error("a restart forgot bundles")
	}
}

// countingStore counts how often it is asked about a did.
type countingStore struct {
	*archive.Memory
	asked int
}

func (s *countingStore) HasDID(d protocol.DID) bool {
	s.asked++
	return s.Memory.HasDID(d)
}

func TestRotatingFilterForgetsTheOldest(t *testing.T) {
	r := newRotating(1000)
	if r.mayHave(did(0)) {
		t.Error("an empty filter knows a did")
	}
	for i := range 10_000 {
		r.add(did(i))
	}
	for i := 9000; i < 10_000; i++ {
		if !r.mayHave(did(i)) {
			t.Fatalf("did %d is among the latest 1,000 and is not known", i)
		}
	}
	known := 0
	for i := range 5000 {
		if r.mayHave(did(i)) {
			known++
		}
	}
	if known > 50 {
		t.Errorf("%d of 5,000 old dids are still known", known)
	}
}

// A window knows what a list of the latest knows, whatever comes, again and again, and with hashes alike.
func TestWindowIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		w := newWindow(size)
		var list []int
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 200).Draw(t, "dids") {
			known := false
			for _, j := range list {
				known = known || i == j
			}
			if w.Has(alike(i)) != known {
				t.Fatalf("has %d: %v, of %v", i, !known, list)
			}
			old, pushed := w.add(alike(i))
			if !known {
				list = append(list, i)
			}
			if full := len(list) > size; pushed != full || full && old != alike(list[0]) {
				t.Fatalf("adding %d pushed out %v, %v, of %v", i, old, pushed, list)
			}
			list = list[max(0, len(list)-size):]
		}
	})
}

// alike is a did of which many have one hash.
func alike(i int) (d protocol.DID) {
	d[0], d[19] = byte(i%3), byte(i)
	return d
}
