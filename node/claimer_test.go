package node_test

import (
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// Neighbors that claim every bundle that they hear of and deliver none.

// A network of 48, a quarter of them claimers, and 24 bundles that nobody but their source can poll: everybody
// else gets each of them, 99 of 100 within five seconds. All of it passes within five minutes, so that the
// claimers are still in full standing with the last bundle.
func TestClaimersDoNotCutAnybodyOff(t *testing.T) {
	w := newLargeNetwork(t)
	w.feed(news)
	var honest []*testHost
	for i := range 48 {
		w.habit = nil
		if i%4 == 3 {
			w.habit = func(n *node.Node) lab.Actor { return actor.Breaker(n) }
		}
		h := w.add(node.Config{Trackers: []string{tracker}}, news)
		if h.blocked[news] = true; w.habit == nil {
			honest = append(honest, h)
		}
	}
	w.run(2 * time.Minute)
	published := make(map[feed.EntryID]time.Time)
	for i := range 24 {
		id := w.publish(news)
		published[id] = w.Now()
		source := honest[i%len(honest)]
		source.blocked[news] = false
		source.poll(news)
		source.blocked[news] = true
		w.run(12 * time.Second)
	}
	var lags []time.Duration
	missed := 0
	for id, begun := range published {
		for _, h := range honest {
			if at, ok := h.arrived[id]; ok {
				lags = append(lags, at.Sub(begun))
			} else {
				missed++
			}
		}
	}
	slices.Sort(lags)
	p99 := lags[len(lags)*99/100]
	t.Logf("%d deliveries: median %v, 99%% within %v, the last %v", len(lags), lags[len(lags)/2], p99,
		lags[len(lags)-1])
	if missed != 0 {
		t.Errorf("%d deliveries to honest nodes never came", missed)
	}
	if p99 >= 5*time.Second {
		t.Errorf("one of 100 deliveries took longer than %v", p99)
	}
	for _, h := range honest {
		for _, id := range h.node.LinkIDs() {
			if !linked(h, w.hosts[id]) {
				t.Errorf("%s lost %s meanwhile", h.id, id)
			}
		}
	}
}

// Claimers that know of a bundle before anybody has it, and offer it again and again, delay it and no more.
func TestClaimersAheadOfTheBundleDelayIt(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(8, node.Config{}, news)
	a, honest, claimers := hosts[0], hosts[1], hosts[2:]
	b := one("awaited")
	end := w.Now().Add(10 * time.Second)
	for _, claimer := range claimers {
		var again func()
		again = func() {
			if w.Now().Before(end) && a.neighborOf(claimer.id) {
				a.askedBy(claimer, protocol.CheckDID{DID: b.DID},
					func(node.Respond) { w.At(w.Now().Add(w.rtt), again) })
			}
		}
		again()
	}
	w.run(3 * time.Second)
	begun := w.Now()
	honest.inside(func(n *node.Node) { n.Offer(a.id, b) })
	w.run(time.Minute)
	at, ok := a.arrived[b.Entries[0].EntryID()]
	if lag := at.Sub(begun); !ok || lag > (exchange.MaxPassedOver+1)*protocol.HoldAnswer {
		t.Errorf("the bundle came %v, after %v", ok, lag)
	}
}

// A claimer loses its place once it has broken its word on three occasions.
func TestAClaimerIsSentAway(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, claimer := hosts[0], hosts[1]
	w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, put := c.(protocol.PutEntries)
		return protocol.OK{}, put && from == claimer
	}
	for i := range 3 {
		a.hears(claimer, protocol.CheckDID{DID: did(i)})
		w.run(time.Second)
		a.hears(claimer, protocol.GetNeighbors{}) // it is there, and does not deliver
		w.run(10 * time.Minute)
	}
	if a.neighborOf(claimer.id) {
		t.Error("it is still a neighbor")
	}
	if r := a.answerTo(claimer.id, claimer.node.Token(a.id), wantsNews()); r.Fault == nil ||
		r.Fault.Code != protocol.Dropped {
		t.Errorf("a connect of a node that was sent away is answered %+v, %v", r.Reply, r.Fault)
	}
	if !linked(a, hosts[2]) {
		t.Error("an honest neighbor was lost")
	}
}

// A did that was claimed is stored under whatever neighbor brings it.
func TestAClaimedBundleIsTakenFromAnybody(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, claimer, honest := hosts[0], hosts[1], hosts[2]
	b := bundleWith(feed.Entry{Feed: news, ID: "claimed"})
	a.hears(claimer, protocol.CheckDID{DID: b.DID})
	if r := a.put(honest, b); r.Fault != nil || !a.has(b.Entries[0].EntryID()) {
		t.Errorf("answered %v, %v", r.Reply, r.Fault)
	}
	if n := a.node.Promises(); n != 0 {
		t.Errorf("%d promises of a bundle that is stored", n)
	}
}
