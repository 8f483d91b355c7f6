package node_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Tests of debts of neighbors, and of the consequences for neighbors that break the rules.

// bound is the bound of the paper's examples.
func bound() node.Config { return node.Config{Incentive: incentive.Config{Bound: 10}} }

// account is the account that a keeps of b.
func (h *testHost) account(of *testHost) incentive.Account {
	a := h.node.Account(of.id)
	return a
}

// A neighbor that only takes gets what its bound allows; the rest waits, and comes once it gives.
func TestWhatIsBeyondTheBoundWaits(t *testing.T) {
	w, a, taker := newPair(t, bound(), news)
	taker.blocked[news] = true
	var ids []feed.EntryID
	for i := range 30 {
		ids = append(ids, w.publish(news))
		a.poll(news)
		w.run(10 * time.Second)
		if s := taker.node.Neighbors()[0]; i == 1 && (s.Ours != 1 || s.OurBound != 1) {
			t.Errorf("the moment it came to its bound the taker is told that it owes %v of %v", s.Ours, s.OurBound)
		}
	}
	got := func() (n int) {
		for _, id := range ids {
			if taker.has(id) {
				n++
			}
		}
		return n
	}
	if n := got(); n != 1 {
		t.Errorf("a stranger that gave nothing was given %d entries, want one", n)
	}
	if s := a.node.Neighbors()[0]; s.Waiting != 29 || s.Given != 1 || s.Deficit != 1 || s.Bound != 1 {
		t.Errorf("status: %d wait, given %v, deficit %v, bound %v", s.Waiting, s.Given, s.Deficit, s.Bound)
	}
	for i := range 15 {
		if r := a.put(taker, bundleWith(feed.Entry{Feed: news, ID: fmt.Sprint("given ", i),
			Published: w.Now()})); r.Fault != nil {
			t.Fatal(r.Fault)
		}
		w.run(10 * time.Second)
	}
	given := a.account(taker).Got
	if n := got(); n < 10 || incentive.Value(n, 0) > given+incentive.Value(10, 0) {
		t.Errorf("for %v given it got %d entries", given, n)
	}
}

// Nobody gets further into debt than the bound, other than by fines: in no step of a busy hour.
func TestNobodyGetsBeyondTheBound(t *testing.T) {
	w := newNetwork(t)
	checked, most := 0, incentive.Credit(0)
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			c, ok := e.(node.Call)
			if _, put := c.Call.(protocol.PutEntries); !ok || !put {
				continue
			}
			account := h.node.Account(c.To.Node)
			if account.Fined == 0 {
				checked++
				most = max(most, account.Deficit)
			}
		}
	}
	busyHour(w)
	if most > incentive.Value(10, 0) || checked < 500 {
		t.Errorf("after %d deliveries the deepest deficit is %v, the bound 10", checked, most)
	}
}

// Only what may have been received is charged.
func TestWhatWasNeverSentIsNotCharged(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(w *network, b *testHost)
		want incentive.Credit
	}{
		"nobody listens": {func(_ *network, b *testHost) { b.kill() }, 0},
		"it takes it and resets": {func(w *network, b *testHost) {
			w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				_, put := c.(protocol.PutEntries)
				return errors.New("connection reset by peer"), put && to == b
			}
		}, incentive.Entry},
	} {
		w, a, b := newPair(t, bound(), news)
		bundle := bundleWith(feed.Entry{Feed: news, ID: "x", Published: w.Now()})
		c.fail(w, b)
		a.inside(func(n *node.Node) { n.Put(b.id, bundle) })
		w.run(time.Second)
		if got := a.account(b).Deficit; got != c.want {
			t.Errorf("%s: charged %v, want %v", name, got, c.want)
		}
	}
}

