package actor

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Echoer offers what it hears offered, and delivers nothing. It waits for so long that nearly everyone has
// it, so that it is told "seen" and earns; only an audit finds out (row 2 of `feedex lab attacks`). Asked for a bundle
// that it has not, it says what excuse has it say.
func Echoer(n *node.Node, excuse Excuse) Participant {
	e := newEchoer(n, echoAfter)
	e.excuse = excuse
	return e
}

// An Excuse is the answer of a node that is asked by get_bundle for what it offered and does not have.
type Excuse int

// The excuses.
const (
	None    Excuse = iota // the truth
	Lost                  // nothing, as if the call or its answer had been lost
	Busy                  // that it has too much to do
	HangsUp               // that it knows no such neighbor; and it ends the link
	Excuses               // how many there are
)

// echoAfter is after what time a bundle went all round: it takes seconds.
const echoAfter = time.Minute

// Breaker says at once that it has what it hears offered, and never delivers: a neighbor that asks it is to wait in
// vain (row 7 of `feedex lab attacks`).
func Breaker(n *node.Node) Participant { return newEchoer(n, 0) }

// An echoer is both of them: a FreeRider with offers of its own.
type echoer struct {
	sideCaller
	after  time.Duration
	heard  []echo                // oldest first
	known  map[protocol.DID]bool // of all that was ever heard: two echoers must not go on for ever
	excuse Excuse
	asked  uint64 // the tag of the last get_bundle
}

// An echo is an offer that was heard.
type echo struct {
	at   time.Time
	did  protocol.DID
	feed feed.URL // "" where it was not said
	from protocol.NodeID
}

// maxEcho is how many offers go together.
const maxEcho = 16

func newEchoer(n *node.Node, after time.Duration) *echoer {
	e := &echoer{after: after, known: make(map[protocol.DID]bool)}
	e.sideCaller = newCaller(n, func(effect node.Effect) node.Effect {
		if r, ok := effect.(node.Respond); ok && r.Tag == e.asked {
			return e.excused(r)
		}
		return e.takes(effect)
	})
	return e
}

// excused returns the effect in place of the answer to a get_bundle.
func (e *echoer) excused(r node.Respond) node.Effect {
	switch e.excuse {
	case Lost:
		return nil
	case Busy:
		r.Fault = protocol.Faultf(protocol.Busy, "too much to do")
	case HangsUp:
		r.Fault = protocol.Faultf(protocol.UnknownNeighbor, "no such neighbor")
	}
	return r
}

// Step implements Participant.
func (e *echoer) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	asked, _ := ev.(node.Asked)
	e.hear(now, asked)
	dst = e.echo(e.sideCaller.Step(dst, now, ev), now)
	if e.wakes = (time.Time{}); len(e.heard) > 0 {
		e.wakes = e.heard[0].at.Add(e.after + e.after/2) // those that come within a while go together
	}
	return dst
}

func (e *echoer) hear(now time.Time, ev node.Asked) {
	switch c := ev.Call.(type) {
	case protocol.CheckDID:
		e.note(echo{now, c.DID, c.Feed, ev.From})
	case protocol.CheckDIDs:
		for _, did := range c.DIDs {
			e.note(echo{at: now, did: did, from: ev.From})
		}
	case protocol.GetBundle:
		e.asked = ev.Tag
	}
}

func (e *echoer) note(heard echo) {
	if !e.known[heard.did] {
		e.known[heard.did] = true
		e.heard = append(e.heard, heard)
	}
}

// echo offers to all neighbors what was heard long enough ago, but not to the neighbor that it was heard from.
func (e *echoer) echo(dst []node.Effect, now time.Time) []node.Effect {
	if len(e.heard) == 0 || now.Sub(e.heard[0].at) < e.after+e.after/2 {
		return dst
	}
	due := 0
	for due < len(e.heard) && now.Sub(e.heard[due].at) >= e.after {
		due++
	}
	for _, to := range e.neighbors() {
		var dids []protocol.DID
		for _, h := range e.heard[:due] {
			if h.from != to {
				dids = append(dids, h.did)
			}
		}
		for chunk := range slices.Chunk(dids, maxEcho) {
			dst = e.call(dst, to, protocol.CheckDIDs{DIDs: chunk}, nil)
		}
	}
	e.heard = slices.Delete(e.heard, 0, due)
	return dst
}
