package lab

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Events come in order of time, and those of one time in the order in which they were made.
func TestQueueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []event
		for _, step := range rapid.SliceOf(rapid.IntRange(-1, 5)).Draw(t, "steps") {
			if step >= 0 {
				e := event{at: time.Duration(step), index: int32(len(want))}
				q.push(e)
				want = append(want, event{at: e.at, order: q.count})
				continue
			}
			if len(q.events) == 0 {
				continue
			}
			first := slices.MinFunc(want, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
			want = slices.DeleteFunc(want, func(e event) bool { return e.order == first.order })
			if got := q.pop(); got.at != first.at || got.order != first.order {
				t.Fatalf("took event %d of %v, want %d of %v", got.order, got.at, first.order, first.at)
			}
		}
	})
}
