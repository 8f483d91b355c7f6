package archive

import (
	"cmp"
	"slices"
)

// An index knows under which Seq a Memory keeps an entry of the pool. It is a list in order of the entries' numbers:
// what comes later has mostly the higher number, so that it is added at the end, and there is no table half empty.
type index []place

type place struct{ number, seq int32 }

// search looks back from the end, in ever longer steps, because most of what is asked for came lately.
func (x index) search(number int32) (at int, found bool) {
	from, to := len(x), len(x)
	for step := 1; from > 0; step *= 2 {
		if from = max(0, from-step); x[from].number <= number {
			break
		}
		to = from
	}
	at, found = slices.BinarySearchFunc(x[from:to], number,
		func(p place, number int32) int { return cmp.Compare(p.number, number) })
	return from + at, found
}

func (x index) find(number int32) (seq int, found bool) {
	at, found := x.search(number)
	if !found {
		return 0, false
	}
	return int(x[at].seq), true
}

// add adds an entry that is not there.
func (x *index) add(number int32, seq int) {
	at, _ := x.search(number)
	*x = slices.Insert(*x, at, place{number, int32(seq)})
}

func (x *index) remove(number int32) {
	if at, found := x.search(number); found {
		*x = slices.Delete(*x, at, at+1)
	}
}
