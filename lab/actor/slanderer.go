package actor

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Slanderer says of everybody but its friends that they forge (row 27 of `feedex lab attacks`), in both ways in which a
// node can: it refuses what others polled, as if they had forged, whoever brings it, and it brings inventions, so many
// an hour on average, as polled by another. As a node does that knows a forger, it goes on asking for what it refused,
// and passes none of it on. It begins at from, and is an honest node until then and in all else, so that its word has
// weight. name tells its inventions from those of others.
func Slanderer(n *node.Node, name string, anHour float64, from time.Time,
	friends map[protocol.NodeID]bool) Participant {
	s := &slanderer{
		friends: friends, from: from, refused: make(map[uint64]bool), polled: make(map[feed.URL]protocol.NodeID),
		withheld: make(map[protocol.DID]bool), cut: make(map[uint64][]protocol.DID),
		asked:    make(map[uint64][]protocol.DID),
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
	withheld map[protocol.DID]bool        // what these held
	asked    map[uint64][]protocol.DID    // by tag, what it is offered
	cut      map[uint64][]protocol.DID    // by call, what its node offered, of which it offers a part
	polled   map[feed.URL]protocol.NodeID // the node that polled the feed last, of those that are no friends
}

var errSlander = protocol.Faultf(protocol.ForgedSource, "it came by way of a node that forged entries here")

// Step implements Participant.
func (s *slanderer) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	switch e := ev.(type) {
	case node.Asked:
		switch call := e.Call.(type) {
		case protocol.CheckDID:
			if s.withheld[call.DID] {
				return append(dst, node.Respond{Tag: e.Tag, Reply: protocol.Seen(false)})
			}
		case protocol.CheckDIDs:
			s.asked[e.Tag] = call.DIDs
		case protocol.PutEntries:
			if b := call.Bundle; s.withheld[b.DID] {
				return append(dst, node.Respond{Tag: e.Tag, Fault: errSlander})
			} else if now.After(s.from) && s.slandered(b.Path) {
				s.refused[e.Tag], s.withheld[b.DID] = true, true
				s.polled[b.Feed] = b.Path[0]
			}
		}
	case node.Answered:
		if dids := s.cut[e.ID]; dids != nil {
			delete(s.cut, e.ID)
			ev = s.whole(e, dids)
		}
	case node.Fetched:
		if e.Err == nil {
			ev = s.inventor.forge(now, e)
		}
	}
	return s.habit.Step(dst, now, ev)
}

// slandered reports whether it says that what comes by a path is forged.
func (s *slanderer) slandered(path []protocol.NodeID) bool {
	return len(path) > 0 && !s.friends[path[0]]
}

// slander lies where it answers and where it delivers.
func (s *slanderer) slander(e node.Effect) node.Effect {
	switch e := e.(type) {
	case node.Respond:
		if s.refused[e.Tag] {
			delete(s.refused, e.Tag)
			e.Reply, e.Fault = nil, errSlander
		}
		if seen, ok := e.Reply.(protocol.SeenList); ok {
			for i, did := range s.asked[e.Tag] {
				seen[i] = seen[i] && protocol.Seen(!s.withheld[did])
			}
		}
		delete(s.asked, e.Tag)
		return e
	case node.Call:
		switch call := e.Call.(type) {
		case protocol.CheckDID:
			if s.withheld[call.DID] && s.withhold(e) {
				return nil
			}
		case protocol.CheckDIDs:
			return s.part(e, call.DIDs)
		case protocol.PutEntries:
			return s.misnamed(e, call.Bundle)
		}
	}
	return e
}

// part is an offer of what it does not withhold.
func (s *slanderer) part(e node.Call, dids []protocol.DID) node.Effect {
	rest := slices.DeleteFunc(slices.Clone(dids), func(did protocol.DID) bool { return s.withheld[did] })
	switch {
	case len(rest) == 0 && s.withhold(e):
		return nil
	case len(rest) < len(dids):
		s.cut[e.ID] = dids
		e.Call = protocol.CheckDIDs{DIDs: rest}
	}
	return e
}

// whole is the answer to all that its node offered: what is withheld the neighbor is said to have.
func (s *slanderer) whole(a node.Answered, dids []protocol.DID) node.Answered {
	part, ok := a.Reply.(protocol.SeenList)
	if !ok {
		return a
	}
	var all protocol.SeenList
	for _, did := range dids {
		seen := s.withheld[did]
		if !seen && len(part) > 0 {
			seen, part = bool(part[0]), part[1:]
		}
		all = append(all, protocol.Seen(seen))
	}
	a.Reply = all
	return a
}

// misnamed is a delivery that says of its inventions that another polled them.
func (s *slanderer) misnamed(e node.Call, b *protocol.Bundle) node.Effect {
	by, known := s.polled[b.Feed]
	if len(b.Path) > 0 || !known || !slices.ContainsFunc(b.Entries, func(e feed.Entry) bool { return Forged(&e) }) {
		return e
	}
	named := *b
	named.Path = []protocol.NodeID{by}
	e.Call = protocol.PutEntries{Bundle: &named}
	return e
}
