package actor

import (
	"fmt"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Querier floods: it asks every neighbor at each interval for something new, as far and with as many messages as
// a query may (row 16 of `feedex lab attacks`). In all else it is honest.
func Querier(n *node.Node, name string, every time.Duration, from time.Time) Participant {
	q := &querier{caller: newCaller(n), name: name, every: every, next: from}
	q.habit = habit{node: n, change: func(e node.Effect) node.Effect {
		q.overhears(e)
		return e
	}}
	return q
}

type querier struct {
	habit
	caller
	name  string // no other querier has it
	every time.Duration
	next  time.Time
}

// Step implements Participant.
func (q *querier) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !q.answered(ev) {
		dst = q.habit.Step(dst, now, ev)
	}
	if now.Before(q.next) {
		return dst
	}
	q.next = now.Add(q.every)
	for _, to := range q.neighbors() {
		dst = q.call(dst, to, protocol.QueryFeed{Query: protocol.Query{
			ID: fmt.Sprintf("%s %d", q.name, q.last), Hops: protocol.MaxQueryHops - 1, Budget: protocol.MaxBudget, Wait: protocol.DefaultWait,
			Filter: feed.Filter{Feed: feed.URL(fmt.Sprintf("https://%d.example.com/", q.last))},
		}}, nil)
	}
	return dst
}

// Next implements Participant.
func (q *querier) Next() time.Time {
	if next := q.habit.Next(); !next.IsZero() && next.Before(q.next) {
		return next
	}
	return q.next
}
