package incentive

// recent is a map that remembers at least the latest size keys used and at most twice as many: keys go
// into the current half, and when that is full it becomes the previous one.
type recent[K comparable, V any] struct {
	size              int
	current, previous map[K]V
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
	}
	r.current[k] = v
}

func (r *recent[K, V]) len() int { return len(r.current) + len(r.previous) }