// Accounts are on disk within seconds, and at once when the node stops; one that cannot be read starts anew.
func TestAccountsSurviveARestart(t *testing.T) {
	for name, stop := range map[string]func(w *network, h *testHost){
		"crash": func(w *network, h *testHost) { w.run(core.SaveAccountsAfter); h.kill() },
		"leave": func(_ *network, h *testHost) { h.step(node.Leave{}); h.kill() },
	} {
		w := newNetwork(t)
		hosts := w.full(3, bound(), news)
		a, b, c := hosts[0], hosts[1], hosts[2]
		w.run(time.Minute)
		a.put(b, bundleWith(feed.Entry{Feed: news, ID: "x", Published: w.Now()}))
		w.run(10 * time.Second) // it is passed on
		forged := *one("y")
		forged.DID[0]++
		a.put(c, &forged)
		before := []incentive.Account{a.account(b), a.account(c)}
		if before[0].Got != incentive.Entry || before[1].Fined == 0 || len(before[1].Standing.Marks) != 1 {
			t.Fatalf("accounts: %+v", before)
		}
		stop(w, a)
		a.store.KeepAccount(archive.KeptAccount{Holder: stranger(1).Addr().String(), Text: []byte("{")})
		a.start()
		for i, of := range []*testHost{b, c} {
			got := a.account(of)
			got.Met, before[i].Met = time.Time{}, time.Time{}
			if !reflect.DeepEqual(got, before[i]) {
				t.Errorf("%s: account %d was %+v, is %+v", name, i, before[i], got)
			}
		}
	}
}

// Feeds that an advert should not hold cost standing, the more the worse; the rest of the advert is used.
func TestBadAdvertsCostStanding(t *testing.T) {
	flood := make(protocol.Subset, protocol.MaxSubset)
	for i := range flood {
		flood[i].Feed = feed.URL(fmt.Sprintf("https://example.com/%d", i))
	}
	for _, c := range []struct {
		name   string
		call   protocol.UpdateSubset
		points int
	}{
		{"a good one", protocol.UpdateSubset{Changes: protocol.Subset{{Feed: blog}}}, 0},
		{"some of it makes no sense", protocol.UpdateSubset{Changes: protocol.Subset{{Feed: blog}}, Ignored: 3}, 1},
		{"a flood", protocol.UpdateSubset{Changes: flood, Ignored: 1}, 50},
	} {
		_, a, b := newPair(t, node.Config{}, news)
		if r := a.hears(b, c.call); r.Fault != nil {
			t.Errorf("%s: %v", c.name, r.Fault)
		}
		s := a.node.Neighbors()[0]
		if 100-s.Standing != c.points || s.Feeds < 2 {
			t.Errorf("%s: costs %d points, %d feeds are known; want %d points", c.name, 100-s.Standing,
				s.Feeds, c.points)
		}
	}
}

// A neighbor that calls all the time is told to wait, and costs no more; in the next minute it is served again.
func TestACallFloodIsHeldBack(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, b, other := hosts[0], hosts[1], hosts[2]
	w.run(w.Now().Truncate(time.Minute).Add(time.Minute).Sub(w.Now()))
	busy := 0
	for range core.CallsAMinute + 400 {
		if r := a.hears(b, protocol.GetNeighbors{}); r.Fault != nil && r.Fault.Code == protocol.Busy {
			busy++
		}
	}
	if busy != 400 {
		t.Errorf("%d of %d calls were refused", busy, core.CallsAMinute+400)
	}
	if s := a.node.Neighbors()[0].Standing; s != 96 {
		t.Errorf("a minute with too many calls leaves a standing of %d", s)
	}
	if r := a.hears(other, protocol.GetNeighbors{}); r.Fault != nil {
		t.Errorf("another neighbor is refused: %v", r.Fault)
	}
	w.run(time.Minute)
	if r := a.hears(b, protocol.GetNeighbors{}); r.Fault != nil {
		t.Errorf("in the next minute it is refused: %v", r.Fault)
	}
}

