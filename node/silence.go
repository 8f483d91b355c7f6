package node

import (
	"time"

	"feedex/protocol"
)

const (
	// silence is after how long without a call or an answer a neighbor is asked whether it is still there: as
	// long as a period of adverts. What there is to say finds the dead sooner (see docs/adr/0034).
	silence = 5 * time.Minute
	// probeIn is how soon after a failed call a neighbor is called again.
	probeIn = 3 * time.Second
)

// watchSilence asks neighbors that have not been heard of for a while whether they are still there, for as long as the
// node runs. A neighbor that is asked hears of the other as well, so one of the two does.
func (n *Node) watchSilence() {
	earliest := n.now
	for _, l := range n.linked {
		if n.now.Sub(l.heard) >= silence {
			n.knock(l) // a failure has it asked again sooner
		} else {
			earliest = earlier(earliest, l.heard)
		}
	}
	wait := n.between(silence, silence+silence/4) - n.now.Sub(earliest)
	n.after(max(wait, silence/4), n.watchSilence)
}

// probe finds out soon whether a neighbor that failed to answer is gone: nobody should have to wait for
// the next thing that there is to say.
func (n *Node) probe(l *link) {
	if l.probing {
		return
	}
	l.probing = true
	n.after(n.between(probeIn, 2*probeIn), func() {
		l.probing = false
		if !l.over && l.failures > 0 {
			n.knock(l)
		}
	})
}

// knock asks a neighbor something that it answers to neighbors alone: one that forgot us says so, and we do not
// go on believing in a link of which it knows nothing.
//
// An offer of nothing is the shortest such question; a peer of another make may not have it.
func (n *Node) knock(l *link) {
	var c protocol.Call = protocol.GetNeighbors{}
	if l.batches {
		c = protocol.CheckDIDs{}
	}
	n.ask(l, c, callTimeout, func(Answered) {})
}
