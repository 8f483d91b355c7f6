// Package queue keeps what is to happen, the earliest first.
package queue

import (
	"iter"
	"time"
)

// A Queue is a heap of values by time; those of one time come in the order in which they were added. It has four
// branches, because a flat heap touches less memory. The zero Queue is empty.
type Queue[V any] struct {
	items []Item[V]
	count ID
}

// An Item is a value in a Queue.
type Item[V any] struct {
	At    time.Duration // since whatever moment the owner of the Queue counts from
	ID    ID
	Value V
}

// An ID names an item of a Queue; 0 is none. Those of later ones are larger.
type ID uint64

func (i *Item[V]) before(other *Item[V]) bool {
	return i.At < other.At || i.At == other.At && i.ID < other.ID
}

// Len is how many items there are.
func (q *Queue[V]) Len() int { return len(q.items) }

// Add puts in a value.
func (q *Queue[V]) Add(at time.Duration, value V) ID {
	q.count++
	added := Item[V]{at, q.count, value}
	q.items = append(q.items, added)
	i := len(q.items) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !added.before(&q.items[parent]) {
			break
		}
		q.items[i] = q.items[parent]
		i = parent
	}
	q.items[i] = added
	return added.ID
}

// First is the earliest item, nil where there is none. The pointer is good until the next Add or Take.
func (q *Queue[V]) First() *Item[V] {
	if len(q.items) == 0 {
		return nil
	}
	return &q.items[0]
}

// Take takes out the earliest item. There must be one.
func (q *Queue[V]) Take() Item[V] {
	first, n := q.items[0], len(q.items)-1
	last := q.items[n]
	q.items[n] = Item[V]{} // let what it holds go
	q.items = q.items[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		least, end := 4*i+1, min(4*i+5, n)
		if least >= n {
			break
		}
		for c := least + 1; c < end; c++ {
			if q.items[c].before(&q.items[least]) {
				least = c
			}
		}
		if !q.items[least].before(&last) {
			break
		}
		q.items[i] = q.items[least]
		i = least
	}
	q.items[i] = last
	return first
}

// All are the items, in no order. Their times must stay as they are.
func (q *Queue[V]) All() iter.Seq[*Item[V]] {
	return func(yield func(*Item[V]) bool) {
		for i := range q.items {
			if !yield(&q.items[i]) {
				return
			}
		}
	}
}
