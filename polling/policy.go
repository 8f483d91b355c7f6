// Package polling decides when a feed is fetched next. Its policies are pure: they see what the last
// poll gave and how long the node waited for it, and answer how long to wait now. Reading clocks,
// keeping due times and honouring what a publisher asks for is the node's part.
//
// Paper §3.3 (adaptive fetching). For the wider field see Urbansky and others, "An Optimized Web Feed
// Aggregation Approach for Generic Feed Types".
package polling

import "time"

// A Poll is what a policy learns from one poll of a feed.
type Poll struct {
	Interval time.Duration // the interval that led to this poll, 0 before the first
	Listed   int           // entries in the document, 0 where nothing changed (HTTP 304)
	New      int           // of these, not known before, from an earlier poll or a neighbor
}

// A Policy says how long to wait until the next poll. Policies hold settings but no state, so that
// one serves all feeds.
type Policy interface {
	// Interval is the time from this poll to the next. It is never negative or zero.
	Interval(p Poll) time.Duration
	// First is the interval that a feed starts from.
	First() time.Duration
	// Longest is the longest interval that the policy ever chooses.
	Longest() time.Duration
}
