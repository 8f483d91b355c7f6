package node_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
	"feedex/protocol"
)

// Feeds that a node polls for neighbors who want them.

// advertise has a neighbor say what it wants at which hop count.
func (h *testHost) advertise(from *testHost, hops int, feeds ...feed.URL) {
	var changes protocol.Subset
	for _, u := range feeds {
		changes = append(changes, protocol.Interest{Feed: u, Hops: hops})
	}
	h.hears(from, protocol.UpdateSubset{Changes: changes})
}

// lone is the address of the i-th of many feeds, each on a host of its own.
func lone(i int) feed.URL { return feed.URL(fmt.Sprintf("https://lone%d.example.com/feed", i)) }

// patron is a neighbor of h that follows feeds, answers calls, and has earned its standing.
func patron(h *testHost, i int, feeds ...feed.URL) *testHost {
	p := eagerAt(h, friendID(i), nil, protocol.Notify{}.Method())
	h.advertise(p, 0, feeds...)
	h.advertise(p, protocol.Withdrawn, news)
	h.inside(func(n *node.Node) { n.Got(p.id, 10*incentive.Entry) })
	return p
}

// volunteer is a node that follows news and polls so many feeds for others.
func (w *network) volunteer(most int) *testHost {
	w.feed(news)
	h := w.add(node.Config{Volunteer: most, AdvertInterval: time.Minute,
		PrivateHosts: []string{"wiki.example.com"}}, news)
	w.run(time.Second)
	return h
}

// wantVolunteered fails where h polls other feeds for others than these.
func wantVolunteered(t *testing.T, h *testHost, want ...feed.URL) {
	t.Helper()
	slices.Sort(want)
	if got := h.node.Status().Volunteered; !slices.Equal(got, want) {
		t.Errorf("volunteered are %v, want %v", got, want)
	}
	var kept []feed.URL
	for _, f := range h.store.LoadFeeds() {
		if !f.Volunteered.IsZero() {
			kept = append(kept, f.URL)
		}
	}
	if !slices.Equal(kept, want) {
		t.Errorf("volunteered that are kept are %v, want %v", kept, want)
	}
}

// wantAsked fails where a publisher was asked another number of times.
func wantAsked(t *testing.T, w *network, u feed.URL, want int) {
	t.Helper()
	if got := w.feed(u).requests; got != want {
		t.Errorf("%s was asked for %d times, want %d", u, got, want)
	}
}

// A node polls for neighbors of standing what one of them follows and hardly anybody polls, once that was so for a
// while: four new feeds a day, and as many as its owner wants. To others such a feed is as one that is followed, and to
// its owner as one that is relayed.
func TestVolunteersPollWhatNeighborsWant(t *testing.T) {
	w := newNetwork(t)
	a := w.volunteer(6)
	var feeds []feed.URL
	for i := range 8 {
		feeds = append(feeds, lone(i))
		w.publish(lone(i))
	}
	p := patron(a, 0, feeds...)
	w.run(poller.VolunteerWatch - time.Minute)
	wantVolunteered(t, a)
	w.run(5 * time.Minute)
	begun := a.node.Status().Volunteered
	if len(begun) != poller.VolunteersADay {
		t.Fatalf("within a day it began with %v", begun)
	}
	for _, u := range begun {
		wantAsked(t, w, u, 1)
		if told := a.node.Told(u, p.id); told != 0 {
			t.Errorf("it is advertised at hop count %d", told)
		}
		if f := a.stored(u); f.Subscribed || f.Title != "Title" || !f.Since.IsZero() {
			t.Errorf("it is kept as %+v", f)
		}
		if a.node.Feed(u) != nil || !a.has(w.feeds[u].entries[0].EntryID()) {
			t.Error("it is shown as a feed of the owner, or not kept at all")
		}
	}
	if s := a.node.Status(); s.Feeds != 1 || s.Alone != 1 || len(a.node.Feeds()) != 1 {
		t.Errorf("the owner follows %d feeds", s.Feeds)
	}
	w.run(24*time.Hour - 10*time.Minute)
	if got := len(a.node.Status().Volunteered); got != 4 {
		t.Errorf("after nearly a day it polls %d", got)
	}
	w.run(20 * time.Minute)
	if got := len(a.node.Status().Volunteered); got != 6 {
		t.Errorf("of 8 feeds it polls %d, want 6", got)
	}
	w.run(3 * 24 * time.Hour)
	if got := len(a.node.Status().Volunteered); got != 6 {
		t.Errorf("of 8 feeds it polls %d, want 6", got)
	}
	if got := w.feed(begun[0]).requests; got < 24 {
		t.Errorf("a feed was polled %d times in four days, want each hour as an own one", got)
	}
}

