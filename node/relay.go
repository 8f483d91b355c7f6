package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

const (
	// weighedAfter is how long after a bundle came it is clear which neighbor had it from which: offers go out within
	// laterOffers, and their answers are held for offerTimeout at most.
	weighedAfter = 2 * time.Minute
	// acquainted is how long there was a link when something came of which it counts which neighbor has it from which.
	// At first a neighbor brings, and has, what it got by other ways before.
	acquainted = time.Hour
	// oneRestless is of one in how many feeds the relay never rests.
	oneRestless = 8
)

// weighRelays notes, of each feed that is relayed and of which something came since it was called last, whether all
// neighbors who want it are known to have that from others.
func (n *Node) weighRelays() {
	recent, until := n.gossip.recent, n.now.Add(-weighedAfter).UnixNano()
	first := len(recent)
	for first > 0 && recent[first-1].at > n.gossip.weighed {
		first--
	}
	for _, r := range recent[first:] {
		if r.at > until {
			break
		}
		if b := r.Bundle(); n.table.Relays(b.Feed) {
			n.table.Spare(b.Feed, n.spared(b, time.Unix(0, r.at)))
		}
	}
	n.gossip.weighed = max(n.gossip.weighed, until)
}

// spared reports whether all neighbors who want the bundle, which came at that time, are known to have it from others:
// they offered or delivered it, or said that they have it. What is old proves nothing: every node that follows the feed
// has had it for long.
func (n *Node) spared(b *protocol.Bundle, came time.Time) bool {
	for _, p := range n.table.Interested(b.Feed) {
		if came.Sub(p.Since) < acquainted || !n.linkOf(p).offered.has(b.DID) {
			return false
		}
	}
	return incentive.Dated(n.now, b.Entries) > 0
}

// restless picks the feeds whose relay never rests. Which they are cannot be foretold without the node's secret, or an
// attacker that is faster than all others, so that relays rest, could have all those rest that somebody relies on.
func (n *Node) restless(u feed.URL) bool {
	mac := hmac.New(sha256.New, n.config.Secret)
	mac.Write([]byte("stays " + u))
	return mac.Sum(nil)[0]%oneRestless == 0
}
