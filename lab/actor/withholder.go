package actor

import (
	"slices"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Withholder gives its neighbors what it polled itself, and nothing of what others brought it: who has all entries from
// it has half a network, and it is worth its place by what it gives (row 29 of `feedex lab attacks`).
func Withholder(n *node.Node) Participant {
	w := &withholder{polled: make(map[protocol.DID]bool)}
	w.habit = habit{node: n, change: func(e node.Effect) node.Effect {
		if w.passes(e) && w.withhold(e) {
			return nil
		}
		return e
	}}
	return w
}

type withholder struct {
	habit
	polling bool                  // the step is about a poll of its own
	polled  map[protocol.DID]bool // what its node offered when it had polled
}

// Step implements Participant.
func (w *withholder) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	_, w.polling = ev.(node.Fetched)
	return w.habit.Step(dst, now, ev)
}

// passes reports whether an effect passes on something of others.
func (w *withholder) passes(e node.Effect) bool {
	c, _ := e.(node.Call)
	if put, ok := c.Call.(protocol.PutEntries); ok {
		return len(put.Bundle.Path) > 0
	}
	dids := Offered(c.Call)
	if w.polling {
		for _, did := range dids {
			w.polled[did] = true
		}
	}
	return slices.ContainsFunc(dids, func(did protocol.DID) bool { return !w.polled[did] })
}

// Offered are the dids that a call offers, none where it is another call.
func Offered(c protocol.Call) []protocol.DID {
	switch c := c.(type) {
	case protocol.CheckDID:
		return []protocol.DID{c.DID}
	case protocol.CheckDIDs:
		return c.DIDs
	}
	return nil
}
