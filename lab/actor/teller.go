package actor

import (
	"slices"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A teller makes calls to each of its neighbors every so often, beside what its node does.
type teller struct {
	sideCaller
	every time.Duration
	tells func(now time.Time, to protocol.NodeID) []protocol.Call
	turns int // how often it has
}

func newTeller(n *node.Node, every time.Duration, tells func(time.Time, protocol.NodeID) []protocol.Call) *teller {
	return &teller{sideCaller: newCaller(n, asIs), every: every, tells: tells}
}

// noticeEvery is how often an actor tells of polls that lies about them.
const noticeEvery = time.Minute

// turn is the number of a minute.
func turn(now time.Time) int { return int(now.Unix() / int64(noticeEvery/time.Second)) }

// tellsOfPolls is a teller of notices.
func tellsOfPolls(n *node.Node, tells func(now time.Time, to protocol.NodeID) []protocol.Notice) *teller {
	return newTeller(n, noticeEvery, func(now time.Time, to protocol.NodeID) (calls []protocol.Call) {
		for chunk := range slices.Chunk(tells(now, to), protocol.MaxNotices) {
			calls = append(calls, protocol.Notify{Notices: chunk})
		}
		return calls
	})
}

// tellsAllOfPolls is a teller that says the same to all.
func tellsAllOfPolls(n *node.Node, tells func(now time.Time) []protocol.Notice) *teller {
	var said time.Time
	var notices []protocol.Notice
	return tellsOfPolls(n, func(now time.Time, _ protocol.NodeID) []protocol.Notice {
		if !now.Equal(said) {
			said, notices = now, tells(now)
		}
		return notices
	})
}

// Step implements Participant.
func (t *teller) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	dst = t.sideCaller.Step(dst, now, ev)
	if now.Before(t.wakes) {
		return dst
	}
	t.wakes = now.Add(t.every)
	for _, to := range t.neighbors() {
		for _, c := range t.tells(now, to) {
			dst = t.call(dst, to, c, nil)
		}
	}
	t.turns++
	return dst
}
