package exchange

import (
	"maps"
	"slices"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

// A promise is a bundle that a neighbor offered and that we asked it for. While it is open nobody is told "seen": an
// honest offerer would stop for good, and a neighbor that promises and never delivers would have cut us off. Another
// neighbor that offers the same bundle meanwhile waits for an answer, and inherits the promise if it is not kept soon.
type promise struct {
	Holder  *link        // the neighbor that is to deliver the bundle
	waiting []waiter     // neighbors whose offers of it are not answered yet
	passing core.TimerID // what passes it on
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

// MaxPassedOver is how many times an offer is passed over before it is accepted beside another: its caller
// must not wait for ever.
const MaxPassedOver = 3

// offerTimeout is how long our own offers wait for an answer, which the neighbor may hold for as
// many times.
const offerTimeout = (MaxPassedOver+1)*protocol.HoldAnswer + 6*time.Second

// checked answers the offer of a bundle, now or once it is clear whether an earlier promise is kept.
//
// Paper §3.4: "using a check_did call [...] the forwarding node checks whether a neighbor has already
// seen this entry bundle."
func (m *Machine) checked(l *link, did protocol.DID, answer func(protocol.Seen)) {
	m.Counters.ChecksAsked++
	l.Offered.Add(did)
	if l.Owes(did) { // it did not hear that we asked for it, or its delivery was lost
		answer(false)
		return
	}
	if m.Gossip.Seen.Has(did) {
		answer(m.offeredSeen(l, did))
		return
	}
	if m.Hearsay.Versions.Took(l.ID(), did) {
		answer(true)
		return
	}
	p := m.Gossip.Promises[did]
	switch {
	case p == nil:
		p = &promise{}
		m.Gossip.Promises[did] = p
		m.entrust(p, did, l)
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
		m.passLater(p, did)
	}
}

// maxAnswers is how many calls of one neighbor wait for the same answer.
const maxAnswers = 4

// entrust makes l the one that is to deliver the bundle.
func (m *Machine) entrust(p *promise, did protocol.DID, l *link) {
	if p.Holder = l; !l.Owes(did) {
		m.Owe(l, did, Earning{}, false)
	}
}

// passLater gives the holder of a promise for which others wait a moment to keep it.
func (m *Machine) passLater(p *promise, did protocol.DID) {
	if p.passing != 0 {
		return
	}
	p.passing = m.After(protocol.HoldAnswer, func() {
		p.passing = 0
		if m.Gossip.Promises[did] == p {
			m.passOn(p, did)
		}
	})
}

// passOn gives a promise that was not kept soon enough to one of the neighbors that wait, at random: to one that does
// not owe too much already, if there is one.
func (m *Machine) passOn(p *promise, did protocol.DID) {
	var waiting, heirs []waiter
	for _, w := range p.waiting {
		if w.link.Over {
			w.answer(true) // the link is over; somebody may still hang on the line
			continue
		}
		waiting = append(waiting, w)
		if w.link.promises() < protocol.MaxPromises {
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
	heir := heirs[m.Rng.IntN(len(heirs))]
	m.entrust(p, did, heir.link)
	heir.answer(false)
	var still []waiter
	for _, w := range waiting {
		if w.link == heir.link {
			continue
		}
		if w.passed++; w.passed == MaxPassedOver {
			w.answer(false)
			continue
		}
		still = append(still, w)
	}
	if p.waiting = still; len(still) > 0 {
		m.passLater(p, did)
	}
}

// fulfil ends the promise of a bundle that is stored now: every neighbor that waits is told "seen".
func (m *Machine) fulfil(did protocol.DID) {
	p := m.Gossip.Promises[did]
	if p == nil {
		return
	}
	delete(m.Gossip.Promises, did)
	if p.passing != 0 {
		m.Timers.Cancel(p.passing)
	}
	for _, w := range p.waiting {
		if !w.link.Over {
			w.answer(m.offeredSeen(w.link, did)) // it was in time, and another was faster
		} else {
			w.answer(true)
		}
	}
}

// AskedCheck answers check_did.
func (m *Machine) AskedCheck(from *core.Link, ev core.Asked, c protocol.CheckDID) {
	l := Of(from)
	m.Noticed(from, c.Notices)
	if c.Feed != "" && !m.Table.Wanted(c.Feed, l.Peer) && !l.Owes(c.DID) {
		m.Respond(ev, protocol.Seen(true))
		return
	}
	if m.overpromised(l, c.DID) {
		m.Refuse(ev, errOverpromised)
		return
	}
	if m.OverQuota(l, c.Feed) && !m.Gossip.Seen.Has(c.DID) {
		m.feeds.SpotPoll(c.Feed)
		m.Refuse(ev, errOverQuota)
		return
	}
	m.checked(l, c.DID, func(s protocol.Seen) { m.Respond(ev, s) })
}

// AskedChecks answers check_dids once the last of its offers can be answered.
func (m *Machine) AskedChecks(from *core.Link, ev core.Asked, c protocol.CheckDIDs) {
	l, dids := Of(from), c.DIDs
	m.Noticed(from, c.Notices)
	if m.overpromised(l, dids...) {
		m.Refuse(ev, errOverpromised)
		return
	}
	if m.OverQuota(l, "") && slices.ContainsFunc(dids, func(did protocol.DID) bool { return !m.Gossip.Seen.Has(did) }) {
		m.Refuse(ev, errOverQuota)
		return
	}
	reply := make(protocol.SeenList, len(dids))
	open := len(dids)
	for i, did := range dids {
		m.checked(l, did, func(s protocol.Seen) {
			reply[i] = s
			if open--; open == 0 {
				m.Respond(ev, reply)
			}
		})
	}
	if len(dids) == 0 {
		m.Respond(ev, reply)
	}
}

var errOverpromised = protocol.Faultf(protocol.Busy, "%d deliveries may be open at a time; deliver first",
	protocol.MaxPromises)

// overpromised reports whether l would owe more than it may if it were asked for all of dids that are
// neither here nor promised.
func (m *Machine) overpromised(l *link, dids ...protocol.DID) bool {
	count := l.promises()
	for _, did := range dids {
		if m.Gossip.Promises[did] == nil && !m.Gossip.Seen.Has(did) {
			count++
		}
	}
	return count > protocol.MaxPromises
}

// AnswerWaiting answers the offers that are held: nobody is to hang on the line of a node that is gone.
func (m *Machine) AnswerWaiting() {
	dids := slices.SortedFunc(maps.Keys(m.Gossip.Promises), protocol.DID.Compare)
	for _, did := range dids {
		for _, w := range m.Gossip.Promises[did].waiting {
			w.answer(true)
		}
	}
	clear(m.Gossip.Promises)
}

// release lets others deliver what l promised.
func (m *Machine) release(l *link, did protocol.DID) {
	p := m.Gossip.Promises[did]
	if p == nil || p.Holder != l {
		return
	}
	if m.passOn(p, did); p.Holder == l && len(p.waiting) == 0 {
		delete(m.Gossip.Promises, did)
	}
}