// A neighbor offers whatever it hears of and delivers nothing: it is asked for it now and then, and sent away.
func TestAnEchoerIsFoundOut(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, bound(), news)
	a, echoer, honest := hosts[0], hosts[1], hosts[2]
	w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, put := c.(protocol.PutEntries)
		return protocol.OK{}, put && from == echoer
	}
	offers := 0
	for ; offers < 300 && a.neighborOf(echoer.id); offers++ {
		b := bundleWith(feed.Entry{Feed: news, ID: fmt.Sprint(offers), Published: w.Now()})
		a.put(honest, b)
		a.hears(echoer, protocol.CheckDID{DID: b.DID})
		w.run(3 * time.Minute)
	}
	if a.neighborOf(echoer.id) {
		t.Errorf("after %d offers of what it does not have it is still a neighbor", offers)
	}
	if s := a.account(echoer); s.Fined == 0 || s.Deficit <= 0 {
		t.Errorf("it ends with a deficit of %v, fined %v", s.Deficit, s.Fined)
	}
	if !a.neighborOf(honest.id) {
		t.Error("the honest neighbor was sent away")
	}
}

// A neighbor that puts what it was given into other bundles, and delivers it back, earns an entry with it and no more,
// be it at once or after a restart, when nobody remembers who was given what. What it gave otherwise excuses as much as
// it may be forgiven.
func TestWhoHandsBackWhatItWasGivenEarnsNothing(t *testing.T) {
	w, a, taker := newPair(t, bound(), news)
	taker.blocked[news] = true
	given := w.publish(news)
	a.poll(news)
	w.run(10 * time.Second)
	if !taker.has(given) {
		t.Fatal("the taker was given nothing")
	}
	entry := w.feed(news).entries[len(w.feed(news).entries)-1]
	handBack := func(times int) incentive.Credit {
		before := a.account(taker).Got
		for i := range times {
			filler := feed.Entry{Feed: news, ID: fmt.Sprint("filler ", w.Now(), i),
				Published: w.Now().AddDate(-1, 0, 0)}
			a.take(taker, bundleWith(entry, filler))
		}
		return a.account(taker).Got - before
	}
	if got := handBack(3); got != incentive.Entry {
		t.Errorf("what it handed back earned %v", got)
	}
	w.run(time.Minute)
	a.kill()
	a.start()
	w.run(5 * time.Minute)
	if got := handBack(3); got > incentive.Entry/4 {
		t.Errorf("after a restart what it handed back earned %v", got)
	}
	a.kill()
	a.start()
	w.run(5 * time.Minute)
	for i := range 4 {
		a.take(taker, bundleWith(feed.Entry{Feed: news, ID: fmt.Sprint("new ", i), Published: w.Now()}))
	}
	if got := handBack(3); got != incentive.Entry {
		t.Errorf("beside four others it earned %v, want an entry", got)
	}
}

// What a neighbor delivers itself, while it waits for more to be given to it, is left out of that.
func TestWhatANeighborDeliveredIsNotGivenBack(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	b.blocked[news] = true
	w.publish(news)
	w.publish(news)
	a.poll(news)
	w.run(10 * time.Second)
	var waits []feed.Entry
	for _, e := range w.feed(news).entries {
		if !b.has(e.EntryID()) {
			waits = append(waits, e)
		}
	}
	if len(waits) != 1 {
		t.Fatalf("%d entries wait", len(waits))
	}
	a.take(b, bundleWith(append(waits, feed.Entry{Feed: news, ID: "its own", Published: w.Now()})...))
	w.run(10 * time.Second)
	if s := a.node.Neighbors()[0]; a.account(b).Given != incentive.Entry || s.Waiting != 0 {
		t.Errorf("it was given %v, and %d wait", a.account(b).Given, s.Waiting)
	}
}

// A neighbor that delivered an entry of one feed is given the same text in another: publishers list it in several.
func TestATextInTwoFeedsIsGivenInEach(t *testing.T) {
	w, a, b := newPair(t, unlimited(), news, lone(1))
	e := feed.Entry{Feed: news, ID: "x", Title: "T", Published: w.Now()}
	a.take(b, bundleWith(e))
	e.Feed = lone(1)
	a.inside(func(n *node.Node) { n.Offer(b.id, protocol.NewBundle(e.Feed, []feed.Entry{e})) })
	w.run(10 * time.Second)
	if !b.has(e.EntryID()) {
		t.Error("it was not given the entry of the other feed")
	}
}

