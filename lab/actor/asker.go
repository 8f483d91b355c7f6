package actor

import (
	"fmt"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Asker asks all neighbors at each interval for what they have of one feed after the other, to learn which of them they
// know (row 24 of `feedex lab attacks`). In all else it is honest.
func Asker(n *node.Node, feeds []feed.URL, every time.Duration, from time.Time) Participant {
	return newAsker(n, every, from, func(round int, _ uint64) protocol.Query {
		return protocol.Query{Filter: feed.Filter{Feed: feeds[round%len(feeds)], Limit: 20}}
	})
}

// Querier floods: it asks every neighbor at each interval for something new, as far and with as many messages as
// a query may (row 16 of `feedex lab attacks`). In all else it is honest. No other queryActor has its name.
func Querier(n *node.Node, name string, every time.Duration, from time.Time) Participant {
	return newAsker(n, every, from, func(_ int, call uint64) protocol.Query {
		return protocol.Query{
			ID: fmt.Sprintf("%s %d", name, call), Hops: protocol.MaxQueryHops - 1, Budget: protocol.MaxBudget,
			Wait:   protocol.DefaultWait,
			Filter: feed.Filter{Feed: feed.URL(fmt.Sprintf("https://%d.example.com/", call))},
		}
	})
}

type queryActor struct {
	habit
	sideCaller
	query func(round int, call uint64) protocol.Query
	round int
	every time.Duration
	next  time.Time
}

func newAsker(n *node.Node, every time.Duration, from time.Time,
	query func(round int, call uint64) protocol.Query) *queryActor {
	a := &queryActor{sideCaller: newCaller(n), query: query, every: every, next: from}
	a.habit = habit{node: n, change: func(e node.Effect) node.Effect {
		a.overhears(e)
		return e
	}}
	return a
}

// Step implements Participant.
func (a *queryActor) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !a.answered(ev) {
		dst = a.habit.Step(dst, now, ev)
	}
	if now.Before(a.next) {
		return dst
	}
	a.next = now.Add(a.every)
	for _, to := range a.neighbors() {
		dst = a.call(dst, to, protocol.QueryFeed{Query: a.query(a.round, a.last)}, nil)
	}
	a.round++
	return dst
}

// Next implements Participant.
func (a *queryActor) Next() time.Time {
	if next := a.habit.Next(); !next.IsZero() && next.Before(a.next) {
		return next
	}
	return a.next
}
