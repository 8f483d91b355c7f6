package node

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/protocol"
)

// maxInVain is how many calls in a row for what a neighbor owes may fail before that is no network's doing: where a
// fifth of all calls fail, five fail in a row once in 3,000 times.
const maxInVain = 5

// An owed bundle is one that a neighbor offered, was asked for and has not delivered.
//
// To the node that a delivery was for, a lost one looks like one that was never made. So what is overdue is asked for
// (feedex.get_bundle), and that is a call of our own, which we see fail. An honest neighbor has the bundle, however
// many messages are lost; one that answers without it offered what it had not.
type owed struct {
	did protocol.DID
	due time.Time // when it is asked for
	// audit is what the offer earns when the bundle comes, where we had it already and want to know whether the
	// neighbor has it; 0 where we had not.
	audit incentive.Credit
}

// owe has a neighbor owe us a bundle from now on.
func (n *Node) owe(l *link, did protocol.DID, audit incentive.Credit) {
	l.owed = append(l.owed, owed{did, n.now.Add(protocol.PromiseTimeout), audit})
	n.watchOwed(l)
}

// owes reports whether the neighbor was asked for the bundle and has not delivered it.
func (l *link) owes(did protocol.DID) bool {
	return slices.ContainsFunc(l.owed, func(o owed) bool { return o.did == did })
}

// strike strikes the bundle off what the neighbor owes. It returns what it owed, and whether it did.
func (n *Node) strike(l *link, did protocol.DID) (o owed, ok bool) {
	i := slices.IndexFunc(l.owed, func(o owed) bool { return o.did == did })
	if i < 0 {
		return owed{}, false
	}
	o = l.owed[i]
	if l.owed = slices.Delete(l.owed, i, i+1); i == 0 {
		l.inVain = 0
	}
	if len(l.owed) == 0 && l.watching != 0 {
		n.timers.cancel(l.watching)
		l.watching = 0
	}
	return o, true
}

// mustShow reports whether the neighbor has yet to show that an offer was true: it is being audited, or was asked in
// vain.
func (l *link) mustShow() bool {
	return l.inVain > 0 || slices.ContainsFunc(l.owed, func(o owed) bool { return o.audit > 0 })
}

// shown pays a neighbor for an offer that turned out to be true, and for those that it made meanwhile.
func (n *Node) shown(l *link, value incentive.Credit) {
	if !l.mustShow() {
		value += l.pending
		l.pending = 0
	}
	if l.over {
		n.earnLate(l.holder, value)
	} else {
		n.earnValue(l, value)
	}
}

// watchOwed asks for the first bundle that l owes when it is overdue, and for the others after it. Nobody is to blame
// for what did not come while this machine was asleep, or too busy to take deliveries: that is looked at too late.
func (n *Node) watchOwed(l *link) {
	if l.watching != 0 || l.demanding || len(l.owed) == 0 {
		return
	}
	out, at := l.outstanding, later(l.owed[0].due, n.now)
	out.watching = n.at(at, func() {
		out.watching = 0
		for n.now.Sub(at) >= protocol.PromiseTimeout && out.overdue(n.now) {
			n.giveUp(out.link, out.owed[0].did)
		}
		if out.overdue(n.now) {
			n.demand(out.link, out.owed[0])
		}
		n.watchOwed(out.link)
	})
}

// overdue reports whether the first bundle that is owed is to be asked for.
func (out *outstanding) overdue(now time.Time) bool {
	return len(out.owed) > 0 && !out.owed[0].due.After(now)
}

// demand asks for a bundle that is overdue, in the next minute where the neighbor caused all that it may in this one.
func (n *Node) demand(l *link, o owed) {
	if n.exhausted(l.holder) {
		l.owed[0].due = n.now.Truncate(time.Minute).Add(time.Minute)
		return
	}
	l.demanding = true
	n.call(Target{Node: l.id()}, l.token, protocol.GetBundle{DID: o.did}, maxPutTimeout, func(a Answered) {
		n.answeredBy(l, a, func(Answered) {})
		l := l.outstanding.link // there may be another by now
		if b, ok := a.Reply.(*protocol.Bundle); ok {
			n.usageOf(l.holder).demanded += b.WireBytes()
		}
		if l.demanding = false; l.owes(o.did) {
			n.demanded(l, o, a)
		}
		n.watchOwed(l)
	})
}

// demanded takes in how a demand for the first bundle that l owes ended.
func (n *Node) demanded(l *link, o owed, a Answered) {
	b, _ := a.Reply.(*protocol.Bundle)
	switch {
	case b != nil && b.DID == o.did && o.audit > 0:
		n.deliveredAgain(l, b)
	case b != nil && b.DID == o.did:
		n.received(l, b, func(error) {})
	case !passing(a.Err) && codeOf(a.Err) != protocol.Internal:
		n.broken(l, o)
	case l.inVain+1 < maxInVain:
		l.inVain++
		l.owed[0].due = n.now.Add(n.between(probeIn, 2*probeIn))
	default:
		for l.overdue(n.now) {
			if o := l.owed[0]; l.over && o.audit == 0 {
				n.giveUp(l, o.did) // it may be dead
			} else {
				n.broken(l, o)
			}
		}
	}
}

// broken counts against a neighbor that it does not have what it offered.
func (n *Node) broken(l *link, o owed) {
	n.status.Counters.Broken++
	n.giveUp(l, o.did)
	if o.audit > 0 {
		n.punish(l.holder, incentive.FailedAudit, o.audit)
	} else {
		n.punish(l.holder, incentive.BrokenPromise, 0)
	}
}

// giveUp expects the bundle of l no more: it delivered something else, or nothing at all.
func (n *Node) giveUp(l *link, did protocol.DID) {
	n.strike(l, did)
	l.pending = 0
	n.release(l, did)
}

// release lets others deliver what l promised.
func (n *Node) release(l *link, did protocol.DID) {
	p := n.gossip.promises[did]
	if p == nil || p.holder != l {
		return
	}
	if n.passOn(p, did); p.holder == l && len(p.waiting) == 0 {
		delete(n.gossip.promises, did)
	}
}
