package exchange

import (
	"slices"
	"time"
	"unique"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/trust"
)

const (
	// spotOneIn is how many first-hand claims of a neighbor on probation cause one spot poll.
	spotOneIn = 10
)

// hearsay is the record of statements by neighbors that no own poll has shown.
type hearsay struct {
	*trust.Register
	Held []*protocol.Bundle // of nodes that are doubted, or that nobody can name, the latest last
}

// holderOf is the holder of the account that answers for a claim: the one that the neighbor had then, or that its key,
// which it had proved, has since. Another key may be at its address by now.
func (m *Machine) holderOf(c *trust.Claim) incentive.Holder {
	h, err := incentive.ParseHolder(c.Account)
	if err != nil {
		return m.Ledger.HolderOf(c.Neighbor())
	}
	if k, err := protocol.ParseNodeKey(c.Account); err == nil && m.Ledger.Account(h).Since.IsZero() {
		return m.Ledger.Claimed(c.Neighbor(), k) // it has none: its address answers
	}
	return h
}

// claimed remembers what a neighbor brought first, in a bundle whose path ends with it and of which so many new
// entries earned, until an own poll shows whether the publisher has it: what was too much for a day or has no date is
// paid for then.
func (m *Machine) claimed(l *link, b *protocol.Bundle, fresh []feed.Entry, earned int) {
	holder := l.Holder
	if k := incentive.HolderOf(protocol.NameOf(l.Key)); !l.Key.IsZero() && m.Ledger.Account(k).Since.IsZero() {
		holder = k // it may have one by the time that the claim is judged
	}
	account := unique.Make(holder.String()).Value() // kept once, however many claims it answers for
	c := trust.Claim{Feed: b.Feed, At: m.Now, Account: account, Value: int32(m.valueHere(l, 1, b.Feed))}
	ids := b.Identities()
	for i := range fresh {
		c.Earned, c.Held, c.Via = 0, 0, b.Path
		if c.Entry = ids[i].ID; len(fresh) < len(ids) { // some of b were not new, and nobody knows which
			c.Entry = fresh[i].EntryID()
		}
		if c.FirstHand() && m.membership.AbsentAt(&fresh[i]) {
			// It may have polled that long ago, and the publisher have taken it back since: as if it were a relay.
			c.Via = append(slices.Clip(b.Path), l.ID())
		}
		switch {
		case incentive.Young(m.Now, fresh[i:i+1]) == 0:
		case earned > 0 && incentive.Dated(m.Now, fresh[i:i+1]) > 0:
			earned--
			c.Earned = c.Value
		default:
			c.Held = c.Value
		}
		m.Hearsay.Claims.Add(&fresh[i], c)
	}
	if len(fresh) > 0 && len(b.Path) == 1 && m.Ledger.OnProbation(l.Holder) && m.Rng.IntN(spotOneIn) == 0 {
		m.feeds.SpotPoll(b.Feed)
	}
}

// corroborate confirms entries that somebody else brought first and no own poll has shown, where a neighbor that brings
// the same, and another that did before, are two witnesses. The path of b ends with it.
func (m *Machine) corroborate(b *protocol.Bundle, records []archive.Record, known []archive.Version) {
	var confirmed []archive.Record
	for i, v := range known {
		r := &records[i]
		if v.Confirmed || v.Digest != r.Digest {
			continue
		}
		c, open := m.Hearsay.Claims.Of(r.ID)
		again := trust.BroughtVersion{Entry: r.ID, Digest: r.Digest, Kept: r.Digest, Via: b.Path, DID: b.DID}
		if !m.Hearsay.Versions.Vouched(m.Now, again, c.Via) {
			continue
		}
		confirmed = append(confirmed, *r)
		if open {
			m.earnings.Confirmed(m.Now, c.Feed, m.Ledger.Party(m.holderOf(&c)), 1)
		}
	}
	m.Shared.Confirm(m.Now, archive.IDsOf(confirmed))
	if m.feeds.Discreet(b.Feed) {
		m.confirmForOwner(confirmed)
	}
}

// believe notes claims that turned out to be true, and books what was held back of them until now.
func (m *Machine) believe(claims ...trust.Claim) {
	for _, c := range claims {
		passed := make([]incentive.Holder, 0, len(c.Via))
		for _, id := range c.Via {
			if h := m.Ledger.Party(m.Ledger.HolderOf(id)); !slices.Contains(passed, h) {
				passed = append(passed, h)
				m.earnings.Confirmed(m.Now, c.Feed, h, 1)
			}
		}
		m.EarnLate(c.Neighbor(), m.holderOf(&c), m.earningOf(incentive.Credit(c.Held), c.Feed))
	}
}

// Polled holds what neighbors say of a feed against a poll of it that just ended.
func (m *Machine) Polled(p trust.OwnPoll) {
	j, altered := m.Hearsay.Polled(m.Now, p)
	m.judge(j)
	for _, a := range altered {
		// Another version is no offence: there are publishers that show different readers different versions.
		m.Counters.Altered++
		m.Suspect(a.Via[len(a.Via)-1], "brought another version of an entry than its publisher shows")
	}
	m.releaseShown(p.Feed)
	m.listedOf(p.Listed)
}

