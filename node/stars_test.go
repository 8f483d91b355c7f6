package node_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// shareStars has the owner share stars of feeds, or no more.
func (h *testHost) shareStars(share bool, feeds ...feed.URL) {
	h.step(node.Subscribe{Feeds: feeds, Stars: &share})
}

// believes has the node take others for neighbors of standing.
func (h *testHost) believes(others ...*testHost) {
	h.inside(func(n *node.Node) {
		for _, o := range others {
			n.Got(o.id, 10*incentive.Entry)
		}
	})
}

// votes are the votes that the node counts, by entry.
func (h *testHost) votes() map[feed.EntryID]int {
	votes := make(map[feed.EntryID]int)
	for _, s := range h.node.Starred() {
		votes[s.Entry] = s.Votes
	}
	return votes
}

// saysStars has the node hear from a neighbor what that starred, and returns the code of the fault, 0 for none.
func (h *testHost) saysStars(from *testHost, feeds ...protocol.FeedStars) protocol.Code {
	return h.saysSigned(from, protocol.Stars{Feeds: feeds})
}

func (h *testHost) saysSigned(from *testHost, s protocol.Stars) protocol.Code {
	if r := h.hears(from, protocol.TellStars{Stars: s}); r.Fault != nil {
		return r.Fault.Code
	}
	return 0
}

// Who shares stars of a feed hears those of others who do, with or without keys, and nobody else hears anything. What
// is starred no more, or shared no more, counts no more.
func TestStarsOfThoseWhoShare(t *testing.T) {
	for _, keys := range []bool{false, true} {
		w := newNetwork(t)
		w.feed(news)
		for i := range 4 {
			c := node.Config{Trackers: []string{tracker}}
			if keys {
				c.Key = signer(byte(i))
			}
			w.add(c, news)
		}
		one, two := w.publish(news), w.publish(news)
		w.run(exchange.StarsEvery)
		a, b, c, d := w.list[0], w.list[1], w.list[2], w.list[3]
		for _, h := range w.list {
			h.believes(w.list...)
		}
		for _, h := range []*testHost{a, b, d} {
			h.store.Star(news, one)
		}
		a.store.Star(news, two)
		for _, h := range []*testHost{a, b, c} {
			h.shareStars(true, news)
		}
		w.run(2 * exchange.StarsEvery)
		want := func(h *testHost, first, second int) {
			t.Helper()
			if got := h.votes(); got[one] != first || got[two] != second {
				t.Errorf("keys %v: %s counts %v, want %d and %d", keys, h.id, got, first, second)
			}
		}
		want(a, 1, 0)
		want(b, 1, 1)
		want(c, 2, 1)
		want(d, 0, 0)
		if slices.Contains(d.calls, "feedex.starred") {
			t.Error("who shares no stars tells of some")
		}
		a.store.Star(news, feed.EntryID{1})
		w.run(2 * exchange.StarsEvery)
		if got := c.votes(); got[feed.EntryID{1}] != 1 {
			t.Errorf("a star of later is not told: %v", got)
		}
		b.shareStars(false, news)
		w.run(2 * exchange.StarsEvery)
		want(a, 0, 0)
		want(b, 0, 0)
		want(c, 1, 1)
		discreet := true
		a.step(node.Subscribe{Feeds: []feed.URL{news}, Discreet: &discreet})
		w.run(2 * exchange.StarsEvery)
		want(a, 0, 0)
		want(c, 0, 0)
	}
}

// Nothing of feeds that stay at home is told, whatever their owner says of stars, and that stars of them are shared
// changes no call.
func TestStarsOfPrivateFeedsStay(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	for range 2 {
		w.add(node.Config{Trackers: []string{tracker}}, news)
	}
	one := w.publish(news)
	w.run(exchange.StarsEvery)
	h, other := w.list[0], w.list[1]
	other.believes(h)
	h.store.Star(news, one)
	for _, o := range w.list {
		o.shareStars(true, news)
	}
	w.run(2 * exchange.StarsEvery)
	if got := other.votes(); got[one] != 1 {
		t.Fatalf("before, %v are told", got)
	}
	private := true
	h.step(node.Subscribe{Feeds: []feed.URL{news}, Private: &private})
	h.store.Star(news, feed.EntryID{1})
	w.run(exchange.StarsEvery)
	told := len(h.calls)
	h.store.Star(news, feed.EntryID{2})
	w.run(2 * exchange.StarsEvery)
	if got := other.votes(); len(got) != 0 || slices.Contains(h.calls[told:], "feedex.starred") {
		t.Errorf("of a private feed %v are told", got)
	}
}

