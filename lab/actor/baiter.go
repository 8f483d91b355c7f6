package actor

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Baiter tells each neighbor every hour that it follows these addresses, which are no feeds: whoever polls for others
// what they want is to ask there (row 17 of `feedex lab attacks`). In all else it is an honest node, so that its wishes
// count.
func Baiter(n *node.Node, victims []feed.URL) Participant {
	b := &baiter{sideCaller: newCaller(n), victims: victims}
	b.habit = habit{node: n, change: func(e node.Effect) node.Effect { b.overhears(e); return e }}
	return b
}

type baiter struct {
	habit
	sideCaller
	victims []feed.URL
	next    time.Time // when it says so again
}

// baitEvery is how often it does.
const baitEvery = time.Hour

// Step implements Participant.
func (b *baiter) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !b.answered(ev) {
		dst = b.habit.Step(dst, now, ev)
	}
	if now.Before(b.next) {
		return dst
	}
	b.next = now.Add(baitEvery)
	var bait protocol.Subset
	for _, u := range b.victims {
		bait = append(bait, protocol.Interest{Feed: u})
	}
	for _, to := range b.neighbors() {
		for changes := range slices.Chunk(bait, protocol.MaxSubset) {
			dst = b.call(dst, to, protocol.UpdateSubset{Changes: changes}, nil)
		}
	}
	return dst
}

// Next implements Participant.
func (b *baiter) Next() time.Time {
	if next := b.habit.Next(); !next.IsZero() && next.Before(b.next) {
		return next
	}
	return b.next
}
