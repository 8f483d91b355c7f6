package node_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/poller"
	"feedex/polling"
	"feedex/protocol"
	"feedex/trust"
)

// Claims of neighbors about a feed are checked against its publisher.

// skeptics are n nodes that follow news, whose publisher has listed something for three hours.
func skeptics(t *testing.T, n int) *network {
	w := newNetwork(t)
	w.publish(news)
	w.full(n, bound(), news)
	w.run(3 * time.Hour)
	return w
}

// junk is a bundle of one entry that its publisher never heard of, published now.
func (w *network) junk(name string, path ...protocol.NodeID) *protocol.Bundle {
	b := bundleWith(feed.Entry{Feed: news, ID: name, Title: name, Link: "https://example.net/" + name,
		Published: w.Now().Truncate(time.Second)})
	b.Path = path
	return b
}

// take delivers a bundle to h in the name of its neighbor from, which must not be refused.
func (h *testHost) take(from *testHost, b *protocol.Bundle) {
	h.net.t.Helper()
	if r := h.put(from, b); r.Fault != nil {
		h.net.t.Fatalf("the bundle of %s was refused: %v", from.id, r.Fault)
	}
}

func TestAForgerIsCutOffAtTheFirstStrike(t *testing.T) {
	w := skeptics(t, 3)
	a, forger, honest := w.list[0], w.list[1], w.list[2]
	modified := a.node.Status().Counters.Polls - a.node.Status().Counters.NotModified
	b, was := w.junk("junk"), a.account(forger)
	a.take(forger, b)
	before := a.account(forger)
	if before.Got != was.Got+incentive.Entry || before.Deficit != was.Deficit-incentive.Entry {
		t.Fatalf("it earned %v, its deficit is %v, and was %v", before.Got-was.Got, before.Deficit, was.Deficit)
	}
	w.run(2*time.Hour + time.Minute) // one poll may be too early
	c := a.node.Status().Counters
	if c.Forged != 1 || a.neighborOf(forger.id) || !a.node.Refused(forger.id) {
		t.Errorf("%d entries are forged, refused is %v", c.Forged, a.node.Refused(forger.id))
	}
	if c.Polls-c.NotModified != modified {
		t.Error("the polls were to say that nothing is modified")
	}
	if got := a.account(forger); got.Deficit != before.Deficit+10*incentive.Entry {
		t.Errorf("its deficit is %v entries and was %v, want 10 more", got.Deficit, before.Deficit)
	}
	if !a.neighborOf(honest.id) || a.account(honest).Fined > 0 {
		t.Error("somebody else paid for it")
	}
	if !honest.neighborOf(a.id) || honest.account(a).Fined > 0 {
		t.Error("a node that got the entry from the relay blames the relay")
	}
	if r := a.record(b.Entries[0].EntryID()); r.Confirmed {
		t.Error("the forgery counts as confirmed")
	}
}

// A claim of a node that proved no key is answered for by its address, not by a key that came there since.
func TestWhoCameLaterAnswersForNoClaim(t *testing.T) {
	w := skeptics(t, 1)
	a, id := w.list[0], stranger(9)
	a.take(a.befriend(id, news), w.junk("junk"))
	later := protocol.NodeKeyOf(keyFrom(id))
	a.inside(func(n *node.Node) { n.Settle(id, later) })
	w.run(2*time.Hour + time.Minute)
	if c := a.node.Status().Counters; c.Forged != 1 {
		t.Fatalf("%d entries are forged", c.Forged)
	}
	key, _ := incentive.ParseHolder(later.String())
	address := incentive.HolderOf(id)
	if by := a.node.AccountOf(key); by.Fined > 0 || a.node.AccountOf(address).Fined == 0 {
		t.Errorf("the key that came later was fined %v, the address %v", by.Fined, a.node.AccountOf(address).Fined)
	}
}

// A key that owes much at one address is a stranger at another, which answers for what it forges there: it is cut off.
func TestADebtorAnswersWhereItForges(t *testing.T) {
	w := skeptics(t, 1)
	a, id, before := w.list[0], stranger(9), stranger(8)
	key := protocol.NodeKeyOf(keyFrom(id))
	forger := w.play(id, func(*testHost, node.Call) protocol.Reply { return protocol.OK{} })
	a.inside(func(n *node.Node) {
		n.Indebt(before, key)
		n.JoinByKey(id, key, false, "token", protocol.Subset{{Feed: news}})
	})
	a.take(forger, w.junk("junk"))
	w.run(2*time.Hour + time.Minute)
	if a.neighborOf(id) || !a.node.Refused(id) || a.node.Refused(before) {
		t.Errorf("the forger is a neighbor still: %v; refused is its address: %v, the one before: %v",
			a.neighborOf(id), a.node.Refused(id), a.node.Refused(before))
	}
}

