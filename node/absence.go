package node

import (
	"time"

	"feedex/feed"
	"feedex/neighbors"
)

// absence is since when the node has had no neighbor, or had none until a moment ago. What went round meanwhile is
// lost to it where documents do not show it any more; neighbors may still have it.
type absence struct {
	heard time.Time // the last sign of life of any neighbor, of the last run too; zero where there was none
	since time.Time // when the latest absence began, and
	back  time.Time // when it ended
}

// saidFor is how long after an absence nodes that we ask to become neighbors hear of it. The first of them need
// not have everything.
const saidFor = 15 * time.Minute

// recall takes up when neighbors of earlier runs gave their last sign of life, but for what lies far ahead: where our
// clock is behind, it looks again once that leaps.
func (b *absence) recall(now time.Time, peers []neighbors.Peer) {
	for _, p := range peers {
		if !p.MetAhead(now) {
			b.parted(p.LastMet)
		}
	}
}

// clockJumped sees to it that an absence is known that ended by a clock that was behind: it was as long as it is by the
// clock of now, and ended as short ago as before.
func (b *absence) clockJumped(before, now time.Time, peers []neighbors.Peer) {
	b.recall(now, peers)
	if wasBehind := b.heard.After(before); wasBehind && !b.back.IsZero() {
		b.since, b.back = b.heard, b.back.Add(now.Sub(before))
	}
}

// parted notes that a neighbor is gone whose last sign of life was of that time.
func (b *absence) parted(heard time.Time) {
	if heard.After(b.heard) {
		b.heard = heard
	}
}

// ended notes that the node has a neighbor again. A link that does not last ends no absence.
func (b *absence) ended(now time.Time) {
	if now.Sub(b.back) >= saidFor {
		b.since, b.back = b.heard, now
	}
}

// covers reports whether the publisher dates the entry within the latest absence, if that was a long one: then the
// neighbor that brings it need not have polled it just now.
func (b *absence) covers(e *feed.Entry) bool {
	at := e.Published
	if at.IsZero() {
		at = e.Updated
	}
	return b.back.Sub(b.since) > recentFor && at.After(b.since.Add(-saidFor)) && at.Before(b.back)
}

// away is for how long the node has been, or had been, without neighbors, as a node that we ask for a link is to hear
// it: 0 where that is over, where there never was one, and where it was no longer than what any new neighbor is
// offered.
func (n *Node) away() time.Duration {
	since := n.absence.since
	if n.now.Sub(n.absence.back) >= saidFor {
		since = n.absence.heard
		if len(n.linked) > 0 {
			return 0
		}
	}
	if away := n.now.Sub(since); !since.IsZero() && away > recentFor {
		return away
	}
	return 0
}
