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
