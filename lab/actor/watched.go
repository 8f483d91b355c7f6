package actor

import (
	"time"

	"feedex/node"
)

// Watched is a participant of which somebody sees every step.
type Watched struct {
	Participant
	// See is told of an event and of the effects that came of it, which it must not keep.
	See func(now time.Time, ev node.Event, effects []node.Effect)
}

// Step implements Participant.
func (w Watched) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	before := len(dst)
	dst = w.Participant.Step(dst, now, ev)
	w.See(now, ev, dst[before:])
	return dst
}
