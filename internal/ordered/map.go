// Package ordered keeps what a node knows of many things that have a name, in the order in which they came.
package ordered

import "hash/maphash"

// A Map is a map that knows in which order its keys came. A node has thousands of them in each of its Maps: all lie
// in one list, with a chain of indices through those of like hash, which takes half of what a map does. To find one
// takes two looks at memory, at the head of its chain and at the list, where a map takes five. Where K and V hold no
// pointer the garbage collector passes the list by. The zero Map is empty.
//
// A pointer to a value is good until the next Put, Delete or DeleteFunc.
type Map[K comparable, V any] struct {
	items []item[K, V] // in the order in which they came, the deleted among them
	first int          // the oldest that is not deleted, if there is one
	live  int
	heads []int32 // of the chains, by hash: an index into items plus one, 0 for none; a power of two
	seed  maphash.Seed
}

type item[K comparable, V any] struct {
	key   K
	next  int32 // in the chain, as in heads; deleted
	value V
}

const deleted = -1

// Len is how many keys there are.
func (m *Map[K, V]) Len() int { return m.live }

// Get is the value of a key, nil where there is none.
func (m *Map[K, V]) Get(key K) *V {
	if i := m.find(key); i >= 0 {
		return &m.items[i].value
	}
	return nil
}

// find is where the key is, negative for nowhere.
func (m *Map[K, V]) find(key K) int {
	if m.live == 0 {
		return -1
	}
	for at := *m.head(key); at != 0; at = m.items[at-1].next {
		if m.items[at-1].key == key {
			return int(at - 1)
		}
	}
	return -1
}

// Put gives a key, as the latest, a value. It must not be there.
func (m *Map[K, V]) Put(key K, value V) *V {
	if len(m.items) == cap(m.items) {
		m.makeRoom()
	}
	m.items = append(m.items, item[K, V]{key: key, value: value})
	m.live++
	if len(m.items) > len(m.heads) {
		m.chain()
	} else {
		m.link(len(m.items) - 1)
	}
	return &m.items[len(m.items)-1].value
}

// makeRoom makes room for more items, an eighth of what there are, so that not each Put has all of them moved.
func (m *Map[K, V]) makeRoom() {
	if n := len(m.items); n-m.live > m.live/16 {
		m.compact()
	} else {
		m.items = append(make([]item[K, V], 0, n+n/8+4), m.items...)
	}
}

// Delete takes a key out, which need not be there.
func (m *Map[K, V]) Delete(key K) {
	if i := m.find(key); i >= 0 {
		m.takeOut(i)
		m.tidy()
	}
}

// takeOut takes an item out of its chain.
func (m *Map[K, V]) takeOut(i int) {
	at := m.head(m.items[i].key)
	for *at != int32(i)+1 {
		at = &m.items[*at-1].next
	}
	*at = m.items[i].next
	m.items[i] = item[K, V]{next: deleted}
	m.live--
}

// tidy lets go of what was deleted, once it is much.
func (m *Map[K, V]) tidy() {
	for m.first < len(m.items) && m.items[m.first].next == deleted {
		m.first++
	}
	if len(m.items)-m.live > 8+m.live/8 {
		m.compact()
	}
}

// Oldest is the key that came first, nil where there is none.
func (m *Map[K, V]) Oldest() (key K, value *V) {
	if m.live == 0 {
		return key, nil
	}
	return m.items[m.first].key, &m.items[m.first].value
}

// All calls f with each key in the order in which they came, until it returns false. f must not change which there are.
func (m *Map[K, V]) All(f func(key K, value *V) bool) {
	for i := m.first; i < len(m.items); i++ {
		if it := &m.items[i]; it.next != deleted && !f(it.key, &it.value) {
			return
		}
	}
}

// DeleteFunc takes out those for which f is true, called in the order in which they came. f must leave the Map alone.
func (m *Map[K, V]) DeleteFunc(f func(key K, value *V) bool) {
	for i := m.first; i < len(m.items); i++ {
		if it := &m.items[i]; it.next != deleted && f(it.key, &it.value) {
			m.takeOut(i)
		}
	}
	m.tidy()
}

// compact lets go of what was deleted.
func (m *Map[K, V]) compact() {
	kept := m.items[:0]
	for i := range m.items {
		if m.items[i].next != deleted {
			kept = append(kept, m.items[i])
		}
	}
	clear(m.items[len(kept):])
	m.items, m.first = kept, 0
	m.chain()
}

// chain makes the chains anew, as many as there may be items.
func (m *Map[K, V]) chain() {
	if len(m.heads) == 0 {
		m.seed = maphash.MakeSeed()
	}
	size := 8
	for size < len(m.items) {
		size *= 2
	}
	if size == len(m.heads) {
		clear(m.heads)
	} else {
		m.heads = make([]int32, size)
	}
	for i := range m.items {
		m.link(i)
	}
}

// link puts an item at the head of its chain.
func (m *Map[K, V]) link(i int) {
	if it := &m.items[i]; it.next != deleted {
		head := m.head(it.key)
		it.next, *head = *head, int32(i)+1
	}
}

// head is the head of the chain that a key belongs into. Keys can be chosen; the seed is nobody's choice.
func (m *Map[K, V]) head(key K) *int32 {
	return &m.heads[maphash.Comparable(m.seed, key)&uint64(len(m.heads)-1)]
}