// To publishers whoever polls for others alone is no subscriber: those for whom it polls say so themselves.
func TestAVolunteerIsNoSubscriber(t *testing.T) {
	w := newNetwork(t)
	w.publish(lone(0))
	polls := make(map[feed.URL]int)
	w.watch = func(_ *testHost, _ node.Event, effects []node.Effect) {
		for _, effect := range effects {
			if f, ok := effect.(node.Fetch); ok && !f.Locate {
				if polls[f.Feed]++; f.Reader != (f.Feed == news) {
					t.Errorf("a poll of %s is for a reader: %v", f.Feed, f.Reader)
				}
			}
		}
	}
	patron(w.volunteer(6), 0, lone(0))
	w.run(poller.VolunteerWatch + time.Hour)
	if polls[news] == 0 || polls[lone(0)] == 0 {
		t.Errorf("polls %v", polls)
	}
}

// The first are those that one neighbor follows and nobody else offers. What three nodes poll, by adverts, bundles or
// notices, needs nobody else.
func TestVolunteersChooseLoneFollowersFirst(t *testing.T) {
	const two, three, heard, relayed feed.URL = "https://two.example.com/", "https://three.example.com/",
		"https://heard.example.com/", "https://relayed.example.com/"
	w := newNetwork(t)
	a := w.volunteer(2)
	for _, u := range []feed.URL{two, three, heard, relayed, lone(0)} {
		w.feed(u)
	}
	p, q := patron(a, 0, two, three, heard, relayed, lone(0)), patron(a, 1, two, three)
	hears := func(i int) {
		path := []protocol.NodeID{friendID(50 + i)}
		n := protocol.Notice{Feed: heard, Path: path}
		n.Sign(keyFrom(path[0]), w.Now())
		a.hears(p, protocol.Notify{Notices: []protocol.Notice{n}})
	}
	a.advertise(patron(a, 2, three), 1, relayed)
	for i := range 2 {
		hears(i)
	}
	w.run(2 * time.Minute) // they are prospects by now
	for i := range 2 {
		hears(i)
		w.run(2 * time.Minute)
	}
	w.run(poller.VolunteerWatch)
	wantVolunteered(t, a, lone(0), relayed)
	a.advertise(q, protocol.Withdrawn, two) // it makes no difference to those that are polled
	a.config.Volunteer = 10
	a.kill()
	a.start()
	patron(a, 0, two, three, heard, relayed, lone(0))
	patron(a, 1, two, three)
	patron(a, 2, three)
	w.run(2 * time.Minute)
	for i := range 2 {
		hears(i)
		w.run(2 * time.Minute)
	}
	w.run(poller.VolunteerWatch)
	wantVolunteered(t, a, lone(0), relayed, two)
}

