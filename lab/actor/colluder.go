package actor

import (
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Colluder brings its neighbors, unasked and again and again, what those of its name agree on: of each entry that it
// polled lately a version with another text, which says that it was changed in this hour, and an invention an hour for
// each feed. It says in turn that it polled them itself, and that named did. It begins at from, and is an honest node
// until then and in all else, so that its word has weight (row 26 of `feedex lab attacks`).
func Colluder(n *node.Node, name string, from time.Time, named protocol.NodeID) Participant {
	c := &colluder{
		name: name, named: named,
		latest: make(map[feed.URL][]feed.Entry), wanted: make(map[protocol.NodeID][]feed.URL),
	}
	c.sideCaller = newCaller(n, func(e node.Effect) node.Effect {
		c.learn(e)
		return e
	})
	c.wakes = from // for the next round
	return c
}

type colluder struct {
	sideCaller
	name   string
	named  protocol.NodeID
	round  int
	latest map[feed.URL][]feed.Entry      // what it polled
	wanted map[protocol.NodeID][]feed.URL // what its node has offered to each neighbor
}

const (
	// collusionEvery is the time between the rounds of a Colluder, and colluded how many entries of a feed it alters.
	collusionEvery = 30 * time.Minute
	colluded       = 8
)

// Step implements Participant.
func (c *colluder) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if fetched, ok := ev.(node.Fetched); ok && fetched.Document != nil {
		c.collect(fetched.Document)
	}
	dst = c.sideCaller.Step(dst, now, ev)
	if !now.Before(c.wakes) {
		c.wakes = now.Add(collusionEvery)
		c.round++
		dst = c.deliver(dst, now.UTC().Truncate(time.Hour))
	}
	return dst
}

// collect remembers the latest entries of a document.
func (c *colluder) collect(doc *feed.Document) {
	list := slices.Clone(doc.Entries)
	slices.SortStableFunc(list, func(a, b feed.Entry) int { return b.Published.Compare(a.Published) })
	c.latest[doc.Feed] = list[:min(len(list), colluded)]
}

// learn sees what its node offers to a neighbor, which therefore follows it.
func (c *colluder) learn(e node.Effect) {
	call, _ := e.(node.Call)
	if offer, ok := call.Call.(protocol.CheckDID); ok && !slices.Contains(c.wanted[call.To.Node], offer.Feed) {
		c.wanted[call.To.Node] = append(c.wanted[call.To.Node], offer.Feed)
	}
}

// deliver brings every neighbor what was agreed on for the hour.
func (c *colluder) deliver(dst []node.Effect, hour time.Time) []node.Effect {
	for _, to := range c.neighbors() {
		for _, u := range c.wanted[to] {
			b := protocol.NewBundle(u, c.agreed(u, hour))
			if c.round%2 == 0 {
				b.Path = []protocol.NodeID{c.named}
			}
			dst = c.call(dst, to, protocol.PutEntries{Bundle: b}, nil)
		}
	}
	return dst
}

// agreed returns the entries that all of a name tell of a feed in an hour.
func (c *colluder) agreed(u feed.URL, hour time.Time) []feed.Entry {
	list := slices.Clone(c.latest[u])
	for i := range list {
		if list[i].Title += altered + c.name + ")"; list[i].Published.Before(hour) {
			list[i].Updated = hour
		}
	}
	return append(list, feed.Entry{
		Feed: u, ID: fmt.Sprintf("%s%s/%d", forgedID, c.name, hour.Unix()),
		Title: fmt.Sprintf("News of %s", hour), Link: fmt.Sprintf("https://example.net/%d", hour.Unix()),
		Published: hour, Updated: hour, Summary: "This never happened.",
	})
}
