package incentive

import (
	"math"
	"strconv"

	"feedex/protocol"
)

// A Credit is an amount of contribution in units of 2^-16 entry, so that every value of the ledger is
// a whole number: an entry at the largest hop count of the protocol is worth 1.
type Credit int64

const (
	// Entry is the value of one entry of a feed in the direct interest.
	Entry Credit = 1 << 16
	// MaxCredit is the allowance of a neighbor without a bound.
	MaxCredit Credit = math.MaxInt64
)

// maxCounted bounds what Value takes for a number of entries; no bundle comes near.
const maxCounted = 1 << 20

// Value is the value of so many entries of one feed. hops is the receiver's hop count of interest in the feed: ours for
// what we receive, the one that the neighbor advertised for what we send. A number out of its range counts as the
// nearest one inside.
//
// Paper §3.5: "c_{j,i} ← c_{j,i} + w_f α^(-h_f)". Here α is 2, so that a hop halves the value; values
// from 1 to 8 hardly differ in effect.
//
// Differs from the paper: w_f is 1 for every feed. A neighbor cannot know our weights, and an account
// of which only one side knows the prices is no incentive; the weights serve selection (§3.2).
func Value(entries, hops int) Credit {
	entries = min(max(entries, 0), maxCounted)
	return Credit(entries) * (Entry >> min(max(hops, 0), protocol.MaxHops))
}

// Entries is the amount in entries, for display. Decisions never use it.
func (c Credit) Entries() float64 { return float64(c) / float64(Entry) }

// String writes the amount in entries with at most two decimals, and "unbounded" for MaxCredit.
func (c Credit) String() string {
	if c == MaxCredit {
		return "unbounded"
	}
	return strconv.FormatFloat(math.Round(c.Entries()*100)/100, 'f', -1, 64)
}
