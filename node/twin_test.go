package node_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A node that follows a feed discreetly has a twin that does not follow it, in a network that is the same to the bit.
// No node that hears the same of both can tell the two apart, whatever it makes of it: so these tests compare every
// call and every answer of every node, to the byte and to the moment.

const essays feed.URL = "https://essays.example.com/feed"

// A conversation is every call and every answer of a network, in order.
type conversation struct {
	w     *network
	lines []string
}

// listen notes what all nodes say from now on.
func (w *network) listen() *conversation {
	c := &conversation{w: w}
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case node.Call:
				c.add(h, "asks "+e.To.String(), protocol.EncodeCall(nil, h.id.Port(), e.Call))
			case node.Respond:
				if e.Fault != nil {
					c.add(h, "refuses", protocol.EncodeFault(nil, e.Fault))
				} else {
					c.add(h, "answers", protocol.EncodeReply(nil, e.Reply))
				}
			}
		}
	}
	return c
}

func (c *conversation) add(h *testHost, what string, wire []byte) {
	c.lines = append(c.lines, fmt.Sprintf("%v %s %s %s", c.w.Now().Sub(epoch), h.id, what, wire))
}

// sameAs fails the test where two conversations differ.
func (c *conversation) sameAs(t *testing.T, name string, other *conversation) {
	t.Helper()
	for i := range min(len(c.lines), len(other.lines)) {
		if c.lines[i] != other.lines[i] {
			t.Fatalf("%s: of %d lines, number %d is\n%.600s\nand\n%.600s", name, len(c.lines), i, c.lines[i],
				other.lines[i])
		}
	}
	if len(c.lines) != len(other.lines) {
		t.Fatalf("%s: %d lines and %d", name, len(c.lines), len(other.lines))
	}
}

// A neighborhood is a network of a node that may follow news, of some that do and some that do not, and of strangers
// that try to find out.
type neighborhood struct {
	w     *network
	quiet *testHost
	list  []*testHost
	rng   *rand.Rand // of the strangers
	heard *conversation
}

func newNeighborhood(t *testing.T, seed uint64, c node.Config) *neighborhood {
	w := newNetwork(t)
	h := &neighborhood{w: w, rng: rand.New(rand.NewPCG(seed, 7))}
	w.rng = rand.New(rand.NewPCG(seed, 2))
	for _, u := range []feed.URL{news, blog, essays} {
		w.feed(u)
	}
	h.heard = w.listen()
	c.Trackers, c.AdvertInterval = []string{tracker}, 2*time.Minute
	h.quiet = w.add(c, blog)
	plain := node.Config{Trackers: c.Trackers, AdvertInterval: c.AdvertInterval, MaxNeighbors: 4, MinNeighbors: 3}
	for i := range 7 {
		feeds := []feed.URL{blog}
		if i%2 == 0 {
			feeds = append(feeds, news)
		}
		if i%3 == 0 {
			feeds = append(feeds, essays)
		}
		w.run(time.Duration(h.rng.Int64N(int64(10 * time.Second)))) // what nodes do at the same moment has no order
		h.list = append(h.list, w.add(plain, feeds...))
	}
	for at := time.Minute; at < 48*time.Hour; at += time.Duration(1+h.rng.IntN(30)) * time.Minute {
		w.At(epoch.Add(at), func() { w.publish([]feed.URL{news, blog, essays}[h.rng.IntN(3)]) })
	}
	return h
}

// pry has strangers, who have links, try whatever shows what a node knows of news.
func (h *neighborhood) pry() {
	q, u := h.quiet, news
	entries := h.w.feeds[u].entries
	if q.node.Status().Neighbors == 0 || len(entries) == 0 || !q.Running() {
		return
	}
	from := h.w.hosts[q.node.LinkIDs()[h.rng.IntN(q.node.Status().Neighbors)]]
	e := entries[max(0, len(entries)-1-h.rng.IntN(5))]
	altered := e
	altered.Title, altered.Updated = "altered", e.Published.Add(time.Duration(h.rng.IntN(300))*time.Second)
	made := feed.Entry{Feed: u, ID: fmt.Sprint("made up ", h.rng.Uint64()), Title: "made up", Published: h.w.Now()}
	undated := feed.Entry{Feed: u, ID: "undated", Title: "undated"}
	bundle := protocol.NewBundle(u, []feed.Entry{[]feed.Entry{e, altered, made, undated}[h.rng.IntN(4)]})
	if h.rng.IntN(2) == 0 {
		bundle.Path = []protocol.NodeID{stranger(1)}
	}
	ids := []feed.EntryID{e.EntryID(), made.EntryID()}
	calls := []protocol.Call{
		protocol.GetNeighbors{},
		protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u, Limit: 20}}},
		protocol.QueryFeed{Query: protocol.Query{ID: fmt.Sprint(h.rng.Uint64()), Hops: 2, Budget: 8,
			Filter: feed.Filter{IDs: ids, Limit: 20}}},
		protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Title: []string{"entry"}, Limit: 20,
			Relevance: true}}},
		protocol.GetEntries{Wanted: []protocol.Wanted{{ID: ids[0], Digest: altered.Digest()}, {ID: ids[0]},
			{ID: ids[1]}}},
		protocol.UpdateSubset{Changes: protocol.Subset{{Feed: u, Hops: h.rng.IntN(5) - 1}}},
		protocol.StateAccount{},
	}
	if h.rng.IntN(25) == 0 { // these end in broken promises, and a node that breaks many is no neighbor any more
		calls = []protocol.Call{
			protocol.CheckDID{DID: bundle.DID, Feed: u},
			protocol.CheckDIDs{DIDs: []protocol.DID{bundle.DID}},
			protocol.PutEntries{Bundle: bundle},
		}
	}
	q.askedBy(from, calls[h.rng.IntN(len(calls))], func(node.Respond) {})
}

