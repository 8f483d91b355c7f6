package node

import (
	"maps"
	"slices"
	"time"

	"feedex/polling"
)

// leapt sees to it that what publishers are owed holds when the clock goes ahead by more than anybody can be told to
// wait. Either this machine slept for as long, or its clock was wrong: one without a battery starts in 1970, and knows
// better once a time server answers. What an earlier run knew is true by the clock of now. What was due in so much time
// by the clock of before is due in as much time now: after such a sleep that delays nothing for long.
func (n *Node) leapt(before time.Time) {
	by := n.now.Sub(before)
	for _, h := range n.hosts {
		if h.aside != (polling.Budget{}) {
			h.recall(n.now, h.aside)
			continue
		}
		h.Until, h.Spent = ahead(h.Until, before, by), ahead(h.Spent, before, by)
	}
	for _, u := range slices.Sorted(maps.Keys(n.feeds)) {
		s := n.feeds[u]
		if s.Ended {
			continue
		}
		due := ahead(s.NextPoll, before, by)
		if !s.aside.IsZero() {
			due = n.due(s, s.aside)
		} else {
			s.NotBefore, s.ordinary = ahead(s.NotBefore, before, by), ahead(s.ordinary, before, by)
		}
		if s.polling || s.waiting {
			s.NextPoll = due
		} else {
			n.pollAt(s, due)
		}
		n.store.KeepFeed(s.Feed)
	}
}

// ahead is t, later by as much where it was still to come.
func ahead(t, before time.Time, by time.Duration) time.Time {
	if t.After(before) {
		return t.Add(by)
	}
	return t
}
