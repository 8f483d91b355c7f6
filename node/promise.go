package node

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/protocol"
)

// A promise is a bundle that a neighbor offered and that we asked it for. While it is open nobody is
// told "seen": an honest offerer would stop for good, and a neighbor that promises and never delivers
// would have cut us off. Whoever offers the same bundle meanwhile waits for an answer, and inherits
// the promise if it is not kept soon.
type promise struct {
	holder  *link    // who is to deliver the bundle
	waiting []waiter // whose offers of it are not answered yet
	passing taskID   // what passes it on
}

// A waiter is a neighbor whose offer is not answered yet.
type waiter struct {
	link    *link
	answers []func(protocol.Seen) // one a call: it may ask more than once
	turns   int                   // how many times it was passed over
}

func (w *waiter) answer(s protocol.Seen) {
	for _, f := range w.answers {
		f(s)
	}
}

// An owed bundle is one that a neighbor was asked for and has not delivered.
type owed struct {
	did protocol.DID
	due time.Time
}

// maxTurns is how many times an offer is passed over before it is accepted beside another: its caller
// must not wait for ever.
const maxTurns = 3

// offerTimeout is how long our own offers wait for an answer, which the neighbor may hold for as many
// turns.
const offerTimeout = (maxTurns+1)*protocol.HoldAnswer + 6*time.Second

// checked answers the offer of a bundle, now or once it is clear whether an earlier promise is kept.
//
// Paper §3.4: "using a check_did call [...] the forwarding node checks whether a neighbor has already
// seen this entry bundle."
func (n *Node) checked(l *link, did protocol.DID, answer func(protocol.Seen)) {
	n.status.Counters.ChecksAsked++
	l.offered.add(did)
	if n.gossip.seen.has(did) {
		answer(n.offeredSeen(l, did))
		return
	}
	if n.edits.Took(l.holder, did) {
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
	case p.holder == l:
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
	p.holder = l
	if l.owes(did) {
		return
	}
	l.owed = append(l.owed, owed{did, n.now.Add(protocol.PromiseTimeout)})
	n.watchPromises(l)
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

// passOn gives a promise that was not kept soon enough to one of those who wait, at random: to one that
// does not owe too much already, if there is one.
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
		if w.turns++; w.turns == maxTurns {
			w.answer(false)
			continue
		}
		still = append(still, w)
	}
	if p.waiting = still; len(still) > 0 {
		n.passLater(p, did)
	}
}

// settle ends the promise of a bundle that is stored now: whoever waits is told "seen".
func (n *Node) settle(did protocol.DID) {
	p := n.gossip.promises[did]
	if p == nil {
		return
	}
	delete(n.gossip.promises, did)
	if p.passing != 0 {
		n.agenda.callOff(p.passing)
	}
	for _, w := range p.waiting {
		if !w.link.over {
			w.answer(n.offeredSeen(w.link, did)) // it was in time, and another was faster
		} else {
			w.answer(true)
		}
	}
}

// giveUp ends l's part in the promise of did: it delivered something else, nothing in time, or is gone.
func (n *Node) giveUp(l *link, did protocol.DID) {
	n.deliveredOwed(l, did)
	p := n.gossip.promises[did]
	if p == nil || p.holder != l {
		return
	}
	if n.passOn(p, did); p.holder == l && len(p.waiting) == 0 {
		delete(n.gossip.promises, did)
	}
}

// watchPromises looks at what l owes when the first of it falls due.
func (n *Node) watchPromises(l *link) {
	if l.watching != 0 || len(l.owed) == 0 {
		return
	}
	l.watching = n.at(l.owed[0].due, func() {
		l.watching = 0
		if l.over {
			return
		}
		silent := 0
		for len(l.owed) > 0 && !l.owed[0].due.After(n.now) {
			n.status.Counters.Broken++
			o := l.owed[0]
			n.giveUp(l, o.did)
			switch {
			case n.overslept(o.due):
			case l.heard.After(o.due.Add(-protocol.PromiseTimeout)):
				n.punish(l.holder, incentive.BrokenPromise, 0)
			default:
				silent++
			}
		}
		if silent > 0 && !l.over {
			n.knockThen(l, func(a Answered) {
				for range silent {
					if a.Err == nil {
						n.punish(l.holder, incentive.BrokenPromise, 0)
					}
				}
			})
		}
		if !l.over {
			n.watchPromises(l)
		}
	})
}

// overslept reports whether what was due then is looked at so late that this machine must have been asleep, or
// too busy to take deliveries: nobody is to blame for what did not come meanwhile.
func (n *Node) overslept(due time.Time) bool { return n.now.Sub(due) >= protocol.PromiseTimeout }

// owes reports whether the neighbor was asked for the bundle and has not delivered it.
func (l *link) owes(did protocol.DID) bool {
	return slices.ContainsFunc(l.owed, func(o owed) bool { return o.did == did })
}

// deliveredOwed strikes the bundle off what the neighbor owes.
func (n *Node) deliveredOwed(l *link, did protocol.DID) {
	l.owed = slices.DeleteFunc(l.owed, func(o owed) bool { return o.did == did })
	if len(l.owed) == 0 && l.watching != 0 {
		n.agenda.callOff(l.watching)
		l.watching = 0
	}
}

// askedCheck answers check_did.
func (n *Node) askedCheck(l *link, ev Asked, c protocol.CheckDID) {
	if c.Feed != "" && !n.table.Wanted(c.Feed, l.peer) {
		n.respond(ev, protocol.Seen(true))
		return
	}
	if n.overpromised(l, c.DID) {
		n.refuse(ev, errOverpromised)
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

var errOverpromised = protocol.Faultf(protocol.Busy, "%d deliveries may be open at a time; deliver first", protocol.MaxPromises)

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
