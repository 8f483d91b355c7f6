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

// A serving is what one call gets of the past, and how that is paid for: from a neighbor's account, by what is given in
// return in the same round, or not at all.
type serving struct {
	protocol.Batch
	trusted       bool
	credit, price incentive.Credit // what its account may pay, and does
	gifts, given  int64            // what is left to give away, and what of it goes, in bytes
	round         int              // the weight that the round has room for
	bytes         int
	tooHeavy      bool // something was left out that no round is long enough for
}

// pays reports whether the account, or the gifts, have room for an entry.
func (p *serving) pays(cost incentive.Credit, bytes int) (paid, free bool) {
	return p.price+cost <= p.credit, p.trusted || p.given+int64(bytes) <= p.gifts
}

// add puts in an entry, and reports false where that and all that is behind it has to wait.
func (p *serving) add(a *protocol.Archived, cost incentive.Credit) bool {
	size := a.WireBytes()
	paid, free := p.pays(cost, size)
	weight := incentive.Weight(size)
	swapped := p.Owed+weight <= p.round
	// no round is long enough, and others are behind it
	if weight > incentive.Quantum && !paid && !swapped && !free {
		p.tooHeavy = true
		return true
	}
	if p.bytes+size > protocol.MaxBatchBytes || !paid && !swapped && !free {
		return false
	}
	p.bytes += size
	p.Entries = append(p.Entries, *a)
	switch {
	case paid:
		p.price += cost
	case p.trusted:
	case swapped: // before it takes from what nodes with nothing to give may need
		p.Owed += weight
	default:
		p.given += int64(size)
	}
	return true
}

// give answers with those of the records that are wanted, in that order, as far as the answer and what may be given
// go.
func (m *Machine) give(l *core.Link, ev core.Asked, h incentive.Holder, c protocol.GetEntries,
	records []archive.Record) {
	round := m.roundOf(ev.From, m.Ledger.At(h), c.Askers)
	p := serving{trusted: m.Trusted(h), gifts: m.Gifts.Left(m.Now, m.Ledger.Party(h)), round: round.weight}
	if l != nil && !l.Over {
		p.credit = m.pastAllowance(l)
	}
	for i, w := range c.Wanted {
		r := m.meant(w, records)
		if r == nil {
			continue
		}
		// An entry far too heavy for the caller is not looked through: of such there may be a hundred.
		least := len(r.Entry.Summary) + len(r.Entry.Content)
		if paid, free := p.pays(ArchivePrice, least); incentive.Weight(least) > incentive.Quantum && !paid && !free {
			p.tooHeavy = true
			continue
		}
		a := shareable(r)
		if a == nil {
			continue
		}
		cost := ArchivePrice
		if l != nil && m.newsTo(l, &protocol.Found{Feed: a.Entry.Feed, Published: a.Entry.Published,
			Updated: a.Entry.Updated, Seen: a.Seen}) {
			cost += incentive.Entry
		}
		if !p.add(a, cost) {
			p.Left = len(c.Wanted) - i
			break
		}
	}
	m.AskedUs(ev.From, p.Left > 0 || p.Owed > 0)
	if len(p.Entries) == 0 && (p.Left > 0 || p.tooHeavy) {
		m.Refuse(ev, Spent())
		return
	}
	m.Gifts.Give(m.Now, m.Ledger.Party(h), p.given)
	if p.Owed > 0 {
		p.For = m.took(ev.From, m.Ledger.At(h), p.Owed, round)
	}
	switch l := m.LinkTo(ev.From); {
	case p.price == 0:
	case l != nil:
		m.Gave(l, p.price)
	default:
		m.Ledger.Gave(m.Now, h, p.price)
		m.SaveAccounts()
	}
	m.Respond(ev, p.Batch)
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