// Nobody is asked for what a stranger names, or whose address says that it is somebody's own, or that its owner keeps
// from others; nor for a third feed of a host, nor for a second before the first has shown to be a feed.
func TestWhatIsNeverVolunteered(t *testing.T) {
	const secret, local, wiki feed.URL = "https://example.com/feed?token=7d3f1c9a5b2e8d4f6a0c1b3e5d7f9a2c",
		"https://printer.local/feed", "https://wiki.example.com/feed"
	w := newNetwork(t)
	a := w.volunteer(10)
	withheld, discreet := lone(10), lone(11)
	named := []feed.URL{secret, local, wiki, withheld, discreet}
	for i := range 3 {
		named = append(named, feed.URL(fmt.Sprintf("https://many.example.com/%d", i)))
	}
	for _, u := range append(named, lone(0)) {
		w.feed(u)
	}
	yes := true
	a.step(node.Subscribe{Feeds: []feed.URL{withheld}, Private: &yes})
	a.follow(true, discreet)
	w.run(time.Minute)
	once := lone(12)
	a.step(node.Subscribe{Feeds: []feed.URL{once}, Private: &yes})
	w.feed(once)
	w.run(time.Minute)
	a.step(node.Unsubscribe{Feeds: []feed.URL{withheld, once}})
	before := w.feed(withheld).requests + w.feed(once).requests
	patron(a, 0, append(named, once)...)
	a.advertise(eagerAt(a, friendID(1), nil), 0, lone(0))
	w.run(4 * 24 * time.Hour)
	got := a.node.Status().Volunteered
	if len(got) != 2 || got[0].Host() != "many.example.com" || got[1].Host() != "many.example.com" {
		t.Errorf("volunteered are %v", got)
	}
	if first, second := w.feed(got[0]).asked[0], w.feed(got[1]).asked[0]; first.Equal(second) {
		t.Error("the second feed of a host was asked for before the first was read")
	}
	for _, u := range []feed.URL{secret, local, wiki, lone(0)} {
		wantAsked(t, w, u, 0)
	}
	if n := w.feed(withheld).requests + w.feed(once).requests; n != before {
		t.Errorf("what its owner kept was asked for %d times", n-before)
	}
	if told := a.node.Told(discreet, friendID(0)); told == 0 {
		t.Error("a discreet feed is advertised as if it were followed")
	}
}

// What gives no feed is asked for once and never again, nor is another address of its host, over a restart too; and one
// that ends while it was never read is not taken up again.
func TestWhatIsNoFeedIsNeverAskedForAgain(t *testing.T) {
	const page, other, empty feed.URL = "https://page.example.com/a", "https://page.example.com/b",
		"https://empty.example.com/feed"
	for name, answer := range map[string]node.Fetched{
		"a page": {Status: 200, Err: errors.New("no feed"), Names: `[{"url":"https://page.example.com/b"}]`,
			Instead: other},
		"nothing":      {Status: 404, Err: errors.New("HTTP status 404")},
		"nobody there": {Err: errors.New("no answer"), Unreached: true},
	} {
		w := newNetwork(t)
		a := w.volunteer(10)
		for _, u := range []feed.URL{page, other} {
			w.feed(u).answer = func(node.Fetch) node.Fetched { return answer }
		}
		w.feed(empty).slow = time.Hour
		feeds := []feed.URL{page, other, empty}
		patron(a, 0, feeds...)
		w.run(poller.VolunteerWatch + 5*time.Minute)
		wantVolunteered(t, a, empty)
		if a.node.Told(empty, friendID(0)) == 0 {
			t.Error("a feed is advertised that was not read yet")
		}
		a.kill()
		a.start()
		patron(a, 0, feeds...)
		w.run(40 * 24 * time.Hour)
		wantVolunteered(t, a)
		wantAsked(t, w, empty, 1)
		if n := w.feed(page).requests + w.feed(other).requests; n != 1 {
			t.Errorf("%s: the host was asked %d times, want once", name, n)
		}
		if a.node.Feed(other) != nil {
			t.Errorf("%s: a feed is followed that a page named", name)
		}
	}
}

