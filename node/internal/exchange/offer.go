package exchange

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// MaxWaiting and MaxWaitingBytes bound the bundles that wait to be offered to one neighbor; the newest are kept,
	// of each network that brought some as many.
	MaxWaiting      = 100
	MaxWaitingBytes = 8 << 20
	// MaxAsked is how many bundles a neighbor may have asked for at a time: no more than can be
	// delivered one after the other before it takes us for one that breaks promises.
	MaxAsked = 16
	// The delivery of a bundle may take as long again for each putRate bytes of it, up to MaxPutTimeout.
	MaxPutTimeout = 30 * time.Second
	putRate       = 512 << 10
	// maxPutFailures is after how many failed deliveries in a row a neighbor is of no use.
	maxPutFailures = 10
)

// An Offer is a bundle that a neighbor was offered, until we know that it has it: that it was told so, or took the
// delivery. Where an answer was lost the neighbor may wait for the bundle, so it is offered again, whatever else was
// said meanwhile, and kept for a neighbor that asks for it (feedex.get_bundle).
type Offer struct {
	*protocol.Bundle
	Value  incentive.Credit // what the neighbor pays for it: the price of the moment in which it was offered
	paid   bool             // that is booked; repeating a delivery costs nothing more
	again  bool             // somebody at the neighbor's address had it before
	stage  stage
	pulled int // how many times the neighbor had it by get_bundle
}

// A stage is where an offer is.
type stage uint8

const (
	resting  stage = iota // a call failed; it is offered again in a moment
	due                   // to be offered again
	offering              // a check is under way
	Asked                 // to be delivered: it was answered "unseen"
	putting               // a delivery is under way
)

// InStage is the first offer in a stage, nil for none, and how many are in it.
func (l *link) InStage(s stage) (first *Offer, count int) {
	for _, o := range l.Offers {
		if o.stage == s {
			if first == nil {
				first = o
			}
			count++
		}
	}
	return first, count
}

// offerOf is the offer of a bundle, nil for none.
func (l *link) offerOf(did protocol.DID) *Offer {
	for _, o := range l.Offers {
		if o.DID == did {
			return o
		}
	}
	return nil
}

// close ends an offer.
func (l *link) close(o *Offer) {
	l.Offers = slices.DeleteFunc(l.Offers, func(other *Offer) bool { return other == o })
}

// Offer queues the bundle for the neighbor, unless it has it or went away meanwhile, or the feed turned
// private.
func (m *Machine) Offer(l *link, b *protocol.Bundle) {
	waits := func(other *protocol.Bundle) bool { return other.DID == b.DID }
	if l.Over || !m.Wants(l, b) || slices.ContainsFunc(l.Waiting, waits) || l.offerOf(b.DID) != nil {
		return
	}
	l.Waiting = append(l.Waiting, b)
	l.waitingBytes += b.WireBytes()
	l.shorten()
	m.pump(l)
}

// Wants reports whether the bundle is to be offered to the neighbor, as things stand now.
func (m *Machine) Wants(l *link, b *protocol.Bundle) bool {
	fromIt := len(b.Path) > 0 && l.Passed(b.Path[len(b.Path)-1:])
	return !fromIt && !l.Offered.has(b.DID) && m.interested(l, b.Feed) && !m.byForger(b)
}

// interested reports whether bundles of the feed go to the neighbor: it wants them, and they may leave.
func (m *Machine) interested(l *link, u feed.URL) bool {
	return m.Table.Forwards(u, l.Peer)
}

// shorten lets go of the bundles that are too many, or too long together, the oldest of the network that brought most:
// a hundred of one neighbor push out none that others brought.
func (l *link) shorten() {
	for len(l.Waiting) > MaxWaiting || l.waitingBytes > MaxWaitingBytes && len(l.Waiting) > 1 {
		many := len(l.Waiting) > MaxWaiting
		l.takeWaiting(heaviest(len(l.Waiting), func(i int) (*protocol.Bundle, int) {
			if b := l.Waiting[i]; !many {
				return b, b.WireBytes()
			}
			return l.Waiting[i], 1
		}))
	}
}

// takeWaiting takes a bundle out of the queue.
func (l *link) takeWaiting(i int) {
	l.waitingBytes -= l.Waiting[i].WireBytes()
	l.Waiting = slices.Delete(l.Waiting, i, i+1)
}

