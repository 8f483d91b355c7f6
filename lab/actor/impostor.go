package actor

import (
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Impostor goes by the name of another node. It says of its inventions, so many an hour on average from a time on, that
// the victim polled them, by the victim's key; and it asks its neighbors every few minutes for a link under that key,
// over a connection of its own or as if it could be dialled. Its calls stand by that, as far as they can without the
// private key. In all else it is an honest node (row 30 of `feedex lab attacks`). victim is the zero key while there is
// none; name tells its inventions from those of others.
func Impostor(n *node.Node, name string, anHour float64, from time.Time, victim func() protocol.NodeKey) Participant {
	i := &impostor{
		inventor: forger{Node: n, name: name, anHour: anHour, last: from, latest: make(map[feed.URL]*feed.Document)},
	}
	i.teller = newTeller(n, impostureEvery, func(time.Time, protocol.NodeID) []protocol.Call {
		key := victim()
		if key.IsZero() {
			return nil
		}
		set := protocol.Subset{}
		for _, s := range n.Feeds() {
			set = append(set, protocol.Interest{Feed: s.URL})
		}
		return []protocol.Call{protocol.Connect{Subset: set, Key: key, Challenge: "stolen", Reverse: i.turns%2 == 1}}
	})
	i.wakes = from
	learn := i.change
	i.change = func(e node.Effect) node.Effect {
		e = learn(e)
		c, ok := e.(node.Call)
		put, is := c.Call.(protocol.PutEntries)
		if key := victim(); ok && is && !key.IsZero() && len(put.Bundle.Path) == 0 &&
			slices.ContainsFunc(put.Bundle.Entries, func(e feed.Entry) bool { return Forged(&e) }) {
			b := *put.Bundle
			b.Path = []protocol.NodeID{protocol.NameOf(key)}
			c.Call = protocol.PutEntries{Bundle: &b}
			return c
		}
		return e
	}
	return i
}

// impostureEvery is how often an Impostor asks for links in the name of its victim.
const impostureEvery = 5 * time.Minute

type impostor struct {
	*teller
	inventor forger
}

// Step implements Participant.
func (i *impostor) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if fetched, ok := ev.(node.Fetched); ok && fetched.Err == nil {
		ev = i.inventor.forge(now, fetched)
	}
	return i.teller.Step(dst, now, ev)
}
