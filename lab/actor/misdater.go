package actor

import (
	"crypto/ed25519"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Misdater says each minute, and signs with the key of its node, that it polled all feeds that it follows so long ago,
// one of the ages after the other. In all else it is an honest node (row 28 of `feedex lab attacks`).
func Misdater(n *node.Node, key ed25519.PrivateKey, ages []time.Duration) Participant {
	return tellsAllOfPolls(n, func(now time.Time) (lies []protocol.Notice) {
		for _, s := range n.Feeds() {
			lie := protocol.Notice{Feed: s.URL, Age: ages[turn(now)%len(ages)].Truncate(time.Second)}
			lie.Sign(key, now.Add(-lie.Age))
			lies = append(lies, lie)
		}
		return lies
	})
}