// An entry without a date is of no absence, least of all of one that has lasted since the node was new.
func TestAForgeryWithoutADateIsFoundOut(t *testing.T) {
	w := newNetwork(t)
	w.publish(news)
	hosts := w.full(2, node.Config{}, news)
	a, forger := hosts[0], hosts[1]
	w.run(50 * time.Hour) // a poll tells of what may have waited for two days
	a.take(forger, bundleWith(feed.Entry{Feed: news, ID: "junk", Title: "T"}))
	w.run(2*time.Hour + time.Minute)
	if c := a.node.Status().Counters; c.Forged != 1 || a.neighborOf(forger.id) {
		t.Errorf("%d entries are forged", c.Forged)
	}
}

// Several forgeries found at a time are one offence, and are fined each.
func TestForgeriesAreFinedEach(t *testing.T) {
	w := skeptics(t, 2)
	a, forger := w.list[0], w.list[1]
	a.take(forger, w.junk("one"))
	a.take(forger, w.junk("two"))
	w.run(time.Hour)
	a.poll(news)
	if got := a.account(forger); got.Fined != 20*incentive.Entry || len(got.Standing.Marks) != 1 ||
		a.node.Status().Counters.Forged != 2 {
		t.Errorf("fined %v for %d offences", got.Fined, len(got.Standing.Marks))
	}
}

// A relay could not know better: its link and its account stay. But what it brought made it no more useful.
func TestARelayOfForgeriesIsNotBlamed(t *testing.T) {
	w := skeptics(t, 3)
	a, relay, honest := w.list[0], w.list[1], w.list[2]
	for i := range 5 {
		a.take(relay, w.junk(fmt.Sprint("junk ", i), stranger(1)))
		w.publish(news)
		a.take(honest, protocol.NewBundle(news, w.feeds[news].entries[i+1:]))
	}
	before := a.account(relay)
	w.run(time.Hour)
	usefulness := func() (s, of float64) { return a.status(relay).Score, a.status(honest).Score }
	if s, of := usefulness(); s < of*0.9 {
		t.Errorf("before the poll the relay scores %v, the honest neighbor %v", s, of)
	}
	a.poll(news)
	if after := a.account(relay); !a.neighborOf(relay.id) || after.Fined != 0 || after.Got != before.Got ||
		len(after.Standing.Marks) > 0 {
		t.Errorf("the relay was blamed: %+v", after)
	}
	if s, of := usefulness(); s > of*0.9 {
		t.Errorf("after the poll the relay scores %v, the honest neighbor %v", s, of)
	}
	if s, of := a.status(relay), a.status(honest); of.Observed <= of.Claimed || s.Observed > of.Observed/4 {
		t.Errorf("the relay is observed to be worth %v, the honest neighbor %v", s.Observed, of.Observed)
	}
	if c := a.node.Status().Counters; c.Confirmed != 5 || c.Forged != 0 {
		t.Errorf("%d entries are confirmed, %d forged", c.Confirmed, c.Forged)
	}
	if id := w.feeds[news].entries[3].EntryID(); !a.record(id).Confirmed || !a.record(id).Source.Addr().IsValid() {
		t.Error("what the publisher listed does not count as confirmed")
	}
}

