package node_test

import (
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A hearer is a neighbor that is no node: it takes what it is given, and says what the test wants it to.
type hearer struct {
	*testHost
	of      *testHost
	set     protocol.Subset  // what it answers to a connect
	heard   map[feed.URL]int // what it was told of the other's interest
	linked  bool
	adverts []time.Time // when it was told of changes
	got     int         // entries
}

// hearer makes a neighbor-to-be of h.
func (h *testHost) hearer(id protocol.NodeID) *hearer {
	p := &hearer{of: h}
	p.testHost = h.net.play(id, func(_ *testHost, c node.Call) protocol.Reply {
		switch c := c.Call.(type) {
		case protocol.Connect:
			p.link(c.Subset)
			return p.set
		case protocol.Vouch:
			return protocol.Vouched(true)
		case protocol.UpdateSubset:
			p.adverts = append(p.adverts, h.net.Now())
			p.hear(c.Changes)
		case protocol.CheckDID:
			return protocol.Seen(false)
		case protocol.PutEntries:
			p.got += len(c.Bundle.Entries)
		case protocol.Disconnect:
			p.linked = false
		}
		return protocol.OK{}
	})
	return p
}

func (p *hearer) hear(changes protocol.Subset) {
	for _, in := range changes {
		if in.Hops < 0 {
			delete(p.heard, in.Feed)
		} else {
			p.heard[in.Feed] = in.Hops
		}
	}
}

// connect has the neighbor connect, anew if it is linked.
func (p *hearer) connect(subset protocol.Subset) {
	r := p.of.answerTo(p.id, "token of "+p.id.String(), protocol.Connect{Subset: subset})
	if answer, _ := r.Reply.(protocol.Subset); len(answer) > 0 {
		p.link(answer)
	}
}

func (p *hearer) link(offered protocol.Subset) {
	p.heard, p.linked = make(map[feed.URL]int), true
	p.hear(offered)
}

// say has the neighbor advertise changes.
func (p *hearer) say(changes protocol.Subset) {
	p.of.answerTo(p.id, "token of "+p.id.String(), protocol.UpdateSubset{Changes: changes})
}

// subset draws one to four interests, among them withdrawals if it is a set of changes.
func subset(t *rapid.T, label string, least int) (s protocol.Subset) {
	for _, u := range rapid.SliceOfNDistinct(rapid.SampledFrom([]feed.URL{news, blog, comic, "https://example.com/"}),
		1, 4, rapid.ID).Draw(t, label) {
		s = append(s, protocol.Interest{Feed: u, Hops: rapid.IntRange(least, 4).Draw(t, label)})
	}
	return s
}

// Paper §3.1: "the advertised set must be computed for each neighbor excluding the neighbor in question". A node
// lives through the same twice, but that one of its neighbors says something else each time: it is told the same
// both times, at every moment.
func TestAdvertsDoNotDependOnTheHearersOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		type deed struct {
			kind   int
			subset protocol.Subset
			words  [2]protocol.Subset // what the hearer says in either life
			feed   feed.URL
			wait   time.Duration
		}
		var deeds []deed
		for range rapid.IntRange(1, 20).Draw(rt, "deeds") {
			deeds = append(deeds, deed{
				kind:   rapid.IntRange(0, 6).Draw(rt, "kind"),
				subset: subset(rt, "subset", protocol.Withdrawn),
				words: [2]protocol.Subset{subset(rt, "words", protocol.Withdrawn),
					subset(rt, "words", protocol.Withdrawn)},
				feed: rapid.SampledFrom([]feed.URL{news, blog}).Draw(rt, "feed"),
				wait: time.Duration(rapid.IntRange(0, 100).Draw(rt, "wait")) * time.Second,
			})
		}
		live := func(words int) (told []map[feed.URL]int) {
			w := newNetwork(t)
			for _, u := range []feed.URL{news, blog, comic, "https://own.example.com/"} {
				w.feed(u)
			}
			n := w.add(node.Config{AdvertInterval: time.Minute, MinNeighbors: 1}, "https://own.example.com/")
			w.run(time.Second)
			p, q := n.hearer(stranger(0)), n.hearer(stranger(1))
			p.connect(protocol.Subset{{Feed: comic}})
			for _, d := range deeds {
				switch d.kind {
				case 0:
					p.connect(d.words[words])
				case 1, 2:
					p.say(d.words[words])
				case 3:
					q.connect(d.subset)
				case 4:
					q.say(d.subset)
				case 5:
					n.step(node.Subscribe{Feeds: []feed.URL{d.feed}})
				case 6:
					n.step(node.Unsubscribe{Feeds: []feed.URL{d.feed}})
				}
				w.run(d.wait)
				if !p.linked {
					rt.Fatal("the hearer was sent away")
				}
				told = append(told, maps.Clone(p.heard))
			}
			return told
		}
		first, other := live(0), live(1)
		for i := range first {
			if !maps.Equal(first[i], other[i]) {
				rt.Fatalf("after deed %d it was told %v in one life, %v in the other", i, first[i], other[i])
			}
		}
	})
}
