package node

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

const (
	// maxWaiting and maxWaitingBytes bound the bundles that wait to be offered to one neighbor; the
	// newest are kept.
	maxWaiting      = 100
	maxWaitingBytes = 8 << 20
	// maxAsked is how many bundles a neighbor may have asked for at a time: no more than can be
	// delivered one after the other before it takes us for one that breaks promises.
	maxAsked = 16
	// maxPutFailures is after how many failed deliveries in a row a neighbor is of no use.
	maxPutFailures = 10
)

// An offer is a bundle that a neighbor was offered, until we know that it has it: that it was told so, or took the
// delivery. Where an answer was lost the neighbor may wait for the bundle, so it is offered again, whatever else was
// said meanwhile, and kept for a neighbor that asks for it (feedex.get_bundle).
type offer struct {
	*protocol.Bundle
	value  incentive.Credit // what the neighbor pays for it: the price of the moment in which it was offered
	paid   bool             // that is booked; repeating a delivery costs nothing more
	stage  stage
	pulled int // how many times the neighbor had it by get_bundle
}

// A stage is where an offer is.
type stage uint8

const (
	resting  stage = iota // a call failed; it is offered again in a moment
	due                   // to be offered again
	offering              // a check is under way
	asked                 // to be delivered: it was answered "unseen"
	putting               // a delivery is under way
)

// inStage is the first offer in a stage, nil for none, and how many are in it.
func (l *link) inStage(s stage) (first *offer, count int) {
	for _, o := range l.offers {
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
func (l *link) offerOf(did protocol.DID) *offer {
	for _, o := range l.offers {
		if o.DID == did {
			return o
		}
	}
	return nil
}

// close ends an offer.
func (l *link) close(o *offer) {
	l.offers = slices.DeleteFunc(l.offers, func(other *offer) bool { return other == o })
}

// offer queues the bundle for the neighbor, unless it has it or went away meanwhile, or the feed turned
// private.
func (n *Node) offer(l *link, b *protocol.Bundle) {
	waits := func(other *protocol.Bundle) bool { return other.DID == b.DID }
	if l.over || !n.wants(l, b) || slices.ContainsFunc(l.waiting, waits) || l.offerOf(b.DID) != nil {
		return
	}
	l.waiting = append(l.waiting, b)
	l.waitingBytes += b.WireBytes()
	for len(l.waiting) > maxWaiting || l.waitingBytes > maxWaitingBytes && len(l.waiting) > 1 {
		l.takeWaiting()
	}
	n.pump(l)
}

// wants reports whether the bundle is to be offered to the neighbor, as things stand now.
func (n *Node) wants(l *link, b *protocol.Bundle) bool {
	fromIt := len(b.Path) > 0 && b.Path[len(b.Path)-1] == l.id()
	return !fromIt && !l.offered.has(b.DID) && n.interested(l, b.Feed) && !n.byForger(b)
}

// interested reports whether bundles of the feed go to the neighbor: it wants them, and they may leave.
func (n *Node) interested(l *link, u feed.URL) bool {
	return n.table.Forwards(u, l.peer)
}

// takeWaiting takes the bundle that waited longest out of the queue.
func (l *link) takeWaiting() {
	l.waitingBytes -= l.waiting[0].WireBytes()
	l.waiting = slices.Delete(l.waiting, 0, 1)
}

// pump keeps one delivery and one offer to a neighbor going at a time. A node serves few connections to
// one address, and an answer to an offer may be held; a delivery must not wait behind it.
func (n *Node) pump(l *link) {
	if l.over {
		return
	}
	for !l.putting {
		o, _ := l.inStage(asked)
		if o == nil {
			break
		}
		// What was promised is delivered, even if the neighbor offered the same meanwhile, or wants the
		// feed no more.
		if n.private(o.Feed) {
			l.close(o)
			continue
		}
		if o.paid && n.exhausted(l.holder) {
			n.offerAgain(l, o)
			continue
		}
		n.put(l, o)
	}
	for !l.checking {
		again, _ := l.inStage(due)
		if _, asked := l.inStage(asked); again == nil && (len(l.waiting) == 0 || asked >= maxAsked) {
			return
		}
		batch := n.nextOffer(l)
		if len(batch) == 0 {
			if l.toldBound = l.toldBound && len(l.waiting) > 0; len(l.waiting) > 0 {
				n.stateAccount(l) // it is at its bound: the rest waits until it gives
			}
			return
		}
		n.check(l, batch)
	}
}

// nextOffer takes out of the queue what is to be offered next: as much as the neighbor's account allows,
// cutting a bundle where only a part of it fits.
//
// Paper §3.5: "To prevent free riding, node i ensures that d_{i,j} does not exceed a constant parameter D."
func (n *Node) nextOffer(l *link) (batch []*offer) {
	count := 1
	if l.batches {
		_, asked := l.inStage(asked)
		count = max(1, maxAsked-asked)
	}
	for _, o := range slices.Clone(l.offers) {
		switch {
		case o.stage != due || len(batch) == count:
		case n.private(o.Feed):
			l.close(o)
		default:
			batch = append(batch, o) // its account had room for it, which is kept
		}
	}
	allowance := n.allowance(l)
	for len(l.waiting) > 0 && len(batch) < count {
		b := l.waiting[0]
		if !n.wants(l, b) {
			l.takeWaiting()
			continue
		}
		now, rest := n.fit(l, b, allowance)
		if now == nil {
			break
		}
		l.takeWaiting()
		o := &offer{Bundle: now, value: n.worth(l, now)}
		batch, l.offers = append(batch, o), append(l.offers, o)
		allowance -= o.value
		if rest != nil {
			l.waiting = slices.Insert(l.waiting, 0, rest)
			l.waitingBytes += rest.WireBytes()
			break
		}
	}
	return batch
}

// check offers bundles by their dids and has those delivered that the neighbor has not seen.
//
// Paper §3.4: "if the neighbor returns 'unseen,' the entry bundle is forwarded via a put_entries call."
func (n *Node) check(l *link, batch []*offer) {
	l.checking = true
	for _, o := range batch {
		o.stage = offering
	}
	n.status.Counters.ChecksSent += int64(len(batch))
	n.ask(l, callFor(batch), offerTimeout, func(a Answered) {
		l.checking = false
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
				n.status.Counters.ChecksSeen++
				l.offered.add(o.DID) // it has the bundle, or wants the feed no more and says so soon
				l.close(o)
			case answered:
				o.stage = asked
			case codeOf(a.Err) == protocol.OverQuota:
				l.close(o)
				n.postpone(l, o.Bundle)
			case !passing(a.Err):
				l.close(o)
			}
		}
		if passing(a.Err) {
			n.offerAgain(l, batch...)
			if codeOf(a.Err) == protocol.Busy {
				return // it has enough to do
			}
		}
		n.pumpHolder(l)
	})
}

