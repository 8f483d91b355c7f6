package membership

import (
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// OwnChange is how soon a change of the owner's own subscriptions is advertised. It cannot feed back on
// itself, so it need not wait for the period; a moment lets several changes go together.
const OwnChange = time.Second

// advertiseLater advertises to all neighbors, period after period, for as long as the node runs.
//
// Paper §3.1: "the node advertises (using update_subset) its subscription set periodically and not
// immediately upon change. The immediate response to set changes may cause considerable traffic due to
// feedback loops. [...] only the difference from the previous advertisement is transmitted."
func (m *Machine) advertiseLater() {
	m.After(m.Config.AdvertInterval, func() {
		m.exchange.WeighRelays()
		m.Table.Relay(m.Now, m.Rng)
		for _, l := range m.Links {
			if l.Established {
				m.Advertise(l)
				m.Store.KeepPeer(m.Book.Remembered(m.Now, l.Peer))
				m.exchange.StateAccount(l)
			}
		}
		m.advertiseLater()
	})
}

// Advertise sends what changed in our subscription set as the neighbor is to hear it. One advert is under way at a
// time; one that may not have been heard is said again with the next.
func (m *Machine) Advertise(l *core.Link) {
	if Of(l).advertising {
		Of(l).again = true
		return
	}
	changes := m.Table.Changes(l.Peer)
	if len(changes) == 0 {
		return
	}
	Of(l).advertising = true
	m.Ask(l, protocol.UpdateSubset{Changes: changes}, core.CallTimeout, func(a core.Answered) {
		Of(l).advertising = false
		if a.Err == nil {
			m.Table.Advertised(l.Peer, changes)
		} else {
			m.Table.Doubt(l.Peer, changes)
		}
		if Of(l).again {
			Of(l).again = false
			m.tellSoon(l)
		}
	})
}

// AdvertiseSoon tells all neighbors of a change of our own interest.
//
// Differs from the paper, which has a direct subscription set that never changes during a connection.
func (m *Machine) AdvertiseSoon() {
	for _, l := range m.Links {
		m.tellSoon(l)
	}
	m.refillSoon(OwnChange / 4)
}

// tellSoon tells one neighbor.
func (m *Machine) tellSoon(l *core.Link) {
	if Of(l).telling {
		return
	}
	Of(l).telling = true
	m.After(OwnChange, func() {
		Of(l).telling = false
		if !l.Over {
			m.Advertise(l)
		}
	})
}

// tellMissed tells a new neighbor what changed of our own interest while it connected.
func (m *Machine) tellMissed(l *core.Link) {
	if m.feeds.AnyOpen(func(u feed.URL) bool { return m.Table.Misinformed(l.Peer, u) }) {
		m.tellSoon(l)
	}
}

// Updated takes in a neighbor's advert.
func (m *Machine) Updated(l *core.Link, ev core.Asked, changes protocol.Subset) {
	m.Table.Hear(l.Peer, changes)
	m.Respond(ev, protocol.OK{})
}

// JudgeSubset counts what is wrong with a neighbor's advert against it. The rest of the advert is used.
func (m *Machine) JudgeSubset(l *core.Link, elements, ignored int) {
	switch {
	case elements+ignored > protocol.MaxSubset:
		m.Punish(l.Holder, incentive.SubsetFlood, 0)
	case 10*ignored > elements:
		m.Punish(l.Holder, incentive.BadSubset, 0)
	}
}
