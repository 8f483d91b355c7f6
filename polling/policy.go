// Package polling decides when a feed is fetched next. Its policies are pure: they see what the last
// poll gave, how long the node waited for it and when the feed published, and answer how long to wait
// now. Reading clocks and keeping due times is the node's part; what a publisher asks for is package courtesy's.
//
// FeedEx adapts as in Paper §3.3. FixLearned, PostRate and MovingAverage are the strategies of Urbansky
// and others, "An Optimized Web Feed Aggregation Approach for Generic Feed Types", cited as Urbansky.
// Auto is our own, and asks for the fewest requests for the delay that its owner wants. Settings chooses one by
// its name.
package polling

import "time"

// A Poll is the information that a policy gets from one poll of a feed.
type Poll struct {
	At       time.Time     // when it was made
	Interval time.Duration // the interval that led to this poll, 0 before the first
	Listed   int           // entries in the document, 0 where nothing changed (HTTP 304)
	New      int           // of these, not known before, from an earlier poll or a neighbor
	History  History       // when the feed published, this document included
	// Helped is the share of the feed's entries that neighbors bring before own polls do, from 0 to 1 (see Help).
	Helped float64
	// Pollers is how many nodes poll the feed, this one included, by the word of neighbors; 0 where that is not known.
	Pollers int
	// Unchanged is for how long the document had been as it is, by its Last-Modified, where the publisher does not say
	// how long it stays so; 0 where it is not known.
	Unchanged time.Duration
}

// A Policy says how long to wait until the next poll. Policies hold settings but no state, so that one serves all
// feeds. The facts that they need of a feed's past are in the Poll; after a restart its History is empty until the feed
// changes, and policies that go by it do without until then.
type Policy interface {
	// Interval is the time from this poll to the next. It is never negative or zero.
	Interval(p Poll) time.Duration
	// First is the interval that a feed starts from.
	First() time.Duration
	// Longest is the longest interval that the policy ever chooses.
	Longest() time.Duration
}
