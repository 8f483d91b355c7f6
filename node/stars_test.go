package node_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// shareStars has the owner share stars of feeds, or no more.
func (h *testHost) shareStars(share bool, feeds ...feed.URL) {
	sharing := archive.SharesNothing
	if share {
		sharing = archive.SharesStars
	}
	h.step(node.Subscribe{Feeds: feeds, Sharing: &sharing})
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

// Labels are told along with stars to those who share either, by those who share labels alone, and a word counts once a
// network. One that is too long to tell stays.
func TestLabelsOfThoseWhoShare(t *testing.T) {
	w := newNetwork(t)
	for range 3 {
		w.add(node.Config{Trackers: []string{tracker}}, news)
	}
	one, two := w.publish(news), w.publish(news)
	w.run(exchange.StarsEvery)
	a, b, c := w.list[0], w.list[1], w.list[2]
	for _, h := range w.list {
		h.believes(w.list...)
		h.store.Label(news, archive.Labelled{Name: "recipes", Entry: one})
	}
	a.store.Label(news, archive.Labelled{Name: strings.Repeat("x", protocol.MaxSharedLabel+1), Entry: two})
	a.store.Label(news, archive.Labelled{Name: "for work", Entry: two})
	share := func(h *testHost, s archive.Sharing) {
		h.step(node.Subscribe{Feeds: []feed.URL{news}, Sharing: &s})
	}
	want := func(h *testHost, labels ...string) {
		t.Helper()
		w.run(2 * exchange.StarsEvery)
		var got []string
		for _, s := range h.node.Starred() {
			for _, l := range s.Labels {
				got = append(got, fmt.Sprint(l.Name, " ", l.Votes))
			}
			if s.Votes != 0 || s.Weight != 0 {
				t.Errorf("a label is a star: %+v", s)
			}
		}
		if slices.Sort(got); !slices.Equal(got, labels) {
			t.Errorf("%s hears of labels %q, want %q", h.id, got, labels)
		}
	}
	share(a, archive.SharesLabels)
	share(b, archive.SharesStars)
	want(a)
	want(b, "for work 1", "recipes 1")
	want(c)
	share(c, archive.SharesLabels)
	want(b, "for work 1", "recipes 2")
	want(a, "recipes 1")
	share(a, archive.SharesStars)
	want(b, "recipes 1")
}

// Nothing of feeds that stay at home is told, whatever their owner says of stars, and that stars of them are shared
// changes no call.
func TestStarsOfPrivateFeedsStay(t *testing.T) {
	w := newNetwork(t)
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

// got has entry number i of the news come to a host at a time.
func (h *testHost) got(i int, at time.Time) feed.EntryID {
	r := archive.NewRecord(oldEntry(news, i), at, protocol.NodeID{})
	h.store.Keep([]archive.Record{r})
	return r.ID
}

// What was there for long when a neighbor first told its stars the owner has not left: it counts for nothing.
func TestOldStarsAreNoTips(t *testing.T) {
	weight := func(at time.Time) int {
		w := newNetwork(t)
		h := w.full(1, node.Config{}, news)[0]
		h.shareStars(true, news)
		taken := h.got(1, epoch)
		told := []feed.EntryID{taken, h.got(2, at), h.got(3, at), h.got(4, at)}
		var friends []*testHost
		for a := range byte(2) {
			f := h.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, a, 0, 1}), 7790), news)
			h.saysStars(f, protocol.FeedStars{Feed: news})
			h.believes(f)
			h.saysStars(f, protocol.FeedStars{Feed: news, Entries: told})
			friends = append(friends, f)
		}
		h.store.Star(news, taken)
		for _, f := range friends {
			h.saysStars(f, protocol.FeedStars{Feed: news, Entries: told})
		}
		for _, x := range h.node.Starred() {
			if x.Entry == told[3] {
				return x.Weight
			}
		}
		return -1
	}
	if old, fresh := weight(epoch.AddDate(0, 0, -8)), weight(epoch); old <= fresh || fresh < 0 {
		t.Errorf("beside three that are old it weighs %d, beside three that were left %d", old, fresh)
	}
}