// pump keeps one delivery and one offer to a neighbor going at a time. A node serves few connections to
// one address, and an answer to an offer may be held; a delivery must not wait behind it.
func (m *Machine) pump(l *link) {
	if l.Over {
		return
	}
	for !l.putting {
		o, _ := l.InStage(Asked)
		if o == nil {
			break
		}
		// What was promised is delivered, even if the neighbor offered the same meanwhile, or wants the
		// feed no more.
		if m.feeds.Private(o.Feed) {
			l.close(o)
			continue
		}
		if o.paid && m.Exhausted(l.Holder) {
			m.offerAgain(l, o)
			continue
		}
		m.Put(l, o)
	}
	for !l.Checking {
		again, _ := l.InStage(due)
		if _, asked := l.InStage(Asked); again == nil && (len(l.Waiting) == 0 || asked >= MaxAsked) {
			return
		}
		batch := m.nextOffer(l)
		if len(batch) == 0 {
			if l.toldBound = l.toldBound && len(l.Waiting) > 0; len(l.Waiting) > 0 {
				m.StateAccount(l.Link) // it is at its bound: the rest waits until it gives
			}
			return
		}
		m.check(l, batch)
	}
}

// nextOffer takes out of the queue what is to be offered next: as much as the neighbor's account allows,
// cutting a bundle where only a part of it fits.
//
// Paper §3.5: "To prevent free riding, node i ensures that d_{i,j} does not exceed a constant parameter D."
func (m *Machine) nextOffer(l *link) (batch []*Offer) {
	count := 1
	if l.Batches {
		_, asked := l.InStage(Asked)
		count = max(1, MaxAsked-asked)
	}
	for _, o := range slices.Clone(l.Offers) {
		switch {
		case o.stage != due || len(batch) == count:
		case m.feeds.Private(o.Feed):
			l.close(o)
		default:
			batch = append(batch, o) // its account had room for it, which is kept
		}
	}
	allowance := m.Allowance(l.Link)
	for len(l.Waiting) > 0 && len(batch) < count {
		whole := l.Waiting[0]
		b := m.lacked(l, whole)
		if b == nil || !m.Wants(l, b) {
			l.takeWaiting(0)
			continue
		}
		l.Waiting[0] = b
		l.waitingBytes += b.WireBytes() - whole.WireBytes()
		now, rest := m.Fit(l, b, allowance)
		if now == nil {
			break
		}
		l.takeWaiting(0)
		o := &Offer{Bundle: now, Value: m.worth(l, now)}
		batch, l.Offers = append(batch, o), append(l.Offers, o)
		allowance -= o.Value
		if rest != nil {
			l.Waiting = slices.Insert(l.Waiting, 0, rest)
			l.waitingBytes += rest.WireBytes()
			break
		}
	}
	return batch
}

// lacked is a bundle without the entries that the neighbor delivered itself while it waited, nil where these are all.
func (m *Machine) lacked(l *link, b *protocol.Bundle) *protocol.Bundle {
	var entries []feed.Entry
	for i, identity := range b.Identities() {
		if !l.brought.has(versionOf(identity)) {
			entries = append(entries, b.Entries[i])
		}
	}
	part := partOf(b, entries)
	if part != nil && part != b {
		m.partStored(part)
	}
	return part
}

// check offers bundles by their dids and has those delivered that the neighbor has not seen.
//
// Paper §3.4: "if the neighbor returns 'unseen,' the entry bundle is forwarded via a put_entries call."
func (m *Machine) check(l *link, batch []*Offer) {
	l.Checking = true
	for _, o := range batch {
		o.stage = offering
	}
	m.Counters.ChecksSent += int64(len(batch))
	m.Ask(l.Link, m.callFor(l, batch), offerTimeout, func(a core.Answered) {
		l.Checking = false
		var seen protocol.SeenList
		switch r := a.Reply.(type) {
		case protocol.Seen:
			seen = protocol.SeenList{r}
		case protocol.SeenList:
			seen = r
		}
		answered := a.Err == nil && len(seen) == len(batch)
		for i, o := range batch {
			switch {
			case answered && bool(seen[i]):
				m.Counters.ChecksSeen++
				l.Offered.Add(o.DID) // it has the bundle, or wants the feed no more and says so soon
				l.close(o)
			case answered:
				o.stage = Asked
			case core.CodeOf(a.Err) == protocol.OverQuota:
				l.close(o)
				m.postpone(l, o.Bundle)
			case !passing(a.Err):
				l.close(o)
			}
		}
		if passing(a.Err) {
			m.offerAgain(l, batch...)
			if core.CodeOf(a.Err) == protocol.Busy {
				return // it has enough to do
			}
		}
		m.pumpHolder(l.Link)
	})
}

// callFor is the call that offers the bundles. What else the neighbor is to hear goes along.
func (m *Machine) callFor(l *link, batch []*Offer) protocol.Call {
	if len(batch) == 1 {
		c := protocol.CheckDID{DID: batch[0].DID, Feed: batch[0].Feed}
		c.Notices = m.takeNotices(l, c.NoticeRoom())
		return c
	}
	dids := make([]protocol.DID, len(batch))
	for i, b := range batch {
		dids[i] = b.DID
	}
	return protocol.CheckDIDs{DIDs: dids, Notices: m.takeNotices(l, protocol.MaxNoticeBytes)}
}

