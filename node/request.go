package node

import (
	"time"

	"feedex/feed"
	"feedex/fetch/grade"
)

const (
	// unconditionalEvery is how often a document that could not be used is asked for whole, although it is the same
	// as before: this program may read it now, or it was damaged on its way.
	unconditionalEvery = 7 * 24 * time.Hour
	// anotherEvery is how often that is done where the publisher's validators are others by now.
	anotherEvery = 24 * time.Hour
	// unfinished is when a feed is asked again whose poll was cut off by the end of the process.
	unfinished = 10 * time.Minute
	// skipSpread is the time over which polls begin that waited for a full hour.
	skipSpread = 15 * time.Minute
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
	if s.Unread && n.now.Sub(s.Unconditional) >= unconditionalEvery {
		f.ETag, f.LastModified, f.Body = "", "", feed.Digest{}
	}
	if f.ETag == "" && f.LastModified == "" {
		s.Unconditional = n.now
	}
	n.store.KeepFeed(s.Feed)
	n.do(f)
}

// serves is how many nodes a poll of the feed is for: this one, and the neighbors that follow the feed
// themselves and get what it brings.
func (n *Node) serves(s *subscription) int {
	count := 1
	if s.Discreet || s.kept != "" {
		return count
	}
	for _, p := range n.table.Interested(s.URL) {
		if hops, ok := p.Hops(s.URL); ok && hops == 0 {
			count++
		}
	}
	return count
}

// noteRequests keeps what a poll of the feed asked of publishers. It is for the owner alone.
func (n *Node) noteRequests(s *subscription, list []grade.Request) {
	if len(list) == 0 {
		return
	}
	list[0].First = s != nil && s.LastPoll.IsZero()
	n.store.KeepRequests(list)
}

// expected is when a feed is polled next: when it is due, or when its host may be asked.
func (s *subscription) expected() time.Time {
	if s.Ended {
		return s.NextPoll
	}
	return later(s.NextPoll, s.queued.Ready())
}

// wantedLater is until when the publisher of a feed wants to be left alone, the zero time where that is past.
func (n *Node) wantedLater(s *subscription) (until time.Time) {
	if until = s.queued.Until(); !s.polling {
		until = later(until, s.NotBefore)
	}
	if s.Ended || !until.After(n.now) {
		return time.Time{}
	}
	return until
}

// allowed is t, or if the publisher wants nobody to come then, some time after the next hour in which it does.
func (n *Node) allowed(s *subscription, t time.Time) time.Time {
	if at := s.Allowed(t, s.LastPoll, s.Interval); at.After(t) {
		return at.Add(n.pollBetween(s, 0, skipSpread))
	}
	return t
}

// rehost has a feed asked for where it is now.
func (n *Node) rehost(s *subscription) { n.hosts.Sent(s.queued, s.At(s.URL)) }

// noteMoved takes note of where a poll was redirected for good, and after a while asks there at once.
func (n *Node) noteMoved(s *subscription, to feed.URL) {
	if s.Redirected(n.now, s.URL, to) {
		n.rehost(s)
	}
}

// forgetAlias asks for a feed under its own name again where its new address does not work. Validators are the new
// address's, and would mean something else there.
func (n *Node) forgetAlias(s *subscription, status int) {
	if s.Move.Failed(status, s.Errors) {
		s.ETag, s.LastModified, s.Body = "", "", feed.Digest{}
		n.rehost(s)
	}
}