// Claims that cannot be held against a neighbor are not.
func TestClaimsThatAPollCannotDisprove(t *testing.T) {
	for name, c := range map[string]struct {
		bundle func(w *network) *protocol.Bundle
		then   func(w *network, a *testHost) // before the poll
		earned incentive.Credit
	}{
		"it is younger than an hour": {(*network).anything, func(w *network, _ *testHost) { w.run(58 * time.Minute) },
			incentive.Entry},
		"it left the window": {(*network).anything, func(w *network, _ *testHost) {
			w.feeds[news].window = 3
			for range 3 {
				w.run(30 * time.Minute)
				w.publish(news)
			}
		}, incentive.Entry},
		"the document is empty": {(*network).anything, func(w *network, _ *testHost) {
			w.run(2 * time.Hour)
			w.feeds[news].entries = nil
		}, incentive.Entry},
		"nobody is to learn that we ask the publisher": {(*network).anything, func(w *network, a *testHost) {
			w.run(2 * time.Hour)
			a.node.Subscription(news).Discreet = true
		}, incentive.Entry},
		"the title was edited": {func(w *network) *protocol.Bundle {
			return bundleWith(feed.Entry{Feed: news, Title: "Ttile", Link: "https://example.com/1", Published: w.Now()})
		}, func(w *network, _ *testHost) {
			w.run(2 * time.Hour)
			p := w.feed(news)
			p.entries = append(p.entries, feed.Entry{Feed: news, Title: "Title", Link: "https://example.com/1",
				Published: w.Now().Add(-2 * time.Hour)})
		}, 0},
		"the feed is divided": {(*network).anything, func(w *network, a *testHost) {
			w.run(2 * time.Hour)
			for i := range 2 {
				a.inside(func(n *node.Node) {
					n.Compare(news, documentOf(i, 2, 4), documentOf(i, 4))
				})
			}
		}, 0},
	} {
		w := skeptics(t, 2)
		a, b := w.list[0], w.list[1]
		a.blocked[news], b.blocked[news] = true, true // the polls that it would have made
		w.run(2 * time.Hour)
		a.blocked[news] = false
		w.publish(news)
		a.poll(news)
		a.blocked[news] = true
		w.run(time.Minute)
		before := a.account(b).Got
		bundle := c.bundle(w)
		a.take(b, bundle)
		c.then(w, a)
		a.blocked[news] = false
		a.poll(news)
		got := a.account(b)
		if a.node.Status().Counters.Forged != 0 || !a.neighborOf(b.id) || got.Fined != 0 {
			t.Errorf("%s: it counts as forged", name)
		}
		if earned := got.Got - before; earned != c.earned {
			t.Errorf("%s: it earned %v, want %v", name, earned, c.earned)
		}
	}
}

func (w *network) anything() *protocol.Bundle { return w.junk("anything") }

// documentOf lists entries with these numbers.
func documentOf(numbers ...int) (listed []trust.Listed) {
	for _, i := range numbers {
		e := feed.Entry{Feed: news, ID: fmt.Sprint(i), Title: fmt.Sprint(i)}
		listed = append(listed, trust.NewListed(&e, e.EntryID(), e.Digest(), epoch, false))
	}
	return listed
}

// Two witnesses each bring what the publisher does not show us. The third that does is believed to have seen it.
func TestNobodyIsSentAwayForADividedFeed(t *testing.T) {
	w := skeptics(t, 4)
	a := w.list[0]
	a.hasHeard(w.list[1:]...)
	before := a.account(w.list[3]).Got
	for i, h := range w.list[1:] {
		a.take(h, w.junk(fmt.Sprint("elsewhere ", i)))
		w.run(time.Hour)
		a.poll(news)
	}
	for i, h := range w.list[1:] {
		if kept := a.neighborOf(h.id); kept != (i == 2) {
			t.Errorf("neighbor %d is still there: %v", i, kept)
		}
	}
	if got := a.account(w.list[3]); got.Got != before || got.Fined != 0 {
		t.Errorf("the third earned %v with what nobody can check, and was fined %v", got.Got-before, got.Fined)
	}
}

// A run that has not seen a document yet learns nothing from "not modified".
func TestNotModifiedSaysNothingAfterARestart(t *testing.T) {
	w := skeptics(t, 2)
	a, b := w.list[0], w.list[1]
	a.kill()
	a.start()
	w.run(2 * time.Minute)
	modified := a.node.Status().Counters.Polls - a.node.Status().Counters.NotModified
	a.take(b, w.junk("junk"))
	w.run(3 * time.Hour)
	if c := a.node.Status().Counters; modified != 0 || c.NotModified < 2 || c.Forged != 0 {
		t.Errorf("after %d documents and %d times \"not modified\" %d entries are forged", modified,
			c.NotModified, c.Forged)
	}
}

