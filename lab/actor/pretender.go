package actor

import (
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Pretender says each minute that it just polled all feeds that it follows, and that one of others did of whom it
// heard, in turn, who may be invented. found is how many new entries that brought, or protocol.Refused. It says so in
// every other part of a day that is as long as onOff, or always where that is zero, and so do all others: whoever
// believes them polls at the same time. In all else it is an honest node (rows 28 and 31 of `feedex lab attacks`).
func Pretender(n *node.Node, others []protocol.NodeID, found int, onOff time.Duration) Participant {
	return tellsOfPolls(n, func(now time.Time, _ protocol.NodeID) (lies []protocol.Notice) {
		if onOff > 0 && now.UnixNano()/int64(onOff)%2 == 1 {
			return nil
		}
		for _, s := range n.Feeds() {
			lies = append(lies, protocol.Notice{Feed: s.URL, New: found})
			if len(others) > 0 {
				path := []protocol.NodeID{others[turn(now)%len(others)]}
				lies = append(lies, protocol.Notice{Feed: s.URL, New: found, Path: path})
			}
		}
		return lies
	})
}