// maxGave bounds the entries with which a neighbor earned that are remembered until an own poll lists them.
const maxGave = 64

// A given is an entry with which a neighbor earned, after so many misses.
type given struct {
	entry  feed.EntryID
	misses int
}

// gave notes that a neighbor earned with a bundle, where that is of a feed of the owner's.
func (m *Machine) gave(l *link, b *protocol.Bundle) {
	if m.Table.Owns(b.Feed) {
		l.given = append(l.given[max(0, len(l.given)-maxGave+1):], given{b.Identities()[0].ID, l.Peer.Misses})
	}
}

// listedOf notes which neighbors gave what an own poll lists, be it first or beside others: they are of use. What no
// poll lists they may have made up.
func (m *Machine) listedOf(listed []trust.Listed) {
	shown := make(map[feed.EntryID]bool, len(listed))
	for i := range listed {
		shown[listed[i].Entry] = true
	}
	for _, l := range m.Links {
		Of(l).given = slices.DeleteFunc(Of(l).given, func(g given) bool {
			if shown[g.entry] {
				l.Peer.Shown(g.misses)
			}
			return shown[g.entry]
		})
	}
}

// judge follows from how the claims ended that a poll could tell of.
func (m *Machine) judge(j trust.Judgement) {
	m.Counters.Confirmed += int64(len(j.Shown))
	m.Counters.Forged += int64(len(j.Forged))
	m.believe(j.Shown...)
	for _, c := range j.Relayed {
		m.ofNoUse(c)
	}
	for _, c := range j.Genuine {
		m.Hearsay.Witnesses.Earned(m.Now, c.Neighbor())
		m.Hearsay.Witnesses.Shown(m.Now, c.Origin(), c.Feed)
	}
	for _, c := range j.Doubtful {
		m.Hearsay.Witnesses.Doubt(m.Now, c.Origin(), c.Neighbor())
	}
	for _, c := range j.Excused {
		m.ofNoUse(c)
		m.Revoked(c.Neighbor(), m.holderOf(&c), incentive.Credit(c.Earned))
	}
	for _, c := range j.Forged {
		m.Ledger.Remember(m.Now, c.Neighbor())
	}
	for len(j.Forged) > 0 {
		h, value := m.holderOf(&j.Forged[0]), incentive.Credit(0)
		j.Forged = slices.DeleteFunc(j.Forged, func(c trust.Claim) bool {
			if m.holderOf(&c) != h {
				return false
			}
			m.ofNoUse(c)
			m.Hearsay.Witnesses.Convicted(c.Neighbor())
			value += incentive.Credit(c.Value)
			return true
		})
		m.membership.Punish(h, incentive.ForgedEntry, value) // several are one offence, and are fined each
	}
}

// ofNoUse takes back what a claim did for the usefulness of the neighbor: one that keeps bringing what its publisher
// does not have ends as the least useful.
func (m *Machine) ofNoUse(c trust.Claim) {
	if l := m.LinkTo(c.Neighbor()); l != nil && m.Table.Owns(c.Feed) {
		m.Table.Brought(m.Now, l.Peer, -neighbors.Usefulness(c.Earned))
	}
}

// Forget drops what neighbors claimed of a feed that no poll will judge any more.
func (m *Machine) Forget(u feed.URL) { m.Hearsay.Claims.Forget(u) }

var errForgedSource = protocol.Faultf(protocol.ForgedSource,
	"it came by way of a node that forged entries here; others may bring it")

// byForger reports whether a bundle came by way of a node that forged entries, by what our own polls showed. It is not
// taken from relays either, nor passed on: a node that knows a forger must not depend on all others knowing it too.
// True entries of the bundle other neighbors bring, and nobody can keep them from that: a bundle that is refused is not
// seen.
func (m *Machine) byForger(b *protocol.Bundle) bool {
	return m.Ledger.ForgedAmong(m.Now, b.Path)
}

// warned takes in that l refused a bundle because it came by way of a forger. Which node is meant is clear only where
// none but one neighbor, which says that it polled the entries, had it before us.
func (m *Machine) warned(l *link, b *protocol.Bundle) {
	if len(b.Path) != 1 {
		return
	}
	if m.Hearsay.Witnesses.Doubt(m.Now, b.Path[0], l.ID()) || m.Doubted(b) {
		m.feeds.SpotPoll(b.Feed)
	}
}

// Doubted reports whether the node is doubted that says that it polled what a bundle holds, or is said to by a relay.
// The bundle has come, so its path is not empty.
func (m *Machine) Doubted(b *protocol.Bundle) bool {
	return m.Hearsay.Witnesses.Doubted(m.Now, b.Path[0], b.Feed)
}

// maxHeldBack bounds the bundles that are held back, the latest of them.
const maxHeldBack = 64

