package exchange

import (
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// EarnEntries books what a neighbor gave us: c_{j,i} of Paper §3.5. It may be sent more now.
func (m *Machine) EarnEntries(l *link, entries int, u feed.URL) {
	m.book(l.Link, m.earningOf(m.valueHere(l, entries, u), u))
}

// An Earning is what a neighbor earns, and how much of that is of use to the owner.
type Earning struct {
	Credit incentive.Credit
	Useful neighbors.Usefulness
}

func (e *Earning) add(other Earning) {
	e.Credit += other.Credit
	e.Useful += other.Useful
}

// earningOf is what a neighbor earns with entries of a feed. Of one that the owner does not follow they earn as any do,
// but make nobody a better neighbor: what is relayed no poll here will ever judge, and whom a neighbor wants it for, or
// names a feed to poll, may be its accomplice.
func (m *Machine) earningOf(v incentive.Credit, u feed.URL) Earning {
	return earning(v, m.Table.Owns(u))
}

// earning is what a neighbor earns with something that is for the owner, or for others alone.
func earning(v incentive.Credit, owners bool) Earning {
	if !owners {
		return Earning{Credit: v}
	}
	return Earning{v, neighbors.Usefulness(v)}
}

// valueHere is the worth of so many entries of the feed to us, coming from that neighbor: nothing, if we do not want
// them from it.
func (m *Machine) valueHere(l *link, entries int, u feed.URL) incentive.Credit {
	hops := m.Table.Hops(u, l.Peer)
	if hops < 0 {
		return 0
	}
	return incentive.Value(entries, hops)
}

// Earn books what a neighbor gave us, where that is worth anything, for the owner or for others alone.
func (m *Machine) Earn(l *core.Link, v incentive.Credit, owners bool) { m.book(l, earning(v, owners)) }

// book books what a neighbor earned.
func (m *Machine) book(l *core.Link, e Earning) {
	if e.Credit <= 0 {
		return
	}
	m.Got(l, e.Credit)
	m.Table.Brought(m.Now, l.Peer, e.Useful)
	m.Table.Relayed(m.Now, l.Peer, neighbors.Usefulness(e.Credit)-e.Useful)
	m.pumpHolder(l)
}

// party is whose caps hold for a neighbor.
func (m *Machine) party(l *core.Link) incentive.Holder { return m.Ledger.Party(l.Holder) }

// pumpHolder goes on with every neighbor that has the account of l, because there is room in it.
func (m *Machine) pumpHolder(l *core.Link) {
	if !l.Over && !l.Shared {
		m.pump(Of(l))
		return
	}
	for _, other := range m.Links {
		if other.Holder == l.Holder {
			m.pump(Of(other))
		}
	}
}

// Stored notes what a bundle, whose entries are all here now, earns for the neighbor that brought it, nil
// for an own poll. polled are those of its young entries that stood in one before.
func (m *Machine) Stored(b *protocol.Bundle, fresh []feed.Entry, from *link, polled ...feed.EntryID) {
	if from == nil {
		m.earnings.Stored(m.Now, b, fresh, incentive.Holder{})
		return
	}
	earned := m.earnings.Stored(m.Now, b, fresh, m.party(from.Link), polled...)
	m.earnings.Gave(m.Now, from.Holder, b)
	m.claimed(from, b, fresh, earned.Fresh)
	m.earned(from, earned, b.Feed)
	if earned.Entries > 0 {
		m.gave(from, b)
	}
}

// earned books what a delivery of entries of a feed earned a neighbor.
func (m *Machine) earned(l *link, e incentive.Earned, u feed.URL) {
	m.EarnEntries(l, e.Entries, u)
	m.book(l.Link, m.earningOf(m.Ledger.Crossed(l.Holder, m.valueHere(l, e.Again, u)), u))
}

// EarnLate books what a node, which may be gone, earned with something that it brought before. h holds the account.
func (m *Machine) EarnLate(id protocol.NodeID, h incentive.Holder, e Earning) {
	if e.Credit <= 0 {
		return
	}
	if l := m.LinkTo(id); l != nil && l.Holder == h {
		m.book(l, e)
		return
	}
	m.Ledger.Got(m.Now, h, e.Credit)
	m.SaveAccounts()
}

// offeredSeen answers the offer of a bundle that we have. It earns as a delivery would have: it would have
// served us as well, only later. Now and then we say "unseen" to find out whether it is true.
func (m *Machine) offeredSeen(l *link, did protocol.DID) protocol.Seen {
	e, again := m.offered(l, did)
	switch {
	case e.Credit <= 0:
	case l.mustShow():
		if !again {
			l.pending.add(e)
		}
	case m.Ledger.Audit(m.Rng, l.Holder): // beside all that it may have promised
		m.Counters.Audits++
		m.Owe(l, did, e, again)
		return false
	case again:
		m.gotAgain(l, e.Credit)
	default:
		m.book(l.Link, e)
		if i := slices.IndexFunc(m.Gossip.Recent, func(r recent) bool { return r.DID == did }); i >= 0 {
			m.gave(l, m.Gossip.Recent[i].Bundle)
		}
	}
	return true
}

// offered says what the offer of a bundle that we have is worth, and whether somebody at the neighbor's address had it
// before: then it counts for its own account alone.
func (m *Machine) offered(l *link, did protocol.DID) (e Earning, again bool) {
	u, entries := m.earnings.Offered(m.Now, m.party(l.Link), did)
	if m.Ledger.Crowded(l.Holder) {
		own, count := m.earnings.Offered(m.Now, l.Holder, did)
		if again = entries == 0; again {
			u, entries = own, count
		}
	}
	return m.earningOf(m.valueHere(l, entries, u), u), again
}

// gotAgain books what a neighbor gave that somebody at its address gave before.
func (m *Machine) gotAgain(l *link, v incentive.Credit) {
	m.Ledger.GotAgain(m.Now, l.Holder, v)
	m.SaveAccounts()
	m.pumpHolder(l.Link)
}

// deliveredAgain takes in the delivery of a bundle that is here already: it ends an audit, or earns what
// was promised before another way was faster.
func (m *Machine) deliveredAgain(l *link, b *protocol.Bundle) {
	o, asked := m.strike(l, b.DID)
	switch {
	case !asked:
		return
	case b.Verify() != nil:
		l.pending = Earning{}
		m.membership.Punish(l.Holder, incentive.WrongDID, o.audit.Credit)
		return
	}
	records, ids := m.recordsOf(l, b)
	m.corroborate(b.Via(l.ID()), records, m.Shared.Known(ids))
	if m.shown(l, o); o.audited() {
		return
	}
	switch e, again := m.offered(l, b.DID); {
	case e.Credit <= 0:
	case again:
		m.gotAgain(l, e.Credit)
	default:
		m.book(l.Link, e)
		m.gave(l, b)
	}
}

// Forgive goes on with a neighbor where neither side gives anything any more, because each stands at the other's bound.
func (m *Machine) Forgive(l *core.Link) {
	if !l.Over && len(Of(l).Waiting) > 0 && m.KeptShort(l) && m.Ledger.Forgive(m.Now, l.Holder) {
		m.SaveAccounts()
		m.pumpHolder(l)
	}
}

// offences has the offence that a refusal of a bundle for each reason means.
var offences = map[protocol.Code]incentive.Offence{
	protocol.BadDID:       incentive.WrongDID,
	protocol.BadBundle:    incentive.MalformedBundle,
	protocol.TooLong:      incentive.MalformedBundle,
	protocol.UnwantedFeed: incentive.UnwantedFeed,
}

// worth is the worth of a bundle to the neighbor: its own hop count of interest counts, and old entries are worth
// nothing to anybody.
func (m *Machine) worth(l *link, b *protocol.Bundle) incentive.Credit {
	hops, _ := l.Peer.Hops(b.Feed)
	return incentive.Value(incentive.Young(m.Now, b.Entries), hops)
}

// Allowance is how much may still be offered to the neighbor: what its account allows, less what it, or
// another node of the same holder, was offered already.
func (m *Machine) Allowance(l *core.Link) incentive.Credit {
	left := m.Ledger.Allowance(l.Holder)
	if left == incentive.MaxCredit {
		return left
	}
	if !l.Shared {
		return left - Of(l).promised()
	}
	for _, other := range m.Links {
		if other.Holder == l.Holder {
			left -= Of(other).promised()
		}
	}
	return left
}

// promised is the value of the bundles that the neighbor was offered and may still get.
func (l *link) promised() (sum incentive.Credit) {
	for _, o := range l.Offers {
		if !o.paid {
			sum += o.Value
		}
	}
	return sum
}

// Fit is the part of a bundle that may be sent for so much: the bundle itself, or as many of its first
// entries as a bundle of their own and the rest as another; nil where not even one entry fits.
func (m *Machine) Fit(l *link, b *protocol.Bundle, allowance incentive.Credit) (now, rest *protocol.Bundle) {
	if m.worth(l, b) <= allowance {
		return b, nil
	}
	hops, _ := l.Peer.Hops(b.Feed)
	room, count := int(max(allowance, 0)/incentive.Value(1, hops)), 0
	for young := 0; count < len(b.Entries); count++ {
		if young += incentive.Young(m.Now, b.Entries[count:count+1]); young > room {
			break
		}
	}
	if count == 0 {
		return nil, b
	}
	now, rest = protocol.NewBundle(b.Feed, b.Entries[:count]), protocol.NewBundle(b.Feed, b.Entries[count:])
	now.Path, rest.Path = b.Path, b.Path
	m.partStored(now)
	return now, rest
}

// partStored notes a bundle cut out of one that is stored.
func (m *Machine) partStored(b *protocol.Bundle) {
	m.Gossip.Seen.Add(b.DID)
	m.Stored(b, nil, nil)
}

// StateEvery is how often neighbors hear how they stand; one that comes to its bound hears it at once.
const StateEvery = 2 * time.Hour

// accountOf is how a neighbor stands with us, as we tell it.
func (m *Machine) accountOf(l *core.Link) protocol.Statement {
	a := m.Ledger.Account(l.Holder)
	told := protocol.Statement{
		Given: thousandths(a.Given), Got: thousandths(a.Got), Deficit: thousandths(a.Deficit), Bound: -1,
		Waiting: int64(len(Of(l).Waiting)),
	}
	if limit := m.Ledger.Limit(l.Holder); limit != incentive.MaxCredit {
		told.Bound = thousandths(limit)
	}
	return told
}

func thousandths(c incentive.Credit) int64 {
	const one = int64(incentive.Entry)
	return int64(c)/one*1000 + int64(c)%one*1000/one
}

// StateAccount tells a neighbor how it stands with us, and learns how we stand with it: now and then, and when
// it comes to its bound or leaves it.
func (m *Machine) StateAccount(to *core.Link) {
	l := Of(to)
	atBound := len(l.Waiting) > 0
	if !l.Accounts || m.Now.Sub(l.stated) < StateEvery && atBound == l.toldBound {
		return
	}
	l.stated, l.toldBound = m.Now, atBound
	m.Ask(to, protocol.StateAccount{Account: m.accountOf(to)}, core.CallTimeout, func(a core.Answered) {
		if ours, ok := a.Reply.(protocol.Statement); ok {
			m.NoteOurs(l, ours)
		}
	})
}

// AskedAccount takes in how we stand with a neighbor, and tells how it stands with us.
func (m *Machine) AskedAccount(l *core.Link, ev core.Asked, ours protocol.Statement) {
	m.NoteOurs(Of(l), ours)
	m.Respond(ev, m.accountOf(l))
}

// NoteOurs remembers how we stand with a neighbor. A node at its bound with one looks for others, instead of starving.
func (m *Machine) NoteOurs(l *link, ours protocol.Statement) {
	l.ours, l.OursAt = ours, m.Now
	if m.Starving() {
		m.membership.LookForMore()
	}
}

// Starving reports whether at least half of the neighbors keep us at our bound.
func (m *Machine) Starving() bool {
	at := 0
	for _, l := range m.Links {
		if m.KeptShort(l) {
			at++
		}
	}
	return at > 0 && 2*at >= m.Table.Len()
}

// KeptShort reports whether the neighbor keeps us at our bound, by its word. It repeats that every two hours
// while it is so; a word that was not repeated is out of date.
func (m *Machine) KeptShort(to *core.Link) bool {
	l := Of(to)
	return l.ours.Bound >= 0 && l.ours.Waiting > 0 && m.Now.Sub(l.OursAt) < StateEvery+StateEvery/4
}

// Owing reports whether a neighbor brings nothing because we owe it: by its word, and by what we know ourselves
// it gave more than it got. One that has no word for it has the bound that most have.
func (m *Machine) Owing(l *core.Link) bool {
	a := m.Ledger.Account(l.Holder)
	owed := 2 * thousandths(a.Got-a.Given)
	if !l.Accounts {
		return owed >= usualBound
	}
	return m.KeptShort(l) && owed >= max(Of(l).ours.Bound, 1000)
}

// usualBound is how much one may owe a node whose owner chose nothing, in thousandths of an entry.
const usualBound = 10_000

// Entries that neighbors bring and no own poll has shown may take so much room and no more: see incentive.Quota. Those
// beyond it are refused, without a fine, since a neighbor cannot know: it may be an honest one that relays what others
// invent. It offers them again later, others may bring them, and own polls do. A poll of the feed comes sooner for
// that, and after it the neighbor may bring as much again.

// postponedFor is after what time a bundle is offered again that was beyond a quota.
const postponedFor = time.Hour

// errOverQuota refuses what is beyond the quota.
var errOverQuota = protocol.Faultf(protocol.OverQuota,
	"enough is stored of what you brought and no own poll has shown; offer the rest again in an hour")

// allowanceOf is the room that a neighbor's entries of a feed may still take, nil for any.
func (m *Machine) allowanceOf(l *link, u feed.URL) *incentive.Allowance {
	if m.StoresAll(l.Holder) {
		return nil
	}
	a := m.Quota.Allowance(m.Now, l.Holder, u, m.feeds.Volume(u))
	return &a
}

// storedFrom notes what was stored of what a neighbor brought.
func (m *Machine) storedFrom(l *link, u feed.URL, records []archive.Record) {
	if m.StoresAll(l.Holder) || len(records) == 0 {
		return
	}
	var room int64
	for i := range records {
		room += core.RoomOf(&records[i])
	}
	m.Quota.Store(m.Now, l.Holder, u, int64(len(records)), room)
	m.SaveAccounts()
}

// ShownOf notes that own polls have listed what neighbors had brought.
func (m *Machine) ShownOf(shares []archive.Share) {
	for _, x := range shares {
		m.Quota.Shown(m.Now, m.Ledger.HolderOf(x.Source), x.Feed, x.At, x.Entries, x.Room)
	}
	if len(shares) > 0 {
		m.SaveAccounts()
	}
}

// OverQuota reports whether nothing of a feed, or of any where that is "", would be stored of what a neighbor brings.
func (m *Machine) OverQuota(l *link, u feed.URL) bool {
	if m.StoresAll(l.Holder) {
		return false
	}
	if u == "" {
		return m.Quota.Left(m.Now, l.Holder) < archive.EntryRoom
	}
	a := m.allowanceOf(l, u)
	return !a.Take(archive.EntryRoom)
}

// postpone offers a bundle again in an hour or two, for as long as it may be news.
func (m *Machine) postpone(l *link, b *protocol.Bundle) {
	if l.Postponed >= MaxWaiting || incentive.Young(m.Now, b.Entries) == 0 {
		return
	}
	l.Postponed++
	m.After(m.Between(postponedFor, 2*postponedFor), func() {
		l.Postponed--
		m.Offer(l, b)
	})
}
