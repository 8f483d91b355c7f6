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
	"feedex/node/internal/core"
	"feedex/node/internal/poller"
	"feedex/polling"
	"feedex/protocol"
	"feedex/search"
)

// unlimited is for tests that have a neighbor bring more than its quota, and are about something else.
func unlimited() node.Config {
	return node.Config{Incentive: incentive.Config{Rules: noQuota}}
}

var noQuota = incentive.Altered(func(r *incentive.Rules) {
	r.StoresAll = func(incentive.Holder) bool { return true }
})

// roomTaken is how much room takes what the node keeps of the sources that are wanted.
func (h *testHost) roomTaken(wanted func(r *archive.Record) bool) (room int64) {
	found, err := h.store.Search(h.net.t.Context(), feed.Filter{Limit: 1 << 30})
	if err != nil {
		h.net.t.Fatal(err)
	}
	for i := range found {
		if wanted(&found[i]) {
			room += core.RoomOf(&found[i])
		}
	}
	return room
}

// heavy is a bundle of n new entries with so much text.
func heavy(w *network, u feed.URL, name string, n, bytes int) *protocol.Bundle {
	var entries []feed.Entry
	for i := range n {
		entries = append(entries, feed.Entry{Feed: u, ID: fmt.Sprint(name, i),
			Title: "T", Published: w.Now(), Summary: strings.Repeat("x", bytes)})
	}
	return protocol.NewBundle(u, entries)
}

// agreeable makes the node a neighbor of somebody who follows feeds and agrees to everything.
func (h *testHost) agreeable(id protocol.NodeID, feeds ...feed.URL) *testHost {
	friend := h.befriend(id, feeds...)
	friend.script = func(*testHost, node.Call) protocol.Reply { return protocol.OK{} }
	return friend
}

// at is a node whose address is given.
func at(ip string) protocol.NodeID { return protocol.NewNodeID(netip.MustParseAddr(ip), 7790) }

// A stranger that brings junk of feeds that the victim follows, and of others, within all other limits, fills 20 MB a
// day and no more: by itself, with the rest of its network, or with as many others as there are; whatever comes and
// goes, and however often the victim starts anew. It costs nobody anything that own polls have shown, no honest
// neighbor an entry, and the flooder no standing, since it may be one that does not know.
func TestAFloodIsStoredAsFarAsQuotasGo(t *testing.T) {
	feeds := []feed.URL{news}
	for i := range 12 { // of which no poll shows anything
		feeds = append(feeds, feed.URL(fmt.Sprintf("https://%d.example.com/feed", i)))
	}
	var network, everybody []string
	for i := range 14 {
		network, everybody = append(network, fmt.Sprintf("30.1.1.%d", i+1)),
			append(everybody, fmt.Sprintf("30.%d.1.1", i+1))
	}
	for name, c := range map[string]struct {
		from []string
		most int64
	}{
		"one stranger":      {[]string{"30.1.1.1"}, incentive.FreeRoom},
		"a whole network":   {network[:4], 2 * incentive.FreeRoom},
		"fourteen networks": {everybody, 10 * incentive.FreeRoom},
		"one that restarts": {[]string{"30.1.1.1", "restart", "30.1.1.1", "restart", "30.1.1.1"}, incentive.FreeRoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLargeNetwork(t)
			for range 5 {
				w.publish(news)
			}
			hosts := w.full(2, node.Config{}, feeds...)
			victim, honest := hosts[0], hosts[1]
			honest.blocked[news] = false
			w.run(2 * time.Hour)
			own := victim.roomTaken(func(r *archive.Record) bool { return r.Source.IsZero() })
			if own == 0 {
				t.Fatal("nothing was polled")
			}
			junk := func(r *archive.Record) bool { return strings.HasPrefix(r.Entry.ID, "junk") }
			n, refused := 0, 0
			for _, ip := range c.from {
				if ip == "restart" {
					victim.kill()
					w.run(10 * time.Second)
					victim.start()
					w.run(2 * time.Minute)
					continue
				}
				flooder := victim.agreeable(at(ip), feeds...)
				for _, bytes := range []int{1 << 20, 40_000, 3000, 100} {
					for _, u := range feeds {
						for range 2 {
							n++
							b := heavy(w, u, fmt.Sprint("junk ", n, " "), min(60, 2<<20/bytes), bytes)
							b.Path = []protocol.NodeID{stranger(n)}
							if r := victim.put(flooder, b); r.Fault != nil {
								if refused++; r.Fault.Code != protocol.OverQuota {
									t.Fatalf("refused with %v", r.Fault)
								}
							}
							if victim.node.Saw(b.DID) &&
								!victim.has(b.Entries[len(b.Entries)-1].EntryID()) {
								t.Fatal("what is not stored counts as seen")
							}
						}
					}
					w.run(61 * time.Second) // for the limits of a minute
				}
				if s := victim.status(flooder); s.Standing != 100 || s.Unshown < s.Quota*9/10 &&
					c.most == incentive.FreeRoom {
					t.Errorf("the flooder's status is %+v", s)
				}
				victim.inside(func(n *node.Node) { n.Part(flooder.id, "over") })
			}
			taken := victim.roomTaken(junk)
			if taken > c.most || taken < c.most*8/10 || refused == 0 {
				t.Errorf("junk takes %d bytes, of at most %d; %d of %d bundles were refused", taken, c.most, refused, n)
			}
			if now := victim.roomTaken(func(r *archive.Record) bool { return r.Source.IsZero() }); now != own {
				t.Errorf("what was polled took %d and takes %d", own, now)
			}
			if name == "fourteen networks" {
				return // then a newcomer has to wait, too
			}
			w.run(3 * time.Minute)
			if r := victim.put(honest, heavy(w, news, "true", 5, 1000)); r.Fault != nil {
				t.Errorf("an honest neighbor is refused: %v", r.Fault)
			}
		})
	}
}