// passing reports whether a call failed for a reason that may pass: the network, or too much to do. A
// neighbor that fails for good is gone soon, and its queue with it.
func passing(err error) bool {
	code := core.CodeOf(err)
	return err != nil && (code == 0 || code == protocol.Busy || code == protocol.Unavailable)
}

// offerAgain offers again, in a moment, what may not have reached the neighbor.
func (m *Machine) offerAgain(l *link, batch ...*Offer) {
	for _, o := range batch {
		o.stage = resting
	}
	m.After(m.Between(protocol.HoldAnswer, 2*protocol.HoldAnswer), func() {
		for _, o := range batch {
			if o.stage == resting {
				o.stage = due
			}
		}
		m.pump(l)
	})
}

// Put delivers a bundle that the neighbor asked for. It pays for what was written to the network, whatever it answers;
// what is delivered again counts in its minute instead. Answers to other calls do not excuse a neighbor that takes no
// deliveries.
func (m *Machine) Put(l *link, o *Offer) {
	l.putting, o.stage = true, putting
	paid := o.paid
	m.charge(l, o)
	call := protocol.PutEntries{Bundle: o.Bundle, Notices: m.takeNotices(l, protocol.MaxNoticeBytes)}
	m.Call(core.Target{Node: l.ID()}, l.Token, call, TimeToPut(o.Bundle),
		func(a core.Answered) {
			switch {
			case a.Unsent && !paid && o.pulled == 0:
				m.Returned(l.Link, o.Value)
				if o.again {
					m.Ledger.GaveAgain(m.Now, l.Holder, -o.Value)
				}
				o.paid, o.again = false, false
			case !a.Unsent && paid:
				m.UsageOf(l.Holder).Demanded += o.WireBytes()
			}
			m.AnsweredBy(l.Link, a, func(a core.Answered) {
				l.putting = false
				m.putEnded(l, o, a)
			})
		})
}

// charge books what the neighbor pays for a bundle, once.
func (m *Machine) charge(l *link, o *Offer) {
	if o.paid {
		return
	}
	o.paid = true
	m.Gave(l.Link, o.Value)
	if o.again = m.earnings.Gave(m.Now, m.party(l.Link), o.Bundle); o.again {
		m.Ledger.GaveAgain(m.Now, l.Holder, o.Value)
	}
	m.earnings.Gave(m.Now, l.Holder, o.Bundle)
}

// TimeToPut is how long the delivery of the bundle may take.
func TimeToPut(b *protocol.Bundle) time.Duration {
	return min(core.CallTimeout+core.CallTimeout*time.Duration(b.WireBytes())/putRate, MaxPutTimeout)
}

// putEnded takes in how a delivery ended.
func (m *Machine) putEnded(l *link, o *Offer, a core.Answered) {
	switch {
	case a.Err == nil:
		l.PutFailures = 0
		l.forwarded += int64(len(o.Entries))
		m.Counters.PutsSent++
		m.Counters.Forwarded += int64(len(o.Entries))
		l.close(o)
	case core.CodeOf(a.Err) == protocol.ForgedSource:
		m.warned(l, o.Bundle)
		l.close(o)
	case core.CodeOf(a.Err) == protocol.OverQuota:
		l.PutFailures = 0
		l.close(o)
		m.postpone(l, o.Bundle)
	case a.Queued:
		m.offerAgain(l, o)
	case passing(a.Err):
		if l.PutFailures++; l.PutFailures >= maxPutFailures {
			m.membership.Expel(l.Link, "takes no deliveries: "+a.Err.Error())
			return
		}
		m.offerAgain(l, o)
	default:
		l.close(o)
	}
	m.pump(l)
}

// AskedBundle answers get_bundle: it gives a neighbor what it was offered and may wait for, again where an answer was
// lost, as often as it would ask. The bundle counts in its minute.
func (m *Machine) AskedBundle(from *core.Link, ev core.Asked, did protocol.DID) {
	m.giveBundle(Of(from), ev, did)
}

func (m *Machine) giveBundle(l *link, ev core.Asked, did protocol.DID) {
	o := l.offerOf(did)
	switch {
	case o == nil || m.feeds.Private(o.Feed) || o.pulled > MaxInVain:
		m.Refuse(ev, protocol.Faultf(protocol.NotOffered, "you were not offered %s, or have it", did))
	case m.Exhausted(l.Holder):
		m.Refuse(ev, core.ErrExhausted)
	default:
		o.pulled++
		m.charge(l, o)
		m.UsageOf(l.Holder).Demanded += o.WireBytes()
		m.Respond(ev, o.Bundle)
	}
}

// AskedPartedBundle answers get_bundle where the link to the caller ended a moment ago, and reports whether it did.
func (m *Machine) AskedPartedBundle(ev core.Asked, did protocol.DID) bool {
	out := m.openWith(ev.From)
	if out == nil || out.link.Session != ev.Session {
		return false
	}
	m.giveBundle(out.link, ev, did)
	return true
}
