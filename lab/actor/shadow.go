package actor

import (
	"crypto/ed25519"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Shadow says within a minute of hearing that somebody polled a feed that it polled it as well, and that others did,
// each by a key of its own: so soon that hardly anything came out since that they could have missed. What accomplices
// say, who are known by their addresses, it lets pass. In all else it is an honest node (row 28 of `feedex lab
// attacks`).
func Shadow(n *node.Node, key ed25519.PrivateKey, others []Name, accomplices map[protocol.NodeID]bool) Participant {
	s := &shadow{accomplices: accomplices, polled: make(map[feed.URL]bool)}
	s.teller = tellsAllOfPolls(n, func(now time.Time) (lies []protocol.Notice) {
		for _, f := range n.Feeds() {
			if !s.polled[f.URL] {
				continue
			}
			lie := protocol.Notice{Feed: f.URL}
			lie.Sign(key, now)
			lies = append(lies, lie)
			for _, other := range others {
				lie.Path = []protocol.NodeID{other.ID}
				lie.Sign(other.Key, now)
				lies = append(lies, lie)
			}
		}
		clear(s.polled)
		return lies
	})
	return s
}

type shadow struct {
	*teller
	accomplices map[protocol.NodeID]bool
	polled      map[feed.URL]bool // by somebody else, as it heard since it said something
}

// Step implements Participant.
func (s *shadow) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	asked, _ := ev.(node.Asked)
	told, _ := asked.Call.(protocol.Notify)
	for _, n := range told.Notices {
		if n.Age < noticeEvery && !s.accomplices[n.Origin(asked.From)] {
			s.polled[n.Feed] = true
		}
	}
	return s.teller.Step(dst, now, ev)
}
