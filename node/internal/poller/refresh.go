package poller

import (
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/when"
)

// refreshEvery is after what time, at the earliest, a feed is polled again because its owner does not want to wait.
const refreshEvery = 5 * time.Minute

// Refresh has feeds of the node's own interest polled now, except those that may not be yet (FeedStatus.RefreshAt), are
// being polled, or have ended. Nobody else's polls put it off, and others hear of it as of every poll. When a feed
// would have fallen due it still does: so soon after the last, a poll says nothing about its pace.
func (m *Machine) Refresh(list []feed.URL) {
	for _, u := range list {
		s := m.followed(u)
		if s == nil || s.Polling || s.Queued.Waiting() || s.Ended || m.refreshAt(s).After(m.Now) {
			continue
		}
		if s.regular.IsZero() {
			s.regular = s.NextPoll
		}
		s.awaits = false
		m.PollAt(s, m.Now)
	}
}

// readAgain is when a feed that was read just now may be polled again that its owner follows again; it may be past.
func (m *Machine) readAgain(f *archive.Feed) time.Time {
	if f.LastSuccess.After(m.Now) { // by a clock that was ahead
		return time.Time{}
	}
	return f.LastSuccess.Add(refreshEvery)
}

// refreshAt is when the owner may have the feed polled, at the earliest; it may be past.
func (m *Machine) refreshAt(s *Subscription) time.Time {
	at := when.Later(s.Queued.Ready(), m.wantedLater(s))
	if !s.LastPoll.IsZero() {
		at = when.Later(at, s.LastPoll.Add(refreshEvery))
	}
	return s.Allowed(when.Later(at, m.Now), s.LastPoll, s.Interval)
}
