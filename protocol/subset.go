package protocol

import "feedex/feed"

// An Interest is one element of a subscription set: a feed and its hop count of interest. Hop count 0
// means that the feed is in the advertising node's direct interest, 1 that it is in that of one of
// its neighbors, and so on (Paper §3).
type Interest struct {
	Feed feed.URL
	Hops int // 0 to MaxHops; Withdrawn in a set of changes
}

// Withdrawn is the hop count of a feed that a set of changes takes back.
const Withdrawn = -1

// A Subset is a subscription set, or the difference between two of them: one Interest a feed.
type Subset []Interest

// A FlawedSubset is the reply to Connect where elements were left out on the way in, because they make no sense.
// It is not sent.
type FlawedSubset struct {
	Subset  Subset // the rest
	Ignored int    // how many were left out
}