// Bundles that a quota refuses are not lost: the neighbor offers them again, and others do, until they are stored or an
// own poll has them.
func TestWhatAQuotaRefusesIsNotLost(t *testing.T) {
	for name, c := range map[string]struct {
		hosts  int
		polls  bool // the victim, in the end
		within time.Duration
	}{
		"it is offered again when there is room": {2, false, 30 * time.Hour},
		"another neighbor has it":                {3, false, 3 * time.Minute},
		"an own poll has it":                     {2, true, 3 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := newLargeNetwork(t)
			hosts := w.full(c.hosts, node.Config{}, news)
			victim, flooder := hosts[0], hosts[1]
			for _, h := range hosts {
				h.blocked[news] = true
			}
			for i := 0; !victim.node.OverQuota(flooder.id, news); i++ {
				victim.put(flooder, heavy(w, news, fmt.Sprint("before ", i, " "), 3, 10_000))
			}
			var want []feed.EntryID
			p := w.feed(news)
			for i := range 8 {
				e := feed.Entry{Feed: news, ID: fmt.Sprint("late ", i), Title: "T", Published: w.Now(), Summary: "text"}
				p.entries = append(p.entries, e)
				want = append(want, e.EntryID())
			}
			flooder.blocked[news] = false
			flooder.poll(news) // it offers what it polled
			flooder.blocked[news] = true
			w.run(time.Minute)
			if !flooder.node.Postpones(victim.id) || c.hosts == 2 &&
				victim.has(want[0]) {
				t.Fatal("nothing was refused")
			}
			if s := flooder.status(victim); s.Standing != 100 ||
				flooder.node.PutFailures(victim.id) > 0 {
				t.Errorf("a neighbor that refuses is held to fail: %+v", s)
			}
			victim.blocked[news] = !c.polls
			w.run(c.within)
			for i, id := range want {
				if !victim.has(id) {
					t.Errorf("entry %d is lost", i)
				}
			}
			if s := victim.status(flooder); s.Standing != 100 {
				t.Errorf("its standing is %d", s.Standing)
			}
		})
	}
}

