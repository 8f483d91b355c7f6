package poller

import (
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/grade"
	"feedex/internal/when"
	"feedex/node/internal/core"
)

// loadHosts takes up what earlier lives learned of the hosts of feeds.
func (m *Machine) loadHosts() {
	m.hosts.Recall(m.Now, m.Store.LoadHosts())
	m.keepHosts()
}

// keepHosts keeps what changed of the hosts.
func (m *Machine) keepHosts() {
	keep, drop := m.hosts.Changes()
	for _, name := range drop {
		m.Store.DropHost(name)
	}
	for _, h := range keep {
		m.Store.KeepHost(h)
	}
}

// serveHost begins the next poll at a host, or comes back when it may.
func (m *Machine) serveHost(h *courtesy.HostQueue) {
	for {
		v, at := m.hosts.Next(m.Now, h)
		switch {
		case v == nil:
			m.wakeHost(h, at)
			return
		case at.After(m.Now):
			m.PollAt(m.Feeds[v.Feed], at)
		default:
			m.Request(m.Feeds[v.Feed])
		}
	}
}

func (m *Machine) wakeHost(h *courtesy.HostQueue, at time.Time) {
	if !h.Await(at) {
		return
	}
	m.At(at, func() {
		if h.Awaited(at) {
			m.serveHost(h)
		}
	})
}

// freeHost ends the poll of a feed at its host, which may be asked for the next one.
func (m *Machine) freeHost(u feed.URL) {
	if h := m.hosts.End(u); h != nil {
		m.serveHost(h)
	}
}

// toHosts is the answer as far as it concerns hosts.
func toHosts(ev *core.Fetched) courtesy.Outcome {
	return courtesy.Outcome{
		From: ev.From, Status: ev.Status, RetryAfter: ev.RetryAfter, Failed: ev.Err != nil, Local: ev.Local,
		Requests: ev.Requests,
	}
}

// noteHosts takes note of what the answer to a poll says about the feed's hosts.
func (m *Machine) noteHosts(s *Subscription, ev *core.Fetched) {
	m.hosts.Polled(m.Now, s.Queued, toHosts(ev), courtesy.PastPolls{Shown: !s.LastSuccess.IsZero(), Errors: s.Errors})
	s.Lands = s.Queued.Lands()
	m.keepHosts()
}

// OwnerFetched has what an answer to the owner says hold for polls as well: it is the same client that asks. A host
// that refuses is left alone, and a feed whose own address was asked for is for as long as the answer says. Our network
// works where somebody answered.
func (m *Machine) OwnerFetched(ev core.OwnerFetched) {
	if ev.Answer.Status != 0 {
		m.outage.Reached(m.Now)
	}
	m.hosts.OwnerFetched(m.Now, toHosts(&ev.Answer))
	m.keepHosts()
	s := m.Feeds[ev.At]
	if s == nil || s.Ended || ev.Answer.Err == nil || ev.Answer.RetryAfter <= 0 {
		return
	}
	s.NotBefore = when.Later(s.NotBefore, m.Now.Add(ev.Answer.RetryAfter))
	if !s.Polling && !s.Queued.Waiting() {
		m.PollAt(s, when.Later(s.NextPoll, s.NotBefore))
	}
	m.Store.KeepFeed(s.Feed)
}

const (
	// unconditionalEvery is how often a document that could not be used is asked for whole, although it is the same
	// as before: this program may read it now, or it was damaged on its way.
	unconditionalEvery = 7 * 24 * time.Hour
	// anotherEvery is how often that is done where the publisher's validators are others by now.
	anotherEvery = 24 * time.Hour
	// Unfinished is when a feed is asked again whose poll was cut off by the end of the process.
	Unfinished = 10 * time.Minute
	// skipSpread is the time over which polls begin that waited for a full hour.
	skipSpread = 15 * time.Minute
)

// Request begins a poll of a feed. The poll is noted in the archive, so that a crash brings nobody back at once.
func (m *Machine) Request(s *Subscription) {
	s.Polling, s.Begun = true, m.Now
	s.NextPoll = m.Now.Add(Unfinished)
	if s.Interval > 0 {
		s.NextPoll = m.Now.Add(min(Unfinished, s.Interval))
	}
	s.NotBefore = s.NextPoll
	f := core.Fetch{
		Feed: s.URL, Address: s.Alias, ETag: s.ETag, LastModified: s.LastModified, Body: s.Body,
		Reader: !s.volunteered(), SameHost: s.volunteered(), New: m.isNew(&s.Feed),
	}
	if s.Unread && m.Now.Sub(s.Unconditional) >= unconditionalEvery {
		f.ETag, f.LastModified, f.Body = "", "", feed.Digest{}
	}
	if f.ETag == "" && f.LastModified == "" {
		s.Unconditional = m.Now
	}
	m.Store.KeepFeed(s.Feed)
	m.Do(f)
}

// noteRequests keeps what a poll of the feed asked of publishers. It is for the owner alone.
func (m *Machine) noteRequests(s *Subscription, list []grade.Request) {
	if len(list) == 0 {
		return
	}
	list[0].First = s != nil && s.LastPoll.IsZero()
	m.Store.KeepRequests(list)
}

// expected is when a feed is polled next: when it is due, or when its host may be asked.
func (s *Subscription) expected() time.Time {
	if s.Ended {
		return s.NextPoll
	}
	return when.Later(s.NextPoll, s.Queued.Ready())
}

// wantedLater is until when the publisher of a feed wants to be left alone, the zero time where that is past.
func (m *Machine) wantedLater(s *Subscription) (until time.Time) {
	if until = m.hosts.Until(s.Queued); !s.Polling {
		until = when.Later(until, s.NotBefore)
	}
	if s.Ended || !until.After(m.Now) {
		return time.Time{}
	}
	return until
}

// allowed is t, or if the publisher wants nobody to come then, some time after the next hour in which it does.
func (m *Machine) allowed(s *Subscription, t time.Time) time.Time {
	if at := s.Allowed(t, s.LastPoll, s.Interval); at.After(t) {
		return at.Add(m.pollBetween(s, 0, skipSpread))
	}
	return t
}

// rehost has a feed asked for where it is now.
func (m *Machine) rehost(s *Subscription) { m.hosts.Sent(s.Queued, s.At(s.URL)) }

// forgetAlias asks for a feed under its own name again, or under a former one, where its new address does not work.
// Validators are the new address's, and would mean something else there.
func (m *Machine) forgetAlias(s *Subscription, status int) {
	if s.Move.Failed(status, s.Errors) {
		s.ETag, s.LastModified, s.Body = "", "", feed.Digest{}
		m.rehost(s)
	}
}
