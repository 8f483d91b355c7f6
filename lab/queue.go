package lab

import "time"

// An event is something that is to happen in a World. It holds no pointer, so that the heap is cheap to
// reorder and nothing to the garbage collector.
type event struct {
	at    time.Duration // since the World's start
	order uint64        // ties go in the order in which events were made
	kind  eventKind
	index int32  // of the host, the call or the task that it is about
	life  uint32 // of the host or the call when the event was made; it is void in another
}

type eventKind uint8

const (
	wake    eventKind = iota // a host's node wants to be woken
	arrive                   // a call reaches whom it is for
	answer                   // its answer reaches the caller
	expire                   // its time is over
	deliver                  // a document reaches the host that polls
	perform                  // a task of the World's
)

func (e event) before(other event) bool {
	return e.at < other.at || e.at == other.at && e.order < other.order
}

// A queue is a heap of events, the earliest first: of four branches, because it is mostly small and a
// flat heap touches less memory.
type queue struct {
	events []event
	count  uint64
}

// push adds an event after all others of its time.
func (q *queue) push(e event) {
	q.count++
	e.order = q.count
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(q.events[parent]) {
			break
		}
		q.events[i] = q.events[parent]
		i = parent
	}
	q.events[i] = e
}

// pop takes out the earliest event. There must be one.
func (q *queue) pop() event {
	first := q.events[0]
	last := q.events[len(q.events)-1]
	q.events = q.events[:len(q.events)-1]
	n := len(q.events)
	if n == 0 {
		return first
	}
	i := 0
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for c := least + 1; c < min(least+4, n); c++ {
			if q.events[c].before(q.events[least]) {
				least = c
			}
		}
		if !q.events[least].before(last) {
			break
		}
		q.events[i] = q.events[least]
		i = least
	}
	q.events[i] = last
	return first
}
