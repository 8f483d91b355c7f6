package archive

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(n int32) bool { return int(n/64) < len(b) && b[n/64]>>(n%64)&1 == 1 }

// set puts a number in, or takes it out.
func (b *bits) set(n int32, in bool) {
	for int(n/64) >= len(*b) {
		*b = append(*b, 0)
	}
	if in {
		(*b)[n/64] |= 1 << (n % 64)
	} else {
		(*b)[n/64] &^= 1 << (n % 64)
	}
}
