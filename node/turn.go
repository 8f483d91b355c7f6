package node

import (
	"strings"
	"time"

	"feedex/feed"
)

// longestTurn is how long the owner waits for a turn at a publisher's host.
const longestTurn = time.Minute

// TakeTurn counts a request of the owner's at the host of u, beside the polls, and returns when it may be made. Where
// that is more than a minute after now it is not counted and not to be made: the host wants to be left alone.
func (n *Node) TakeTurn(now time.Time, u feed.URL) (at time.Time, ok bool) {
	h := n.hosts[strings.TrimSuffix(u.Host(), ".")]
	if h == nil || !h.public {
		return now, true // no feed is polled there, or it is the owner's own
	}
	if at = later(h.Ready(), now); at.Sub(now) > longestTurn {
		return at, false
	}
	h.Take(now)
	return at, true
}

// Visited says how a request of the owner's at At, beside the polls, ended (see TakeTurn).
type Visited struct {
	At     feed.URL
	Answer Fetched
}

// visited has what an answer to the owner says hold for polls as well: it is the same client that asks. A host that
// refuses is left alone, and a feed whose own address was asked for is for as long as the answer says.
func (n *Node) visited(ev Visited) {
	n.learnHost(nil, ev.Answer)
	s := n.feeds[ev.At]
	if s == nil || s.Ended || ev.Answer.Err == nil || ev.Answer.RetryAfter <= 0 {
		return
	}
	s.NotBefore = later(s.NotBefore, n.now.Add(ev.Answer.RetryAfter))
	if !s.polling && !s.waiting {
		n.pollAt(s, later(s.NextPoll, s.NotBefore))
	}
	n.store.KeepFeed(s.Feed)
}
