package node

import (
	"maps"
	"slices"
	"time"

	"feedex/courtesy"
)

// clockJumped sees to it that what publishers are owed holds when the clock goes ahead by more than anybody can be told
// to wait. Either this machine slept for as long, or its clock was wrong: one without a battery starts in 1970, and
// knows better once a time server answers. What an earlier run knew is true by the clock of now. What was due in so
// much time by the clock of before is due in as much time now: after such a sleep that delays nothing for long.
// Neighbors have been here, and addresses and accounts known, for as long as before, or they would be taken for those
// of decades.
func (n *Node) clockJumped(before time.Time) {
	n.hosts.ClockJumped(before, n.now)
	n.absence.clockJumped(before, n.now, peersOf(n.store))
	for _, p := range n.book.ClockJumped(before, n.now) {
		n.keepPeer(p)
	}
	n.accounts.ledger.ClockJumped(before, n.now)
	n.saveAccounts()
	for _, l := range n.linked {
		l.peer.Since = l.peer.Since.Add(n.now.Sub(before))
	}
	ahead := func(t time.Time) time.Time { return courtesy.Ahead(t, before, n.now) }
	for _, u := range slices.Sorted(maps.Keys(n.feeds)) {
		s := n.feeds[u]
		if s.Ended {
			continue
		}
		due := ahead(s.NextPoll)
		if !s.aside.IsZero() {
			due = n.due(s, s.aside)
		} else {
			s.NotBefore, s.ordinary = ahead(s.NotBefore), ahead(s.ordinary)
		}
		if s.polling || s.queued.Waiting() {
			s.NextPoll = due
		} else {
			n.pollAt(s, due)
		}
		n.store.KeepFeed(s.Feed)
	}
}
