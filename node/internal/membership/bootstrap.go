package membership

import (
	"errors"
	"slices"
	"time"

	"feedex/admission"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// firstRetry and LongestRetry bound the time after which a tracker or a static neighbor is asked
	// again while it is needed; it doubles each time.
	firstRetry   = time.Second
	LongestRetry = 5 * time.Minute
	// trackerPeriod is how often a tracker is asked when nothing is needed, so that the node stays on
	// its list.
	trackerPeriod = 10 * time.Minute
	// leastRound is the least time between two rounds of asking all trackers.
	leastRound = time.Minute
	// extraEvery is how often one more neighbor than the minimum is looked for, where one is wanted, and
	// aroundEvery how often a neighbor is asked for its neighbors.
	extraEvery  = time.Minute
	aroundEvery = 5 * time.Minute
	// othersTurn is how long others have to come by themselves before the next is chosen, where half of
	// the minimum is chosen already, and after each that declined: with everyone's places full of neighbors of
	// their own choice nobody could be found any more.
	othersTurn = 5 * time.Second
	// shortFor is after what time without the minimum any newcomer is welcome, even if most neighbors came so: the
	// places would stay empty.
	shortFor = time.Minute
	// ConnectsAMinute is how many connects to candidates are begun within a minute.
	ConnectsAMinute = 60
	// maxConnecting is how many connects are under way at a time.
	maxConnecting = 4
)

// bootstrap is the node's looking for neighbors (Paper §3.1).
type bootstrap struct {
	Connecting int                               // connects under way
	asked      map[string]*openConnect           // by the token sent with them
	named      protocol.NodeID                   // connected to as neighbors named it, and not by our own choice
	Vouching   *admission.SharedPool[core.Asked] // connects whose callers are being called back
	returning  *admission.SharedPool[core.Asked] // likewise of nodes that we know already
	refillAt   time.Time                         // when refill is to be called; zero for not at all
	round      int                               // of asking the trackers
	turnAt     time.Time                         // when one beyond half of the minimum may be chosen
	shortSince time.Time                         // since when there are fewer neighbors than the minimum; zero if not
	extraAt    time.Time                         // when one more than the minimum may be looked for
	aroundAt   time.Time                         // when a neighbor may be asked for its neighbors again
	minute     int64                             // since 1970, of tries
	tries      int                               // connects to candidates within that minute
	sources    []*namedSource                    // trackers and static neighbors, as the owner named them
	roundBegan time.Time
}

// startBootstrap looks for neighbors from all sources that the owner named.
func (m *Machine) startBootstrap() {
	m.Boot = bootstrap{
		asked:     make(map[string]*openConnect),
		Vouching:  admission.NewSharedPool[core.Asked](MaxVouching, VouchPatience),
		returning: admission.NewSharedPool[core.Asked](MaxVouching, VouchPatience),
	}
	for _, s := range m.changeSources() {
		if !s.Tracker {
			m.After(0, func() { m.connectStatic(s) })
		}
	}
	m.counted()
	m.forgetOld()
	m.askTrackers()
	m.refillSoon(0)
	m.advertiseLater()
	m.After(Silence, m.watchSilence)
	m.feelersLater()
	m.reviewLater()
}

// tracked reports whether a tracker names nodes that are no neighbors: then each of its lists has the node look for
// neighbors.
func (m *Machine) tracked() bool {
	return slices.ContainsFunc(m.Boot.sources, func(s *namedSource) bool { return s.names })
}

// refillSoon looks for neighbors after d, unless that is to happen earlier anyway.
func (m *Machine) refillSoon(d time.Duration) {
	at := m.Now.Add(d)
	if !m.Boot.refillAt.IsZero() && !at.Before(m.Boot.refillAt) {
		return
	}
	m.Boot.refillAt = at
	m.At(at, func() {
		if m.Boot.refillAt.Equal(at) {
			m.Boot.refillAt = time.Time{}
			m.refill()
		}
	})
}

