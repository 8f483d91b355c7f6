package node

import (
	"time"

	"feedex/archive"
	"feedex/courtesy"
	"feedex/feed"
)

// loadHosts takes up what earlier lives learned of the hosts of feeds.
func (n *Node) loadHosts() {
	var known []courtesy.Known
	for _, kept := range n.store.LoadHosts() {
		known = append(known, courtesy.Known(kept))
	}
	n.hosts.Recall(n.now, known)
	n.keepHosts()
}

// keepHosts keeps what changed of the hosts.
func (n *Node) keepHosts() {
	keep, drop := n.hosts.Changes()
	for _, name := range drop {
		n.store.DropHost(name)
	}
	for _, h := range keep {
		n.store.KeepHost(archive.Host(h))
	}
}

// serveHost begins the next poll at a host, or comes back when it may.
func (n *Node) serveHost(h *courtesy.Host) {
	for {
		v, at := n.hosts.Next(n.now, h)
		switch {
		case v == nil:
			n.wakeHost(h, at)
			return
		case at.After(n.now):
			n.pollAt(n.feeds[v.Feed], at)
		default:
			n.request(n.feeds[v.Feed])
		}
	}
}

func (n *Node) wakeHost(h *courtesy.Host, at time.Time) {
	if !h.Await(at) {
		return
	}
	n.at(at, func() {
		if h.Awaited(at) {
			n.serveHost(h)
		}
	})
}

// freeHost ends the poll of a feed at its host, which may be asked for the next one.
func (n *Node) freeHost(u feed.URL) {
	if h := n.hosts.End(u); h != nil {
		n.serveHost(h)
	}
}

// toHosts is what an answer says to hosts.
func toHosts(ev *Fetched) courtesy.Answer {
	return courtesy.Answer{
		From: ev.From, Status: ev.Status, RetryAfter: ev.RetryAfter, Failed: ev.Err != nil, Local: ev.Local,
		Requests: ev.Requests,
	}
}

// noteHosts takes note of what the answer to a poll says about the feed's hosts.
func (n *Node) noteHosts(s *subscription, ev *Fetched) {
	n.hosts.Polled(n.now, s.queued, toHosts(ev), courtesy.Record{Shown: !s.LastSuccess.IsZero(), Errors: s.Errors})
	s.Lands = s.queued.Lands()
	n.keepHosts()
}

// ReserveRequest counts a request of the owner's at the host of u, beside the polls, and returns when it may be made.
// Where that is more than a minute after now it is not counted and not to be made: the host wants to be left alone.
func (n *Node) ReserveRequest(now time.Time, u feed.URL) (at time.Time, ok bool) {
	return n.hosts.Request(now, u)
}

// OwnerFetched says how a request of the owner's at At, beside the polls, ended (see ReserveRequest).
type OwnerFetched struct {
	At     feed.URL
	Answer Fetched
}

// ownerFetched has what an answer to the owner says hold for polls as well: it is the same client that asks. A host
// that refuses is left alone, and a feed whose own address was asked for is for as long as the answer says.
func (n *Node) ownerFetched(ev OwnerFetched) {
	n.hosts.OwnerFetched(n.now, toHosts(&ev.Answer))
	n.keepHosts()
	s := n.feeds[ev.At]
	if s == nil || s.Ended || ev.Answer.Err == nil || ev.Answer.RetryAfter <= 0 {
		return
	}
	s.NotBefore = later(s.NotBefore, n.now.Add(ev.Answer.RetryAfter))
	if !s.polling && !s.queued.Waiting() {
		n.pollAt(s, later(s.NextPoll, s.NotBefore))
	}
	n.store.KeepFeed(s.Feed)
}