// A star counts once for each network of neighbors that have earned ten entries, by their standing.
func TestAStarCountsOnceANetwork(t *testing.T) {
	w := newNetwork(t)
	h := w.full(1, node.Config{Incentive: incentive.Config{Bound: 20}}, news)[0]
	h.shareStars(true, news)
	entry := feed.EntryID{7}
	friend := func(a, b byte) *testHost {
		f := h.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, a, 0, b}), 7790), news)
		if code := h.saysStars(f, protocol.FeedStars{Feed: news}); code != 0 {
			t.Fatalf("a feed is named: fault %d", code)
		}
		if code := h.saysStars(f, protocol.FeedStars{Feed: news, Entries: []feed.EntryID{entry}}); code != 0 {
			t.Fatalf("stars are told: fault %d", code)
		}
		return f
	}
	starred := func(votes, weight int) node.StarredEntry {
		return node.StarredEntry{Feed: news, Entry: entry, Votes: votes, Weight: weight}
	}
	want := func(votes, weight int) {
		t.Helper()
		if got := h.node.Starred(); votes == 0 && len(got) != 0 ||
			votes > 0 && !slices.Equal(got, []node.StarredEntry{starred(votes, weight)}) {
			t.Errorf("counts %+v, want %d votes of weight %d", got, votes, weight)
		}
	}
	first, second, other := friend(1, 1), friend(1, 2), friend(2, 1)
	want(0, 0)
	h.believes(first, second)
	want(1, 100)
	h.believes(other)
	want(2, 200)
	h.inside(func(n *node.Node) { n.Punish(other.id, incentive.SubsetLie, 0) })
	if got := h.node.Starred(); len(got) != 1 || got[0].Weight >= 200 || got[0].Weight <= 100 {
		t.Errorf("whose standing is less weighs as much: %+v", got)
	}
}

// What is said of stars is bounded, must be signed where a key is known, and is refused for feeds that were not named.
func TestStarsThatAreRefused(t *testing.T) {
	w := newNetwork(t)
	h := w.full(1, node.Config{}, news)[0]
	const other = feed.URL("https://example.org/quiet")
	w.feed(other)
	h.follow(true, other)
	h.shareStars(true, news, other)
	w.run(exchange.StarsEvery)
	f := eager(h, 1, nil)
	h.hears(f, protocol.UpdateSubset{Changes: protocol.Subset{{Feed: other}}})
	one := protocol.FeedStars{Feed: news, Entries: []feed.EntryID{{1}}}
	quiet := protocol.FeedStars{Feed: other, Entries: []feed.EntryID{{2}}}
	want := func(what string, got, code protocol.Code) {
		t.Helper()
		if got != code {
			t.Errorf("%s: fault %d, want %d", what, got, code)
		}
	}
	want("stars before names", h.saysStars(f, one), protocol.UnwantedFeed)
	r := h.hears(f, protocol.TellStars{Stars: protocol.Stars{Feeds: []protocol.FeedStars{{Feed: news}, {Feed: other}}}})
	if s, ok := r.Reply.(protocol.Stars); !ok || len(s.Feeds) != 1 || s.Feeds[0].Feed != news {
		t.Fatalf("answered %+v", r)
	}
	want("stars of a feed that is followed discreetly", h.saysStars(f, one, quiet), protocol.UnwantedFeed)
	want("stars", h.saysStars(f, one), 0)
	h.node.LinkTo(f.id).Key = protocol.NodeKeyOf(signer(1))
	signed := protocol.Stars{Feeds: []protocol.FeedStars{one}}
	want("no signature", h.saysSigned(f, signed), protocol.NotVouched)
	want("a signature of another", h.saysSigned(f, signed.Sign(signer(2))), protocol.NotVouched)
	want("a seventh call", h.saysSigned(f, signed.Sign(signer(1))), protocol.Busy)
	w.run(exchange.StarsEvery)
	want("a signature", h.saysSigned(f, signed.Sign(signer(1))), 0)
	changed := signed.Sign(signer(1))
	changed.Feeds = []protocol.FeedStars{{Feed: news, Entries: []feed.EntryID{{3}}}}
	want("a signature of something else", h.saysSigned(f, changed), protocol.NotVouched)
	h.believes(f)
	if got := h.votes(); len(got) != 1 || got[feed.EntryID{1}] != 1 {
		t.Errorf("counts %v", got)
	}
}

// However many stars an owner has, what is told fits into a call, and each feed has its part.
func TestManyStarsFitIntoACall(t *testing.T) {
	w := newNetwork(t)
	var feeds []feed.URL
	for i := range 80 {
		feeds = append(feeds, feed.URL(fmt.Sprintf("https://h%d.example.com/%s", i, strings.Repeat("news/", 180))))
	}
	hosts := w.full(2, node.Config{}, feeds...)
	w.run(6 * exchange.StarsEvery)
	a, b := hosts[0], hosts[1]
	b.believes(a)
	for i, u := range feeds {
		for n := range 40 {
			a.store.Star(u, feed.EntryID{byte(i), byte(n)})
		}
	}
	most := 0
	w.watch = func(_ *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if c, ok := e.(node.Call); ok {
				if s, ok := c.Call.(protocol.TellStars); ok {
					most = max(most, len(protocol.EncodeCall(nil, 7790, s)))
				}
			}
		}
	}
	a.shareStars(true, feeds...)
	b.shareStars(true, feeds...)
	w.run(3 * exchange.StarsEvery)
	limit := protocol.CallLimits(protocol.TellStars{}.Method()).Bytes
	if most <= limit/2 || int64(most) > int64(limit) {
		t.Errorf("the longest call has %d bytes, of %d", most, limit)
	}
	of := make(map[feed.URL]int)
	for _, s := range b.node.Starred() {
		of[s.Feed]++
	}
	if len(of) < 40 {
		t.Errorf("stars of %d feeds came", len(of))
	}
	for u, n := range of {
		if n < 2 {
			t.Errorf("%d stars of %s came", n, u)
		}
	}
}
