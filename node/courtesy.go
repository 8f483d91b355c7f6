package node

import (
	"time"

	"feedex/feed"
	"feedex/polling"
)

const (
	// wholeEvery is how often a document that could not be used is asked for whole, although it is the same
	// as before: this program may read it now, or it was damaged on its way.
	wholeEvery = 7 * 24 * time.Hour
	// anotherEvery is how often that is done where the publisher's validators are others by now.
	anotherEvery = 24 * time.Hour
	// unfinished is when a feed is asked again whose poll was cut off by the end of the process.
	unfinished = 10 * time.Minute
	// longestSkipped is after how long a feed is asked for in an hour that its publisher skips: every week has one
	// that it does not, of which this node missed all.
	longestSkipped = 8 * 24 * time.Hour
	// skipSpread is the time over which polls begin that waited for a full hour.
	skipSpread = 15 * time.Minute
)

// HTTP statuses that mean something to when a feed is polled next (RFC 9110 §15, RFC 6585 §4).
const (
	whole       = 200
	unchanged   = 304
	forbidden   = 403
	gone        = 410
	tooMany     = 429
	unavailable = 503
)

// request begins a poll of a feed. That it is under way is kept, so that a crash brings nobody back at once.
func (n *Node) request(s *subscription) {
	s.polling, s.begun, s.aside = true, n.now, time.Time{}
	s.NextPoll = n.now.Add(unfinished)
	if s.Interval > 0 {
		s.NextPoll = n.now.Add(min(unfinished, s.Interval))
	}
	s.NotBefore = s.NextPoll
	f := Fetch{
		Feed: s.URL, Address: s.Alias, ETag: s.ETag, LastModified: s.LastModified, Body: s.Body, Serves: n.serves(s),
	}
	if s.Unread && n.now.Sub(s.Whole) >= wholeEvery {
		f.ETag, f.LastModified, f.Body = "", "", feed.Digest{}
	}
	if f.ETag == "" && f.LastModified == "" {
		s.Whole = n.now
	}
	n.store.KeepFeed(s.Feed)
	n.do(f)
}

// serves is how many nodes a poll of the feed is for: this one, and the neighbors that follow the feed
// themselves and get what it brings.
func (n *Node) serves(s *subscription) int {
	count := 1
	if s.Discreet || n.private(s.URL) {
		return count
	}
	for _, p := range n.table.Interested(s.URL) {
		if hops, ok := p.Hops(s.URL); ok && hops == 0 {
			count++
		}
	}
	return count
}

// owed notes for how long the publisher wants us to stay away now. What an answer does not say holds on from
// the last document: a 304 renews its freshness (RFC 9111 §4.3.4).
func (n *Node) owed(s *subscription, ev Fetched) {
	switch f := ev.Freshness; {
	case f.Stated:
		s.Lifetime = f.Lifetime
	case ev.Document != nil || ev.Status == whole:
		s.Lifetime = 0
	}
	if ev.Document != nil {
		s.Pace = ev.Document.Pace
	}
	s.NotBefore = n.now.Add(polling.Courtesy(s.Lifetime-ev.Freshness.Age, s.Pace.Every, ev.RetryAfter))
}

// owedAfterFailure is for how long the publisher wants us to stay away after an answer that brought no document.
func owedAfterFailure(ev Fetched) time.Duration {
	f := ev.Freshness
	return polling.Courtesy(f.Lifetime-f.Age, 0, ev.RetryAfter)
}

// wantedLater is until when the publisher of a feed wants to be left alone, the zero time where that is past.
func (n *Node) wantedLater(s *subscription) (until time.Time) {
	if !s.polling {
		until = s.NotBefore
	}
	for _, h := range []*host{s.host, s.lands} {
		if h != nil && h.public {
			until = later(until, h.Until)
		}
	}
	if s.Ended || !until.After(n.now) {
		return time.Time{}
	}
	return until
}

// allowed is t, or if the publisher wants nobody to come then, some time after the next hour in which it does. Where
// this machine is off or asleep in all such hours, that must not be the end of the feed.
func (n *Node) allowed(s *subscription, t time.Time) time.Time {
	if due := later(s.LastPoll.Add(s.Interval), s.NotBefore); !s.LastPoll.IsZero() && t.Sub(due) >= longestSkipped {
		return t
	}
	if at := s.Pace.Allowed(t); at.After(t) {
		return at.Add(n.between(0, skipSpread))
	}
	return t
}
