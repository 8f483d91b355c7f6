package membership

import (
	"cmp"
	"slices"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// maxFailures is after how many failed calls in a row a neighbor is declared gone.
	maxFailures = 3
	// establishedIn is how long a new link rests before it is used: the other side must have heard of it.
	establishedIn = 500 * time.Millisecond
)

// Join makes a node a neighbor that proved key, the zero key for none, whose subscription set is subset, and to which
// offered was advertised. We send it token, and it sends us session.
func (m *Machine) Join(id protocol.NodeID, key protocol.NodeKey, chosen bool, static, token, session string,
	subset, offered protocol.Subset) {
	moved := m.linkWithKey(key)
	if moved != nil && moved.ID() != id {
		m.Part(moved, "its node is at another address now")
	}
	m.Ledger.Proved(m.Now, id, key)
	if m.sourceOf(static) == nil { // its owner took it back meanwhile
		static = ""
	}
	old, holder := m.LinkTo(id), m.Ledger.HolderOf(id)
	l := &core.Link{
		Peer:   m.Table.Add(m.Now, id, chosen, subset, offered),
		Holder: holder, Usage: m.UsageOf(holder),
		Token: token, Session: session, Key: key,
		Heard: m.Now,
	}
	l.Membership = &link{Static: static}
	if moved != nil && !id.Hosted() { // it may be there as well yet
		Of(l).alsoAt(append(Of(moved).also, moved.ID())...)
		Of(l).also = slices.DeleteFunc(Of(l).also, func(other protocol.NodeID) bool { return other == id })
	}
	if len(m.Links) == 0 {
		m.Absence.ended(m.Now)
	}
	m.enlist(l, old)
	m.noteShared()
	if old != nil {
		// It connected anew: it forgot us, or both of us asked at once.
		Of(l).Static = cmp.Or(Of(old).Static, static)
		Of(l).breaks, Of(l).broke = Of(old).breaks, Of(old).broke
	} else {
		m.Tell(core.Linked{Peer: id, Chosen: chosen})
	}
	m.exchange.Joined(l, old)
	l.Peer.Static, l.Peer.Settled = Of(l).Static != "", m.Ledger.Settled(m.Now, holder)
	m.counted()
	m.Ledger.Met(m.Now, l.Holder)
	m.keepMet(l)
	m.After(m.Between(establishedIn, 2*establishedIn), func() {
		if !l.Over {
			l.Established = true
			m.learn(l)
			m.exchange.CatchUp(l)
		}
	})
	m.tellMissed(l)
}

// keepMet and keepParted remember a neighbor. One that cannot be dialled is not to be looked for.
func (m *Machine) keepMet(l *core.Link) {
	if l.ID().Hosted() {
		return
	}
	p, forgotten := m.Book.Met(m.Now, l.Peer)
	m.Store.KeepPeer(p)
	if !forgotten.IsZero() {
		m.Store.DropPeer(forgotten)
	}
}

func (m *Machine) keepParted(l *core.Link) {
	if !l.ID().Hosted() {
		m.Store.KeepPeer(m.Book.Parted(m.Now, l.Peer))
	}
}

// enlist puts the link in the place of old, or behind all others where that is nil.
func (m *Machine) enlist(l, old *core.Link) {
	if old == nil {
		m.Links, m.LinkIDs = append(m.Links, l), append(m.LinkIDs, l.ID())
		return
	}
	old.Over = true
	m.Links[slices.Index(m.Links, old)] = l
}

// noteShared notes which neighbors share an account.
func (m *Machine) noteShared() {
	for _, l := range m.Links {
		l.Shared = slices.ContainsFunc(m.Links,
			func(other *core.Link) bool { return other != l && other.Holder == l.Holder })
	}
}

