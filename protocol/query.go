package protocol

import (
	"slices"
	"time"

	"feedex/feed"
)

// Limits of a query (Paper §3.6). docs/PROTOCOL.md states each of them.
const (
	// DefaultQueryHops is how many hops a query goes where nobody says otherwise, MaxQueryHops the most.
	DefaultQueryHops, MaxQueryHops = 3, 5
	// DefaultBudget is how many messages a query may cost where nobody says otherwise, MaxBudget the most.
	DefaultBudget, MaxBudget = 64, 256
	// DefaultWait is how long an asker waits where nobody says otherwise, MaxWait the longest.
	DefaultWait, MaxWait = 4 * time.Second, time.Minute
	// MaxHolders is how many nodes an answer names at most as holders of one entry.
	MaxHolders = 8
)

// A Query says what the asker is looking for, and how far and how long it may travel. Nothing in it says which node
// asked first.
type Query struct {
	Filter feed.Filter
	// ID is unique among the queries of the last ten minutes. One without is not passed on.
	ID     string
	Hops   int           // how many hops on it may go
	Budget int           // how many query_feed calls it may cause beyond this one
	Wait   time.Duration // how long the asker waits; 0 where it does not say
}

// An Answer lists what was found, newest first or most relevant first.
type Answer struct {
	Found []Found
	Cut   Cut // why there may be more, 0 where everything within reach was searched
	Left  int // of the query's budget; the asker may spend it on others
	// CompleteSince is, in whole seconds, since when nothing was left out for lack of room (CutLimit) of an answer to a
	// query for the latest by their time (feed.Filter.Dated). Zero is unknown.
	CompleteSince time.Time
}

// Partial reports whether more may match than is listed.
func (a Answer) Partial() bool { return a.Cut != 0 }

// A Cut says why an answer may not be all there is: any of the reasons below, added up.
type Cut uint8

// The reasons.
const (
	CutLimit   Cut = 1 << iota // more matched than is listed
	CutTime                    // somebody had not answered when the time was over
	CutHops                    // somebody was beyond the hop limit
	CutBudget                  // there were more to ask than messages left
	CutRefused                 // somebody refused, or could not be reached
)

// cutNames are the reasons as they go over the wire, in the order of their bits. It is read only.
var cutNames = [...]string{"limit", "time", "hops", "budget", "refused"}

// Reasons are the names of the reasons, in the order above.
func (c Cut) Reasons() (names []string) {
	for i, name := range cutNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ParseCut adds up the reasons of these names; those of later versions are passed over.
func ParseCut(names []string) (c Cut) {
	for _, name := range names {
		if i := slices.Index(cutNames[:], name); i >= 0 {
			c |= 1 << i
		}
	}
	return c
}

// A Found is one entry of an Answer: enough to choose it and to check it once it is fetched.
type Found struct {
	ID        feed.EntryID
	Digest    feed.Digest
	Feed      feed.URL
	Title     string
	Link      string
	Published time.Time // zero where the publisher gave none
	Updated   time.Time // likewise
	Seen      time.Time // when a holder stored it
	// Holders are the nodes that have this version, at most MaxHolders. The zero id is the answering node
	// itself, which does not know for sure how others reach it; it stands first.
	Holders []NodeID
}
