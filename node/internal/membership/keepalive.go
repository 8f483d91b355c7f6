package membership

import (
	"time"

	"feedex/internal/when"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// feelerAfter and feelerBefore bound the time between two calls to addresses that we know from hearsay alone.
const (
	feelerAfter  = 10 * time.Minute
	feelerBefore = 20 * time.Minute
)

// feelersLater has the node send feelers, now and then, for as long as it runs: when neighbors are wanted it should
// know which nodes are there, and not depend on the one that named most addresses.
func (m *Machine) feelersLater() {
	m.After(m.Between(feelerAfter, feelerBefore), func() {
		m.forgetOld()
		m.sendFeeler()
		m.feelersLater()
	})
}

// sendFeeler finds out whether somebody is at an address that never answered us.
func (m *Machine) sendFeeler() {
	if m.Table.Silent(protocol.NodeID{}) {
		return // a node with nothing to say finds no neighbors
	}
	id, ok := m.Book.Untested(m.Now, m.unwanted)
	if !ok {
		return
	}
	m.Call(core.Target{Node: id}, "", protocol.WhoAmI{}, core.CallTimeout, func(a core.Answered) {
		if protocol.Spoke(a.Err) {
			m.Book.Heard(m.Now, id)
		} else {
			m.Book.Failed(m.Now, id)
		}
	})
}

// forgetOld lets go of addresses that have been of no use for long.
func (m *Machine) forgetOld() {
	for _, id := range m.Book.Age(m.Now) {
		m.Store.DropPeer(id)
	}
}

// Silence is after how long without a call or an answer a neighbor is asked whether it is still there: as long as a
// period of adverts. Calls with something to say find the dead sooner (see docs/adr/0034).
const Silence = 5 * time.Minute

// watchSilence asks neighbors that have not been heard of for a while whether they are still there, for as long as the
// node runs. A neighbor that is asked hears of the other as well, so one of the two does.
func (m *Machine) watchSilence() {
	earliest := m.Now
	for _, l := range m.Links {
		if m.Now.Sub(l.Heard) >= Silence {
			m.knock(l) // a failure has it asked again sooner
		} else {
			earliest = when.Earlier(earliest, l.Heard)
		}
	}
	wait := m.Between(Silence, Silence+Silence/4) - m.Now.Sub(earliest)
	m.After(max(wait, Silence/4), m.watchSilence)
}

// probe finds out soon whether a neighbor that failed to answer is gone: nobody should have to wait for
// the next thing that there is to say.
func (m *Machine) probe(l *core.Link) {
	if Of(l).probing {
		return
	}
	Of(l).probing = true
	m.After(m.Between(core.ProbeIn, 2*core.ProbeIn), func() {
		Of(l).probing = false
		if !l.Over && l.Failures > 0 {
			m.knock(l)
		}
	})
}

// knock asks a neighbor something that it answers to neighbors alone: one that forgot us says so, and we do not
// go on believing in a link of which it knows nothing.
//
// An offer of nothing is the shortest such question; a peer of another make may not have it.
func (m *Machine) knock(l *core.Link) {
	var c protocol.Call = protocol.GetNeighbors{}
	if l.Batches {
		c = protocol.CheckDIDs{}
	}
	m.Ask(l, c, core.CallTimeout, func(core.Answered) {})
}
