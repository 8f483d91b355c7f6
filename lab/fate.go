package lab

import (
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A Fate is what becomes of a call that is about to arrive. The zero value lets it arrive as it was made.
type Fate struct {
	// Call arrives in place of the one that was made.
	Call protocol.Call
	// Late is how much later it arrives.
	Late time.Duration
	// Lost has neither it nor an answer arrive, and Mute no answer: it ends at its timeout.
	Lost, Mute bool
	// Ended is how it ends in place of arriving.
	Ended *node.Answered
}

// fate has call i meet its Fate, and reports whether it arrives now.
func (w *World) fate(i int32) bool {
	if w.config.Fate == nil || w.calls.items[i].fated {
		return true
	}
	open := w.calls.items[i]
	fate := w.config.Fate(open.from, open.to, open.made)
	c := &w.calls.items[i]
	c.fated, c.mute = true, fate.Mute
	if fate.Call != nil {
		c.made.Call = fate.Call
	}
	switch {
	case fate.Lost, w.now+fate.Late >= c.deadline:
		w.lose(w.calls.take(i))
	case fate.Ended != nil:
		w.end(i, *fate.Ended, fate.Late)
	case fate.Late > 0:
		w.queue.Add(w.now+fate.Late, event{kind: arrive, index: i})
	default:
		return true
	}
	return false
}