// learn asks a new neighbor what it can do and under which address it knows us.
func (m *Machine) learn(l *core.Link) {
	m.Ask(l, protocol.ListMethods{}, core.CallTimeout, func(a core.Answered) {
		if methods, ok := a.Reply.(protocol.Methods); ok {
			l.Batches, l.Accounts = has(methods, protocol.CheckDIDs{}), has(methods, protocol.StateAccount{})
			l.Notices, l.Stars = has(methods, protocol.Notify{}), has(methods, protocol.TellStars{})
			m.exchange.Learned(l)
		}
	})
	m.Ask(l, protocol.WhoAmI{}, core.CallTimeout, func(a core.Answered) {
		if id, ok := a.Reply.(protocol.NodeID); ok {
			m.learnSelf(l, id)
		}
	})
}

// Part ends a link. Its feeds fall back at once, and somebody else is looked for.
func (m *Machine) Part(l *core.Link, reason string) {
	if l.Over {
		return
	}
	l.Over = true
	m.KeepUsage(l)
	m.Absence.parted(l.Heard)
	i := slices.Index(m.Links, l)
	m.Links, m.LinkIDs = slices.Delete(m.Links, i, i+1), slices.Delete(m.LinkIDs, i, i+1)
	m.noteShared()
	m.counted()
	m.Table.Remove(l.ID())
	m.exchange.Parted(l)
	m.keepParted(l)
	if l.Dialling {
		m.Do(core.Release{To: l.ID()})
	}
	m.Tell(core.Unlinked{Peer: l.ID(), Reason: reason})
	if s := m.sourceOf(Of(l).Static); s != nil {
		m.seekStatic(s)
	}
	if m.Table.Places() == m.least()-1 {
		m.askTrackers() // there were enough until now, so they were asked long ago
	}
	m.refillSoon(0)
}

// failed takes in that a call to a neighbor failed, which may end the link.
func (m *Machine) failed(l *core.Link, a core.Answered) {
	switch code := core.CodeOf(a.Err); {
	case code == protocol.UnknownNeighbor || code == protocol.NotVouched || code == protocol.Dropped:
		m.Part(l, "it ended the link: "+a.Err.Error())
		return
	case code != 0 && code != protocol.Internal:
		l.Heard, l.Failures = m.Now, 0 // it is there, and knows why it refuses
	case a.Queued && m.Now.Sub(l.Heard) < Silence:
		m.probe(l) // it was not asked; but a neighbor that is silent for long does not answer those calls either
	default:
		l.Failures++
		l.Peer.Failures = l.Failures
		if l.Failures >= maxFailures {
			m.Part(l, "does not answer: "+a.Err.Error())
			if !l.ID().Hosted() {
				m.Book.Lost(m.Now, l.ID())
			}
			for _, id := range Of(l).also {
				m.Book.Due(id)
			}
			return
		}
		m.probe(l)
	}
}

// has reports whether a peer's list of methods names the one of c.
func has(methods protocol.Methods, c protocol.Call) bool { return slices.Contains(methods, c.Method()) }

// A link is the state that membership keeps of a core.Link.
type link struct {
	Static  string // the owner's name for it, "" for none
	probing bool   // a call that shows whether it is still there is to be made
	// also are where it proved its key as well, the last of them. It is not sought there while it is a neighbor.
	also []protocol.NodeID

	reconnecting bool      // because the reverse link to it broke
	breaks       int       // in a row
	broke        time.Time // last

	// Our adverts to it.
	telling     bool // one about a change of our own is to be sent
	advertising bool // one is under way
	again       bool // and there was more to say meanwhile
}

// maxAlso bounds the other addresses of a neighbor: by IPv6 a node may have one for each day of a week (RFC 8981).
const maxAlso = 8

// alsoAt notes that the neighbor proved its key at other addresses as well.
func (l *link) alsoAt(ids ...protocol.NodeID) {
	for _, id := range ids {
		if !slices.Contains(l.also, id) {
			l.also = append(l.also, id)
		}
	}
	l.also = l.also[max(0, len(l.also)-maxAlso):]
}

// Of returns the state that membership keeps of a link.
func Of(l *core.Link) *link { return l.Membership.(*link) }
