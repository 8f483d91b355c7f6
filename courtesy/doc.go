// Package courtesy knows what publishers are owed: when a host, or a feed, may be asked again, whatever the node would
// like (docs/POLITENESS.md). When it would like to says package polling.
//
//	feeds that fall due --> HostQueues ----> whose turn it is, or when to come back
//	answers --------------------^ '-------> what hosts take, as Budgets that outlive the run
//	        '---------------> Terms ------> when a feed may be asked again
//	redirects for good -----> Move -------> where it is asked for
//	polls that reach nobody -> Outage ----> whether that is the publisher's fault
//
// All of it is decided by arguments, time among them, and chance comes from a *rand.Rand given at construction. The
// types belong to one node's loop and are not safe for concurrent use.
package courtesy

import (
	"math/rand/v2"
	"time"
)

// HTTP statuses that mean something to when a feed is polled next (RFC 9110 §15, RFC 6585 §4).
const (
	OK           = 200
	Unchanged    = 304
	Unauthorized = 401
	Forbidden    = 403
	Gone         = 410
	TooMany      = 429
	unavailable  = 503
)

// LongestAway is the longest that a publisher can have told us to stay away, and a tenth on top of it.
const LongestAway = 33 * 24 * time.Hour

// upTo is a random duration below d.
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(d)))
}
