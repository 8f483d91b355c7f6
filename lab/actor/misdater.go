package actor

import (
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Misdater says each minute that it polled all feeds that it follows so long ago, one of the ages after the other. In
// all else it is an honest node (row 28 of `feedex lab attacks`).
func Misdater(n *node.Node, ages []time.Duration) Participant {
	return tellsOfPolls(n, func(now time.Time, _ protocol.NodeID) (lies []protocol.Notice) {
		for _, s := range n.Feeds() {
			lies = append(lies, protocol.Notice{Feed: s.URL, Age: ages[turn(now)%len(ages)].Truncate(time.Second)})
		}
		return lies
	})
}
