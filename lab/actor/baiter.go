package actor

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Baiter tells each neighbor every hour that it follows these addresses, which are no feeds: whoever polls for others
// what they want is to ask there (row 17 of `feedex lab attacks`). In all else it is an honest node, so that its wishes
// count.
func Baiter(n *node.Node, victims []feed.URL) Participant {
	var bait protocol.Subset
	for _, u := range victims {
		bait = append(bait, protocol.Interest{Feed: u})
	}
	return newTeller(n, baitEvery, func(time.Time, protocol.NodeID) (calls []protocol.Call) {
		for changes := range slices.Chunk(bait, protocol.MaxSubset) {
			calls = append(calls, protocol.UpdateSubset{Changes: changes})
		}
		return calls
	})
}

// baitEvery is how often a Baiter says so.
const baitEvery = time.Hour
