// Package digest keeps what a node knows of many things that are named by their SHA-1 digest.
package digest

import "hash/maphash"

// A Digest is what all digests of feedex are: of entries, versions, bundles.
type Digest = [20]byte

// A Table is a map from digests to values that knows in which order they came. A node has thousands of them in
// each of its tables: all lie in one list, with a chain of indices through those of like hash, which takes half of
// what a map does, and where V holds no pointer the garbage collector passes it by. The zero Table is empty.
//
// A pointer to a value is good until the next Put, Delete or DeleteFunc.
type Table[V any] struct {
	items []item[V] // in the order in which they came, the deleted among them
	first int       // the oldest that is not deleted, if there is one
	live  int
	heads []int32 // of the chains, by hash: an index into items plus one, 0 for none; a power of two
	seed  maphash.Seed
}

type item[V any] struct {
	key   Digest
	next  int32 // in the chain, as in heads; deleted
	value V
}

const deleted = -1

// Len is how many digests there are.
func (t *Table[V]) Len() int { return t.live }

// Get is the value of a digest, nil where there is none.
func (t *Table[V]) Get(key Digest) *V {
	if i := t.find(key); i >= 0 {
		return &t.items[i].value
	}
	return nil
}

// find is where the digest is, negative for nowhere.
func (t *Table[V]) find(key Digest) int {
	if t.live == 0 {
		return -1
	}
	for at := *t.head(&key); at != 0; at = t.items[at-1].next {
		if t.items[at-1].key == key {
			return int(at - 1)
		}
	}
	return -1
}

// Put gives a digest, as the latest, a value. It must not be there.
func (t *Table[V]) Put(key Digest, value V) *V {
	if len(t.items) == cap(t.items) {
		t.makeRoom()
	}
	t.items = append(t.items, item[V]{key: key, value: value})
	t.live++
	if len(t.items) > len(t.heads) {
		t.chain()
	} else {
		t.link(len(t.items) - 1)
	}
	return &t.items[len(t.items)-1].value
}

// makeRoom makes room for more items, an eighth of what there are, so that not each Put has all of them moved.
func (t *Table[V]) makeRoom() {
	if n := len(t.items); n-t.live > t.live/16 {
		t.compact()
	} else {
		t.items = append(make([]item[V], 0, n+n/8+4), t.items...)
	}
}

// Delete takes a digest out, which need not be there.
func (t *Table[V]) Delete(key Digest) {
	i := t.find(key)
	if i < 0 {
		return
	}
	at := t.head(&key)
	for *at != int32(i)+1 {
		at = &t.items[*at-1].next
	}
	*at = t.items[i].next
	t.items[i] = item[V]{next: deleted}
	t.live--
	for t.first < len(t.items) && t.items[t.first].next == deleted {
		t.first++
	}
	if len(t.items)-t.live > 8+t.live/8 {
		t.compact()
	}
}

// Oldest is the digest that came first, nil where there is none.
func (t *Table[V]) Oldest() (key Digest, value *V) {
	if t.live == 0 {
		return key, nil
	}
	return t.items[t.first].key, &t.items[t.first].value
}

// All calls f with each digest in the order in which they came, until it returns false. f must not change which there are.
func (t *Table[V]) All(f func(key Digest, value *V) bool) {
	for i := t.first; i < len(t.items); i++ {
		if it := &t.items[i]; it.next != deleted && !f(it.key, &it.value) {
			return
		}
	}
}

// DeleteFunc takes out those for which f is true, called in the order in which they came.
func (t *Table[V]) DeleteFunc(f func(key Digest, value *V) bool) {
	before := t.live
	for i := t.first; i < len(t.items); i++ {
		if it := &t.items[i]; it.next != deleted && f(it.key, &it.value) {
			*it = item[V]{next: deleted}
			t.live--
		}
	}
	if t.live < before {
		t.compact()
	}
}

// compact lets go of what was deleted.
func (t *Table[V]) compact() {
	kept := t.items[:0]
	for i := range t.items {
		if t.items[i].next != deleted {
			kept = append(kept, t.items[i])
		}
	}
	clear(t.items[len(kept):])
	t.items, t.first = kept, 0
	t.chain()
}

// chain makes the chains anew, as many as there may be items.
func (t *Table[V]) chain() {
	if len(t.heads) == 0 {
		t.seed = maphash.MakeSeed()
	}
	size := 8
	for size < len(t.items) {
		size *= 2
	}
	if size == len(t.heads) {
		clear(t.heads)
	} else {
		t.heads = make([]int32, size)
	}
	for i := range t.items {
		t.link(i)
	}
}

// link puts an item at the head of its chain.
func (t *Table[V]) link(i int) {
	if it := &t.items[i]; it.next != deleted {
		head := t.head(&it.key)
		it.next, *head = *head, int32(i)+1
	}
}

// head is the head of the chain that a digest belongs into. Digests can be chosen; the seed is nobody's choice.
func (t *Table[V]) head(key *Digest) *int32 {
	return &t.heads[maphash.Bytes(t.seed, key[:])&uint64(len(t.heads)-1)]
}
