package exchange

import (
	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Received takes in a bundle that a neighbor delivers. answer is called as soon as it is clear what the delivery
// comes to: nil where the entries are stored.
//
// Paper §3.4: "Forwarded bundle may contain entries that have already been stored locally. Those old entries are
// removed from the bundle before it is further forwarded."
func (m *Machine) Received(from *core.Link, b *protocol.Bundle, answer func(error)) {
	l := Of(from)
	m.Counters.PutsReceived++
	l.Offered.Add(b.DID)
	switch {
	case m.Gossip.Seen.Has(b.DID):
		m.receivedSeen(l, b, answer)
		return
	case m.Hearsay.Versions.Took(l.ID(), b.DID):
		m.Counters.Duplicates += int64(len(b.Entries))
		m.GiveUp(l, b.DID)
		answer(nil)
		return
	}
	if err := m.acceptable(l, b); err != nil {
		m.refuse(l, b)
		answer(err)
		m.blame(l, b, err)
		return
	}
	for _, identity := range b.Identities() {
		l.brought.Add(versionOf(identity))
	}
	forged := m.namesUs(l, b)
	m.strike(l, b.DID)
	m.shown(l, owed{})
	via := b.Via(l.ID())
	k := m.keepNew(l, via)
	answer(m.within(b, k))
	m.credit(l, via, k)
	if forged && len(k.fresh) > 0 {
		m.membership.Punish(l.Holder, incentive.ForgedPath, incentive.Value(len(k.fresh), 0))
	}
	m.forward(l, via, k)
}

// receivedSeen takes in a bundle that is stored already: it went in a loop, or came by two ways. Paper §3.4: "the entry
// bundle is discarded".
func (m *Machine) receivedSeen(l *link, b *protocol.Bundle, answer func(error)) {
	// We may have cut the same part out of a larger one since we asked for it.
	if p := m.Gossip.Promises[b.DID]; p != nil && len(p.waiting) == 0 {
		delete(m.Gossip.Promises, b.DID)
	}
	m.Counters.Duplicates += int64(len(b.Entries))
	answer(nil)
	m.deliveredAgain(l, b)
}

// acceptable says why the node does not take the bundle, or nil.
func (m *Machine) acceptable(l *link, b *protocol.Bundle) error {
	if !m.Table.Wanted(b.Feed, l.Peer) {
		return protocol.Faultf(protocol.UnwantedFeed, "%s is not in the subscription set", b.Feed)
	}
	if m.byForger(b) {
		return errForgedSource
	}
	return b.Verify()
}

// refuse takes nothing of a bundle. Others may have what the neighbor was asked for.
func (m *Machine) refuse(l *link, b *protocol.Bundle) {
	m.Counters.PutsRefused++
	m.GiveUp(l, b.DID)
}

// blame counts a bundle that was refused for err against its neighbor, where an honest one would not have sent it. It
// may not have heard yet that a feed is not wanted any more.
func (m *Machine) blame(l *link, b *protocol.Bundle, err error) {
	offence, known := offences[protocol.AsFault(err).Code]
	if known && (offence != incentive.UnwantedFeed || !m.Table.Advertises(l.Peer, b.Feed)) {
		m.membership.Punish(l.Holder, offence, 0)
	}
}

// namesUs notes a bundle whose path names us, and reports whether its neighbor must have written that. We never had the
// bundle, so somebody put our name there to have us drop it. The node that stands last on the path must have written
// what is before; further up it may have been done to set us against an honest relay. So may our name have been given
// to us by others.
func (m *Machine) namesUs(l *link, b *protocol.Bundle) (forged bool) {
	if !m.Passed(b.Path) {
		return false
	}
	m.Counters.PathsTampered++
	last := b.Path[len(b.Path)-1]
	return !m.Undialled && m.Self.Has(last) && m.membership.NamedBy(l.ID()) == last
}

// within says whether all of a bundle was within its neighbor's quota, nil where it was. A poll comes sooner for what
// was left.
func (m *Machine) within(b *protocol.Bundle, k kept) error {
	if k.left == 0 {
		return nil
	}
	m.Counters.Unkept += int64(k.left)
	m.feeds.SpotPoll(b.Feed)
	return errOverQuota
}

// credit books what a bundle earns for the neighbor that brought it, and with which its path ends.
func (m *Machine) credit(l *link, b *protocol.Bundle, k kept) {
	if known := partOf(b, k.plain); known != nil {
		m.earned(l, m.earnings.Listed(m.party(l.Link), k.undated), b.Feed)
		m.Stored(known, k.fresh, l, k.polled...)
	}
}

// forward passes on what was new of a bundle: a new bundle with a new did where it was not all, or the next hop could
// not verify it. Its path ends with the neighbor.
func (m *Machine) forward(l *link, b *protocol.Bundle, k kept) {
	pruned := partOf(b, k.fresh)
	switch {
	case k.awaited, k.left > 0:
		m.release(l, b.DID) // any other neighbor that has it is to deliver it too
	case pruned != b:
		m.Gossip.Seen.Add(b.DID)
		m.fulfil(b.DID)
	}
	if pruned != nil {
		origin := b.Path[0].Name()
		m.feeds.Heard(core.PollHeard{Feed: b.Feed, Via: l.ID(), Origin: origin, Own: origin == l.ID().Name(),
			At: m.Now}) // who polled it did so just now
	}
	if pruned != nil && pruned != b {
		m.Stored(pruned, nil, nil) // it goes on as another bundle, which others may offer
	}
	switch {
	case pruned == nil:
	case m.Doubted(b):
		m.holdBack(pruned)
	default:
		m.Spread(pruned, l.ID())
	}
	m.passRevisions(b.Feed, k.revised, b.Path, l.ID())
}

// partOf is the bundle with only these of its entries: the bundle itself where that is all of them, nil where
// there are none.
func partOf(b *protocol.Bundle, entries []feed.Entry) *protocol.Bundle {
	switch len(entries) {
	case 0:
		return nil
	case len(b.Entries):
		return b
	}
	part := protocol.NewBundle(b.Feed, entries)
	part.Path = b.Path
	return part
}

// kept sorts the entries of a bundle by their fate.
type kept struct {
	fresh   []feed.Entry   // not known before
	polled  []feed.EntryID // known by own polls, young and with a date
	undated []feed.EntryID // likewise, without one
	plain   []feed.Entry   // all but other versions of known entries, and what was purged
	revised []feed.Entry   // such versions that are confirmed, and that the publisher dated later than the one before
	awaited bool           // others may confirm one that is not
	left    int            // entries beyond the neighbor's quota, which were not looked at
}

// recordsOf are the entries of b as the archive would keep them, and their ids.
func (m *Machine) recordsOf(l *link, b *protocol.Bundle) ([]archive.Record, []feed.EntryID) {
	records, ids := make([]archive.Record, len(b.Entries)), make([]feed.EntryID, len(b.Entries))
	for i, identity := range b.Identities() {
		records[i], ids[i] = archive.RecordOf(b.Entries[i], identity, m.Now, l.ID()), identity.ID
	}
	return records, ids
}

// keepNew stores the entries of b that are not known, with the neighbor as their source. The path of b ends with it.
func (m *Machine) keepNew(l *link, b *protocol.Bundle) (k kept) {
	records, ids := m.recordsOf(l, b)
	var fresh []archive.Record
	known := m.Shared.Known(ids)
	m.corroborate(b, records, known)
	allowed := m.allowanceOf(l, b.Feed)
	for i, e := range b.Entries {
		if known[i].Admits(&records[i]) {
			known[i] = archive.Version{} // what was purged is another version
		}
		switch v := &known[i]; {
		case v.New() && allowed != nil && !allowed.Take(core.RoomOf(&records[i])):
			k.left++
			continue
		case v.New():
			fresh = append(fresh, records[i])
			k.fresh = append(k.fresh, e)
		case v.Purged: // as if it were here, but that nobody can tell whether this is what it was
			continue
		case v.Digest == records[i].Digest:
			switch {
			case !v.Polled:
			case incentive.Dated(m.Now, b.Entries[i:i+1]) > 0:
				k.polled = append(k.polled, ids[i])
			case incentive.YoungSince(m.Now, &b.Entries[i], v.Seen):
				k.undated = append(k.undated, ids[i])
			}
		default:
			switch m.revise(b, &records[i], known[i], allowed) {
			case beyond:
				k.left++
			case awaited:
				k.awaited = true
			case replaced:
				m.storedFrom(l, b.Feed, records[i:i+1])
				if m.Moved(known[i].Updated, e.Updated) {
					k.revised = append(k.revised, e)
				}
			}
			continue
		}
		k.plain = append(k.plain, e)
	}
	news := fresh
	if m.feeds.Discreet(b.Feed) {
		news = m.newToOwner(fresh)
	}
	if len(fresh) > 0 {
		m.Shared.Keep(fresh)
		m.storedFrom(l, b.Feed, fresh)
	}
	m.Counters.Delivered += int64(len(news))
	m.Counters.Duplicates += int64(len(records) - k.left - len(news))
	m.arrived(l, b.Feed, news)
	return k
}

// arrived notes for the owner what a neighbor brought of a feed that is new to them, and tells of it.
func (m *Machine) arrived(l *link, u feed.URL, fresh []archive.Record) {
	if len(fresh) == 0 {
		return
	}
	l.delivered += int64(len(fresh))
	m.feeds.Brought(u, fresh)
	m.Tell(core.Arrived{Feed: u, Source: l.ID(), Records: fresh})
}