// callFor is the call that offers the bundles.
func callFor(batch []*offer) protocol.Call {
	if len(batch) == 1 {
		return protocol.CheckDID{DID: batch[0].DID, Feed: batch[0].Feed, Entries: len(batch[0].Entries)}
	}
	dids := make([]protocol.DID, len(batch))
	for i, b := range batch {
		dids[i] = b.DID
	}
	return protocol.CheckDIDs{DIDs: dids}
}

// passing reports whether a call failed for a reason that may pass: the network, or too much to do. A
// neighbor that fails for good is gone soon, and its queue with it.
func passing(err error) bool {
	code := codeOf(err)
	return err != nil && (code == 0 || code == protocol.Busy || code == protocol.Unavailable)
}

// offerAgain offers again, in a moment, what may not have reached the neighbor.
func (n *Node) offerAgain(l *link, batch ...*offer) {
	for _, o := range batch {
		o.stage = resting
	}
	n.after(n.between(protocol.HoldAnswer, 2*protocol.HoldAnswer), func() {
		for _, o := range batch {
			if o.stage == resting {
				o.stage = due
			}
		}
		n.pump(l)
	})
}

// put delivers a bundle that the neighbor asked for. It pays for what was written to the network, whatever it answers;
// what is delivered again counts in its minute instead. Answers to other calls do not excuse a neighbor that takes no
// deliveries.
func (n *Node) put(l *link, o *offer) {
	l.putting, o.stage = true, putting
	paid := o.paid
	n.charge(l, o)
	n.call(Target{Node: l.id()}, l.token, protocol.PutEntries{Bundle: o.Bundle}, timeToPut(o.Bundle), func(a Answered) {
		switch {
		case a.Unsent && !paid && o.pulled == 0:
			n.accounts.ledger.Returned(n.now, l.holder, o.value)
			o.paid = false
		case !a.Unsent && paid:
			n.usageOf(l.holder).demanded += o.WireBytes()
		}
		n.answeredBy(l, a, func(a Answered) {
			l.putting = false
			n.putEnded(l, o, a)
		})
	})
}

// charge books what the neighbor pays for a bundle, once.
func (n *Node) charge(l *link, o *offer) {
	if o.paid {
		return
	}
	o.paid = true
	n.accounts.ledger.Gave(n.now, l.holder, o.value)
	n.accounts.earnings.Gave(l.holder, o.DID)
	n.saveAccounts()
}

// timeToPut is how long the delivery of the bundle may take.
func timeToPut(b *protocol.Bundle) time.Duration {
	return min(callTimeout+callTimeout*time.Duration(b.WireBytes())/putRate, maxPutTimeout)
}

// putEnded takes in how a delivery ended.
func (n *Node) putEnded(l *link, o *offer, a Answered) {
	switch {
	case a.Err == nil:
		l.putFailures = 0
		l.forwarded += int64(len(o.Entries))
		n.status.Counters.PutsSent++
		n.status.Counters.Forwarded += int64(len(o.Entries))
		l.close(o)
	case codeOf(a.Err) == protocol.ForgedSource:
		n.warned(l, o.Bundle)
		l.close(o)
	case codeOf(a.Err) == protocol.OverQuota:
		l.putFailures = 0
		l.close(o)
		n.postpone(l, o.Bundle)
	case a.Queued:
		n.offerAgain(l, o)
	case passing(a.Err):
		if l.putFailures++; l.putFailures >= maxPutFailures {
			n.bans.ban(n.now, l.holder)
			n.part(l, "takes no deliveries: "+a.Err.Error())
			return
		}
		n.offerAgain(l, o)
	default:
		l.close(o)
	}
	n.pump(l)
}

// askedBundle answers get_bundle: it gives a neighbor what it was offered and may wait for, again where an answer was
// lost, as often as it would ask. What it is given counts in its minute.
func (n *Node) askedBundle(l *link, ev Asked, did protocol.DID) {
	o := l.offerOf(did)
	switch {
	case o == nil || n.private(o.Feed) || o.pulled > maxInVain:
		n.refuse(ev, protocol.Faultf(protocol.NotOffered, "you were not offered %s, or have it", did))
	case n.exhausted(l.holder):
		n.refuse(ev, errExhausted)
	default:
		o.pulled++
		n.charge(l, o)
		n.usageOf(l.holder).demanded += o.WireBytes()
		n.respond(ev, o.Bundle)
	}
}