// A newcomer's word about a feed that sleeps long is checked earlier now and then, and the publisher is
// asked once more than it would have been.
func TestNewcomersAreSpotChecked(t *testing.T) {
	const every = 16 * time.Hour
	for name, c := range map[string]struct {
		prepare func(w *network, s *poller.Subscription)
		path    []protocol.NodeID
		spot    bool
	}{
		"a first-hand claim":     {func(*network, *poller.Subscription) {}, nil, true},
		"a relay claims nothing": {func(*network, *poller.Subscription) {}, []protocol.NodeID{stranger(1)}, false},
		"the publisher wants to be let be": {func(w *network,
			s *poller.Subscription) {
			s.NotBefore = w.Now().Add(every)
		}, nil, false},
		"nobody is to learn that we ask it": {func(_ *network, s *poller.Subscription) { s.Discreet = true }, nil,
			false},
		"it fails": {func(_ *network, s *poller.Subscription) { s.Errors = 1 }, nil, false},
	} {
		w := newNetwork(t)
		w.publish(news)
		// There is more than a newcomer may bring.
		hosts := w.full(2, node.Config{Incentive: incentive.Config{Bound: 10, Rules: noQuota},
			Policy: polling.Fixed{Every: every}}, news)
		a, b := hosts[0], hosts[1]
		s, p := a.node.Subscription(news), w.feeds[news]
		w.run(s.NextPoll.Sub(w.Now()) + time.Minute)
		b.blocked[news] = true
		due, asked := s.NextPoll, p.requests
		c.prepare(w, s)
		first := time.Time{}
		for i := 0; i < 200 && first.IsZero(); i++ {
			e := feed.Entry{Feed: news, ID: fmt.Sprint("real ", i), Title: "T", Published: w.Now().AddDate(0, 0, -3)}
			p.entries = append(p.entries, e) // too old to earn, so that b stays a newcomer
			bundle := bundleWith(e)
			bundle.Path = c.path
			a.take(b, bundle)
			if !s.Ordinary.IsZero() {
				first, due = s.NextPoll, s.Ordinary // which what is claimed may have moved
			}
		}
		if spot := !first.IsZero(); spot != c.spot {
			t.Errorf("%s: a spot poll was arranged: %v", name, spot)
		}
		if !c.spot {
			continue
		}
		if wait := first.Sub(w.Now()); wait < poller.SpotAfter || wait > poller.SpotAfter+poller.SpotAfter/10 {
			t.Errorf("%s: the spot poll is in %v", name, wait)
		}
		w.run(first.Sub(w.Now()) + time.Minute)
		for range 200 {
			a.inside(func(n *node.Node) { n.SpotPoll(news) })
		}
		if !s.NextPoll.Equal(due) || p.requests != asked+1 || s.Interval != every {
			t.Errorf("after the spot poll %d requests were made, the next is due at %v instead of %v, the interval "+
				"is %v", p.requests-asked, s.NextPoll, due, s.Interval)
		}
		w.run(due.Sub(w.Now()) + time.Minute)
		if p.requests != asked+2 || s.NextPoll.Before(w.Now().Add(every*3/4-2*time.Minute)) {
			t.Errorf("after the ordinary poll %d requests were made, the next is due at %v",
				p.requests-asked, s.NextPoll)
		}
	}
}

// Of an entry that two witnesses have by ways apart there is more than one's word.
func TestTwoWitnessesConfirmAnEntry(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []protocol.NodeID
		near          bool // the second is in the network of the first
		heard         int  // how many of them are witnesses
		want          bool
	}{
		"two polls": {nil, nil, false, 2, true},
		"one source": {[]protocol.NodeID{stranger(1)}, []protocol.NodeID{stranger(1)},
			false, 2, false},
		"sources of one network": {[]protocol.NodeID{stranger(1)}, []protocol.NodeID{near(stranger(1))},
			false, 2, false},
		"two of one network": {nil, nil, true, 2, false},
		"two of one network, as relays": {[]protocol.NodeID{stranger(1)}, []protocol.NodeID{stranger(2)},
			true, 2, false},
		"two who brought nothing before":   {nil, nil, false, 0, false},
		"one who did, and one who did not": {nil, nil, false, 1, false},
	} {
		w := skeptics(t, 2)
		a, first := w.list[0], w.list[1]
		second := w.add(bound(), news)
		if c.near {
			second = w.addAt(near(first.id), bound(), news)
		}
		a.befriend(second.id, news)
		a.hasHeard([]*testHost{first, second}[:c.heard]...)
		b := w.junk("entry", c.first...)
		a.take(first, b)
		if a.record(b.Entries[0].EntryID()).Confirmed {
			t.Errorf("%s: one neighbor confirms", name)
		}
		again := bundleWith(b.Entries[0], feed.Entry{Feed: news, ID: "other", Title: "T", Published: w.Now()})
		again.Path = c.second
		a.take(second, again)
		if got := a.record(b.Entries[0].EntryID()).Confirmed; got != c.want {
			t.Errorf("%s: confirmed is %v, want %v", name, got, c.want)
		}
	}
}

