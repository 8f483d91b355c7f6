package actor

import (
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Asker asks all neighbors at each interval for what they have of one feed after the other, to learn which of them they
// know (row 24 of `feedex lab attacks`). In all else it is honest.
func Asker(n *node.Node, feeds []feed.URL, every time.Duration, from time.Time) Participant {
	a := &asker{caller: newCaller(n), feeds: feeds, every: every, next: from}
	a.habit = habit{node: n, change: func(e node.Effect) node.Effect {
		a.overhears(e)
		return e
	}}
	return a
}

type asker struct {
	habit
	caller
	feeds []feed.URL
	asked int
	every time.Duration
	next  time.Time
}

// Step implements Participant.
func (a *asker) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !a.answered(ev) {
		dst = a.habit.Step(dst, now, ev)
	}
	if now.Before(a.next) {
		return dst
	}
	a.next = now.Add(a.every)
	u := a.feeds[a.asked%len(a.feeds)]
	a.asked++
	for _, to := range a.neighbors() {
		dst = a.call(dst, to, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u, Limit: 20}}}, nil)
	}
	return dst
}

// Next implements Participant.
func (a *asker) Next() time.Time {
	if next := a.habit.Next(); !next.IsZero() && next.Before(a.next) {
		return next
	}
	return a.next
}
