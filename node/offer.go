package node

import (
	"errors"
	"slices"

	"feedex/protocol"
)

const (
	// maxWaiting is how many bundles wait to be offered to one neighbor; the newest are kept.
	maxWaiting = 100
)

// offer queues the bundle for the neighbor, unless it has it or went away meanwhile.
func (n *Node) offer(l *link, b *protocol.Bundle) {
	if n.links[l.id()] != l || l.offered.has(b.DID) {
		return
	}
	if hops, ok := l.peer.Hops(b.Feed); !ok || hops > n.config.MaxSubsetHops || slices.Contains(l.waiting, b) {
		return
	}
	l.waiting = append(l.waiting, b)
	if extra := len(l.waiting) - maxWaiting; extra > 0 {
		l.waiting = slices.Delete(l.waiting, 0, extra)
	}
	n.pump(l)
}

// pump keeps one delivery and one offer to a neighbor going at a time. A node serves few connections to
// one address, and an answer to an offer may be held; a delivery must not wait behind it.
func (n *Node) pump(l *link) {
	if !l.putting && len(l.asked) > 0 {
		b := l.asked[0]
		l.asked = slices.Delete(l.asked, 0, 1)
		n.put(l, b)
	}
	for !l.checking && len(l.waiting) > 0 {
		count := 1
		if l.batches {
			count = min(len(l.waiting), protocol.MaxDIDs)
		}
		batch := slices.Clone(l.waiting[:count])
		l.waiting = slices.Delete(l.waiting, 0, count)
		batch = slices.DeleteFunc(batch, func(b *protocol.Bundle) bool { return l.offered.has(b.DID) })
		if len(batch) > 0 {
			n.check(l, batch)
		}
	}
}

// check offers bundles by their dids and has those delivered that the neighbor has not seen.
//
// Paper §3.4: "if the neighbor returns 'unseen,' the entry bundle is forwarded via a put_entries call."
func (n *Node) check(l *link, batch []*protocol.Bundle) {
	l.checking = true
	n.status.Counters.ChecksSent += int64(len(batch))
	n.ask(l, offerOf(batch), offerTimeout, func(a Answered) {
		l.checking = false
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
				} else {
					l.asked = append(l.asked, b)
				}
			}
		case isBusy(a.Err):
			n.after(n.between(protocol.HoldAnswer, 2*protocol.HoldAnswer), func() {
				for _, b := range batch {
					n.offer(l, b)
				}
			})
		}
		n.pump(l)
	})
}

// offerOf is the call that offers the bundles.
func offerOf(batch []*protocol.Bundle) protocol.Call {
	if len(batch) == 1 {
		return protocol.CheckDID{DID: batch[0].DID, Feed: batch[0].Feed, Entries: len(batch[0].Entries)}
	}
	dids := make([]protocol.DID, len(batch))
	for i, b := range batch {
		dids[i] = b.DID
	}
	return protocol.CheckDIDs{DIDs: dids}
}

// isBusy reports whether a peer refused only because it has too much to do at the moment.
func isBusy(err error) bool {
	var refused *protocol.RemoteError
	return errors.As(err, &refused) && (refused.Code == protocol.Busy || refused.Code == protocol.Unavailable)
}

// put delivers a bundle that the neighbor asked for.
func (n *Node) put(l *link, b *protocol.Bundle) {
	l.putting = true
	n.ask(l, protocol.PutEntries{Bundle: b}, putTimeout, func(a Answered) {
		l.putting = false
		if a.Err == nil {
			l.forwarded += int64(len(b.Entries))
			n.status.Counters.PutsSent++
			n.status.Counters.Forwarded += int64(len(b.Entries))
		} else if isBusy(a.Err) {
			n.after(n.between(protocol.HoldAnswer, 2*protocol.HoldAnswer), func() { n.offer(l, b) })
		}
		n.pump(l)
	})
}