// A neighbor over its quota learns so before it delivers anything; what is here already it may offer all the same, and
// earns.
func TestOffersBeyondAQuota(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.full(3, node.Config{Incentive: incentive.Config{Bound: 10}}, news)
	victim, flooder, other := hosts[0], hosts[1], hosts[2]
	known := heavy(w, news, "known", 1, 100)
	victim.put(other, known)
	for i := range 40 {
		victim.put(flooder, heavy(w, news, fmt.Sprint("junk ", i), 100, 10_000))
	}
	if !victim.node.OverQuota(flooder.id, news) {
		t.Fatal("it is within its quota")
	}
	unknown := heavy(w, news, "unknown", 1, 100)
	for _, call := range []protocol.Call{protocol.CheckDID{DID: unknown.DID, Feed: news}} {
		if r := victim.hears(flooder, call); r.Fault == nil || r.Fault.Code != protocol.OverQuota {
			t.Errorf("%s is answered %v, %v", call.Method(), r.Reply, r.Fault)
		}
	}
	r := victim.hears(flooder, protocol.CheckDID{DID: known.DID, Feed: news})
	if _, is := r.Reply.(protocol.Seen); !is {
		t.Errorf("what is here is answered %v, %v", r.Reply, r.Fault)
	}
	if r := victim.hears(other, protocol.CheckDID{DID: unknown.DID, Feed: news}); r.Reply != protocol.Seen(false) {
		t.Errorf("somebody else is answered %v, %v", r.Reply, r.Fault)
	}
	if n := victim.node.Owed(flooder.id); n > 1 {
		t.Errorf("it owes %d bundles that nobody would take", n)
	}
}

// A part of a bundle that fits is stored and passed on, and the rest is refused.
func TestAPartOfABundleFits(t *testing.T) {
	w, victim, neighbor := newPair(t, node.Config{}, news)
	b := heavy(w, news, "part ", 100, 10_000)
	if r := victim.put(neighbor, b); r.Fault == nil || r.Fault.Code != protocol.OverQuota {
		t.Fatalf("answered %v, %v", r.Reply, r.Fault)
	}
	stored := 0
	for i := range b.Entries {
		if victim.has(b.Entries[i].EntryID()) {
			stored++
		}
	}
	if stored < 20 || stored > 60 || victim.node.Status().Counters.Unkept != int64(100-stored) {
		t.Errorf("%d entries are stored, %d are counted as refused", stored, victim.node.Status().Counters.Unkept)
	}
	if victim.node.Saw(b.DID) {
		t.Error("the bundle counts as seen")
	}
}

// The room of those entries of a neighbor that own polls list is given back to it: an honest neighbor never comes near
// its quota.
func TestPollsGiveBackWhatTheyShow(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	a, b := hosts[0], hosts[1]
	w.feed(news).window = 100
	for day := range 5 {
		for i := range 40 { // 12 MB a day on disk
			e := feed.Entry{Feed: news, ID: fmt.Sprint(day, "-", i), Title: "T", Published: w.Now(),
				Summary: strings.Repeat("y", 50_000)}
			w.feed(news).entries = append(w.feed(news).entries, e)
			if r := a.put(b, protocol.NewBundle(news, []feed.Entry{e})); r.Fault != nil {
				t.Fatalf("day %d, entry %d: %v", day, i, r.Fault)
			}
			w.run(10 * time.Minute)
		}
		w.run(12 * time.Hour)
	}
	s := a.status(b)
	if s.Unshown > incentive.FreeRoom/4 || s.Quota < incentive.FreeRoom*6/5 {
		t.Errorf("its status is %+v, want a quota that grew, and little of it used", s)
	}
	a.kill()
	w.run(10 * time.Second)
	a.start()
	w.run(10 * time.Minute)
	if again := a.status(b); again.Unshown > s.Unshown || again.Quota < s.Quota*9/10 {
		t.Errorf("after a restart its status is %+v, and was %+v", again, s)
	}
}