// Entries that are known a neighbor is not asked for, and a delivery of them that nobody asked for is no word: honest
// neighbors make none. A second one that was asked for is a witness's, as one of another bundle is.
func TestASecondDeliveryConfirmsWhereItWasAskedFor(t *testing.T) {
	for _, asked := range []bool{false, true} {
		w := skeptics(t, 3)
		a, first, second := w.list[0], w.list[1], w.list[2]
		a.hasHeard(first, second)
		b := w.junk("entry")
		a.take(first, b)
		if asked {
			a.inside(func(n *node.Node) {
				n.Owe(second.id, b.DID,
					incentive.Entry)
			})
		}
		a.take(second, b)
		if got := a.record(b.Entries[0].EntryID()).Confirmed; got != asked {
			t.Errorf("asked for %v: confirmed is %v", asked, got)
		}
	}
}

// near is another node of that network.
func near(id protocol.NodeID) protocol.NodeID {
	a := id.Addr().As4()
	a[3]++
	return protocol.NewNodeID(netip.AddrFrom4(a), id.Port())
}

// A neighbor's version is no word to go by where the publisher has it otherwise.
func TestWhoAltersIsNoWitness(t *testing.T) {
	for _, alters := range []bool{false, true} {
		w := skeptics(t, 3)
		a, b, other := w.list[0], w.list[1], w.list[2]
		a.hasHeard(other)
		w.publish(news)
		e := w.feed(news).entries[1]
		if alters {
			e.Title = "another title"
		}
		a.take(b, bundleWith(e))
		a.poll(news)
		junk := w.junk("junk")
		a.take(b, junk)
		a.take(other, bundleWith(junk.Entries[0], feed.Entry{Feed: news, ID: "beside", Title: "T", Published: w.Now()}))
		if got := a.record(junk.Entries[0].EntryID()).Confirmed; got == alters {
			t.Errorf("it alters: %v, and is a witness: %v", alters, got)
		}
	}
}

// A burst is more than a neighbor can earn with a feed in a day. Entries of it that it brought earn all the same, once
// an own poll shows that the publisher has them; and those that the publisher does not have earn no more than they did.
func TestABurstEarnsWhenThePublisherListsIt(t *testing.T) {
	for _, c := range []struct{ listed, want int }{{9, 9}, {0, 4}} { // five earn in a day, of which it has one
		w, a, b := newPair(t, bound(), news)
		w.publish(news)
		b.poll(news)
		w.run(time.Minute)
		earned := a.account(b).Got
		var burst []feed.Entry
		for i := range 9 {
			burst = append(burst, feed.Entry{Feed: news, ID: fmt.Sprint("burst ", i), Title: "T", Published: w.Now()})
		}
		a.take(b, bundleWith(burst...))
		if got := a.account(b).Got - earned; got != 4*incentive.Entry {
			t.Fatalf("the burst earns %v at once", got)
		}
		p := w.feed(news)
		p.entries = append(p.entries, burst[:c.listed]...)
		a.poll(news)
		if got := a.account(b).Got - earned; got != incentive.Value(c.want, 0) {
			t.Errorf("%d of the burst are listed: it earns %v, want %d", c.listed, got, c.want)
		}
	}
}

// A path may name an address more than once. What came by way of it counts for it once, when it is brought and when it
// is shown: or each true entry would have invented ones of its feed be taken for shown, and raise the cap.
func TestAPathCountsAnAddressOnce(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	w.publish(news)
	a.poll(news)
	w.run(time.Minute)
	entries := func(name string) (list []feed.Entry) {
		for i := range 20 {
			list = append(list, feed.Entry{Feed: news, ID: fmt.Sprint(name, i), Title: "T", Published: w.Now()})
		}
		return list
	}
	brought := entries("brought ")
	bundle := bundleWith(brought...)
	for port := range uint16(3) {
		bundle = bundle.Via(protocol.NewNodeID(b.id.Addr(), 7001+port))
	}
	a.take(b, bundle)
	p := w.feed(news)
	p.entries = append(p.entries, brought[:2]...)
	a.poll(news)
	w.run(24 * time.Hour)
	before := a.account(b).Got
	a.take(b, bundleWith(entries("more ")...))
	if got, want := a.account(b).Got-before, incentive.Value(2*(1+2)/2+5, 0); got != want {
		t.Errorf("on the second day it earns %v, want %v", got, want)
	}
}