// refill connects to candidates while there are fewer neighbors than wanted: half of the minimum at once, the
// others one by one.
//
// Paper §4.3: "replenish new neighbors if there remain less than min_peers neighbors".
func (m *Machine) refill() {
	if m.Table.Silent(protocol.NodeID{}) {
		return
	}
	need := m.least() - m.Table.Places() - m.Boot.Connecting
	chosen := len(m.Table.Chosen()) + m.Boot.Connecting
	switch half := m.half(); {
	case need <= 0 && !m.wantsMore():
		return
	case need > 0 && chosen < half:
		need = min(need, half-chosen)
	case need > 0:
		if m.Now.Before(m.Boot.turnAt) {
			m.refillSoon(m.Boot.turnAt.Sub(m.Now))
			return
		}
		need = 1
	default: // there is no hurry
		if m.Now.Before(m.Boot.extraAt) {
			m.refillSoon(m.Boot.extraAt.Sub(m.Now))
			return
		}
		need, m.Boot.extraAt = 1, m.Now.Add(extraEvery)
		defer m.refillSoon(extraEvery)
	}
	if minute := m.Now.Unix() / 60; minute != m.Boot.minute {
		m.Boot.minute, m.Boot.tries = minute, 0
	}
	if m.Boot.tries >= ConnectsAMinute {
		m.refillSoon(time.Minute)
		return
	}
	picked := m.Book.Candidates(m.Now, min(need, maxConnecting), m.Table.Chosen(), m.unwanted)
	m.Boot.tries += len(picked)
	for _, id := range picked {
		m.try(id)
	}
	if len(picked) == 0 && m.Boot.Connecting == 0 {
		m.askAround()
	}
	if next := m.Book.Next(m.Now, m.unwanted); next.After(m.Now) {
		m.refillSoon(next.Sub(m.Now))
	}
}

// Seeking reports whether the node looks for neighbors, because it has too few: one that offers nothing finds none.
func (m *Machine) Seeking() bool {
	return m.Table.Places() < m.least() && !m.Table.Silent(protocol.NodeID{})
}

// half is how many neighbors are chosen without giving others time to come by themselves.
func (m *Machine) half() int {
	if m.Undialled {
		return m.least() // nobody comes
	}
	return (m.least() + 1) / 2
}

// try connects to a candidate.
func (m *Machine) try(id protocol.NodeID) {
	m.Connect(id, "", protocol.NodeKey{}, func(err error) {
		_, already := errors.AsType[*linkedAt](err)
		switch {
		case already:
			m.Book.Unfit(m.Now, id)
		case err == nil:
			m.Reviewed.replacing = false
			m.Boot.turnAt = m.Now.Add(othersTurn)
		case errors.Is(err, errDeclined) || errors.Is(err, errNoPlace):
			m.Book.Declined(m.Now, id)
			if len(m.Table.Chosen()) >= m.half() {
				m.Boot.turnAt = m.Now.Add(othersTurn)
			}
		default:
			m.Book.Failed(m.Now, id)
		}
		m.refillSoon(0)
	})
}

// counted notes that the number of neighbors changed.
func (m *Machine) counted() {
	switch {
	case m.Table.Places() >= m.least():
		m.Boot.shortSince = time.Time{}
	case m.Boot.shortSince.IsZero():
		m.Boot.shortSince = m.Now
	}
}

// short reports whether there have been fewer neighbors than the minimum for long.
func (m *Machine) short() bool {
	return !m.Boot.shortSince.IsZero() && m.Now.Sub(m.Boot.shortSince) >= shortFor
}

// wantsMore reports whether more neighbors than the minimum are wanted, as long as there is a place:
// because feeds are offered by fewer than two, because those that there are keep us at their bound, or because
// one made room for a better one.
func (m *Machine) wantsMore() bool {
	if m.Reviewed.replacing {
		return m.Table.Places()+m.Boot.Connecting < m.most()
	}
	// One place stays free for a newcomer.
	return m.Table.Places()+m.Boot.Connecting < m.most()-1 &&
		(m.Table.Uncovered() > 0 || m.exchange.Starving())
}

// askAround asks a neighbor for its neighbors, when nobody else is known.
func (m *Machine) askAround() {
	var ask []*core.Link // hosted ones may all be one machine, and know nobody better
	for _, l := range m.Links {
		if !l.ID().Hosted() {
			ask = append(ask, l)
		}
	}
	if len(ask) == 0 || m.Now.Before(m.Boot.aroundAt) {
		return
	}
	m.Boot.aroundAt = m.Now.Add(aroundEvery)
	l := ask[m.Rng.IntN(len(ask))]
	m.Ask(l, protocol.GetNeighbors{}, core.CallTimeout, func(a core.Answered) {
		if list, ok := a.Reply.(protocol.NodeList); ok {
			m.NoteNodes(neighbors.Told, list)
		}
	})
}

// NoteNodes remembers nodes that a source named, as far as they may be called.
func (m *Machine) NoteNodes(source neighbors.Origin, list []protocol.NodeID) {
	var found []protocol.NodeID
	for _, id := range list {
		if m.strange(id) {
			found = append(found, id)
		}
	}
	if len(found) > 0 {
		m.Book.Add(m.Now, source, found)
		m.refillSoon(0)
	}
}

// strange reports whether a node may be called and is no neighbor.
func (m *Machine) strange(id protocol.NodeID) bool { return m.callable(id) && !m.linked(id) }

// LookForMore looks for one more neighbor in a while, if one is wanted by then.
func (m *Machine) LookForMore() { m.refillSoon(extraEvery) }
