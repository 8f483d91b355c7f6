package membership

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/neighbors"
	"feedex/node/internal/core"
	"feedex/protocol"
)

const (
	// ReviewEvery is how often the node looks whether its neighbors are worth their places.
	ReviewEvery = 5 * time.Minute
	// longestSeek bounds the time until a better neighbor is sought again; it doubles each time that none is found.
	longestSeek = time.Hour
	// evictEvery is the least time between two neighbors that make room for a search for better ones.
	evictEvery = time.Hour
	// leastSpan is the least time between two polls of which the later one says anything about neighbors. A node that
	// polls more often than any does by default is first without anybody's fault.
	leastSpan = 30 * time.Minute
	// hungryFor is how long at least half of the neighbors must have kept us at our bound before that.
	hungryFor = time.Hour
)

// review is the state of the checks on how well the node is served as a whole.
type review struct {
	First       neighbors.Suppression // how often neighbors bring entries first
	warning     string                // what is wrong, in words; "" where nothing is
	hungrySince time.Time             // since when half of the neighbors keep us at our bound; zero if not
	evicted     time.Time             // when a neighbor last made room for another
	soughtAt    time.Time             // when a better one was last sought
	sought      int                   // in vain since the last that was found
	replacing   bool                  // nobody has come in its place yet
}

// reviewLater looks after the neighbors for as long as the node runs.
func (m *Machine) reviewLater() {
	m.After(ReviewEvery, func() {
		for _, l := range slices.Clone(m.Links) {
			if !l.Over {
				m.reviewLink(l)
				m.exchange.Forgive(l)
			}
		}
		m.recognize()
		m.watchSuppression()
		m.watchHunger()
		m.evictOne()
		m.retryLost()
		m.seek()
		if m.Table.Places() < m.least() && !m.tracked() {
			m.refillSoon(0) // neighbors may know others by now
		}
		m.reviewLater()
	})
}

// FirstSeen counts entries that a poll of an own feed lists and the last did not by who brought them first: so many the
// poll, and others neighbors, at those times, in order. What no poll lists neighbors may have made up. Only neighbors
// count that were there at the last poll: of what came out before a link nobody can say which neighbor should have
// brought it.
func (m *Machine) FirstSeen(u feed.URL, lastPoll time.Time, polled int, brought []time.Time) {
	if m.Now.Sub(lastPoll) < leastSpan {
		polled = 0
	}
	if polled == 0 && len(brought) == 0 {
		return
	}
	near, beyond := 0, 0
	for _, l := range m.Links {
		p := l.Peer
		hops, ok := p.Hops(u)
		if !ok || hops > 1 || !p.Since.Before(lastPoll) || m.exchange.Owing(l) {
			continue
		}
		if hops > 0 {
			beyond = 1 // all of them may have it from the same node
			continue
		}
		if near++; polled > 0 {
			p.Misses++
		}
	}
	m.Reviewed.First.Polled(m.Now, u, polled, near+beyond)
	for len(brought) > 0 {
		together := 1
		for together < len(brought) && brought[together].Equal(brought[0]) {
			together++
		}
		m.Reviewed.First.Delivered(m.Now, u, together, near+beyond)
		brought = brought[together:]
	}
}

// watchSuppression warns the owner where neighbors bring so little that they must be keeping it from us.
func (m *Machine) watchSuppression() {
	before := m.Reviewed.warning
	m.Reviewed.warning = ""
	if m.Reviewed.First.Alarming(m.Now) {
		polled, entries, expected := m.Reviewed.First.Week(m.Now)
		m.Reviewed.warning = fmt.Sprintf("within a week own polls were first to bring %d of %d entries that "+
			"neighbors offer too; about %d were to be expected",
			polled, entries, expected)
		if before == "" {
			m.Tell(core.Warned{Warning: m.Reviewed.warning})
		}
	}
}

