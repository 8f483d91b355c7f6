package exchange

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
	// LaterOffers, and their answers are held for offerTimeout at most.
	weighedAfter = 2 * time.Minute
	// acquainted is how long there was a link when something came of which it counts which neighbor has it from which.
	// At first a neighbor brings, and has, what it got by other ways before.
	acquainted = time.Hour
	// OneRestless is of one in how many feeds the relay never rests.
	OneRestless = 8
)

// WeighRelays notes, of each feed that is relayed and of which something came since it was called last, whether all
// neighbors who want it are known to have that from others.
func (m *Machine) WeighRelays() {
	recent, until := m.Gossip.Recent, m.Now.Add(-weighedAfter).UnixNano()
	first := len(recent)
	for first > 0 && recent[first-1].at > m.Gossip.weighed {
		first--
	}
	for _, r := range recent[first:] {
		if r.at > until {
			break
		}
		if m.Table.Relays(r.Feed) {
			m.Table.Spare(r.Feed, m.Spared(r.Bundle, time.Unix(0, r.at)))
		}
	}
	m.Gossip.weighed = max(m.Gossip.weighed, until)
}

// Spared reports whether all neighbors who want the bundle, which came at that time, are known to have it from others:
// they offered or delivered it, or said that they have it. What is old proves nothing: every node that follows the feed
// has had it for long.
func (m *Machine) Spared(b *protocol.Bundle, came time.Time) bool {
	for _, p := range m.Table.Interested(b.Feed) {
		if came.Sub(p.Since) < acquainted || !Of(m.LinkOf(p)).Offered.has(b.DID) {
			return false
		}
	}
	return incentive.Dated(m.Now, b.Entries) > 0
}

// Restless picks the feeds whose relay never rests. Which they are cannot be foretold without the node's secret, or an
// attacker that is faster than all others, so that relays rest, could have all those rest that somebody relies on.
func (m *Machine) Restless(u feed.URL) bool {
	mac := hmac.New(sha256.New, m.Config.Secret)
	mac.Write([]byte("stays " + u))
	return mac.Sum(nil)[0]%OneRestless == 0
}
