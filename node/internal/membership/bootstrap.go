package membership

import (
	"errors"
	"slices"
	"time"

	"feedex/admission"
	"feedex/internal/when"
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

// askTrackers begins a new round of asking all trackers, unless the last one began a moment ago: a
// neighbor that comes and goes must not make us a nuisance.
func (m *Machine) askTrackers() {
	if m.Boot.round > 0 && m.Now.Sub(m.Boot.roundBegan) < leastRound {
		return
	}
	m.Boot.round++
	m.Boot.roundBegan = m.Now
	round := m.Boot.round
	for _, s := range m.Boot.sources {
		if s.Tracker {
			s.retries = 0
			m.After(0, func() { m.askTracker(s, round) })
		}
	}
}

// A namedSource is a tracker or a static neighbor that the owner named.
type namedSource struct {
	SourceStatus
	retries int // since the last success
}

// ChangeSources finds neighbors by other trackers and static neighbors from now on: what is new among them is asked at
// once, and a link with a neighbor that is static no more becomes one like others.
func (m *Machine) ChangeSources(ev core.Sources) {
	m.Config.Trackers, m.Config.Peers = ev.Trackers, ev.Peers
	added := m.changeSources()
	for _, l := range m.Links {
		if m.sourceOf(Of(l).Static) == nil {
			Of(l).Static, l.Peer.Static = "", false
		}
	}
	for _, s := range added {
		if s.Tracker {
			m.askTracker(s, m.Boot.round)
		} else {
			m.connectStatic(s)
		}
	}
}

// changeSources has the sources be those of Config, and returns those that were not among them before.
func (m *Machine) changeSources() (added []*namedSource) {
	before := m.Boot.sources
	m.Boot.sources = nil
	add := func(name string, tracker bool) {
		i := slices.IndexFunc(before, func(s *namedSource) bool { return s.Name == name && s.Tracker == tracker })
		if i >= 0 {
			m.Boot.sources = append(m.Boot.sources, before[i])
			return
		}
		s := &namedSource{SourceStatus: SourceStatus{Name: name, Tracker: tracker}}
		m.Boot.sources, added = append(m.Boot.sources, s), append(added, s)
	}
	for _, url := range m.Config.Trackers {
		add(url, true)
	}
	for _, host := range m.Config.Peers {
		add(host, false)
	}
	return added
}

// sourceOf is the static neighbor of that name, nil where there is none any more.
func (m *Machine) sourceOf(host string) *namedSource {
	i := slices.IndexFunc(m.Boot.sources, func(s *namedSource) bool { return s.Name == host && !s.Tracker })
	if i < 0 {
		return nil
	}
	return m.Boot.sources[i]
}

// named reports whether the owner has the node find neighbors by a source yet.
func (m *Machine) named(s *namedSource) bool { return slices.Contains(m.Boot.sources, s) }

// noteSource notes how asking a tracker or a static neighbor ended.
func (m *Machine) noteSource(s *namedSource, err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if s.Problem != problem && m.named(s) {
		m.Tell(core.SourceChanged{Name: s.Name, Problem: problem})
	}
	s.Asked, s.Problem = m.Now, problem
}

// retryIn is how long to wait before asking a source again, a little longer each time.
func (m *Machine) retryIn(s *namedSource) time.Duration {
	wait := when.Doubled(firstRetry, LongestRetry, s.retries)
	s.retries++
	return wait + m.Between(0, wait/4)
}

// connectStatic links with a neighbor that the owner named. A link belongs to an address, so the first
// call finds out which one the name stands for.
func (m *Machine) connectStatic(s *namedSource) {
	if !m.named(s) {
		return
	}
	for _, l := range m.Links {
		if Of(l).Static == s.Name {
			return
		}
	}
	if m.Table.Silent(protocol.NodeID{}) {
		m.seekStatic(s) // nothing to say yet, and a caller that says nothing is refused
		return
	}
	m.Call(core.Target{Host: s.Name}, "", protocol.WhoAmI{}, core.CallTimeout, func(a core.Answered) {
		if !m.named(s) {
			return
		}
		if a.Peer.IsZero() || !protocol.Spoke(a.Err) {
			m.noteSource(s, a.Err)
			m.seekStatic(s)
			return
		}
		if l := m.LinkTo(a.Peer); l != nil {
			if !a.Key.IsZero() && l.Key != a.Key {
				m.noteSource(s, ErrOtherKey)
				m.seekStatic(s)
				return
			}
			Of(l).Static, l.Peer.Static = s.Name, true
			s.retries = 0
			m.noteSource(s, nil)
			return
		}
		if m.Refused(a.Peer) {
			m.noteSource(s, ErrRefused)
			m.seekStatic(s)
			return
		}
		m.Connect(a.Peer, s.Name, a.Key, func(err error) {
			m.noteSource(s, err)
			if err != nil {
				m.seekStatic(s)
				return
			}
			s.retries = 0
		})
	})
}

// seekStatic tries a static neighbor again after a while.
func (m *Machine) seekStatic(s *namedSource) {
	m.After(m.retryIn(s), func() { m.connectStatic(s) })
}

// askTracker gets nodes from a tracker, and the node onto its list (Paper §3.1, first source). It goes
// on for as long as the node runs: often while neighbors are wanted, seldom otherwise.
func (m *Machine) askTracker(s *namedSource, round int) {
	if round != m.Boot.round || !m.named(s) {
		return
	}
	m.Call(core.Target{Tracker: s.Name}, "", protocol.GetNeighbors{}, core.CallTimeout, func(a core.Answered) {
		m.noteSource(s, a.Err)
		if list, ok := a.Reply.(protocol.NodeList); ok {
			m.NoteNodes(neighbors.Tracked, list)
		}
		wait := trackerPeriod
		if a.Err != nil || m.Table.Places() < m.least() {
			wait = m.retryIn(s)
		} else {
			s.retries = 0
		}
		m.After(wait, func() { m.askTracker(s, round) })
	})
}

// tracked reports whether a tracker answers. Each of its lists that names somebody who is no neighbor has the node look
// for neighbors.
func (m *Machine) tracked() bool {
	return slices.ContainsFunc(m.Boot.sources, func(s *namedSource) bool { return s.Tracker && s.Problem == "" })
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
		switch {
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
		if m.callable(id) && m.LinkTo(id) == nil {
			found = append(found, id)
		}
	}
	if len(found) > 0 {
		m.Book.Add(m.Now, source, found)
		m.refillSoon(0)
	}
}

// LookForMore looks for one more neighbor in a while, if one is wanted by then.
func (m *Machine) LookForMore() { m.refillSoon(extraEvery) }

// A SourceStatus describes a tracker or a static neighbor that the owner named.
type SourceStatus struct {
	Name    string    `json:"name"`              // as the owner wrote it
	Tracker bool      `json:"tracker"`           // otherwise a static neighbor
	Asked   time.Time `json:"asked,omitzero"`    // when it last answered, or failed to; zero for never
	Problem string    `json:"problem,omitempty"` // why it was of no use then
}