// A publisher that refuses a poll, wants fewer, or asks that nothing be passed on is asked by no volunteer any more,
// whomever the poll was for.
func TestNobodyVolunteersToGetRoundARefusal(t *testing.T) {
	const one, two, third feed.URL = "https://host.example.com/1", "https://host.example.com/2",
		"https://host.example.com/3"
	for name, answer := range map[string]func() node.Fetched{
		"401": func() node.Fetched { return node.Fetched{Status: 401, Err: errors.New("HTTP status 401")} },
		"403": func() node.Fetched { return node.Fetched{Status: 403, Err: errors.New("HTTP status 403")} },
		"429": func() node.Fetched { return node.Fetched{Status: 429, Err: errors.New("HTTP status 429")} },
		"a time": func() node.Fetched {
			return node.Fetched{Status: 503, RetryAfter: time.Hour, Err: errors.New("HTTP status 503")}
		},
		"a time with a document": func() node.Fetched {
			return node.Fetched{Status: 200, RetryAfter: time.Hour, Document: &feed.Document{Title: "Title"}}
		},
		"a wish": func() node.Fetched {
			return node.Fetched{Status: 200, Document: &feed.Document{Title: "Title", Private: true}}
		},
	} {
		for _, own := range []bool{false, true} {
			w := newNetwork(t)
			a := w.volunteer(10)
			for _, u := range []feed.URL{one, two, third} {
				w.feed(u)
			}
			refused := one
			if own {
				a.step(node.Subscribe{Feeds: []feed.URL{third}})
				refused = third
			}
			patron(a, 0, one, two)
			w.run(poller.VolunteerWatch + 10*time.Minute)
			wantVolunteered(t, a, one, two)
			w.feed(refused).answer = func(node.Fetch) node.Fetched { return answer() }
			w.run(2 * time.Hour)
			wantVolunteered(t, a)
			if a.node.Told(two, friendID(0)) == 0 {
				t.Errorf("%s: it is still advertised", name)
			}
			asked := w.feed(one).requests + w.feed(two).requests
			w.feed(refused).answer = nil
			w.run(poller.VolunteerWatch)
			a.step(node.Unsubscribe{Feeds: []feed.URL{third}})
			a.kill()
			a.start()
			patron(a, 0, one, two)
			w.run(20 * 24 * time.Hour)
			if n := w.feed(one).requests + w.feed(two).requests; n != asked {
				t.Errorf("%s, own %v: it was asked %d times more", name, own, n-asked)
			}
		}
	}
}

// A feed that nobody of standing follows for an hour is given up, and taken up again once somebody does. It survives a
// restart, and that its neighbors are away; not that its owner wants fewer.
func TestVolunteeredFeedsAreGivenUp(t *testing.T) {
	w := newNetwork(t)
	a := w.volunteer(10)
	w.publish(lone(0))
	w.publish(lone(1))
	patron(a, 0, lone(0), lone(1))
	w.run(poller.VolunteerWatch + 5*time.Minute)
	wantVolunteered(t, a, lone(0), lone(1))
	a.kill()
	w.run(8 * time.Hour)
	a.start()
	w.run(poller.VolunteerPatience / 2) // nobody is there yet
	wantVolunteered(t, a, lone(0), lone(1))
	p, q := patron(a, 0, lone(0), lone(1)), patron(a, 1)
	w.run(2 * poller.VolunteerPatience)
	wantVolunteered(t, a, lone(0), lone(1))
	a.advertise(p, protocol.Withdrawn, lone(1))
	a.advertise(q, 1, lone(1)) // it has it from us
	w.run(poller.VolunteerPatience - 2*time.Minute)
	wantVolunteered(t, a, lone(0), lone(1))
	w.run(4 * time.Minute)
	wantVolunteered(t, a, lone(0))
	if told := a.node.Told(lone(1), p.id); told != 2 {
		t.Errorf("a feed that was given up is advertised at hop count %d, want 2", told)
	}
	asked := w.feed(lone(1)).requests
	w.run(5 * time.Hour)
	wantAsked(t, w, lone(1), asked)
	a.advertise(p, 0, lone(1))
	w.run(3 * time.Minute)
	wantVolunteered(t, a, lone(0), lone(1))
	a.kill()
	a.config.Volunteer = 0
	a.start()
	patron(a, 0, lone(0), lone(1))
	w.run(2 * time.Hour)
	wantVolunteered(t, a)
	if a.node.Told(lone(0), friendID(0)) == 0 {
		t.Error("a feed that is polled no more is advertised")
	}
}

