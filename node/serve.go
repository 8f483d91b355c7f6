package node

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

const (
	// archivePrice is what a neighbor owes for an entry of the past.
	archivePrice = incentive.Entry / 10
	// serveTime is how long it may take to read the entries that are wanted. They are few and found by their ids, so
	// only a slow machine or disk needs more than a moment.
	serveTime = 5 * time.Second
)

// serve gives entries of our archive to nodes that want them: to a neighbor l as far as its account goes, to anybody in
// exchange for others, and as far as our gifts go.
//
// Paper §3.6: "S has no incentive to upload entries to C as it only costs S its resources".
func (n *Node) serve(l *link, ev Asked, c protocol.GetEntries) {
	h := n.accounts.ledger.HolderOf(ev.From)
	ids := make([]feed.EntryID, len(c.Wanted))
	for i := range c.Wanted {
		ids[i] = c.Wanted[i].ID
	}
	if !n.mayServe(l, h) && n.roundOf(ev.From, h, c.Askers).weight == 0 { // the archive is not searched
		if slices.ContainsFunc(n.shared.Known(ids), func(v archive.Version) bool { return v.Kept() }) {
			n.askedUs(ev.From, true)
		}
		n.refuse(ev, spent())
		return
	}
	if len(ids) == 0 {
		n.respond(ev, protocol.Batch{})
		return
	}
	n.searchFor(feed.Filter{IDs: ids, Limit: len(ids), Shareable: true}, serveTime, func(found Found) {
		if found.Err != nil {
			n.refuse(ev, protocol.Faultf(protocol.Busy, "the archive took too long; ask for less, or later"))
			return
		}
		n.give(l, ev, h, c, found.Records)
	})
}

// mayServe reports whether anything at all may be given to the holder.
func (n *Node) mayServe(l *link, h incentive.Holder) bool {
	return n.trusted(h) || n.gifts.Left(n.now, h) > 0 || l != nil && n.pastAllowance(l) >= archivePrice
}

func spent() *protocol.Fault {
	return protocol.Faultf(protocol.Spent, "no more is given away for now; ask others, or come back in an hour")
}

// pastAllowance is what of a neighbor's account may go into entries of the past: as long as half of what it may owe
// is left for those that it follows.
func (n *Node) pastAllowance(l *link) incentive.Credit {
	left := n.allowance(l)
	if left != incentive.MaxCredit {
		left -= n.accounts.ledger.Limit(l.holder) / 2
	}
	return left
}

// give answers with those of the records that are wanted, in that order, as far as the answer and what may be given
// go.
func (n *Node) give(l *link, ev Asked, h incentive.Holder, c protocol.GetEntries, records []archive.Record) {
	var credit, price incentive.Credit
	if l != nil && !l.over {
		credit = n.pastAllowance(l)
	}
	var b protocol.Batch
	gifts, turn := n.gifts.Left(n.now, h), n.roundOf(ev.From, h, c.Askers)
	bytes, given, tooHeavy := 0, int64(0), false
	for i, w := range c.Wanted {
		r := n.meant(w, records)
		if r == nil {
			continue
		}
		// What is far too heavy for the caller is not looked through: of such there may be a hundred.
		least := len(r.Entry.Summary) + len(r.Entry.Content)
		if incentive.Weight(least) > incentive.Quantum && price+archivePrice > credit && !n.trusted(h) &&
			given+int64(least) > gifts {
			tooHeavy = true
			continue
		}
		a := shareable(r)
		if a == nil {
			continue
		}
		size, cost := a.WireBytes(), archivePrice
		if l != nil && n.newsTo(l, &protocol.Found{Feed: a.Entry.Feed, Published: a.Entry.Published,
			Updated: a.Entry.Updated, Seen: a.Seen}) {
			cost += incentive.Entry
		}
		paid, free := price+cost <= credit, n.trusted(h) || given+int64(size) <= gifts
		weight := incentive.Weight(size)
		swapped := b.Owed+weight <= turn.weight
		// no round is long enough, and others are behind it
		if weight > incentive.Quantum && !paid && !swapped && !free {
			tooHeavy = true
			continue
		}
		if bytes+size > protocol.MaxBatchBytes || !paid && !swapped && !free {
			b.Left = len(c.Wanted) - i
			break
		}
		bytes += size
		b.Entries = append(b.Entries, *a)
		switch {
		case paid:
			price += cost
		case n.trusted(h):
		case swapped: // before it takes from what nodes with nothing to give may need
			b.Owed += weight
		default:
			given += int64(size)
		}
	}
	n.askedUs(ev.From, b.Left > 0 || b.Owed > 0)
	if len(b.Entries) == 0 && (b.Left > 0 || tooHeavy) {
		n.refuse(ev, spent())
		return
	}
	n.gifts.Give(n.now, h, given)
	if b.Owed > 0 {
		b.For = n.took(ev.From, h, b.Owed, turn)
	}
	if price > 0 {
		n.accounts.ledger.Gave(n.now, h, price)
		n.saveAccounts()
	}
	n.respond(ev, b)
}

// meant is the version of an entry that is wanted; nil where it is not among the records, or may not leave the node.
func (n *Node) meant(w protocol.Wanted, records []archive.Record) *archive.Record {
	for i := range records {
		r := &records[i]
		if r.ID == w.ID && (w.Digest == (feed.Digest{}) || w.Digest == r.Digest) && !n.private(r.Entry.Feed) {
			return r
		}
	}
	return nil
}

// shareable is an entry as it goes to others; nil where it may not travel.
func shareable(r *archive.Record) *protocol.Archived {
	a := &protocol.Archived{Entry: r.Entry, Seen: r.Seen}
	if protocol.CheckEntry(&r.Entry) == nil && a.WireBytes() <= protocol.MaxBatchBytes {
		return a
	}
	return nil
}
