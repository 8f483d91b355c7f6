// Package queue keeps what is to happen, the earliest first.
package queue

import (
	"container/heap"
	"iter"
	"time"
)

// A Queue is a heap of values by time; those of one time come in the order in which they were added. The zero Queue is
// empty.
type Queue[V any] struct {
	items items[V]
	count ID
}

// An Element is a value in a Queue.
type Element[V any] struct {
	At    time.Duration // since whatever moment the owner of the Queue counts from
	ID    ID
	Value V
}

// An ID names an item of a Queue; 0 is none. Those of later ones are larger.
type ID uint64

// items are a heap for heap.Fix, which asks for no more and no fewer.
type items[V any] []Element[V]

func (x items[V]) Len() int      { return len(x) }
func (x items[V]) Swap(i, j int) { x[i], x[j] = x[j], x[i] }
func (x items[V]) Push(any)      {}
func (x items[V]) Pop() any      { return nil }
func (x items[V]) Less(i, j int) bool {
	return x[i].At < x[j].At || x[i].At == x[j].At && x[i].ID < x[j].ID
}

// Len is how many items there are.
func (q *Queue[V]) Len() int { return len(q.items) }

// Add puts in a value.
func (q *Queue[V]) Add(at time.Duration, value V) ID {
	q.count++
	q.items = append(q.items, Element[V]{at, q.count, value})
	heap.Fix(&q.items, len(q.items)-1)
	return q.count
}

// First is the earliest item, nil where there is none. The pointer is good until the next Add or Take.
func (q *Queue[V]) First() *Element[V] {
	if len(q.items) == 0 {
		return nil
	}
	return &q.items[0]
}

// Take takes out the earliest item. There must be one.
func (q *Queue[V]) Take() Element[V] {
	first, n := q.items[0], len(q.items)-1
	q.items[0], q.items[n] = q.items[n], Element[V]{} // let what it holds go
	if q.items = q.items[:n]; n > 0 {
		heap.Fix(&q.items, 0)
	}
	return first
}

// All are the items, in no order. Their times must stay as they are.
func (q *Queue[V]) All() iter.Seq[*Element[V]] {
	return func(yield func(*Element[V]) bool) {
		for i := range q.items {
			if !yield(&q.items[i]) {
				return
			}
		}
	}
}
