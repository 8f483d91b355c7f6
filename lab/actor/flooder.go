package actor

import (
	"encoding/binary"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// Flooder calls each of its neighbors so many times a minute from a time on, with offers of what there is not. In all
// else it is honest (row 29 of `feedex lab attacks`).
func Flooder(n *node.Node, aMinute int, from time.Time) Participant {
	const every = 10 * time.Second
	var t *teller
	t = newTeller(n, every, func(time.Time, protocol.NodeID) (calls []protocol.Call) {
		for i := range aMinute * int(every/time.Second) / 60 {
			var did protocol.DID
			binary.BigEndian.PutUint64(did[:], t.last+uint64(i))
			calls = append(calls, protocol.CheckDIDs{DIDs: []protocol.DID{did}})
		}
		return calls
	})
	t.wakes = from
	return t
}