// Two neighbors have a bundle for us, and one is faster: the other, who waited for our answer, earns as well.
func TestWhoWaitedEarnsAsWell(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, bound(), news)
	a, faster, other := hosts[0], hosts[1], hosts[2]
	b := bundleWith(feed.Entry{Feed: news, ID: "x", Published: w.Now()})
	var first, got []protocol.Reply
	a.offered(faster, b, &first)
	a.offered(other, b, &got)
	a.put(faster, b)
	if len(got) != 1 {
		t.Fatalf("the neighbor that waits was answered %d times", len(got))
	}
	if got[0] == protocol.Seen(false) { // an audit
		a.put(other, b)
	}
	for _, h := range []*testHost{faster, other} {
		if earned := a.account(h).Got; earned != incentive.Entry {
			t.Errorf("%s earned %v, want an entry", h.id, earned)
		}
	}
}

// A neighbor may send so many bytes a minute, whether they are new or not.
func TestAFloodOfBytesIsHeldBack(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.run(w.Now().Truncate(time.Minute).Add(time.Minute).Sub(w.Now()))
	bundle := bundleWith(feed.Entry{Feed: news, ID: "x", Content: strings.Repeat("x", 1<<20)})
	advert := protocol.UpdateSubset{}
	for i := range 1000 {
		in := protocol.Interest{Feed: feed.URL(fmt.Sprint("https://example.com/", strings.Repeat("x", 1000), i))}
		advert.Changes = append(advert.Changes, in)
	}
	flood := func(size int, c protocol.Call) {
		t.Helper()
		taken := 0
		for range 100 {
			if a.hears(b, c).Fault == nil {
				taken++
			}
		}
		if bytes := taken * size; bytes > core.BytesAMinute || bytes < core.BytesAMinute/2 {
			t.Errorf("%d MiB were taken within a minute, the limit is %d", bytes>>20, core.BytesAMinute>>20)
		}
		w.run(time.Minute)
	}
	flood(bundle.WireBytes(), protocol.PutEntries{Bundle: bundle})
	flood(len(advert.Changes)*advert.Changes[0].WireBytes(), advert)
}

// Entries that were put in a week, dated or not, earn nothing when they are put or offered again: as they were, in
// other bundles, or by a newcomer.
func TestReplayedPutsEarnNothing(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, bound(), news)
	a, b, newcomer := hosts[0], hosts[1], hosts[2]
	var bundles []*protocol.Bundle
	for day := range 7 {
		for i := range 4 {
			name := fmt.Sprint(day, "/", i)
			entries := []feed.Entry{
				{Feed: news, ID: "dated " + name, Title: name, Published: w.Now()},
				{Feed: news, ID: "undated " + name, Title: "undated " + name},
				{Feed: news, ID: "far " + name, Title: "far " + name, Published: w.Now().AddDate(9, 0, 0)},
			}
			b := bundleWith(entries...)
			bundles = append(bundles, b)
			w.feed(news).entries = append(w.feed(news).entries, entries...) // the publisher has them
			a.take(hosts[1], b)
			w.run(3 * time.Hour)
		}
		w.run(12 * time.Hour)
	}
	w.run(48 * time.Hour)
	before := []incentive.Account{a.account(b), a.account(newcomer)}
	if before[0].Got < incentive.Value(7*4*2, 0) {
		t.Fatalf("a week of bundles earned %v", before[0].Got)
	}
	for i, again := range bundles {
		next := bundles[(i+1)%len(bundles)]
		regrouped := bundleWith(append(again.Entries[:2:2], next.Entries[1:]...)...)
		for _, from := range []*testHost{b, newcomer} {
			a.take(from, again)
			a.take(from, regrouped)
			a.hears(from, protocol.CheckDID{DID: again.DID})
			w.run(10 * time.Minute)
		}
	}
	for i, of := range []*testHost{b, newcomer} {
		if got := a.account(of); got.Got != before[i].Got {
			t.Errorf("neighbor %d: the replay earned %v", i, got.Got-before[i].Got)
		}
	}
}
