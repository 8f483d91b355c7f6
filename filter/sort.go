package filter

import "slices"

// sortIDs sorts ids. Where they are many it goes by one digit after the other, from the last to the first, which takes
// as long as to walk through them a few times.
func (r *marking) sortIDs(ids []ID) {
	const digitBits, few = 11, 4096
	if len(ids) < few {
		slices.Sort(ids)
		return
	}
	if cap(r.sorted) < len(ids) {
		r.sorted = make([]ID, len(ids))
	}
	from, to := ids, r.sorted[:len(ids)]
	for shift := 0; shift < 32; shift += digitBits {
		digit := func(id ID) ID { return id >> shift & (1<<digitBits - 1) }
		var next [1 << digitBits]int // where the next with that digit goes
		for _, id := range from {
			next[digit(id)]++
		}
		if next[digit(from[0])] == len(from) {
			continue // all have it
		}
		at := 0
		for digit, n := range next {
			next[digit], at = at, at+n
		}
		for _, id := range from {
			to[next[digit(id)]] = id
			next[digit(id)]++
		}
		from, to = to, from
	}
	if &from[0] != &ids[0] {
		copy(ids, from)
	}
}
