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
	// weighedAfter is how long after a bundle came it is clear who had it from whom: offers go out within laterOffers,
	// and their answers are held for offerTimeout at most.
	weighedAfter = 2 * time.Minute
	// acquainted is how old a link is before what comes is taken for what usually does. What was published before there
	// was a link has come by other ways.
	acquainted = time.Hour
	// Of one in relaysStay feeds the relay never rests.
	relaysStay = 8
)

// weighRelays looks at what came since it was called last: of which feeds that are relayed for others' sake did they all
// have it from others? Only who is known to have it counts, not who could not be asked.
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
	n.gossip.weighed = until
}

// spared reports whether all neighbors who want the bundle, which came at that time, have it from others. What is old
// says nothing: whoever follows the feed has had it for long.
func (n *Node) spared(b *protocol.Bundle, came time.Time) bool {
	for _, p := range n.table.Interested(b.Feed) {
		if came.Sub(p.Since) < acquainted || !n.linkOf(p).offered.has(b.DID) {
			return false
		}
	}
	return incentive.Dated(n.now, b.Entries) > 0
}

// relayStays reports of one feed in relaysStay that its relay never rests. Nobody can tell which who does not know the
// node's secret. Or a feed that is followed discreetly would be one of few that are always there, and who has relays
// rest, by being faster than others for a while, could have all of them.
func (n *Node) relayStays(u feed.URL) bool {
	mac := hmac.New(sha256.New, n.config.Secret)
	mac.Write([]byte("stays " + u))
	return mac.Sum(nil)[0]%relaysStay == 0
}
