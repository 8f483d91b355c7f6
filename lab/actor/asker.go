package actor

import (
	"fmt"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Asker asks all neighbors at each interval for what they have of one feed after the other, to learn which of them they
// know (row 24 of `feedex lab attacks`). In all else it is honest.
func Asker(n *node.Node, feeds []feed.URL, every time.Duration, from time.Time) Participant {
	return newAsker(n, every, from, func(turns int, _ uint64) protocol.Query {
		return protocol.Query{Filter: feed.Filter{Feed: feeds[turns%len(feeds)], Limit: 20}}
	})
}

// Querier floods: it asks every neighbor at each interval for something new, as far and with as many messages as
// a query may (row 16 of `feedex lab attacks`). In all else it is honest. No other Querier has its name.
func Querier(n *node.Node, name string, every time.Duration, from time.Time) Participant {
	return newAsker(n, every, from, func(_ int, call uint64) protocol.Query {
		return protocol.Query{
			ID: fmt.Sprintf("%s %d", name, call), Hops: protocol.MaxQueryHops - 1, Budget: protocol.MaxBudget,
			Wait:   protocol.DefaultWait,
			Filter: feed.Filter{Feed: feed.URL(fmt.Sprintf("https://%d.example.com/", call))},
		}
	})
}

// newAsker is a teller that tells nothing, but asks: a query of each of its neighbors, by how many turns it has had and
// how many calls it has made.
func newAsker(n *node.Node, every time.Duration, from time.Time,
	query func(turns int, call uint64) protocol.Query) *teller {
	var t *teller
	t = newTeller(n, every, func(time.Time, protocol.NodeID) []protocol.Call {
		return []protocol.Call{protocol.QueryFeed{Query: query(t.turns, t.last)}}
	})
	t.wakes = from
	return t
}
