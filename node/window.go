package node

import (
	"encoding/binary"

	"feedex/protocol"
)

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
	if w.has(did) {
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

func (w *window) has(did protocol.DID) bool {
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
