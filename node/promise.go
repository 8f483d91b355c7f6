package node

import (
	"slices"
	"time"

	"feedex/protocol"
)

// A promise is a bundle that a neighbor offered and that we asked it for. While it is open nobody is told "seen": an
// honest offerer would stop for good, and a neighbor that promises and never delivers would have cut us off. Another
// neighbor that offers the same bundle meanwhile waits for an answer, and inherits the promise if it is not kept soon.
type promise struct {
	holder  *link    // the neighbor that is to deliver the bundle
	waiting []waiter // neighbors whose offers of it are not answered yet
	passing timerID  // what passes it on
}

// A waiter is a neighbor whose offer is not answered yet.
type waiter struct {
	link    *link
	answers []func(protocol.Seen) // one a call: it may ask more than once
	passed  int                   // how many times it was passed over
}

func (w *waiter) answer(s protocol.Seen) {
	for _, f := range w.answers {
		f(s)
	}
}

// maxPassedOver is how many times an offer is passed over before it is accepted beside another: its caller
// must not wait for ever.
const maxPassedOver = 3

// offerTimeout is how long our own offers wait for an answer, which the neighbor may hold for as
// many times.
const offerTimeout = (maxPassedOver+1)*protocol.HoldAnswer + 6*time.Second

// checked answers the offer of a bundle, now or once it is clear whether an earlier promise is kept.
//
// Paper §3.4: "using a check_did call [...] the forwarding node checks whether a neighbor has already
// seen this entry bundle."
func (n *Node) checked(l *link, did protocol.DID, answer func(protocol.Seen)) {
	n.status.Counters.ChecksAsked++
	l.offered.add(did)
	if l.owes(did) { // it did not hear that we asked for it, or its delivery was lost
		answer(false)
		return
	}
	if n.gossip.seen.has(did) {
		answer(n.offeredSeen(l, did))
		return
	}
	if n.hearsay.versions.Took(l.id(), did) {
		answer(true)
		return
	}
	p := n.gossip.promises[did]
	switch {
	case p == nil:
		p = &promise{}
		n.gossip.promises[did] = p
		n.entrust(p, did, l)
		answer(false)
	default:
		i := slices.IndexFunc(p.waiting, func(w waiter) bool { return w.link == l })
		switch {
		case i < 0:
			p.waiting = append(p.waiting, waiter{link: l, answers: []func(protocol.Seen){answer}})
		case len(p.waiting[i].answers) < maxAnswers:
			p.waiting[i].answers = append(p.waiting[i].answers, answer)
		default:
			answer(false)
		}
		n.passLater(p, did)
	}
}

// maxAnswers is how many calls of one neighbor wait for the same answer.
const maxAnswers = 4

// entrust makes l the one that is to deliver the bundle.
func (n *Node) entrust(p *promise, did protocol.DID, l *link) {
	if p.holder = l; !l.owes(did) {
		n.owe(l, did, 0)
	}
}

// passLater gives the holder of a promise for which others wait a moment to keep it.
func (n *Node) passLater(p *promise, did protocol.DID) {
	if p.passing != 0 {
		return
	}
	p.passing = n.after(protocol.HoldAnswer, func() {
		p.passing = 0
		if n.gossip.promises[did] == p {
			n.passOn(p, did)
		}
	})
}

// passOn gives a promise that was not kept soon enough to one of the neighbors that wait, at random: to one that does
// not owe too much already, if there is one.
func (n *Node) passOn(p *promise, did protocol.DID) {
	var waiting, heirs []waiter
	for _, w := range p.waiting {
		if w.link.over {
			w.answer(true) // the link is over; somebody may still hang on the line
			continue
		}
		waiting = append(waiting, w)
		if len(w.link.owed) < protocol.MaxPromises {
			heirs = append(heirs, w)
		}
	}
	if p.waiting = waiting; len(heirs) == 0 {
		for _, w := range waiting {
			w.answer(false) // all of them owe too much to be held to it, but may deliver
		}
		p.waiting = nil
		return
	}
	heir := heirs[n.rng.IntN(len(heirs))]
	n.entrust(p, did, heir.link)
	heir.answer(false)
	var still []waiter
	for _, w := range waiting {
		if w.link == heir.link {
			continue
		}
		if w.passed++; w.passed == maxPassedOver {
			w.answer(false)
			continue
		}
		still = append(still, w)
	}
	if p.waiting = still; len(still) > 0 {
		n.passLater(p, did)
	}
}

// fulfil ends the promise of a bundle that is stored now: every neighbor that waits is told "seen".
func (n *Node) fulfil(did protocol.DID) {
	p := n.gossip.promises[did]
	if p == nil {
		return
	}
	delete(n.gossip.promises, did)
	if p.passing != 0 {
		n.timers.cancel(p.passing)
	}
	for _, w := range p.waiting {
		if !w.link.over {
			w.answer(n.offeredSeen(w.link, did)) // it was in time, and another was faster
		} else {
			w.answer(true)
		}
	}
}

// askedCheck answers check_did.
func (n *Node) askedCheck(l *link, ev Asked, c protocol.CheckDID) {
	if c.Feed != "" && !n.table.Wanted(c.Feed, l.peer) && !l.owes(c.DID) {
		n.respond(ev, protocol.Seen(true))
		return
	}
	if n.overpromised(l, c.DID) {
		n.refuse(ev, errOverpromised)
		return
	}
	if n.overQuota(l, c.Feed) && !n.gossip.seen.has(c.DID) {
		n.spotPoll(c.Feed)
		n.refuse(ev, errOverQuota)
		return
	}
	n.checked(l, c.DID, func(s protocol.Seen) { n.respond(ev, s) })
}

// askedChecks answers check_dids once the last of its offers can be answered.
func (n *Node) askedChecks(l *link, ev Asked, dids []protocol.DID) {
	if n.overpromised(l, dids...) {
		n.refuse(ev, errOverpromised)
		return
	}
	if n.overQuota(l, "") && slices.ContainsFunc(dids, func(did protocol.DID) bool { return !n.gossip.seen.has(did) }) {
		n.refuse(ev, errOverQuota)
		return
	}
	reply := make(protocol.SeenList, len(dids))
	open := len(dids)
	for i, did := range dids {
		n.checked(l, did, func(s protocol.Seen) {
			reply[i] = s
			if open--; open == 0 {
				n.respond(ev, reply)
			}
		})
	}
	if len(dids) == 0 {
		n.respond(ev, reply)
	}
}

var errOverpromised = protocol.Faultf(protocol.Busy, "%d deliveries may be open at a time; deliver first",
	protocol.MaxPromises)

// overpromised reports whether l would owe more than it may if it were asked for all of dids that are
// neither here nor promised.
func (n *Node) overpromised(l *link, dids ...protocol.DID) bool {
	count := len(l.owed)
	for _, did := range dids {
		if n.gossip.promises[did] == nil && !n.gossip.seen.has(did) {
			count++
		}
	}
	return count > protocol.MaxPromises
}