// Strangers have an honest neighbor relay so many inventions that it may bring no more of the feed. The next own poll
// of the feed, which comes sooner for that, opens it again for what is true, also after a restart.
func TestInventionsCloseARelayUntilTheNextPoll(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.full(2, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, news)
	a, relay := hosts[0], hosts[1]
	for range 5 {
		w.publish(news)
	}
	w.run(2 * time.Hour)
	offered := 0
	brings := func(name string) bool {
		offered++
		b := w.junk(fmt.Sprint(name, offered), at(fmt.Sprintf("30.%d.1.1", 1+offered%2)))
		return a.put(relay, b).Fault == nil
	}
	for again := range 3 {
		begun := offered
		for brings("invented ") {
			if offered-begun > 1000 {
				t.Fatal("there is no end of it")
			}
		}
		if again == 1 {
			a.kill()
			w.run(10 * time.Second)
			a.start()
			w.run(5 * time.Minute)
		}
		if brings("too early ") {
			t.Errorf("round %d: nothing closes it before the poll", again)
		}
		if w.run(poller.SpotAfter + 10*time.Minute); !brings("true ") {
			t.Errorf("round %d: it is closed after the poll: next at %v, last at %v", again,
				a.stored(news).NextPoll.Sub(w.Now()), a.stored(news).LastSuccess.Sub(w.Now()))
		}
		w.run(5 * time.Hour) // an ordinary poll
	}
}

// Entries that are filled in unasked are held to the quotas of the givers, those that the owner asks for are not.
func TestPastsAreFilledInAsFarAsQuotasGo(t *testing.T) {
	for _, unasked := range []bool{true, false} {
		w := newLargeNetwork(t)
		hosts := w.full(2, node.Config{Incentive: incentive.Config{Gifts: 1 << 40, Gift: 1 << 40}}, news)
		a, holder := hosts[0], hosts[1]
		var wishes []search.Wish
		for i := range 100 {
			e := oldEntry(news, i)
			e.Summary = strings.Repeat("z", 200_000)
			holder.holds(e)
			wishes = append(wishes, wishFor(e, holder))
		}
		a.pulled = nil
		a.step(node.Pull{Tag: 9, Wishes: wishes, Unasked: unasked})
		w.run(10 * time.Minute)
		i := slices.IndexFunc(a.pulled, func(p node.Pulled) bool { return p.Done })
		if i < 0 {
			t.Fatal("the download never ended")
		}
		taken, missing := a.roomTaken(func(r *archive.Record) bool { return r.Source == holder.id }),
			len(a.pulled[i].Missing)
		switch {
		case unasked && (taken > incentive.FreeRoom || taken < incentive.FreeRoom*9/10 || missing == 0):
			t.Errorf("it took %d bytes, and %d entries are missing", taken, missing)
		case !unasked && missing > 0:
			t.Errorf("the owner asked for 100 entries, and %d are missing", missing)
		}
		if s := a.status(holder); unasked && s.Unshown != taken || !unasked && s.Unshown != 0 {
			t.Errorf("unasked %v: its status is %+v", unasked, s)
		}
	}
}

