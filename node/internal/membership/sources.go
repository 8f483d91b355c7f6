package membership

import (
	"errors"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

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
	retries int  // since the last success
	names   bool // of a tracker, that its last list has nodes that are no neighbors
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
// call finds out which one the name stands for. Where that is a neighbor by another name already it is asked again all
// the same: either name may come to stand for another node, or be taken back.
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
			m.noteSource(s, nil)
			m.standsFor(s, l)
			return
		}
		if m.Refused(a.Peer) {
			m.noteSource(s, ErrRefused)
			m.seekStatic(s)
			return
		}
		m.Connect(a.Peer, s.Name, a.Key, func(err error) {
			peer := a.Peer
			if already, is := errors.AsType[*linkedAt](err); is {
				peer, err = already.id, nil
			}
			m.noteSource(s, err)
			if err != nil {
				m.seekStatic(s)
			} else if l := m.LinkTo(peer); l != nil {
				m.standsFor(s, l)
			}
		})
	})
}

// standsFor notes that a static neighbor stands for a link, or seeks it on where another name does.
func (m *Machine) standsFor(s *namedSource, l *core.Link) {
	switch Of(l).Static {
	case "", s.Name:
		Of(l).Static, l.Peer.Static = s.Name, true
		s.retries = 0
	default:
		m.seekStatic(s)
	}
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
		m.noteSource(s, noTracker(a.Err))
		list, _ := a.Reply.(protocol.NodeList)
		s.names = slices.ContainsFunc(list, m.strange)
		m.NoteNodes(neighbors.Tracked, list)
		wait := trackerPeriod
		if a.Err != nil || m.Table.Places() < m.least() {
			wait = m.retryIn(s)
		} else {
			s.retries = 0
		}
		m.After(wait, func() { m.askTracker(s, round) })
	})
}

// A SourceStatus describes a tracker or a static neighbor that the owner named.
type SourceStatus struct {
	Name    string    `json:"name"`              // as the owner wrote it
	Tracker bool      `json:"tracker"`           // otherwise a static neighbor
	Asked   time.Time `json:"asked,omitzero"`    // when it last answered, or failed to; zero for never
	Problem string    `json:"problem,omitempty"` // why it was of no use then
}
