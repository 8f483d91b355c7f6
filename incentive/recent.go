package incentive

import "feedex/internal/digest"

// recent is a map that remembers at least the latest size keys used and at most twice as many: keys go
// into the current half, and when that is full it becomes the previous one.
type recent[K comparable, V any] struct {
	size              int
	current, previous map[K]V
	turned            uint32 // how often the current half became the previous one
}

func newRecent[K comparable, V any](size int) recent[K, V] {
	return recent[K, V]{size: size, current: make(map[K]V)}
}

// use returns the value at k, and whether there is one, and counts as a use of k.
func (r *recent[K, V]) use(k K) (V, bool) {
	v, ok := r.current[k]
	if !ok {
		if v, ok = r.previous[k]; ok {
			r.put(k, v)
		}
	}
	return v, ok
}

func (r *recent[K, V]) put(k K, v V) {
	if len(r.current) >= r.size {
		r.previous, r.current = r.current, make(map[K]V)
		r.turned++
	}
	r.current[k] = v
}

func (r *recent[K, V]) len() int { return len(r.current) + len(r.previous) }

// latest is a recent for what is named by a digest. A pointer to a value is good until the next call.
type latest[V any] struct {
	size              int
	current, previous digest.Table[V]
}

// use returns the value at k, nil where there is none, and counts as a use of k.
func (r *latest[V]) use(k digest.Digest) *V {
	if v := r.current.Get(k); v != nil {
		return v
	}
	if v := r.previous.Get(k); v != nil {
		return r.put(k, *v)
	}
	return nil
}

// put gives k a value.
func (r *latest[V]) put(k digest.Digest, value V) *V {
	if v := r.current.Get(k); v != nil {
		*v = value
		return v
	}
	if r.current.Len() >= r.size {
		r.previous, r.current = r.current, digest.Table[V]{}
	}
	return r.current.Put(k, value)
}

// len counts those twice that were used since they became the previous.
func (r *latest[V]) len() int { return r.current.Len() + r.previous.Len() }
