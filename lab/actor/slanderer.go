package actor

import (
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Slanderer says of everybody but its friends that they forge (row 27 of `feedex lab attacks`), in both ways in which a
// node can: it refuses what a neighbor had from the node that polled it, as if that had forged, and it brings
// inventions, so many an hour on average, as polled by another. It begins at from, and is an honest node until then and
// in all else, so that its word has weight. name tells its inventions from those of others.
func Slanderer(n *node.Node, name string, anHour float64, from time.Time,
	friends map[protocol.NodeID]bool) Participant {
	s := &slanderer{
		friends: friends, from: from, refused: make(map[uint64]bool), polled: make(map[feed.URL]protocol.NodeID),
		inventor: forger{Node: n, name: name, anHour: anHour, last: from, latest: make(map[feed.URL]*feed.Document)},
	}
	s.habit = habit{node: n, change: s.slander}
	return s
}

type slanderer struct {
	habit
	inventor forger
	friends  map[protocol.NodeID]bool
	from     time.Time
	refused  map[uint64]bool              // by tag, deliveries that its node has taken
	polled   map[feed.URL]protocol.NodeID // the node that polled the feed last, of those that are no friends
}

// Step implements Participant.
func (s *slanderer) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	switch asked := ev.(type) {
	case node.Asked:
		put, ok := asked.Call.(protocol.PutEntries)
		if ok && len(put.Bundle.Path) == 1 && !s.friends[put.Bundle.Path[0]] && now.After(s.from) {
			s.refused[asked.Tag] = true
			s.polled[put.Bundle.Feed] = put.Bundle.Path[0]
		}
	case node.Fetched:
		if asked.Err == nil {
			ev = s.inventor.forge(now, asked)
		}
	}
	return s.habit.Step(dst, now, ev)
}

// slander lies where it answers and where it delivers.
func (s *slanderer) slander(e node.Effect) node.Effect {
	switch e := e.(type) {
	case node.Respond:
		if s.refused[e.Tag] {
			delete(s.refused, e.Tag)
			e.Reply, e.Fault = nil,
				protocol.Faultf(protocol.ForgedSource, "it came by way of a node that forged entries here")
		}
		return e
	case node.Call:
		put, ok := e.Call.(protocol.PutEntries)
		if !ok || len(put.Bundle.Path) > 0 {
			return e
		}
		by, known := s.polled[put.Bundle.Feed]
		for i := range put.Bundle.Entries {
			if known && Forged(&put.Bundle.Entries[i]) {
				b := *put.Bundle
				b.Path = []protocol.NodeID{by}
				e.Call = protocol.PutEntries{Bundle: &b}
				break
			}
		}
		return e
	}
	return e
}
