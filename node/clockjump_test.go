package node

import (
	"fmt"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
)

// jump sets the clock of a network of one, whose node is woken and finds out.
func (w *network) jump(h *testHost, to time.Time) {
	w.queue, w.now, h.alarm = core.NewTimers(epoch), to, time.Time{}
	h.step(Wake{})
}

// A machine without a battery starts in 1970, and learns the time minutes later. What publishers were promised before
// holds nevertheless, and so does what they are promised meanwhile.
func TestAClockThatStartsIn1970(t *testing.T) {
	const feeds = 60
	w := newNetwork(t)
	var list []feed.URL
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://host%d.example.com/", i))
		list = append(list, u)
		w.feed(u).answer = func(f Fetch) Fetched {
			if i == 0 {
				return status(429, 10*24*time.Hour)
			}
			ev := listing(f.Feed, 1)
			if i%2 == 1 {
				ev.Freshness = courtesy.Freshness{Stated: true, Lifetime: 12 * time.Hour}
			}
			return ev
		}
	}
	h := w.add(Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, list...)
	w.run(13 * time.Hour)
	h.kill()
	due := make(map[feed.URL]time.Time)
	for _, f := range h.store.LoadFeeds() {
		due[f.URL] = f.NextPoll
	}
	left := w.now
	back := left.Add(3 * time.Hour)

	w.jump(h, time.Unix(0, 0))
	h.start()
	met := feed.URL("https://met.example.com/")
	w.feed(met).answer = func(f Fetch) Fetched {
		ev := listing(f.Feed, 1)
		ev.Freshness = courtesy.Freshness{Stated: true, Lifetime: 8 * time.Hour}
		return ev
	}
	h.step(Subscribe{Feeds: []feed.URL{met}})
	w.run(10 * time.Minute)
	w.jump(h, back)
	w.run(10 * time.Second)
	soon := 0
	for _, u := range list {
		if asked := w.feed(u).asked; asked[len(asked)-1].After(left) {
			soon++
		}
	}
	if soon > feeds/3 {
		t.Errorf("%d of %d feeds were polled within ten seconds", soon, feeds)
	}
	w.run(24 * time.Hour)
	for i, u := range list {
		var again time.Time
		for _, at := range w.feed(u).asked {
			if at.After(left) && again.IsZero() {
				again = at
			}
			if at.Before(left.Add(-24 * time.Hour)) {
				t.Errorf("%s was polled in %d", u, at.Year())
			}
		}
		switch {
		case i == 0:
			if !again.IsZero() {
				t.Errorf("%s was polled %v after it asked for ten days of rest", u, again.Sub(left))
			}
		case again.Before(due[u]) || again.After(core.Later(due[u], back).Add(2*time.Minute)):
			t.Errorf("%s was polled at %v, due at %v", u, again, due[u])
		}
	}
	if asked := w.feed(met).asked; len(asked) < 2 || asked[1].Before(back.Add(7*time.Hour)) {
		t.Errorf("what was subscribed to in 1970 and is fresh for 8 h was polled at %v, the clock was set at %v", asked,
			back)
	}
}

// A node that is a neighbor when the clock is set right is not one of decades, which we would prefer to all others from
// then on.
func TestNeighborsOfAClockThatStartsIn1970(t *testing.T) {
	w := newNetwork(t)
	h, _ := alone(w, func(_ int, f Fetch) Fetched { return listing(f.Feed, 1) })
	h.kill()
	w.jump(h, time.Unix(100, 0))
	h.start()
	id := w.play(stranger(1), func(*testHost, Call) protocol.Reply { return protocol.OK{} }).id
	h.inside(func(n *Node) { n.membership.Join(id, true, "", "", "", protocol.Subset{{Feed: news}}, nil) })
	w.run(time.Minute)
	w.jump(h, epoch)
	h.hears(w.hosts[id], protocol.Disconnect{})
	if peers := h.store.LoadPeers(); len(peers) != 1 || peers[0].Together <= 0 || peers[0].Together > time.Minute ||
		epoch.Sub(peers[0].FirstMet) > time.Hour {
		t.Errorf("remembers %v", peers)
	}
}

// A node that was a neighbor, and gave something, before the clock is set right is remembered as of a moment ago, by
// the next run too.
func TestAcquaintancesOfAClockThatStartsIn1970(t *testing.T) {
	w := newNetwork(t)
	h, _ := alone(w, func(_ int, f Fetch) Fetched { return listing(f.Feed, 1) })
	h.kill()
	w.jump(h, time.Unix(100, 0))
	h.start()
	id := w.play(stranger(1), func(*testHost, Call) protocol.Reply { return protocol.OK{} }).id
	h.inside(func(n *Node) {
		n.membership.Join(id, true, "", "", "", protocol.Subset{{Feed: news}}, nil)
		n.exchange.Earn(n.core.LinkTo(id), incentive.Entry)
	})
	h.hears(w.hosts[id], protocol.Disconnect{})
	w.run(time.Minute)
	w.jump(h, epoch)
	w.run(2 * core.SaveAccountsAfter)
	h.kill()
	h.start()
	if peers := h.store.LoadPeers(); len(peers) != 1 || epoch.Sub(peers[0].LastMet) > time.Hour {
		t.Errorf("remembers %v", peers)
	}
	if a, ok := h.node.core.Ledger.Account(incentive.HolderOf(id)); !ok || epoch.Sub(a.Met) > time.Hour {
		t.Errorf("its account is %+v, %v", a, ok)
	}
}

// So does what a host was told, by an earlier run and by this one.
func TestHostsOfAClockThatStartsIn1970(t *testing.T) {
	w := newNetwork(t)
	wait := 20 * 24 * time.Hour
	h, asked := shared(w, "news.example.com", 3, func(_ int, f Fetch) Fetched { return status(429, wait) })
	w.run(time.Hour)
	h.kill()
	*asked = nil
	begun := w.now
	w.jump(h, time.Unix(0, 0))
	h.start()
	w.run(time.Minute)
	w.jump(h, begun.Add(time.Hour))
	w.run(wait - 3*time.Hour)
	if len(*asked) > 0 {
		t.Errorf("%d requests to a host that was told to be left alone for 20 days", len(*asked))
	}
	w.run(4 * 24 * time.Hour)
	if len(*asked) == 0 {
		t.Error("the host was never asked again")
	}
}

// After a sleep of months feeds are polled about as soon as after one of hours.
func TestASleepOfMonths(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f Fetch) Fetched { return listing(f.Feed, 1) })
	w.run(time.Hour)
	before := len(p.asked)
	w.jump(h, w.now.Add(90*24*time.Hour))
	w.run(30 * time.Minute)
	if len(p.asked) == before {
		t.Error("a feed of every 20 minutes was not polled within half an hour")
	}
}