// Revisions on which two neighbors agree are stored as far as the quota of the neighbor that confirms them goes, like
// all else.
func TestRevisionsKeepToTheQuota(t *testing.T) {
	w := newLargeNetwork(t)
	victim := w.full(2, node.Config{}, news, blog)[0]
	victim.blocked[news] = true
	one, two := victim.agreeable(at("30.1.1.1"), news), victim.agreeable(at("30.2.1.1"), news)
	e := feed.Entry{Feed: news, ID: "revised", Title: "T", Published: w.Now(), Updated: w.Now()}
	victim.take(one, bundleWith(e))
	refused := 0
	for i := range 40 {
		victim.hasHeard(one, two)
		b := version(e, strings.Repeat("x", 500_000+12_000*i), time.Duration(i+1)*time.Second)
		for _, by := range []*testHost{one, two} {
			if r := victim.put(by, b); r.Fault != nil {
				if refused++; r.Fault.Code != protocol.OverQuota {
					t.Fatalf("refused with %v", r.Fault)
				}
			}
		}
		w.run(61 * time.Second)
	}
	for _, by := range []*testHost{one, two} {
		if s := victim.status(by); s.Unshown > s.Quota || s.Standing != 100 {
			t.Errorf("its status is %+v", s)
		}
	}
	if s := victim.status(two); refused == 0 || s.Unshown < 1_000_000 {
		t.Errorf("%d revisions were refused, what is stored takes %d bytes", refused, s.Unshown)
	}
}

// A forgery of one neighbor keeps nothing away once it was purged: others bring what is true, and it stays.
func TestAForgedEntryThatWasPurgedKeepsNothingAway(t *testing.T) {
	w := newNetwork(t)
	victim := w.full(2, node.Config{}, news, blog)[0]
	victim.blocked[news] = true
	forger, honest := victim.agreeable(at("30.1.1.1"), news), victim.agreeable(at("30.2.1.1"), news)
	e := feed.Entry{Feed: news, ID: "true", Title: "T", Summary: "true", Published: w.Now(), Updated: w.Now()}
	forged := version(e, "forged", 0)
	victim.take(forger, forged)
	victim.forget(e.EntryID())
	for _, h := range []*testHost{forger, honest} {
		if victim.take(h, bundleWith(forged.Entries[0],
			heavy(w, news, h.id.String(), 1, 9).Entries[0])); victim.has(e.EntryID()) {
			t.Fatal("what was purged came back")
		}
	}
	victim.take(honest, bundleWith(e))
	if victim.digest(e.EntryID()) != e.Digest() {
		t.Error("what is true was kept away")
	}
}

// An entry that was purged before an own poll has shown it is as new to a poll as one that never was here.
func TestAPollBringsBackWhatNeighborsHadBrought(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.publish(news)
	e := w.feed(news).entries[0]
	a.put(b, protocol.NewBundle(news, []feed.Entry{e}))
	a.forget(e.EntryID())
	if a.put(b, protocol.NewBundle(news, []feed.Entry{e})); a.has(e.EntryID()) {
		t.Error("a neighbor brought it back")
	}
	a.poll(news)
	if r := a.record(e.EntryID()); !r.Confirmed || !r.Source.IsZero() {
		t.Errorf("after a poll it is %+v", r)
	}
	a.forget(e.EntryID())
	w.feed(news).edits++
	if a.poll(news); a.has(e.EntryID()) {
		t.Error("what a poll had shown came back")
	}
}

// How much a feed brings is what own polls have shown, whatever neighbors bring and whatever restart comes in between.
func TestVolumeOfAFeed(t *testing.T) {
	w := newLargeNetwork(t)
	hosts := w.full(2, unlimited(), news)
	a, b := hosts[0], hosts[1]
	w.feed(news).window = 50
	for range 40 { // 12 a day
		w.publish(news)
		w.run(2 * time.Hour)
	}
	want := archive.Volume{Daily: 12, Text: archive.TextBytes(&w.feed(news).entries[20])}
	check := func(when string) {
		t.Helper()
		if got := a.stored(news).Volume; got.Daily < want.Daily-1 || got.Daily > want.Daily+1 ||
			got.Text < want.Text-2 || got.Text > want.Text {
			t.Errorf("%s: it is %+v, want about %+v", when, got, want)
		}
	}
	check("after polls")
	for i := range 30 {
		a.put(b, heavy(w, news, fmt.Sprint("junk ", i), 100, 2000))
	}
	a.poll(news)
	check("after a flood")
	a.kill()
	w.run(10 * time.Second)
	a.start()
	check("after a restart")
	w.publish(news)
	a.poll(news)
	check("after a poll in the next run")
}