// watchHunger notes since when neighbors keep us at our bound.
func (m *Machine) watchHunger() {
	switch {
	case !m.exchange.Starving():
		m.Reviewed.hungrySince = time.Time{}
	case m.Reviewed.hungrySince.IsZero():
		m.Reviewed.hungrySince = m.Now
	}
}

// evictOne has one of those neighbors that do not serve us make room for another, while there is somebody to try: the
// least useful of those that are useless or, once an hour, of those that keep us short.
func (m *Machine) evictOne() {
	if !m.Book.Ready(m.Now, m.unwanted) {
		return
	}
	reason := "it brings nothing of what own polls find, and others may"
	victim := m.Table.LeastUseful(m.Now, func(p *neighbors.Neighbor) bool { return !p.ID.Hosted() && p.Useless() })
	if hungry := m.Reviewed.hungrySince; victim == nil && !hungry.IsZero() && m.Now.Sub(hungry) >= hungryFor &&
		m.Now.Sub(m.Reviewed.evicted) >= evictEvery && m.taken() {
		reason = "it sends nothing more, and others may"
		victim = m.Table.LeastUseful(m.Now,
			func(p *neighbors.Neighbor) bool {
				return !p.ID.Hosted() && m.exchange.KeptShort(m.LinkOf(p))
			})
	}
	if victim == nil {
		return
	}
	m.Reviewed.evicted, m.Reviewed.replacing = m.Now, true
	l := m.LinkOf(victim)
	m.ban(l)
	m.dismiss(l, reason)
	m.refillSoon(0)
}

// retryLost tries a neighbor that was lost, one at a time. Where all places are taken it gets
// one only if it is clearly more useful.
func (m *Machine) retryLost() {
	if id, ok := m.Book.Missed(m.Now, m.unwanted); ok {
		m.try(id)
	}
}

// seek tries a node that may be of more use than the least useful neighbor, while there are feeds that fewer than two
// neighbors offer and no place is free: both sides decide by what the other adds to what its neighbors offer.
//
// Those that are heard to poll most of such feeds come first. Whom others named so gets no place that is kept for those
// that we choose: liars would fill these with nodes of theirs, which now win no more than if they came by themselves.
//
// Paper §3.2: "it needs to select 'good' neighbors". Of those that a person follows few others follow any.
func (m *Machine) seek() {
	wait := when.Doubled(ReviewEvery, longestSeek, m.Reviewed.sought)
	if m.Now.Sub(m.Reviewed.soughtAt) < wait || !m.taken() ||
		m.Table.Uncovered() == 0 && !(m.Undialled && m.Table.Idle(m.Now)) {
		return
	}
	id, ok := m.mostHeard()
	if m.Boot.named = id; !ok {
		if id, ok = m.Book.Another(m.Now, m.unwanted); !ok {
			return
		}
	}
	m.Reviewed.soughtAt = m.Now
	m.Reviewed.sought++
	m.Connect(id, "", protocol.NodeKey{}, func(err error) {
		m.Boot.named = protocol.NodeID{}
		_, already := errors.AsType[*linkedAt](err)
		switch {
		case err == nil:
			m.Reviewed.sought = 0
		case already || errors.Is(err, errDeclined) || errors.Is(err, errNoPlace):
			m.Book.Unfit(m.Now, id)
		default:
			m.Book.Failed(m.Now, id)
		}
		if m.Seeking() {
			m.refillSoon(0) // a neighbor left meanwhile, for which this connect stood
		}
	})
}

// mostHeard picks of the nodes that are heard to poll our feeds the one that would be worth most as a neighbor if it
// offers these, where that is enough for a place.
func (m *Machine) mostHeard() (id protocol.NodeID, ok bool) {
	bar, ok := m.Table.Bar(m.Now, false)
	if !ok {
		return id, false
	}
	worth := make(map[protocol.NodeID]neighbors.Usefulness)
	for id, feeds := range m.feeds.HeardPollers() {
		if w := m.Table.Claimed(id, feeds); w >= bar && !m.unwanted(id) {
			worth[id] = w
		}
	}
	return m.Book.Best(m.Now, worth)
}