// holdBack keeps a bundle that is stored from going on, as a doubted node says that it polled it, or nobody can be
// named for it. True entries of it others pass on, and we do once an own poll has shown them.
func (m *Machine) holdBack(b *protocol.Bundle) {
	m.Gossip.Seen.Add(b.DID)
	m.fulfil(b.DID)
	if len(m.Hearsay.Held) >= maxHeldBack {
		m.Hearsay.Held = slices.Delete(m.Hearsay.Held, 0, 1)
	}
	m.Hearsay.Held = append(m.Hearsay.Held, b)
}

// releaseShown passes on what was held back of a feed and an own poll has shown since. Entries that a poll has shown
// otherwise it has refuted: these go no further.
func (m *Machine) releaseShown(u feed.URL) {
	var shown []*protocol.Bundle
	m.Hearsay.Held = slices.DeleteFunc(m.Hearsay.Held, func(b *protocol.Bundle) bool {
		if b.Feed != u {
			return false
		}
		same, all := m.polledOf(b)
		if part := partOf(b, same); all && part != nil {
			shown = append(shown, part)
		}
		return all
	})
	for _, b := range shown {
		from := b.Path[len(b.Path)-1]
		if len(m.asPassedOn(b).Path) == 0 {
			own := *b
			own.Path = nil
			b = &own
		}
		m.Spread(b, from)
	}
}

// polledOf returns the entries of a bundle that own polls have shown as they stand there, and whether they have shown
// all of them, be it otherwise.
func (m *Machine) polledOf(b *protocol.Bundle) (same []feed.Entry, all bool) {
	identities := b.Identities()
	ids := make([]feed.EntryID, len(identities))
	for i := range identities {
		ids[i] = identities[i].ID
	}
	all = true
	for i, v := range m.Shared.Known(ids) {
		all = all && v.Polled
		if v.Polled && v.Digest == identities[i].Digest {
			same = append(same, b.Entries[i])
		}
	}
	return same, all
}

// revised says what becomes of a version that a neighbor brought of an entry of which we keep another.
//
// A version that an own poll has shown gives way to none: the next own poll has the publisher's word, and the other
// waits for that, so that the owner hears of what was altered on its way. One that two witnesses stand by gives way to
// two only where the publisher moved `updated` forward: theirs may well be the older one. For the same reason only such
// revisions are passed on, a few a day for each entry. They earn nothing.
type revised int

const (
	stale    revised = iota // it cannot replace ours: the bundle is done with
	beyond                  // it is beyond the neighbor's quota, and was not looked at
	awaited                 // it is set aside, and others may confirm it
	replaced                // it is confirmed, and kept
)

// revise takes in a version of an entry of which we keep another, as far as that is allowed to the neighbor; nil is for
// all.
func (m *Machine) revise(b *protocol.Bundle, v *archive.Record, known archive.Version,
	allowed *incentive.Allowance) revised {
	other := trust.BroughtVersion{Entry: v.ID, Digest: v.Digest, Kept: known.Digest, Via: b.Path, DID: b.DID}
	updated := v.Entry.Updated
	if known.Updated.After(m.Now.Add(feed.Ahead)) {
		known.Updated = time.Time{} // no date: it must not keep every later version away
	}
	switch {
	case known.Confirmed && updated.Before(known.Updated) && !updated.IsZero():
		return stale // it is the older one by its own word, and ours is more than one neighbor's
	case known.Confirmed && v.Entry.SameButDates(known.Digest, known.Published, known.Updated):
		return stale // the publisher's dates move, as own polls see to it
	case known.Polled || known.Confirmed && !m.Moved(known.Updated, updated):
		m.Hearsay.Versions.SetAside(m.Now, other)
		return stale
	case allowed != nil && !allowed.Fits(core.RoomOf(v)):
		return beyond
	case !m.Hearsay.Versions.Vouched(m.Now, other, nil):
		return awaited
	}
	if allowed != nil {
		allowed.Take(core.RoomOf(v))
	}
	v.Confirmed = true
	m.Shared.Keep([]archive.Record{*v})
	m.Hearsay.Claims.End(v.ID) // the bringer of the version that gave way gains nothing by it
	return replaced
}

// newToOwner are those of the entries that others bring which are new to the owner, too.
func (m *Machine) newToOwner(records []archive.Record) (fresh []archive.Record) {
	known := m.Store.Known(archive.IDsOf(records))
	for i := range records {
		if known[i].New() || known[i].Admits(&records[i]) {
			fresh = append(fresh, records[i])
		}
	}
	return fresh
}

// confirmForOwner notes for the owner, too, that others have shown these versions of entries.
func (m *Machine) confirmForOwner(records []archive.Record) {
	ids := archive.IDsOf(records)
	var same []feed.EntryID
	for i, v := range m.Store.Known(ids) {
		if v.Digest == records[i].Digest {
			same = append(same, ids[i])
		}
	}
	m.Store.Confirm(m.Now, same)
}
