package actor

import (
	"crypto/ed25519"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A Name is one that an actor goes by beside its own: an address, which may be that of somebody else, and a key, which
// cannot.
type Name struct {
	ID  protocol.NodeID
	Key ed25519.PrivateKey
}

// Pretender says each minute, and signs with the key of its node, that it just polled all feeds that it follows, and in
// one of other names, in turn, that this did. found is how many new entries that brought, or protocol.Refused. It says
// so in every other part of a day that is as long as onOff, or always where that is zero, and so do all others: whoever
// believes them polls at the same time. In all else it is an honest node (rows 28 and 31 of `feedex lab attacks`).
func Pretender(n *node.Node, key ed25519.PrivateKey, others []Name, found int, onOff time.Duration) Participant {
	return tellsAllOfPolls(n, func(now time.Time) (lies []protocol.Notice) {
		if onOff > 0 && now.UnixNano()/int64(onOff)%2 == 1 {
			return nil
		}
		for _, s := range n.Feeds() {
			lie := protocol.Notice{Feed: s.URL, New: found}
			lie.Sign(key, now)
			lies = append(lies, lie)
			if len(others) > 0 {
				other := others[turn(now)%len(others)]
				lie.Path = []protocol.NodeID{other.ID}
				lie.Sign(other.Key, now)
				lies = append(lies, lie)
			}
		}
		return lies
	})
}