// A feed that brings nothing for a week is given up, over a restart too, and rests from then on.
func TestVolunteeredFeedsRest(t *testing.T) {
	w := newNetwork(t)
	a := w.volunteer(10)
	w.publish(lone(0))
	w.publish(lone(1))
	patron(a, 0, lone(0), lone(1))
	w.run(poller.VolunteerWatch + 10*time.Minute)
	days := func(n int) {
		for range n {
			w.publish(lone(0))
			w.run(24 * time.Hour)
		}
	}
	days(3)
	a.kill()
	a.start()
	patron(a, 0, lone(0), lone(1))
	days(3)
	wantVolunteered(t, a, lone(0), lone(1))
	days(1)
	w.run(time.Hour)
	wantVolunteered(t, a, lone(0))
	days(29)
	wantVolunteered(t, a, lone(0))
	days(2)
	wantVolunteered(t, a, lone(0), lone(1))
}

// A feed that its owner follows becomes their own, and nobody hears of that; one that they follow no more may be polled
// for others, as any.
func TestOwnersFollowWhatIsVolunteered(t *testing.T) {
	w := newNetwork(t)
	a := w.volunteer(10)
	id := w.publish(lone(0))
	p := patron(a, 0, lone(0))
	w.run(poller.VolunteerWatch + 10*time.Minute)
	wantVolunteered(t, a, lone(0))
	adverts := count(a.calls, protocol.UpdateSubset{}.Method())
	a.follow(false, lone(0))
	w.run(10 * time.Minute)
	wantVolunteered(t, a)
	if f := a.node.Feed(lone(0)); f == nil || f.LastSuccess.IsZero() || !a.has(id) || !a.stored(lone(0)).Subscribed {
		t.Errorf("the owner's feed is %+v", f)
	}
	if n := count(a.calls, protocol.UpdateSubset{}.Method()); n != adverts || a.node.Told(lone(0), p.id) != 0 {
		t.Errorf("%d adverts tell of it, at hop count %d", n-adverts, a.node.Told(lone(0), p.id))
	}
	if claimed := a.status(p).Claimed; claimed != 4 {
		t.Errorf("the neighbor is worth %v, want 4 for the only feed of its kind", claimed)
	}
	a.step(node.Unsubscribe{Feeds: []feed.URL{lone(0)}})
	w.run(10 * time.Minute)
	if told := a.node.Told(lone(0), p.id); told > 1 {
		t.Errorf("it is advertised at hop count %d", told)
	}
	w.run(poller.VolunteerWatch)
	wantVolunteered(t, a, lone(0))
	if a.node.Feed(lone(0)) != nil || a.node.Told(lone(0), p.id) != 0 {
		t.Error("it is not polled for others alone")
	}
	a.follow(true, lone(0))
	w.run(time.Hour)
	wantVolunteered(t, a)
	if a.node.Told(lone(0), p.id) == 0 {
		t.Error("a discreet feed is advertised as if it were followed")
	}
}

// What a volunteer brings earns as any delivery does. What others bring of such a feed earns too, and makes them no
// better neighbors.
func TestVolunteersEarn(t *testing.T) {
	w := newNetwork(t)
	c := node.Config{AdvertInterval: time.Minute, Policy: polling.Fixed{Every: time.Hour}}
	b := w.full(1, c, news, lone(0))[0]
	c.Volunteer, c.Trackers = 5, []string{tracker}
	a := w.add(c, news)
	w.run(2 * time.Minute)
	a.inside(func(n *node.Node) { n.Got(b.id, 10*incentive.Entry) })
	w.run(poller.VolunteerWatch + time.Hour)
	wantVolunteered(t, a, lone(0))
	b.blocked[lone(0)] = true
	before := b.status(a)
	id := w.publish(lone(0))
	w.run(2 * time.Hour)
	if got := b.status(a).Got - before.Got; got != 1 || !b.has(id) {
		t.Errorf("what a volunteer brought earned %v", got)
	}
	b.blocked[lone(0)], a.blocked[lone(0)] = false, true
	before = a.status(b)
	id = w.publish(lone(0))
	w.run(2 * time.Hour)
	if got := a.status(b).Got - before.Got; got != 1 || !a.has(id) {
		t.Errorf("what a volunteer was brought earned %v", got)
	}
	if s := a.status(b); s.Observed != before.Observed || s.Overlap != 1 || s.Claimed != 4 {
		t.Errorf("it is worth more for that: %+v", s)
	}
	w.publish(news)
	w.run(2 * time.Hour)
}

