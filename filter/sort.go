package filter

import "slices"

// sortIDs sorts by one digit after the other, from the last to the first, where there are many: that takes as long as
// to walk through them a few times.
func sortIDs(ids []ID) {
	const digitBits, few = 11, 4096
	if len(ids) < few {
		slices.Sort(ids)
		return
	}
	other := make([]ID, len(ids))
	for shift := 0; shift < 32; shift += digitBits {
		var next [1 << digitBits]int // where the next with that digit goes
		for _, id := range ids {
			next[id>>shift&(1<<digitBits-1)]++
		}
		at := 0
		for digit, n := range next {
			next[digit], at = at, at+n
		}
		for _, id := range ids {
			digit := id >> shift & (1<<digitBits - 1)
			other[next[digit]] = id
			next[digit]++
		}
		copy(ids, other)
	}
}
