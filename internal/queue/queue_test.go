package queue_test

import (
	"cmp"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"pgregory.net/rapid"

	"feedex/internal/queue"
)

// Items come in the order of their times, and those of one time in the order in which they were added.
func TestOrder(t *testing.T) {
	type item = queue.Element[string]
	rapid.Check(t, func(t *rapid.T) {
		var q queue.Queue[string]
		var want []item
		for _, step := range rapid.SliceOfN(rapid.IntRange(-1, 5), 0, 200).Draw(t, "steps") { // -1 takes, others add
			if step >= 0 {
				added := item{At: time.Duration(step), Value: rapid.String().Draw(t, "value")}
				added.ID = q.Add(added.At, added.Value)
				if n := len(want); n > 0 &&
					added.ID <= slices.MaxFunc(want, func(a, b item) int { return cmp.Compare(a.ID, b.ID) }).ID ||
					added.ID == 0 {
					t.Fatalf("item %d was added after %v", added.ID, want)
				}
				want = append(want, added)
				slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.At, b.At) })
			}
			if q.Len() != len(want) {
				t.Fatalf("there are %d items, want %d", q.Len(), len(want))
			}
			if first := q.First(); (first == nil) != (len(want) == 0) || first != nil && *first != want[0] {
				t.Fatalf("the first is %v of %v", first, want)
			}
			if step < 0 && len(want) > 0 {
				if got := q.Take(); got != want[0] {
					t.Fatalf("took %v of %v", got, want)
				}
				want = want[1:]
			}
		}
		var all []item
		for i := range q.All() {
			all = append(all, *i)
		}
		slices.SortFunc(all, func(a, b item) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
		if !slices.Equal(all, want) {
			t.Fatalf("all are %v, want %v", all, want)
		}
	})
}

// When 0 is taken 1 rises to its place and 7 to that of 1. The element that rises to the place of 7 must be one of
// those below it: if it were the least of those behind them, which is 6, that would be below 7. Of a million heaps
// hardly one is like this.
func TestNeighborsInTheHeapStay(t *testing.T) {
	var q queue.Queue[bool]
	for _, at := range []time.Duration{
		0, 1, 2, 4, 8, 7, 11, 12, 9, 3, 20, 5, 15, 46, 43, 48, 33, 41, 24, 40, 18, 30, 25, 23, 34, 27, 22, 29, 42, 19,
		26, 28, 17, 39, 14,
		36, 10, 45, 31, 6, 13, 37, 47, 35, 21, 32, 16, 44, 38,
	} {
		q.Add(at, true)
	}
	for want := range time.Duration(49) {
		if got := q.Take().At; got != want {
			t.Fatalf("took %d, want %d", got, want)
		}
	}
}

// An element that was taken out is not held on to.
func TestTakenIsLetGo(t *testing.T) {
	var q queue.Queue[*[64]byte]
	var taken []weak.Pointer[[64]byte]
	for i := range 6 {
		v := new([64]byte)
		taken = append(taken, weak.Make(v))
		q.Add(time.Duration(i), v)
	}
	for range taken {
		q.Take()
	}
	runtime.GC()
	for i, v := range taken {
		if v.Value() != nil {
			t.Errorf("item %d is held on to", i)
		}
	}
	runtime.KeepAlive(&q)
}
