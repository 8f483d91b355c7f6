package node

import (
	"slices"
	"time"
)

const (
	// firstProbe and lastProbe bound the time between attempts to reach anybody while our network seems down.
	// After goneFor it is longestProbe: of few publishers all may be gone for good.
	firstProbe   = 15 * time.Second
	lastProbe    = 2 * time.Minute
	longestProbe = time.Hour
	goneFor      = 24 * time.Hour
	// lonelyFor is how long a host that nobody else can speak for is thought unreachable through no fault of its own.
	lonelyFor = time.Hour
)

// An outage is a time in which no publisher can be reached. One that does not answer may be down; two, with no
// answer from anybody in between, are our own network. No feed loses by that: it does not count as a failure,
// and what falls due is polled when the network is back. Meanwhile one feed at a time tries.
type outage struct {
	lost     []string      // hosts that were not reached since the last answer, two at most
	since    time.Time     // the first of these
	answered time.Time     // the last answer from anybody
	wait     time.Duration // until the next attempt
	next     time.Time     // the next attempt
}

// on reports whether our own network seems to be down.
func (o *outage) on() bool { return len(o.lost) > 1 }

// excused reports whether nobody can tell if it is the publisher's fault that a poll reached nobody, and has the
// feed tried again soon. It is the publisher's where others answered since the feed was first not reached.
func (n *Node) excused(s *subscription, ev Fetched) bool {
	o := &n.outage
	if s.lost.IsZero() {
		s.lost = s.begun
	}
	if !o.answered.Before(s.lost) {
		return false
	}
	if !slices.Contains(o.lost, s.host.name) && !o.on() {
		if len(o.lost) == 0 {
			o.since = n.now
		}
		o.lost = append(o.lost, s.host.name)
	}
	if !o.on() && n.now.Sub(s.lost) >= lonelyFor {
		return false
	}
	if !n.now.Before(o.next) {
		n.probeLater()
	}
	s.LastError, s.NotBefore = ev.Err.Error(), n.now
	n.status.Counters.PollsFailed++
	n.pollAt(s, o.next)
	n.store.KeepFeed(s.Feed)
	n.tell(Polled{Feed: s.URL, Next: s.NextPoll, Problem: s.LastError})
	return true
}

// reached takes note that somebody answered: our network works.
func (n *Node) reached(s *subscription) {
	s.lost = time.Time{}
	n.outage = outage{answered: n.now}
}

// postponed reports whether a feed that fell due has to wait for the network, and sees to it that it does. The first
// one that falls due when an attempt may be made is the attempt.
func (n *Node) postponed(s *subscription) bool {
	o := &n.outage
	if !o.on() {
		return false
	}
	if n.now.Before(o.next) {
		n.pollAt(s, o.next.Add(n.between(0, spreadStart)))
		return true
	}
	n.probeLater()
	return false
}

// probeLater sets the time of the next attempt.
func (n *Node) probeLater() {
	o := &n.outage
	last := lastProbe
	if n.now.Sub(o.since) >= goneFor {
		last = longestProbe
	}
	o.wait = min(max(2*o.wait, firstProbe), last)
	o.next = n.now.Add(o.wait + n.between(0, o.wait/10))
}
