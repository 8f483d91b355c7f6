package exchange

import (
	"errors"
	"slices"
	"time"

	"feedex/incentive"
	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// An outstanding is all that is open between us and a neighbor. It outlives the link: on a bad network links end while
// an answer is on its way, and to hang up must be no way out of an audit.
type outstanding struct {
	link *link // the latest

	Offers []*Offer // that it may wait for, oldest first

	Owed      []owed       // bundles we asked it for, earliest due first
	watching  core.TimerID // what asks for the first when it is due
	demanding bool         // that is under way
	inVain    int          // such calls that failed in a row
	// pending is what it earned with other offers while it had yet to show that one was true.
	pending Earning
}

const (
	// Outlives is for how long what is outstanding is kept after a link: until a neighbor that waits for a bundle has
	// asked for it as often as it does.
	Outlives = protocol.PromiseTimeout + MaxInVain*(MaxPutTimeout+2*core.ProbeIn)
	// maxParted is with how many nodes.
	maxParted = 64
)

// leaveOpen keeps what is outstanding with a neighbor whose link ended.
func (m *Machine) leaveOpen(l *link) {
	out := l.outstanding
	if len(out.Offers)+len(out.Owed) == 0 {
		return
	}
	if len(m.Lately) == maxParted {
		m.Lately = slices.Delete(m.Lately, 0, 1)
	}
	m.Lately = append(m.Lately, out)
	m.After(Outlives, func() {
		if out.link == l {
			m.Lately = slices.DeleteFunc(m.Lately, func(other *outstanding) bool { return other == out })
		}
	})
}

// takeUp goes on, over a new link, with what is outstanding with the neighbor. Bundles that it was offered it is
// offered again: nobody knows which of them arrived.
func (m *Machine) takeUp(l *link) {
	l.outstanding = m.openWith(l.ID())
	if l.outstanding == nil {
		l.outstanding = &outstanding{}
	}
	m.Lately = slices.DeleteFunc(m.Lately, func(out *outstanding) bool { return out == l.outstanding })
	l.outstanding.link = l
	for _, o := range l.Offers {
		o.stage = due
	}
}

// openWith is what is outstanding with a node whose link ended a moment ago, nil for nothing.
func (m *Machine) openWith(id protocol.NodeID) *outstanding {
	for _, out := range m.Lately {
		if out.link.ID() == id {
			return out
		}
	}
	return nil
}

// abandon lets others deliver what a link that is over was to. It is owed all the same.
func (m *Machine) abandon(l *link) {
	for _, o := range slices.Clone(l.Owed) {
		m.release(l, o.did)
	}
	l.Waiting, l.waitingBytes = nil, 0
	m.leaveOpen(l)
}

// Joined goes on, over a new link, with what is outstanding with a neighbor; old is the link that it takes the place
// of, nil for none.
func (m *Machine) Joined(l, old *core.Link) {
	if old != nil {
		m.abandon(Of(old))
	}
	x := &link{Link: l}
	l.Exchange = x
	m.takeUp(x)
}

// Parted lets others deliver what a neighbor that is gone was to.
func (m *Machine) Parted(l *core.Link) {
	m.Gossip.weighed = m.Now.UnixNano() // the neighbors left may have had it all from l
	m.abandon(Of(l))
}

// MaxInVain is how many calls in a row for what a neighbor owes may fail before that is no network's doing: where a
// fifth of all calls fail, five fail in a row once in 3,000 times.
const MaxInVain = 5

// An owed bundle is one that a neighbor offered, was asked for and has not delivered.
//
// To the node that a delivery was for, a lost one looks like one that was never made. So what is overdue is asked for
// (feedex.get_bundle), and that is a call of our own, which we see fail. An honest neighbor has the bundle, however
// many messages are lost; one that answers without it offered what it had not.
type owed struct {
	did protocol.DID
	due time.Time // when it is asked for
	// audit is what the offer earns when the bundle comes, where we had it already and want to know whether the
	// neighbor has it; nothing where we had not.
	audit Earning
	again bool // somebody at the neighbor's address gave it before
}

// audited reports whether we had the bundle already.
func (o *owed) audited() bool { return o.audit.Credit > 0 }

// Owe has a neighbor owe us a bundle from now on.
func (m *Machine) Owe(l *link, did protocol.DID, audit Earning, again bool) {
	l.Owed = append(l.Owed, owed{did, m.Now.Add(protocol.PromiseTimeout), audit, again})
	m.watchOwed(l)
}

// Owes reports whether the neighbor was asked for the bundle and has not delivered it.
func (l *link) Owes(did protocol.DID) bool {
	return slices.ContainsFunc(l.Owed, func(o owed) bool { return o.did == did })
}

// strike strikes the bundle off what the neighbor owes. It returns what it owed, and whether it did.
func (m *Machine) strike(l *link, did protocol.DID) (o owed, ok bool) {
	i := slices.IndexFunc(l.Owed, func(o owed) bool { return o.did == did })
	if i < 0 {
		return owed{}, false
	}
	o = l.Owed[i]
	if l.Owed = slices.Delete(l.Owed, i, i+1); i == 0 {
		l.inVain = 0
	}
	if len(l.Owed) == 0 && l.watching != 0 {
		m.Timers.Cancel(l.watching)
		l.watching = 0
	}
	return o, true
}

// promises is how many bundles the neighbor owes that are not here: it is audited beside them.
func (l *link) promises() (count int) {
	for i := range l.Owed {
		if !l.Owed[i].audited() {
			count++
		}
	}
	return count
}

// mustShow reports whether the neighbor has yet to show that an offer was true: it is being audited, or was asked in
// vain.
func (l *link) mustShow() bool {
	return l.inVain > 0 || slices.ContainsFunc(l.Owed, func(o owed) bool { return o.audited() })
}

// shown pays a neighbor for an offer that turned out to be true, and for those that it made meanwhile.
func (m *Machine) shown(l *link, o owed) {
	e := o.audit
	if o.again {
		m.gotAgain(l, e.Credit)
		e = Earning{}
	}
	if !l.mustShow() {
		e.add(l.pending)
		l.pending = Earning{}
	}
	if l.Over {
		m.EarnLate(l.ID(), l.Holder, e)
	} else {
		m.book(l.Link, e)
	}
}

// watchOwed asks for the first bundle that l owes when it is overdue, and for the others after it. Nobody is to blame
// for what did not come while this machine was asleep, or too busy to take deliveries: that is looked at too late.
func (m *Machine) watchOwed(l *link) {
	if l.watching != 0 || l.demanding || len(l.Owed) == 0 {
		return
	}
	out, at := l.outstanding, when.Later(l.Owed[0].due, m.Now)
	out.watching = m.At(at, func() {
		out.watching = 0
		for m.Now.Sub(at) >= protocol.PromiseTimeout && out.overdue(m.Now) {
			m.GiveUp(out.link, out.Owed[0].did)
		}
		if out.overdue(m.Now) {
			m.demand(out.link, out.Owed[0])
		}
		m.watchOwed(out.link)
	})
}

// overdue reports whether the first bundle that is owed is to be asked for.
func (out *outstanding) overdue(now time.Time) bool {
	return len(out.Owed) > 0 && !out.Owed[0].due.After(now)
}

// demand asks for a bundle that is overdue, in the next minute where the neighbor caused all that it may in this one.
func (m *Machine) demand(l *link, o owed) {
	if m.Exhausted(l.Holder) {
		l.Owed[0].due = m.Now.Truncate(time.Minute).Add(time.Minute)
		return
	}
	l.demanding = true
	m.Call(core.Target{Node: l.ID()}, l.Token, protocol.GetBundle{DID: o.did}, MaxPutTimeout, func(a core.Answered) {
		m.AnsweredBy(l.Link, a, func(core.Answered) {})
		l := l.outstanding.link // there may be another by now
		if b, ok := a.Reply.(*protocol.Bundle); ok {
			m.UsageOf(l.Holder).Demanded += b.WireBytes()
		}
		if l.demanding = false; l.Owes(o.did) {
			m.demanded(l, o, a)
		}
		m.watchOwed(l)
	})
}

// demanded takes in how a demand for the first bundle that l owes ended.
func (m *Machine) demanded(l *link, o owed, a core.Answered) {
	b, _ := a.Reply.(*protocol.Bundle)
	switch {
	case b != nil && b.DID == o.did && o.audited():
		m.deliveredAgain(l, b)
	case b != nil && b.DID == o.did:
		m.Received(l.Link, b, func(error) {})
	case errors.Is(a.Err, protocol.ErrReply), !passing(a.Err) && core.CodeOf(a.Err) != protocol.Internal:
		m.broken(l, o)
	case l.inVain+1 < MaxInVain:
		l.inVain++
		l.Owed[0].due = m.Now.Add(m.Between(core.ProbeIn, 2*core.ProbeIn))
	default:
		for l.overdue(m.Now) {
			if o := l.Owed[0]; l.Over && !o.audited() {
				m.GiveUp(l, o.did) // it may be dead
			} else {
				m.broken(l, o)
			}
		}
	}
}

// broken counts against a neighbor that it does not have what it offered.
func (m *Machine) broken(l *link, o owed) {
	m.Counters.Broken++
	m.GiveUp(l, o.did)
	if o.audited() {
		m.membership.Punish(l.Holder, incentive.FailedAudit, o.audit.Credit)
	} else {
		m.membership.Punish(l.Holder, incentive.BrokenPromise, 0)
	}
}

// GiveUp expects the bundle of l no more: it delivered something else, or nothing at all.
func (m *Machine) GiveUp(l *link, did protocol.DID) {
	m.strike(l, did)
	l.pending = Earning{}
	m.release(l, did)
}
