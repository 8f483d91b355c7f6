package actor

import (
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Replayer polls, and gives neighbors nothing but what is past: every hour it offers each of them old entries
// as bundles of their own, again and again (row 22 of `feedex lab attacks`).
func Replayer(n *node.Node) Participant {
	r := &replayer{known: make(map[feed.EntryID]bool)}
	r.sideCaller = newCaller(n, r.takes)
	return r
}

type replayer struct {
	sideCaller
	known map[feed.EntryID]bool // of bundles
	old   []*protocol.Bundle
	turn  int   // index in old
	puts  []put // to be made
}

// A put is a delivery that a neighbor asked for.
type put struct {
	to     protocol.NodeID
	bundle *protocol.Bundle
}

const (
	// past is how old an entry is that is replayed.
	past = 50 * time.Hour
	// replayed is how many each neighbor is offered in a round, and replayEvery the time between rounds.
	replayed    = 30
	replayEvery = time.Hour
)

// Step implements Participant.
func (r *replayer) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if fetched, ok := ev.(node.Fetched); ok && fetched.Document != nil {
		r.collect(now, fetched.Document)
	}
	dst = r.sideCaller.Step(dst, now, ev)
	if r.wakes.IsZero() {
		r.wakes = now.Add(replayEvery)
	}
	if !now.Before(r.wakes) {
		r.wakes = now.Add(replayEvery)
		dst = r.offer(dst)
	}
	for _, p := range r.puts {
		dst = r.call(dst, p.to, protocol.PutEntries{Bundle: p.bundle}, nil)
	}
	r.puts = nil
	return dst
}

// collect makes a bundle of each old entry of a document.
func (r *replayer) collect(now time.Time, doc *feed.Document) {
	for i := range doc.Entries {
		e := doc.Entries[i]
		if id := e.EntryID(); now.Sub(e.Published) > past && !r.known[id] {
			r.known[id] = true
			r.old = append(r.old, protocol.NewBundle(doc.Feed, []feed.Entry{e}))
		}
	}
}

// offer offers the next few of the old bundles to each neighbor.
func (r *replayer) offer(dst []node.Effect) []node.Effect {
	for _, to := range r.neighbors() {
		for range min(replayed, len(r.old)) {
			b := r.old[r.turn%len(r.old)]
			r.turn++
			dst = r.call(dst, to, protocol.CheckDID{DID: b.DID, Feed: b.Feed}, func(a node.Answered) {
				if a.Reply == protocol.Seen(false) {
					r.puts = append(r.puts, put{to, b})
				}
			})
		}
	}
	return dst
}
