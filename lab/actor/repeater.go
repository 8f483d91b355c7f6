package actor

import (
	"slices"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Repeater tells everybody, so long after it heard it, what others told it of polls, with the age that it had then: as
// if those who polled had polled that much later. Repeaters tell one another as well what they repeat, so of a node's
// polls of a feed one waits at a time: else there were several times as much of it with every round. In all else it is
// an honest node (row 28 of `feedex lab attacks`).
func Repeater(n *node.Node, after time.Duration) Participant {
	r := &repeater{after: after}
	r.teller = tellsOfPolls(n, func(now time.Time, to protocol.NodeID) (old []protocol.Notice) {
		for i := range r.heard {
			if h := &r.heard[i]; h.from != to && now.Sub(h.at) >= after && now.Sub(h.at) < after+noticeEvery {
				old = append(old, h.Notice)
			}
		}
		return old
	})
	return r
}

type repeater struct {
	*teller
	after time.Duration
	heard []repeated // oldest first
}

// A repeated is a notice that was heard, whose path names who told it.
type repeated struct {
	protocol.Notice
	from protocol.NodeID
	at   time.Time
}

// Step implements Participant.
func (r *repeater) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	asked, _ := ev.(node.Asked)
	told, _ := asked.Call.(protocol.Notify)
	for _, n := range told.Notices {
		n.Path = []protocol.NodeID{n.Origin(asked.From)}
		if !r.waits(n) {
			r.heard = append(r.heard, repeated{n, asked.From, now})
		}
	}
	for len(r.heard) > 0 && now.Sub(r.heard[0].at) >= r.after+2*noticeEvery {
		r.heard = r.heard[1:]
	}
	return r.teller.Step(dst, now, ev)
}

// waits reports whether a poll of the same feed by the same node is to be told already.
func (r *repeater) waits(n protocol.Notice) bool {
	return slices.ContainsFunc(r.heard, func(h repeated) bool { return h.Feed == n.Feed && h.Path[0] == n.Path[0] })
}
