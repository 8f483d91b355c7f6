package node

import "time"

// excused reports whether nobody can tell if it is the publisher's fault that a poll reached nobody, and has the
// feed tried again soon.
func (n *Node) excused(s *subscription, ev Fetched) bool {
	if s.lost.IsZero() {
		s.lost = s.begun
	}
	if !n.outage.Excuses(n.now, s.queued.Host(), s.lost) {
		return false
	}
	s.LastError, s.NotBefore = ev.Err.Error(), n.now
	n.status.Counters.PollsFailed++
	n.pollAt(s, n.outage.Next())
	n.store.KeepFeed(s.Feed)
	n.tell(Polled{Feed: s.URL, Next: s.NextPoll, Problem: s.LastError})
	return true
}

// reached takes note that somebody answered: our network works.
func (n *Node) reached(s *subscription) {
	s.lost = time.Time{}
	n.outage.Reached(n.now)
}

// postponed reports whether a feed that fell due has to wait for the network, and sees to it that it does.
func (n *Node) postponed(s *subscription) bool {
	if !n.outage.Postpones(n.now) {
		return false
	}
	n.pollAt(s, n.outage.Next().Add(n.pollBetween(s, 0, spreadStart)))
	return true
}