// run lets d pass, and strangers pry.
func (h *neighborhood) run(d time.Duration) {
	for end := h.w.Now().Add(d); h.w.Now().Before(end); {
		h.w.run(time.Duration(1+h.rng.IntN(240)) * time.Second)
		h.pry()
	}
}

// script has the node that may follow news do so, restart, and follow it no more, and returns how many entries of it
// own polls brought last, and how many neighbors.
func (h *neighborhood) script(follows bool) (polled, delivered int64) {
	follow := func(is bool) {
		if yes := true; follows && is {
			h.quiet.step(node.Subscribe{Feeds: []feed.URL{news}, Discreet: &yes, Weight: 9})
		} else if follows {
			h.quiet.step(node.Unsubscribe{Feeds: []feed.URL{news}})
		}
	}
	p := h.w.feeds[news]
	follow(true)
	h.run(7 * time.Hour)
	p.clients = []string{stranger(2).String()}
	for k := range p.entries {
		p.entries[k].Title += ", edited"
	}
	p.edits++
	h.run(3 * time.Hour)
	h.quiet.kill()
	h.quiet.start()
	h.run(3 * time.Hour)
	p.private = true
	if yes := true; follows {
		h.quiet.step(node.Subscribe{Feeds: []feed.URL{news}, Private: &yes})
	}
	h.run(2 * time.Hour)
	if s := h.quiet.node.Feed(news); s != nil {
		polled, delivered = s.Polled, s.Delivered
		if !s.LastSuccess.After(epoch.Add(12 * time.Hour)) {
			h.w.t.Errorf("last polled at %v", s.LastSuccess)
		}
	}
	follow(false)
	h.run(3 * time.Hour)
	h.quiet.kill()
	h.run(3 * time.Minute)
	h.quiet.start()
	h.run(2 * time.Hour)
	follow(true)
	h.run(2 * time.Hour)
	return polled, delivered
}

// A node says and does the same whether it follows a feed discreetly or not at all: to neighbors who are honest and
// to strangers who try everything, from the first moment, while relays rest and prospects are watched, at restarts,
// when the feed is followed no more, while its publisher edits entries, lists clients or wants nothing passed on, and
// where own polls are the first to bring an entry.
func TestADiscreetFeedChangesNothingThatOthersSee(t *testing.T) {
	for seed := range uint64(6) {
		c := node.Config{MaxNeighbors: 5, MinNeighbors: 3, MaxRelayed: 1 + int(seed%3), Volunteer: int(seed % 2)}
		if seed == 5 {
			c.Incentive.Bound = 10
		}
		var heard [2]*conversation
		polled, delivered := int64(0), int64(0)
		for i, follows := range []bool{false, true} {
			h := newNeighborhood(t, seed, c)
			p, d := h.script(follows)
			polled, delivered = polled+p, delivered+d
			heard[i] = h.heard
		}
		heard[0].sameAs(t, fmt.Sprint("seed ", seed), heard[1])
		t.Logf("seed %d: %d lines; since its start the node polled %d entries, and neighbors brought it %d", seed,
			len(heard[0].lines), polled, delivered)
	}
}

// From the moment at which a feed is followed discreetly that was followed openly before, a node is like one that
// follows it no more.
func TestWhoTurnsDiscreetSeemsToFollowNoMore(t *testing.T) {
	for seed := range uint64(4) {
		var heard [2]*conversation
		for i, follows := range []bool{false, true} {
			h := newNeighborhood(t, seed, node.Config{MaxNeighbors: 5, MinNeighbors: 3, MaxRelayed: 2})
			h.quiet.step(node.Subscribe{Feeds: []feed.URL{news}})
			h.run(5 * time.Hour)
			if yes := true; follows {
				h.quiet.step(node.Subscribe{Feeds: []feed.URL{news}, Discreet: &yes})
			} else {
				h.quiet.step(node.Unsubscribe{Feeds: []feed.URL{news}})
			}
			p := h.w.feeds[news]
			for k := range p.entries {
				p.entries[k].Title += ", edited"
			}
			p.edits++
			h.run(6 * time.Hour)
			heard[i] = h.heard
		}
		heard[0].sameAs(t, fmt.Sprint("seed ", seed), heard[1])
	}
}
