package node

import (
	"slices"
	"time"

	"feedex/feed"
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

// offer queues the bundle for the neighbor, unless it has it or went away meanwhile, or the feed turned
// private.
func (n *Node) offer(l *link, b *protocol.Bundle) {
	waits := func(other *protocol.Bundle) bool { return other.DID == b.DID }
	if l.over || !n.wants(l, b) || slices.ContainsFunc(l.waiting, waits) {
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
	return !fromIt && !l.offered.has(b.DID) && n.interested(l, b.Feed) && !n.betrays(b) && !n.byForger(b)
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
	for !l.putting && len(l.asked) > 0 {
		b := l.asked[0]
		l.asked = slices.Delete(l.asked, 0, 1)
		// What was promised is delivered, even if the neighbor offered the same meanwhile, or wants the
		// feed no more.
		if !n.private(b.Feed) {
			n.put(l, b)
		}
	}
	for !l.checking && len(l.waiting) > 0 && len(l.asked) < maxAsked {
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
func (n *Node) nextOffer(l *link) (batch []priced) {
	count := 1
	if l.batches {
		count = maxAsked - len(l.asked)
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
		value := n.worth(l, now)
		batch = append(batch, priced{now, value})
		allowance -= value
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
func (n *Node) check(l *link, batch []priced) {
	l.checking, l.offering = true, batch
	n.status.Counters.ChecksSent += int64(len(batch))
	n.ask(l, offerOf(batch), offerTimeout, func(a Answered) {
		l.checking, l.offering = false, nil
		var seen protocol.SeenList
		switch r := a.Reply.(type) {
		case protocol.Seen:
			seen = protocol.SeenList{r}
		case protocol.SeenList:
			seen = r
		}
		switch {
		case a.Err == nil && len(seen) == len(batch):
			for i, b := range batch {
				if seen[i] {
					n.status.Counters.ChecksSeen++
					l.offered.add(b.DID) // it has the bundle, or wants the feed no more and says so soon
				} else {
					l.asked = append(l.asked, b)
				}
			}
		case passing(a.Err):
			for _, b := range batch {
				n.offerAgain(l, b.Bundle)
			}
			if codeOf(a.Err) == protocol.Busy {
				return // it has enough to do
			}
		}
		n.pumpHolder(l)
	})
}

// offerOf is the call that offers the bundles.
func offerOf(batch []priced) protocol.Call {
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

// offerAgain offers a bundle again in a moment, and what waits behind it, even if the bundle is not wanted any more.
func (n *Node) offerAgain(l *link, b *protocol.Bundle) {
	n.after(n.between(protocol.HoldAnswer, 2*protocol.HoldAnswer), func() {
		n.offer(l, b)
		n.pump(l)
	})
}

// put delivers a bundle that the neighbor asked for. It pays for what was written to the network, whatever
// it answers. Answers to other calls do not excuse a neighbor that takes no deliveries.
func (n *Node) put(l *link, b priced) {
	l.putting = true
	n.dues.ledger.Gave(n.now, l.holder, b.value)
	n.dues.earnings.Gave(l.holder, b.DID)
	n.saveAccounts()
	n.call(Target{Node: l.id()}, l.token, protocol.PutEntries{Bundle: b.Bundle}, timeToPut(b.Bundle), func(a Answered) {
		if a.Unsent {
			n.dues.ledger.Returned(n.now, l.holder, b.value)
		}
		n.answeredBy(l, a, func(a Answered) {
			l.putting = false
			n.putEnded(l, b.Bundle, a)
		})
	})
}

// timeToPut is how long the delivery of the bundle may take.
func timeToPut(b *protocol.Bundle) time.Duration {
	return min(putTimeout+putTimeout*time.Duration(b.WireBytes())/putRate, maxPutTimeout)
}

// putEnded takes in how a delivery ended.
func (n *Node) putEnded(l *link, b *protocol.Bundle, a Answered) {
	switch {
	case a.Err == nil:
		l.putFailures = 0
		l.forwarded += int64(len(b.Entries))
		n.status.Counters.PutsSent++
		n.status.Counters.Forwarded += int64(len(b.Entries))
	case codeOf(a.Err) == protocol.ForgedSource:
		n.warned(l, b)
	case a.Queued:
		n.offerAgain(l, b)
	case passing(a.Err):
		if l.putFailures++; l.putFailures >= maxPutFailures {
			n.door.send(n.now, l.holder)
			n.part(l, "takes no deliveries: "+a.Err.Error())
			return
		}
		n.offerAgain(l, b)
	}
	n.pump(l)
}