// Each node of a network volunteers, and one follows a feed. A few nodes poll it beside that one, not all of them one
// after the other, as adverts alone would have it. Once nobody follows it any more nobody polls it, after a while.
func TestVolunteersDoNotFollowOneAnother(t *testing.T) {
	t.Parallel()
	w := newLargeNetwork(t)
	c := node.Config{Trackers: []string{tracker}, Volunteer: 10, Policy: polling.Fixed{Every: 4 * time.Hour},
		MaxNeighbors: 4, MinNeighbors: 3}
	w.feed(news)
	w.feed(blog)
	for i := range 16 {
		feeds := []feed.URL{news, blog}
		if i == 0 {
			feeds = append(feeds, lone(0))
			w.feed(lone(0))
		}
		w.addAt(protocol.NewNodeID(netip.AddrFrom4([4]byte{22, byte(i), 0, 1}), 7790), c, feeds...)
	}
	days := func(n int, alive bool) {
		for range 8 * n {
			w.run(3 * time.Hour)
			w.publish(news)
			w.publish(blog)
			if alive {
				w.publish(lone(0))
			}
		}
	}
	volunteers := func() (count int) {
		for _, h := range w.list {
			count += len(h.node.Status().Volunteered)
		}
		return count
	}
	days(8, true)
	t.Logf("%d of 16 nodes poll for one", volunteers())
	if n := volunteers(); n < 1 || n > 4 {
		t.Errorf("%d nodes poll for one", n)
	}
	w.list[0].step(node.Unsubscribe{Feeds: []feed.URL{lone(0)}})
	days(2, true)
	if n := volunteers(); n > 0 {
		t.Errorf("%d nodes poll for nobody", n)
	}
}

// Who comes later cannot tell by what a node says of its feeds which ones its owner follows: neither from its adverts,
// at a restart too, nor from the polls of which it tells.
func TestVolunteersHideWhatIsFollowed(t *testing.T) {
	w := newNetwork(t)
	a := w.volunteer(8)
	var own, others []feed.URL
	for i := range 4 {
		own, others = append(own, lone(i)), append(others, lone(10+i))
		w.publish(lone(i))
		w.publish(lone(10 + i))
	}
	a.step(node.Subscribe{Feeds: own})
	a.step(node.Unsubscribe{Feeds: []feed.URL{news}})
	all := append(slices.Clone(own), others...)
	slices.Sort(all)
	patron(a, 0, all...)
	w.run(24 * time.Hour)
	wantVolunteered(t, a, others...)
	for _, restarted := range []bool{false, true} {
		if restarted {
			a.kill()
			a.start()
		}
		var told []feed.URL
		for _, in := range a.node.Offering(friendID(1)) {
			if in.Hops == 0 {
				told = append(told, in.Feed)
			}
		}
		if slices.Sort(told); !slices.Equal(told, all) {
			t.Errorf("at hop count 0 are %v, want %v", told, all)
		}
	}
	patron(a, 0, all...)
	var notices []protocol.Notice
	late := eagerAt(a, friendID(2), &notices, protocol.Notify{}.Method())
	a.advertise(late, 0, all...)
	w.run(3 * time.Hour)
	heard := make(map[feed.URL]int)
	for _, n := range notices {
		heard[n.Feed]++
		if len(n.Path) > 0 {
			t.Errorf("a poll of its own is told as another's: %+v", n)
		}
	}
	for _, u := range all {
		if heard[u] < 2 || heard[u] > 4 {
			t.Errorf("of polls of %s there are %d notices in three hours", u, heard[u])
		}
	}
}