// A star counts once for each network of neighbors that have earned ten entries, and weighs what the owner starred
// later of what these had starred, by their standing.
func TestAStarCountsOnceANetwork(t *testing.T) {
	w := newNetwork(t)
	h := w.full(1, node.Config{Incentive: incentive.Config{Bound: 20}}, news)[0]
	h.shareStars(true, news)
	before, entry := h.got(6, epoch), h.got(7, epoch)
	tell := func(f *testHost, entries ...feed.EntryID) {
		t.Helper()
		if code := h.saysStars(f, protocol.FeedStars{Feed: news, Entries: entries}); code != 0 {
			t.Fatalf("stars are told: fault %d", code)
		}
	}
	friend := func(a, b byte) *testHost {
		f := h.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, a, 0, b}), 7790), news)
		tell(f)
		h.believes(f)
		tell(f, before)
		return f
	}
	want := func(what string, votes int, weighs bool) (weight int) {
		t.Helper()
		for _, s := range h.node.Starred() {
			if s.Entry == entry {
				if s.Votes != votes || (s.Weight > 0) != weighs {
					t.Errorf("%s: counts %+v, want %d votes, and that it weighs: %v", what, s, votes, weighs)
				}
				return s.Weight
			}
		}
		if votes > 0 {
			t.Errorf("%s: counts nothing, want %d votes", what, votes)
		}
		return 0
	}
	first, second, other := friend(1, 1), friend(1, 2), friend(2, 1)
	h.store.Star(news, before)
	late := h.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, 3, 0, 1}), 7790), news)
	tell(late)
	tell(late, before, entry)
	want("of a stranger", 0, false)
	for _, f := range []*testHost{first, second} {
		tell(f, before, entry)
	}
	want("of a network", 1, false)
	h.believes(late)
	want("with one that repeats what the owner starred", 2, false)
	tell(other, before, entry)
	full := want("with another that was right", 3, true)
	h.inside(func(n *node.Node) { n.Punish(other.id, incentive.SubsetLie, 0) })
	if less := want("of less standing", 3, true); less >= full {
		t.Errorf("whose standing is less weighs %d, and %d before", less, full)
	}
}

// What neighbors were right about is remembered when they withdraw it, and so is what they were wrong about.
func TestWhoWasRightStaysSo(t *testing.T) {
	w := newNetwork(t)
	h := w.full(1, node.Config{}, news)[0]
	h.shareStars(true, news)
	var entries []feed.EntryID
	for i := range 4 {
		entries = append(entries, h.got(i, epoch))
	}
	var friends []*testHost
	for a := range byte(2) {
		f := h.befriend(protocol.NewNodeID(netip.AddrFrom4([4]byte{21, a, 0, 1}), 7790), news)
		friends = append(friends, f)
		h.saysStars(f, protocol.FeedStars{Feed: news})
		h.believes(f)
		h.saysStars(f, protocol.FeedStars{Feed: news, Entries: entries})
	}
	h.store.Star(news, entries[0])
	weight := func() int {
		t.Helper()
		for _, f := range friends {
			h.saysStars(f, protocol.FeedStars{Feed: news})
			if code := h.saysStars(f, protocol.FeedStars{Feed: news, Entries: entries[3:]}); code != 0 {
				t.Fatalf("stars are told: fault %d", code)
			}
		}
		list := h.node.Starred()
		if len(list) != 1 || list[0].Votes != 2 {
			t.Fatalf("counts %+v", list)
		}
		return list[0].Weight
	}
	was := weight()
	if was == 0 || was > 500 {
		t.Fatalf("one that was right and three that were not weigh %d", was)
	}
	h.store.Star(news, entries[1])
	if now := weight(); now <= was {
		t.Errorf("with another that was right it weighs %d, and %d before", now, was)
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

// However many stars and labels an owner has, what is told fits into a call, each feed has its part, and labels take
// only what room stars leave.
func TestManyStarsFitIntoACall(t *testing.T) {
	for path, room := range map[string]bool{strings.Repeat("news/", 180): false, strings.Repeat("news/", 90): true} {
		manyStars(t, path, room)
	}
}

// manyStars has stars and labels told of many feeds with addresses of a path, which leave labels room or not.
func manyStars(t *testing.T, path string, room bool) {
	t.Helper()
	w := newNetwork(t)
	var feeds []feed.URL
	for i := range 80 {
		feeds = append(feeds, feed.URL(fmt.Sprintf("https://h%d.example.com/%s", i, path)))
	}
	hosts := w.full(2, node.Config{}, feeds...)
	w.run(6 * exchange.StarsEvery)
	a, b := hosts[0], hosts[1]
	b.believes(a)
	for i, u := range feeds {
		for n := range 40 {
			a.store.Star(u, feed.EntryID{byte(i), byte(n)})
			name := strings.Repeat("<", 60) + fmt.Sprint(n)
			a.store.Label(u, archive.Labelled{Name: name, Entry: feed.EntryID{byte(n)}})
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
	labels := archive.SharesLabels
	a.step(node.Subscribe{Feeds: feeds, Sharing: &labels})
	b.shareStars(true, feeds...)
	w.run(3 * exchange.StarsEvery)
	limit := protocol.CallLimits(protocol.TellStars{}.Method()).Bytes
	if most <= limit/2 || int64(most) > int64(limit) {
		t.Errorf("the longest call has %d bytes, of %d", most, limit)
	}
	of, labelled := make(map[feed.URL]int), 0
	for _, s := range b.node.Starred() {
		if s.Votes > 0 {
			of[s.Feed]++
		}
		labelled += len(s.Labels)
	}
	if (labelled > 0) != room {
		t.Errorf("%d labels came", labelled)
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
