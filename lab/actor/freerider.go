package actor

import (
	"time"

	"feedex/node"
)

// FreeRider takes and never gives: nothing is offered to anybody (row 1 of `feedex lab attacks`).
func FreeRider(n *node.Node) Participant {
	h := &habit{node: n}
	h.change = h.takes
	return h
}

// Traitor is honest up to a time and a FreeRider from then on (row 15 of `feedex lab attacks`).
func Traitor(n *node.Node, until time.Time) Participant {
	t := &traitor{until: until}
	t.habit = habit{node: n, change: func(e node.Effect) node.Effect {
		if t.free {
			return t.takes(e)
		}
		return e
	}}
	return t
}

type traitor struct {
	habit
	until time.Time
	free  bool
}

// Step implements Participant.
func (t *traitor) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	t.free = !now.Before(t.until)
	return t.habit.Step(dst, now, ev)
}
