package membership

import (
	"slices"
	"time"

	"feedex/incentive"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// place finds a place for a newcomer with that subscription set: a free one, where victim is nil, or that of a neighbor
// that gives way. holder is that of its account. chosen tells that we asked it; where neighbors have been missing for
// long, any newcomer is as welcome.
//
// Paper §3.2: "a node should restrict the number of neighbors within a sustainable level. Since a node
// may have more neighbor candidates than it can sustain, it needs to select 'good' neighbors."
func (m *Machine) place(id protocol.NodeID, holder incentive.Holder, chosen bool, subset protocol.Subset) (
	victim *core.Link, ok bool) {
	settled := !chosen && m.Ledger.Settled(m.Now, holder)
	chosen = chosen || m.short() && !id.Hosted()
	switch m.Table.Admit(id, chosen, settled) {
	case nil:
		return nil, true
	case neighbors.ErrFull, neighbors.ErrKept:
		if p := m.Table.Replaceable(m.Now, id, chosen, subset); p != nil {
			return m.LinkOf(p), true
		}
	}
	return nil, false
}

// giveWay dismisses a neighbor in favor of a more useful one.
func (m *Machine) giveWay(victim *core.Link) {
	if victim != nil {
		m.ban(victim)
		m.dismiss(victim, "its place went to a more useful neighbor")
	}
}

// reviewLink ends the link to a neighbor that brought next to nothing of the much that it claims.
func (m *Machine) reviewLink(l *core.Link) {
	if Of(l).Static != "" || !m.Table.Lies(m.Now, l.Peer, m.bookedWith(l)...) || m.exchange.Owing(l) {
		return
	}
	m.ban(l)
	m.Punish(l.Holder, incentive.SubsetLie, 0)
	if !l.Over {
		m.dismiss(l, "it brings nothing of what it claims")
	}
}

// bookedWith are the hosted neighbors at the address of a hosted one whose keys, like its own, are not settled. A
// bundle earns once for all of them: each by itself brings next to nothing where many homes share an address.
func (m *Machine) bookedWith(l *core.Link) (with []*neighbors.Neighbor) {
	if !l.ID().Hosted() {
		return nil
	}
	party := m.Ledger.Party(l.Holder)
	for _, other := range m.Links {
		if other != l && other.ID().Hosted() && m.Ledger.Party(other.Holder) == party {
			with = append(with, other.Peer)
		}
	}
	return with
}

// unwanted reports whether id is none to connect to: it is linked, at this address or another, not callable, or
// refused.
func (m *Machine) unwanted(id protocol.NodeID) bool {
	if m.linked(id) || !m.callable(id) || m.linkWithKey(m.near.keyOf(id)) != nil {
		return true
	}
	h := m.Ledger.HolderOf(id)
	return m.Ledger.RefusedAt(m.Now, id, h) || m.banned(id, h)
}

// ban keeps whoever a neighbor stands for out for a while, banned reports whether it is.
func (m *Machine) ban(l *core.Link) { m.Bans.Ban(m.Now, m.party(l.ID(), l.Holder)) }

func (m *Machine) banned(id protocol.NodeID, h incentive.Holder) bool {
	return m.Bans.banned(m.Now, m.party(id, h))
}

// party is who is meant where a node with the account of h is sent away: of a hosted one its key, for hundreds of homes
// may have its address, and one that comes again with a new key gets no better place than others there.
func (m *Machine) party(id protocol.NodeID, h incentive.Holder) incentive.Holder {
	if id.Hosted() {
		return incentive.HolderOf(id.Name())
	}
	return m.Ledger.Party(h)
}

const (
	// banFor is how long a neighbor that gave way to another is not taken back.
	banFor = time.Hour
	// connectsAnHour is how many connects of one holder an hour are not a storm.
	connectsAnHour = 20
)

// bans are the holders that were sent away and stay out for a while, and how often each has connected within the hour.
type bans struct {
	until    map[incentive.Holder]time.Time // when they end
	hour     int64                          // since 1970, of connects
	connects map[incentive.Holder]int
}

func newBans() bans {
	return bans{until: make(map[incentive.Holder]time.Time), connects: make(map[incentive.Holder]int)}
}

// maxBans bounds the holders that are remembered of either kind.
const maxBans = 4096

// countConnect counts a connect, and reports whether there were too many of this holder within the hour.
func (b *bans) countConnect(now time.Time, h incentive.Holder) bool {
	if hour := now.Unix() / 3600; hour != b.hour || len(b.connects) >= maxBans {
		b.hour = hour
		clear(b.connects)
	}
	b.connects[h]++
	return b.connects[h] > connectsAnHour
}

// banned reports whether the holder was sent away lately.
func (b *bans) banned(now time.Time, h incentive.Holder) bool {
	until, ok := b.until[h]
	if ok && !now.Before(until) {
		delete(b.until, h)
		return false
	}
	return ok
}

// Ban keeps the holder out for a while.
func (b *bans) Ban(now time.Time, h incentive.Holder) {
	if len(b.until) >= maxBans {
		clear(b.until)
	}
	b.until[h] = now.Add(banFor)
}

// Expel ends a link from our side without a word, and keeps the holder out for a while.
func (m *Machine) Expel(l *core.Link, reason string) {
	m.ban(l)
	m.Part(l, reason)
}

// Punish counts an offence. A holder without standing left loses every link, as do the strangers at its address, and is
// refused for a while.
func (m *Machine) Punish(h incentive.Holder, o incentive.Offence, value incentive.Credit) {
	ended := m.Ledger.Punish(m.Now, h, o, value)
	m.SaveAccounts()
	for _, l := range slices.Clone(m.Links) {
		if m.Ledger.HolderOf(l.ID()) == h {
			m.Suspect(l.ID(), o.String())
		}
		if ended && m.Ledger.RefusedAt(m.Now, l.ID(), l.Holder) {
			m.dismiss(l, "it "+core.BrokeRules+" too often, last: "+o.String())
		}
	}
}

// dismiss ends a link from our side, and says so.
func (m *Machine) dismiss(l *core.Link, reason string) {
	m.Call(core.Target{Node: l.ID()}, l.Token, protocol.Disconnect{Reason: reason}, core.CallTimeout,
		func(core.Answered) {})
	m.Part(l, reason)
	if !l.ID().Hosted() {
		m.Book.Failed(m.Now, l.ID())
	}
}

// Refused reports whether the node wants no link with id at present.
func (m *Machine) Refused(id protocol.NodeID) bool {
	return m.Ledger.RefusedAt(m.Now, id, m.Ledger.HolderOf(id))
}
