package node

import (
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/neighbors"
)

const (
	// reviewEvery is how often the node looks whether its neighbors are worth their places.
	reviewEvery = 5 * time.Minute
	// evictEvery is the least time between two neighbors that make room for a search for better ones.
	evictEvery = time.Hour
	// leastSpan is the least time between two polls of which the later one says anything about neighbors. A node that
	// polls more often than any does by default is first without anybody's fault.
	leastSpan = 30 * time.Minute
	// hungryFor is how long at least half of the neighbors must have kept us at our bound before that.
	hungryFor = time.Hour
)

// review is what the node knows of how well it is served as a whole.
type review struct {
	first       neighbors.Suppression // how often neighbors bring entries first
	warning     string                // what is wrong, in words; "" where nothing is
	hungrySince time.Time             // since when half of the neighbors keep us at our bound; zero if not
	evicted     time.Time             // when a neighbor last made room for another
	replacing   bool                  // nobody has come in its place yet
}

// reviewLater looks after the neighbors for as long as the node runs.
func (n *Node) reviewLater() {
	n.after(reviewEvery, func() {
		for _, l := range slices.Clone(n.linked) {
			if !l.over {
				n.reviewLink(l)
				n.forgive(l)
			}
		}
		n.watchSuppression()
		n.watchHunger()
		n.evictOne()
		n.retryLost()
		if n.table.Len() < n.config.MinNeighbors && !n.tracked() {
			n.refillSoon(0) // neighbors may know others by now
		}
		n.reviewLater()
	})
}

// firstSeen counts entries of an own feed by whether neighbors or a poll brought them first. Only neighbors count that
// were there at the last poll: of what came out before a link nobody can say which neighbor should have brought it.
func (n *Node) firstSeen(u feed.URL, entries int, lastPoll time.Time, polled bool) {
	if polled && n.now.Sub(lastPoll) < leastSpan {
		return
	}
	near, beyond := 0, 0
	for _, l := range n.linked {
		p := l.peer
		hops, ok := p.Hops(u)
		switch {
		case !ok || hops > 1 || !p.Since.Before(lastPoll) || n.keptShort(l):
		case hops == 0:
			near++
		default:
			beyond = 1 // all of them may have it from the same node
		}
	}
	if polled {
		n.reviewed.first.Polled(n.now, u, entries, near+beyond)
	} else {
		n.reviewed.first.Delivered(n.now, u, entries, near+beyond)
	}
}

// watchSuppression warns the owner where neighbors bring so little that they must be keeping it from us.
func (n *Node) watchSuppression() {
	before := n.reviewed.warning
	n.reviewed.warning = ""
	if n.reviewed.first.Alarming(n.now) {
		polled, entries, expected := n.reviewed.first.Week(n.now)
		n.reviewed.warning = fmt.Sprintf("within a week own polls were first to bring %d of %d entries that "+
			"neighbors offer too; about %d were to be expected",
			polled, entries, expected)
		if before == "" {
			n.tell(Warned{Warning: n.reviewed.warning})
		}
	}
}

// watchHunger notes since when neighbors keep us at our bound.
func (n *Node) watchHunger() {
	switch {
	case !n.starving():
		n.reviewed.hungrySince = time.Time{}
	case n.reviewed.hungrySince.IsZero():
		n.reviewed.hungrySince = n.now
	}
}

// evictOne has the least useful of those neighbors that do not serve us make room for another, one an hour at
// most, and only while there is somebody to try.
func (n *Node) evictOne() {
	if n.now.Sub(n.reviewed.evicted) < evictEvery || !n.book.Ready(n.now, n.unwanted) {
		return
	}
	var victim *neighbors.Neighbor
	reason := ""
	switch hungry := n.reviewed.hungrySince; {
	case n.reviewed.warning != "":
		polled, _, _ := n.reviewed.first.Week(n.now)
		daily := neighbors.Usefulness(polled) * neighbors.One / 7
		reason = "it brings next to nothing, and others may bring more"
		victim = n.table.LeastUseful(n.now, func(p *neighbors.Neighbor) bool {
			return n.now.Sub(p.Since) >= evictEvery && p.Brought(n.now)*10 < daily
		})
	case !hungry.IsZero() && n.now.Sub(hungry) >= hungryFor && n.table.Len() >= n.config.MaxNeighbors-1:
		reason = "it sends nothing more, and others may"
		victim = n.table.LeastUseful(n.now, func(p *neighbors.Neighbor) bool { return n.keptShort(n.linkOf(p)) })
	}
	if victim == nil {
		return
	}
	n.reviewed.evicted, n.reviewed.replacing = n.now, true
	l := n.linkOf(victim)
	n.bans.ban(n.now, l.holder)
	n.dismiss(l, reason)
	n.refillSoon(0)
}

// retryLost tries a neighbor that was lost, one at a time. Where all places are taken it gets
// one only if it is clearly more useful.
func (n *Node) retryLost() {
	if id, ok := n.book.Missed(n.now, n.unwanted); ok {
		n.try(id)
	}
}
