package incentive

// recentKeys remembers at least the latest size keys used and at most twice as many: keys go into the current half, and
// when that is full it becomes the previous one.
type recentKeys[K comparable, V any] struct {
	size              int
	current, previous map[K]*V
}

func newRecentKeys[K comparable, V any](size int) recentKeys[K, V] {
	return recentKeys[K, V]{size: size, current: make(map[K]*V)}
}

// use returns the value at k, nil where there is none, and counts as a use of k.
func (r *recentKeys[K, V]) use(k K) *V {
	if v := r.current[k]; v != nil {
		return v
	}
	if v := r.previous[k]; v != nil {
		return r.add(k, v)
	}
	return nil
}

// put gives k a value.
func (r *recentKeys[K, V]) put(k K, value V) *V {
	if v := r.current[k]; v != nil {
		*v = value
		return v
	}
	return r.add(k, &value)
}

// add puts k into the current half, where it is not.
func (r *recentKeys[K, V]) add(k K, v *V) *V {
	if len(r.current) >= r.size {
		r.previous, r.current = r.current, make(map[K]*V)
	}
	r.current[k] = v
	return v
}
