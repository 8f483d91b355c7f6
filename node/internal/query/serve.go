package query

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// ArchivePrice is the price of an entry of the past, for a neighbor.
	ArchivePrice = incentive.Entry / 10
	// serveTime is how long it may take to read the entries that are wanted. They are few and found by their ids, so
	// only a slow machine or disk needs more than a moment.
	serveTime = 5 * time.Second
)

// Serve gives entries of our archive to nodes that want them: to a neighbor l as far as its account goes, to anybody in
// exchange for others, and as far as our gifts go.
//
// Paper §3.6: "S has no incentive to upload entries to C as it only costs S its resources".
func (m *Machine) Serve(l *core.Link, ev core.Asked, c protocol.GetEntries) {
	h := m.Ledger.At(m.Ledger.HolderOf(ev.From)) // who has no link proves no key
	if l != nil {
		h = l.Holder
	}
	ids := make([]feed.EntryID, len(c.Wanted))
	for i := range c.Wanted {
		ids[i] = c.Wanted[i].ID
	}
	if !m.mayServe(l, h) && m.roundOf(ev.From, m.Ledger.At(h), c.Askers).weight == 0 { // the archive is not searched
		if slices.ContainsFunc(m.Shared.Known(ids), func(v archive.Version) bool { return v.Kept() }) {
			m.AskedUs(ev.From, true)
		}
		m.Refuse(ev, Spent())
		return
	}
	if len(ids) == 0 {
		m.Respond(ev, protocol.Batch{})
		return
	}
	m.SearchFor(feed.Filter{IDs: ids, Limit: len(ids), Shareable: true}, serveTime, func(found core.Searched) {
		if found.Err != nil {
			m.Refuse(ev, protocol.Faultf(protocol.Busy, "the archive took too long; ask for less, or later"))
			return
		}
		m.passOn(c.Wanted, found.Records, m.Now.Add(serveTime),
			func(records []archive.Record) { m.give(l, ev, h, c, records) })
	})
}

// leastServed is how long any entry is at least, in bytes. Where less is left of gifts nobody is asked for what could
// not be given: a home has its host pay.
var leastServed = int64((&protocol.Archived{}).WireBytes())

// mayServe reports whether anything at all may be given to the holder.
func (m *Machine) mayServe(l *core.Link, h incentive.Holder) bool {
	return m.Trusted(h) || m.Gifts.Left(m.Now, m.Ledger.Party(h)) >= leastServed ||
		l != nil && m.pastAllowance(l) >= ArchivePrice
}

// Spent refuses to serve what would be given to nobody.
func Spent() *protocol.Fault {
	return protocol.Faultf(protocol.Spent, "no more is given away for now; ask others, or come back in an hour")
}

// pastAllowance is the part of a neighbor's account that may go into entries of the past: as long as half of what it
// may owe is left for those that it follows, and an entry.
func (m *Machine) pastAllowance(l *core.Link) incentive.Credit {
	left := m.exchange.Allowance(l)
	if left != incentive.MaxCredit {
		left -= max(m.Ledger.Limit(l.Holder)/2, incentive.Entry)
	}
	return left
}

// give answers with those of the records that are wanted, in that order, as far as the answer and what may be given
// go.
func (m *Machine) give(l *core.Link, ev core.Asked, h incentive.Holder, c protocol.GetEntries,
	records []archive.Record) {
	var credit, price incentive.Credit
	if l != nil && !l.Over {
		credit = m.pastAllowance(l)
	}
	var b protocol.Batch
	gifts, round := m.Gifts.Left(m.Now, m.Ledger.Party(h)), m.roundOf(ev.From, m.Ledger.At(h), c.Askers)
	bytes, given, tooHeavy := 0, int64(0), false
	for i, w := range c.Wanted {
		r := m.meant(w, records)
		if r == nil {
			continue
		}
		// An entry far too heavy for the caller is not looked through: of such there may be a hundred.
		least := len(r.Entry.Summary) + len(r.Entry.Content)
		if incentive.Weight(least) > incentive.Quantum && price+ArchivePrice > credit && !m.Trusted(h) &&
			given+int64(least) > gifts {
			tooHeavy = true
			continue
		}
		a := shareable(r)
		if a == nil {
			continue
		}
		size, cost := a.WireBytes(), ArchivePrice
		if l != nil && m.newsTo(l, &protocol.Found{Feed: a.Entry.Feed, Published: a.Entry.Published,
			Updated: a.Entry.Updated, Seen: a.Seen}) {
			cost += incentive.Entry
		}
		paid, free := price+cost <= credit, m.Trusted(h) || given+int64(size) <= gifts
		weight := incentive.Weight(size)
		swapped := b.Owed+weight <= round.weight
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
		case m.Trusted(h):
		case swapped: // before it takes from what nodes with nothing to give may need
			b.Owed += weight
		default:
			given += int64(size)
		}
	}
	m.AskedUs(ev.From, b.Left > 0 || b.Owed > 0)
	if len(b.Entries) == 0 && (b.Left > 0 || tooHeavy) {
		m.Refuse(ev, Spent())
		return
	}
	m.Gifts.Give(m.Now, m.Ledger.Party(h), given)
	if b.Owed > 0 {
		b.For = m.took(ev.From, m.Ledger.At(h), b.Owed, round)
	}
	switch l := m.LinkTo(ev.From); {
	case price == 0:
	case l != nil:
		m.Gave(l, price)
	default:
		m.Ledger.Gave(m.Now, h, price)
		m.SaveAccounts()
	}
	m.Respond(ev, b)
}

// meant is the version of an entry that is wanted; nil where it is not among the records, or may not leave the node.
func (m *Machine) meant(w protocol.Wanted, records []archive.Record) *archive.Record {
	for i := range records {
		r := &records[i]
		if r.ID == w.ID && (w.Digest == (feed.Digest{}) || w.Digest == r.Digest) && !m.feeds.Private(r.Entry.Feed) {
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
