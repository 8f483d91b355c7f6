package membership

import (
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// A node behind a router that nobody forwards cannot be dialled. It learns that when nodes to which it connects cannot
// call it back, and has them call it over connections that it keeps open (reverse links). So a neighbor is one of three
// kinds: dialled, at its address; hosted, over the connection that it keeps open to us; or dialling, where we keep one
// open to it.

const (
	// unreached is on how many networks nodes must have called back in vain, since somebody last dialled the node by
	// the same version of IP, for it to open reverse links at once to those that it reaches by that.
	unreached = 2
	// enoughHosts is how many neighbors a node has that cannot be dialled: it needs places at those that can, of which
	// there may be few. So it has no place to spare for another, but has who is of more use take that of the least.
	enoughHosts = 5
	// reconnectIn is how soon a node connects anew whose reverse link broke; where it breaks again within Silence the
	// node waits four times as long each time.
	reconnectIn = time.Second
	// plainlyOneIn is how many connects of a node that others cannot dial there are to one that tries whether they can.
	plainlyOneIn = 8
)

// reach is what the node knows of whether others can dial it.
type reach struct {
	by4, by6 reachBy
	opening  map[protocol.NodeID]bool // nodes that we connect to over a reverse link; true where that broke meanwhile
}

// reachBy is that by one version of IP: behind many a carrier's router for IPv4 a home has an open way by IPv6.
type reachBy struct {
	vain    map[protocol.Network]bool // those of nodes that called back in vain since somebody dialled
	dialled bool                      // somebody did, and fewer than unreached in vain since
}

// reachFrom is what is known of how a node reaches us.
func (m *Machine) reachFrom(id protocol.NodeID) *reachBy {
	if id.Addr().Is4() {
		return &m.reach.by4
	}
	return &m.reach.by6
}

// undialled is whether a node cannot dial us, as far as is known.
func (m *Machine) undialled(by protocol.NodeID) bool {
	return !m.Local(by) && (m.Config.Undialled || len(m.reachFrom(by).vain) >= unreached)
}

// Dialled notes that somebody at an address dialled the node.
func (m *Machine) Dialled(from protocol.NodeID) {
	if m.Config.AllowLocal || feed.PublicAddr(from.Addr()) {
		*m.reachFrom(from) = reachBy{dialled: true}
		m.settleReach()
	}
}

// Forwarded notes that others may be able to dial the node by a version of IP, whatever it learned before.
func (m *Machine) Forwarded(e core.Forwarded) {
	by := &m.reach.by4
	if e.IPv6 {
		by = &m.reach.by6
	}
	clear(by.vain)
	m.settleReach()
}

// notDialled notes that a node called back in vain.
func (m *Machine) notDialled(by protocol.NodeID) {
	r := m.reachFrom(by)
	if r.vain == nil {
		r.vain = make(map[protocol.Network]bool)
	}
	r.vain[by.Network()] = true
	r.dialled = r.dialled && len(r.vain) < unreached
	m.settleReach()
}

// settleReach sets whether the node counts as one that others cannot dial: not where they can by either version of IP.
func (m *Machine) settleReach() {
	by4, by6 := &m.reach.by4, &m.reach.by6
	vain := len(by4.vain) >= unreached || len(by6.vain) >= unreached
	m.setUndialled(m.Config.Undialled || vain && !by4.dialled && !by6.dialled)
}

// setUndialled notes whether others can dial the node, by which it has so many places.
func (m *Machine) setUndialled(is bool) {
	m.Undialled = is
	m.Table.Limit(m.most())
}

// Connect asks a node to become a neighbor, and opens a reverse link to it where it cannot dial us. static is the
// owner's name for it, "" for none, and key the one that it must prove, zero for any or none.
func (m *Machine) Connect(to protocol.NodeID, static string, key protocol.NodeKey, done func(err error)) {
	if m.undialled(to) && (m.Config.Undialled || m.Rng.IntN(plainlyOneIn) > 0) {
		m.connectReversed(to, static, key, done)
		return
	}
	m.connect(to, static, key, false, func(err error) {
		if core.CodeOf(err) == protocol.Unreachable && !m.key().IsZero() {
			if !m.Local(to) {
				m.notDialled(to)
			}
			m.connectReversed(to, static, key, done)
			return
		}
		done(err)
	})
}

// connectReversed is Connect over a reverse link.
func (m *Machine) connectReversed(to protocol.NodeID, static string, key protocol.NodeKey, done func(err error)) {
	if m.reach.opening == nil {
		m.reach.opening = make(map[protocol.NodeID]bool)
	}
	m.reach.opening[to] = false
	m.Boot.Connecting++
	m.Reverse(to, func(err error) {
		m.Boot.Connecting--
		if err != nil {
			delete(m.reach.opening, to)
			done(err)
			return
		}
		m.connect(to, static, key, true, func(err error) {
			broke := m.reach.opening[to]
			delete(m.reach.opening, to)
			if l := m.LinkTo(to); l == nil || !l.Dialling {
				m.Do(core.Release{To: to})
			}
			if done(err); err == nil && broke {
				m.Broke(to)
			}
		})
	})
}

// Broke takes in that the reverse link to a neighbor ended. The node connects anew: its address may be another by now,
// or the neighbor may have begun anew.
func (m *Machine) Broke(to protocol.NodeID) {
	if _, opening := m.reach.opening[to]; opening {
		m.reach.opening[to] = true
		return
	}
	l := m.LinkTo(to)
	if l == nil || !l.Dialling || Of(l).reconnecting {
		return
	}
	if m.Now.Sub(Of(l).broke) > Silence {
		Of(l).breaks = 0
	}
	Of(l).broke = m.Now
	m.reconnect(l)
}

// reconnect connects anew to a neighbor whose reverse link broke.
func (m *Machine) reconnect(l *core.Link) {
	s := Of(l)
	if s.breaks++; s.breaks > maxFailures {
		m.Part(l, "it takes no reverse link any more")
		m.Book.Lost(m.Now, l.ID())
		return
	}
	s.reconnecting = true
	wait := reconnectIn << (2 * (s.breaks - 1))
	m.After(m.Between(wait, 2*wait), func() {
		if l.Over {
			return
		}
		m.connectReversed(l.ID(), s.Static, l.Key, func(err error) {
			switch s.reconnecting = false; {
			case err == nil:
			case l.Over:
				m.refillSoon(0) // this connect stood for the neighbor that was to be sought in its place
			default:
				m.reconnect(l)
			}
		})
	})
}

// least and most are how many neighbors the node looks for, and has at most, beside those that it hosts.
func (m *Machine) least() int {
	if m.Undialled {
		return min(m.Config.MinNeighbors, enoughHosts)
	}
	return m.Config.MinNeighbors
}

func (m *Machine) most() int {
	if m.Undialled {
		return min(m.Config.MaxNeighbors, enoughHosts)
	}
	return m.Config.MaxNeighbors
}

// taken reports whether all places are taken, but for one that stays free for newcomers: to a node that cannot be
// dialled none come.
func (m *Machine) taken() bool {
	if m.Undialled {
		return m.Table.Places() >= m.most()
	}
	return m.Table.Places() >= m.most()-1
}
