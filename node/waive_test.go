package node_test

import (
	"net/netip"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// The first poll of a feed that comes in a list is left out where neighbors of two networks follow the feed and its
// name is public: the node asks neighbors for its past and polls within its interval, from when on it reads the
// publisher's own archive. Else it polls within a minute, and at once where its owner entered it or nobody can be
// waited for.
func TestFirstPollsAreWaived(t *testing.T) {
	const every = 4 * time.Hour
	for name, c := range map[string]struct {
		followers, hops                               int
		sameNetwork, entered, again, discreet, silent bool
		local                                         bool
		past                                          time.Duration
		waived, atOnce                                bool
	}{
		"two follow it":              {followers: 2, past: time.Hour, waived: true},
		"two relay it":               {followers: 2, past: time.Hour, hops: 1, waived: true},
		"two relays are farther":     {followers: 2, past: time.Hour, hops: 2},
		"two of one network":         {followers: 2, past: time.Hour, sameNetwork: true},
		"one follows it":             {followers: 1, past: time.Hour},
		"its name is not public":     {followers: 2, past: time.Hour, local: true},
		"its owner enters it":        {followers: 2, past: time.Hour, entered: true, atOnce: true},
		"its owner enters it again":  {followers: 2, past: time.Hour, again: true, atOnce: true},
		"it is discreet":             {followers: 2, past: time.Hour, discreet: true, atOnce: true},
		"no past is wanted":          {followers: 2, atOnce: true},
		"the network is never asked": {followers: 2, past: time.Hour, silent: true, atOnce: true},
		"there are no neighbors":     {past: time.Hour, atOnce: true},
	} {
		w := newNetwork(t)
		w.feed(blog)
		p := w.feed(news)
		p.local = c.local
		w.withOlder("https://news.example.com/older")
		config := node.Config{Policy: polling.Fixed{Every: every}, Backfill: c.past}
		if c.silent {
			config.QueryNetwork = node.NeverNetwork
		}
		h := w.add(config)
		for i := range c.followers {
			id := friendID(i)
			if c.sameNetwork {
				id = protocol.NewNodeID(netip.AddrFrom4([4]byte{21, 0, 0, byte(1 + i)}), 7790)
			}
			eagerAt(h, id, nil, protocol.Notify{}.Method())
			h.inside(func(n *node.Node) {
				n.Join(id, false, "token of "+id.String(), protocol.Subset{{Feed: news, Hops: c.hops}})
			})
		}
		feeds := []feed.URL{news, blog}
		if c.entered {
			feeds = feeds[:1]
		}
		h.step(node.Subscribe{Feeds: feeds, Discreet: &c.discreet})
		if c.again {
			h.step(node.Subscribe{Feeds: []feed.URL{news}})
		}
		w.run(time.Second)
		atOnce := len(p.asked) > 0
		w.run(2 * time.Minute)
		soon, past := len(p.asked) > 0, h.node.Subscription(news).Past.Stage
		w.run(every)
		if atOnce != c.atOnce || soon == c.waived || len(p.asked) == 0 {
			t.Errorf("%s: polled at once %v, soon %v, %d times in an interval", name, atOnce, soon, len(p.asked))
		}
		if n := h.node.Status().Counters.PollsWaived; n > 1 || n == 1 != c.waived {
			t.Errorf("%s: %d polls are counted as waived", name, n)
		}
		then := h.node.Subscription(news).Past.Stage
		if c.waived && (past != archive.PastNetwork || then != archive.PastPublisher) {
			t.Errorf("%s: its past is at %q, and after a poll at %q", name, past, then)
		}
	}
}

// Where neighbors bring nothing of a feed that they say they have, its first poll is made after all.
func TestAWaivedPollIsMadeWhereNothingComes(t *testing.T) {
	for _, filled := range []int{0, 1} {
		w := newNetwork(t)
		w.feed(blog)
		p := w.feed(news)
		h := w.add(node.Config{Policy: polling.Fixed{Every: 40 * time.Hour}, Backfill: time.Hour})
		for i := range 2 {
			eager(h, i, nil, protocol.Notify{}.Method())
		}
		h.step(node.Subscribe{Feeds: []feed.URL{news, blog}})
		w.run(2 * time.Minute)
		if len(p.asked) > 0 {
			t.Fatalf("%d polls in two minutes", len(p.asked))
		}
		from := h.node.Subscription(news).Past
		past := from
		past.Steps, past.Filled = 1, filled
		h.step(node.Backfilled{Feed: news, From: from, Past: past})
		w.run(time.Minute)
		if polled := len(p.asked) > 0; polled != (filled == 0) {
			t.Errorf("%d entries came, and it is polled: %v", filled, polled)
		}
		if n := h.node.Status().Counters.PollsWaived; n != int64(filled) {
			t.Errorf("%d entries came, and %d polls are counted as waived", filled, n)
		}
	}
}

// What came out after a first poll was waived, and nobody brought, is news to others when the poll comes. A node that
// starts again before it does polls soon: the next run does not speak of the feed until then.
func TestAfterAWaivedPoll(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := newNetwork(t)
		w.feed(blog)
		w.publish(news)
		h := w.add(node.Config{Policy: polling.Fixed{Every: 40 * time.Hour}, Backfill: time.Hour})
		for i := range 2 {
			eager(h, i, nil, protocol.Notify{}.Method())
		}
		h.step(node.Subscribe{Feeds: []feed.URL{news, blog}})
		w.run(2 * time.Minute)
		w.publish(news)
		p, begun := w.feed(news), w.Now()
		if len(p.asked) > 0 {
			t.Fatalf("%d polls in two minutes", len(p.asked))
		}
		if again {
			h.start()
		}
		for len(p.asked) == 0 {
			w.run(time.Minute)
		}
		if soon := w.Now().Sub(begun) < 2*time.Minute; soon != again {
			t.Errorf("it starts again: %v, the poll comes after %v", again, w.Now().Sub(begun))
		}
		w.run(time.Minute)
		if sent := h.node.Status().Counters.ChecksSent; !again && sent != 2 {
			t.Errorf("the new entry is offered %d times, want twice", sent)
		}
	}
}

// A feed whose first poll was waived is polled as rarely as one that neighbors bring.
func TestAWaivedFeedIsPolledAsWithNeighbors(t *testing.T) {
	for want, policy := range map[time.Duration]polling.Policy{
		40 * time.Hour: polling.Fixed{Every: 40 * time.Hour},
		4 * time.Hour:  polling.Auto{},
		3 * time.Hour:  polling.Auto{Range: polling.Range{Max: 45 * time.Minute}},
	} {
		w := newNetwork(t)
		w.feed(blog)
		w.feed(news)
		h := w.add(node.Config{Policy: policy, Backfill: time.Hour})
		for i := range 2 {
			eager(h, i, nil, protocol.Notify{}.Method())
		}
		h.step(node.Subscribe{Feeds: []feed.URL{news, blog}})
		w.run(2 * time.Minute)
		if f := h.node.Feed(news); h.node.Status().Counters.PollsWaived == 0 || f.Interval != want {
			t.Errorf("%T: an interval of %v after a waived poll, want %v", policy, f.Interval, want)
		}
	}
}
