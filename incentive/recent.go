package incentive

import "feedex/internal/ordered"

// recent remembers at least the latest size keys used and at most twice as many: keys go into the current half, and
// when that is full it becomes the previous one. A pointer to a value is good until the next call.
type recent[K comparable, V any] struct {
	size              int
	current, previous ordered.Map[K, V]
}

func newRecent[K comparable, V any](size int) recent[K, V] { return recent[K, V]{size: size} }

// use returns the value at k, nil where there is none, and counts as a use of k.
func (r *recent[K, V]) use(k K) *V {
	if v := r.current.Get(k); v != nil {
		return v
	}
	if v := r.previous.Get(k); v != nil {
		return r.put(k, *v)
	}
	return nil
}

// put gives k a value.
func (r *recent[K, V]) put(k K, value V) *V {
	if v := r.current.Get(k); v != nil {
		*v = value
		return v
	}
	if r.current.Len() >= r.size {
		r.previous, r.current = r.current, ordered.Map[K, V]{}
	}
	return r.current.Put(k, value)
}

// len counts those twice that were used since they became the previous.
func (r *recent[K, V]) len() int { return r.current.Len() + r.previous.Len() }
