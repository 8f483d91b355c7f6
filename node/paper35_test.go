package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// Paper §3.5, Incentive Mechanism, sentence by sentence.

// Paper §3.5: "they may want to save the network bandwidth by only receiving the entry bundles without forwarding
// them. [...] Without proper incentive mechanisms and the detection of misbehavior, the system may become full of
// free riders": without a bound they get from neighbors what everybody gets, with it nothing worth mentioning.
func TestTheBoundIsWhatStopsFreeRiders(t *testing.T) {
	t.Parallel()
	fromPeers := func(bound int) (riders, honest float64) {
		o := newOverlayOf(t, 16, 4, node.Config{Incentive: incentive.Config{Bound: bound}})
		o.run(10 * time.Minute)
		o.publishFor(24 * time.Hour)
		share := func(rider bool) float64 {
			return o.service(func(h *testHost) bool { return o.bad[h] == rider }, epoch.Add(6*time.Hour)).fromPeer
		}
		return share(true), share(false)
	}
	free, all := fromPeers(-1)
	held, honest := fromPeers(10)
	t.Logf("riders get %.1f%% of their entries from neighbors without a bound, %.1f%% with; the others %.1f%% and "+
		"%.1f%%", 100*free, 100*held, 100*all, 100*honest)
	if free < 0.9*all {
		t.Errorf("without a bound riders get %.1f%% of their entries from neighbors, others %.1f%%: nothing is shown",
			100*free, 100*all)
	}
	if held > 0.05 || honest < 0.9*all {
		t.Errorf("with a bound riders get %.1f%% of their entries from neighbors, others %.1f%%", 100*held, 100*honest)
	}
}

// fresh is a bundle of n new entries of a feed.
func fresh(w *network, u feed.URL, name string, n int) *protocol.Bundle {
	var entries []feed.Entry
	for i := range n {
		entries = append(entries, feed.Entry{Feed: u, ID: fmt.Sprint(name, i), Title: "T", Published: w.Now()})
	}
	return protocol.NewBundle(u, entries)
}

// Paper §3.5: "When a node i receives a new entry from a neighbor j, i updates the contribution metric c_{j,i} [...]
// a node gives the most credit when it receives an entry from a feed belonging to the direct subscription set, the
// second most credit for an entry from a feed of hop count 1, and so forth." Here α is 2 and w_f is 1.
func TestCreditHalvesWithEachHop(t *testing.T) {
	const far, nobodys feed.URL = "https://far.example.com/", "https://nobodys.example.com/"
	for _, c := range []struct {
		feed feed.URL
		want incentive.Credit
	}{{news, 2 * incentive.Entry}, {blog, incentive.Entry}, {comic, incentive.Entry / 2}, {far, incentive.Entry / 4},
		{nobodys, 0}} {
		w := newNetwork(t)
		hosts := w.full(1, bound(), news)
		i, j, other := hosts[0], hosts[0].hearer(stranger(1)), hosts[0].hearer(stranger(2))
		j.connect(protocol.Subset{{Feed: news}})
		other.connect(protocol.Subset{{Feed: blog}, {Feed: comic, Hops: 1}, {Feed: far, Hops: 2},
			{Feed: nobodys, Hops: 3}})
		i.put(j.testHost, fresh(w, c.feed, "x", 2))
		if got := i.account(j.testHost).Got; got != c.want {
			t.Errorf("two entries of %s earn %v, want %v", c.feed, got, c.want)
		}
		i.put(j.testHost, fresh(w, c.feed, "x", 2))
		if got := i.account(j.testHost).Got; got != c.want {
			t.Errorf("the same two entries of %s earn again: %v, want %v", c.feed, got, c.want)
		}
	}
}

// The other side of it, c_{i,j}: what is given counts by the hop count that the receiver states.
func TestWhatIsGivenCountsByTheReceiversHops(t *testing.T) {
	for hops, want := range []incentive.Credit{incentive.Entry, incentive.Entry / 2, incentive.Entry / 4,
		incentive.Entry / 8} {
		w := newNetwork(t)
		i := w.full(1, bound(), news)[0]
		j := i.hearer(stranger(1))
		j.connect(protocol.Subset{{Feed: news, Hops: hops}})
		w.run(2 * time.Second) // it has caught up
		w.publish(news)
		i.poll(news)
		w.run(time.Minute)
		if got := i.account(j.testHost).Given; got != want || j.got != 1 {
			t.Errorf("at %d hops %d entries count as %v, want %v", hops, j.got, got, want)
		}
	}
}

// Paper §3.5: "we define the deficit of contribution d_{i,j} of node i against node j as follows: d_{i,j} = c_{i,j} -
// c_{j,i}", and: "i can maintain both c_{i,j} and c_{j,i} without relying on j". Statements of j about the account move
// nothing.
func TestDeficitIsGivenLessGotWhateverOthersSay(t *testing.T) {
	w := newNetwork(t)
	i := w.full(1, bound(), news)[0]
	j := i.hearer(stranger(1))
	j.connect(protocol.Subset{{Feed: news}})
	lies := []protocol.Statement{
		{Given: 1 << 50, Got: -1 << 50, Deficit: -1 << 50, Bound: 1},
		{Got: 1 << 50, Deficit: 1 << 50, Bound: -1, Waiting: 1 << 40}, {},
	}
	for n := range 12 {
		switch n % 3 {
		case 0:
			i.put(j.testHost, fresh(w, news, fmt.Sprint("given ", n), 1))
		default:
			w.publish(news)
			i.poll(news)
		}
		before := i.account(j.testHost)
		i.hears(j.testHost, protocol.StateAccount{Account: lies[n%len(lies)]})
		after := i.account(j.testHost)
		if before.Given != after.Given || before.Got != after.Got || before.Deficit != after.Deficit {
			t.Fatalf("its word moved the account from %+v to %+v", before, after)
		}
		w.run(10 * time.Second)
		a := i.account(j.testHost)
		if a.Deficit != a.Given-a.Got || a.Given != incentive.Value(j.got, 0) {
			t.Errorf("given %v (it received %d entries), got %v, deficit %v", a.Given, j.got, a.Got, a.Deficit)
		}
	}
	if a := i.account(j.testHost); a.Given < 4*incentive.Entry || a.Got < 4*incentive.Entry {
		t.Errorf("given %v, got %v: nothing is shown", a.Given, a.Got)
	}
}

// Paper §3.5: "node i ensures that d_{i,j} does not exceed a constant parameter D", whatever D is: from the first entry
// on trust to a bound that much was earned for.
func TestTheBoundIsTheOwners(t *testing.T) {
	for _, d := range []int{1, 3, 10} {
		w := newNetwork(t)
		i := w.full(1, node.Config{Incentive: incentive.Config{Bound: d}}, news, blog, comic)[0]
		j := i.hearer(stranger(1))
		j.connect(protocol.Subset{{Feed: news}})
		for n := range 12 { // enough for any of these bounds
			i.put(j.testHost, fresh(w, []feed.URL{news, blog, comic}[n%3], fmt.Sprint(n), 1))
		}
		earned := i.account(j.testHost)
		for range 60 {
			w.publish(news)
			i.poll(news)
			w.run(2 * time.Second)
		}
		a := i.account(j.testHost)
		if want := incentive.Value(d, 0); a.Deficit != want || a.Given != want-earned.Deficit {
			t.Errorf("with a bound of %d it ends at a deficit of %v, given %v from %v", d, a.Deficit, a.Given,
				earned.Deficit)
		}
	}
}
