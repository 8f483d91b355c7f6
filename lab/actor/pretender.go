package actor

import (
	"slices"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Pretender says each minute that it just polled all feeds that it follows, and that one of others did of whom it
// heard, in turn, who may be invented. It says so in every other part of a day that is as long as onOff, or always
// where that is zero, and so do all others: whoever believes them polls at the same time. In all else it is an honest
// node (row 28 of `feedex lab attacks`).
func Pretender(n *node.Node, others []protocol.NodeID, onOff time.Duration) Participant {
	return newTeller(n, func(now time.Time, _ protocol.NodeID) (lies []protocol.Notice) {
		if onOff > 0 && now.UnixNano()/int64(onOff)%2 == 1 {
			return nil
		}
		for _, s := range n.Feeds() {
			lies = append(lies, protocol.Notice{Feed: s.URL})
			if len(others) > 0 {
				path := []protocol.NodeID{others[turn(now)%len(others)]}
				lies = append(lies, protocol.Notice{Feed: s.URL, Path: path})
			}
		}
		return lies
	})
}

// A teller tells its neighbors of polls each minute, beside what its node does.
type teller struct {
	habit
	sideCaller
	tells func(now time.Time, to protocol.NodeID) []protocol.Notice
	next  time.Time // when it does again
}

// tellEvery is how often a teller tells.
const tellEvery = time.Minute

// turn is the number of a minute.
func turn(now time.Time) int { return int(now.Unix() / int64(tellEvery/time.Second)) }

func newTeller(n *node.Node, tells func(now time.Time, to protocol.NodeID) []protocol.Notice) *teller {
	t := &teller{sideCaller: newCaller(n), tells: tells}
	t.habit = habit{node: n, change: func(e node.Effect) node.Effect { t.overhears(e); return e }}
	return t
}

// Step implements Participant.
func (t *teller) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if !t.answered(ev) {
		dst = t.habit.Step(dst, now, ev)
	}
	if now.Before(t.next) {
		return dst
	}
	t.next = now.Add(tellEvery)
	for _, to := range t.neighbors() {
		for chunk := range slices.Chunk(t.tells(now, to), protocol.MaxNotices) {
			dst = t.call(dst, to, protocol.Notify{Notices: chunk}, nil)
		}
	}
	return dst
}

// Next implements Participant.
func (t *teller) Next() time.Time {
	if next := t.habit.Next(); !next.IsZero() && next.Before(t.next) {
		return next
	}
	return t.next
}
