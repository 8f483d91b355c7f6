package poller

import (
	"cmp"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
)

// A chorus is who else polls a feed, and when it is the node's turn.
type chorus struct {
	polling.Silence
	polls map[protocol.NodeID]time.Time // the latest of each node that was heard of
	since time.Time                     // when the first was heard
}

// maxPollers bounds the nodes of whose polls of one feed is known.
const maxPollers = 1024

// pollers is how many nodes poll the feed, this one included: as many as it heard of within an interval. Where it has
// not listened for so long it takes those that it heard of as a part of all.
func (s *Subscription) pollers(now time.Time) int {
	for id, at := range s.chorus.polls {
		if now.Sub(at) > s.Interval+s.Interval/8 {
			delete(s.chorus.polls, id)
		}
	}
	heard := len(s.chorus.polls)
	if listened := max(now.Sub(s.chorus.since), s.Interval/16); heard > 1 && listened < s.Interval {
		heard = int(float64(heard) * float64(s.Interval) / float64(listened))
	}
	return 1 + heard
}

// shared reports whether others may hear of polls of the feed, and move them.
func (s *Subscription) shared() bool { return !s.Discreet && s.kept == "" }

// Heard takes in that a node polled a feed at that time, by the word of neighbors, and reports whether that is news
// which others who follow the feed are to hear. A node counts once in half an interval: a flood of notices weighs no
// more than that, nor does one that is older than a quarter of the interval.
func (m *Machine) Heard(u feed.URL, origin protocol.NodeID, at time.Time) (news bool) {
	s := m.openly(u)
	if s == nil || !s.shared() || s.Interval == 0 || m.Now.Sub(at) > s.Interval/4 || origin == m.Self {
		return false
	}
	last, known := s.chorus.polls[origin]
	if known && at.Sub(last) < s.Interval/2 || !known && len(s.chorus.polls) >= maxPollers {
		return false
	}
	if s.chorus.polls == nil {
		s.chorus.polls, s.chorus.since = make(map[protocol.NodeID]time.Time), m.Now
	}
	s.chorus.polls[origin] = at
	news = s.chorus.Heard(m.Now, at)
	if !s.Polling && !s.Queued.Waiting() && !s.Ended && s.Errors == 0 &&
		s.Ordinary.IsZero() && !s.chorus.Began.IsZero() {
		m.PollAt(s, core.Later(s.chorus.Due(s.Interval, s.pollers(m.Now)), s.NotBefore))
	}
	return news
}

// Spacing is the usual time between polls of the feed by anybody.
func (m *Machine) Spacing(u feed.URL) time.Duration {
	if s := m.openly(u); s != nil {
		return s.Interval / time.Duration(s.pollers(m.Now))
	}
	return 0
}

// LatestPolls are the latest polls of feeds of which neighbors may know, but for those of long ago.
func (m *Machine) LatestPolls() (list []core.PollTime) {
	for u, s := range m.Feeds {
		if s.shared() && s.Errors == 0 && !s.LastSuccess.IsZero() && m.Now.Sub(s.Begun) <= s.Interval/4 {
			list = append(list, core.PollTime{Feed: u, At: s.Begun})
		}
	}
	slices.SortFunc(list, func(a, b core.PollTime) int { return cmp.Compare(a.Feed, b.Feed) })
	return list
}
