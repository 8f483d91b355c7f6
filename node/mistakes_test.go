package node_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/polling"
	"feedex/protocol"
)

// Honest mistakes, of bad networks and of nodes that were away, end no link. Attackers, who mean it, are refused for a
// day.

// lossy is how much longer a call takes where every fifth packet is lost. A request and its answer are a packet each;
// when one is lost the request is sent again after 200 ms, and twice that each time (RFC 6298 §5).
func lossy(rng *rand.Rand) time.Duration {
	var wait time.Duration
	for again := 200 * time.Millisecond; rng.Float64() > 0.8*0.8; again *= 2 {
		wait += again
	}
	return wait
}

// blamed lists the offences that anybody counts against h.
func (w *network) blamed(h *testHost) (list []string) {
	for _, other := range w.list {
		for _, m := range other.account(h).Standing.Marks {
			list = append(list, fmt.Sprintf("%s: %v", other.id, m.Offence))
		}
	}
	return list
}

// parted counts the links to h that ended, but for those whose place went to a better neighbor.
func (w *network) parted(h *testHost) (count int) {
	for _, other := range w.list {
		for _, note := range other.notes {
			if u, ok := note.(node.Unlinked); ok && (other == h || u.Peer == h.id) &&
				!strings.Contains(u.Reason, "more useful") {
				count++
			}
		}
	}
	return count
}

// One node of twelve loses every fifth packet, both ways, for a day in which it polls, offers and is offered: it
// keeps its links and a standing with everybody that is nowhere near the end.
func TestAPoorNetworkKeepsItsLinks(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 10, 0)
	poor := o.list[0]
	o.run(10 * time.Minute)
	rng := rand.New(rand.NewPCG(7, 10))
	late := 0
	o.lag = func(from, to *testHost) time.Duration {
		if from != poor && to != poor {
			return 0
		}
		extra := lossy(rng)
		if extra > core.CallTimeout {
			late++
		}
		return extra
	}
	before := o.parted(poor)
	o.publishFor(20 * time.Hour)
	if late < 3 {
		t.Errorf("%d calls came too late; nothing is shown", late)
	}
	if n := o.parted(poor) - before; n > 0 {
		t.Errorf("%d of its links ended", n)
	}
	for _, h := range o.list[1:] {
		if h.neighborOf(poor.id) && h.status(poor).Standing < 60 {
			t.Errorf("its standing with %s is %d: %v", h.id, h.status(poor).Standing, o.blamed(poor))
		}
	}
}

// A node withdraws a feed time and again while its only neighbor that follows it delivers: what is on its way then is
// refused, and not held against the neighbor.
func TestAFickleNodeBlamesNobody(t *testing.T) {
	w, fickle, other := newPair(t, node.Config{}, blog)
	w.feed(news)
	fickle.blocked[news] = true
	other.step(node.Subscribe{Feeds: []feed.URL{news}})
	for i := range 100 {
		fickle.step(node.Subscribe{Feeds: []feed.URL{news}})
		w.run(20 * time.Second)
		w.publish(news)
		other.poll(news)
		w.run(time.Duration(i) * 2 * time.Millisecond)
		fickle.step(node.Unsubscribe{Feeds: []feed.URL{news}})
		w.run(20 * time.Second)
	}
	if n := fickle.node.Status().Counters.PutsRefused; n < 10 {
		t.Errorf("%d deliveries came at the wrong moment; nothing is shown", n)
	}
	if !linked(fickle, other) || len(w.blamed(other)) > 0 {
		t.Errorf("linked %v, %v", linked(fickle, other), w.blamed(other))
	}
}

// A node loses its disk and comes back under its address. Paths name it as one that had what is offered to it now:
// it takes that, and blames nobody.
func TestAPathOfBeforeTheCrashBlamesNobody(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(5, node.Config{Policy: polling.Fixed{Every: 1000 * time.Hour}}, news, blog)
	a := hosts[0]
	for range 10 {
		w.publish(news)
		a.poll(news)
		w.run(time.Minute)
	}
	a.kill()
	a.blocked[news] = true
	a.loseArchive()
	a.step(node.Subscribe{Feeds: []feed.URL{news, blog}})
	w.run(5 * time.Minute)
	for _, h := range hosts[1:] { // their bundles, with those paths, by way of a third
		for _, r := range h.node.Recent() {
			for _, other := range hosts[1:] {
				if other != h && a.neighborOf(other.id) {
					b := r.Via(h.id)
					if a.hears(other, protocol.CheckDID{DID: b.DID}).Reply == protocol.Seen(false) {
						a.put(other, b)
					}
				}
			}
		}
	}
	if a.node.Status().Counters.PathsTampered == 0 {
		t.Error("no path named it; nothing is shown")
	}
	for _, h := range hosts[1:] {
		if !linked(a, h) || a.status(h).Standing < 100 {
			t.Errorf("%s: linked %v, %v", h.id, linked(a, h), w.blamed(h))
		}
	}
}

// An attacker that floods a neighbor with calls, connects anew all the time, or promises and does not deliver, loses
// its link and is refused for a day; then it is welcome again. The others stay.
func TestThoseWhoMeanItAreRefusedForADay(t *testing.T) {
	for name, misbehave := range map[string]func(w *network, a *testHost, bad *hearer, turn int){
		"calls": func(_ *network, a *testHost, bad *hearer, _ int) {
			for range core.CallsAMinute + 10 {
				if a.neighborOf(bad.id) {
					a.hears(bad.testHost, protocol.GetNeighbors{})
				}
			}
		},
		"connects": func(w *network, _ *testHost, bad *hearer, _ int) {
			for range 5 {
				bad.connect(protocol.Subset{{Feed: news}})
			}
		},
		"promises": func(w *network, a *testHost, bad *hearer, turn int) {
			a.hears(bad.testHost, protocol.CheckDID{DID: did(turn)})
			w.run(10 * time.Second)
			a.hears(bad.testHost, protocol.GetNeighbors{}) // it is there
			w.run(6 * time.Minute)
		},
		"adverts": func(w *network, a *testHost, bad *hearer, turn int) {
			for range 5 {
				if a.neighborOf(bad.id) {
					a.hears(bad.testHost, protocol.UpdateSubset{Ignored: 100})
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newNetwork(t)
			hosts := w.full(3, node.Config{}, news)
			a, bad := hosts[0], hosts[0].hearer(stranger(1))
			bad.connect(protocol.Subset{{Feed: news}})
			turns := 0
			for ; turns < 60 && a.neighborOf(bad.id); turns++ {
				misbehave(w, a, bad, turns)
				w.run(time.Minute)
			}
			if a.neighborOf(bad.id) || turns < 2 {
				t.Fatalf("after %d turns it is a neighbor: %v", turns, a.neighborOf(bad.id))
			}
			refused := func() bool {
				r := a.answerTo(bad.id, "token of "+bad.id.String(),
					protocol.Connect{Subset: protocol.Subset{{Feed: news}}})
				return r.Fault != nil && r.Fault.Code == protocol.Dropped
			}
			if w.run(23 * time.Hour); !refused() {
				t.Error("it is back on the same day")
			}
			w.run(2 * time.Hour)
			if bad.connect(protocol.Subset{{Feed: news}}); refused() || !a.neighborOf(bad.id) {
				t.Error("it is refused for more than a day")
			}
			for _, h := range hosts[1:] {
				if !linked(a, h) || len(w.blamed(h)) > 0 {
					t.Errorf("%s: linked %v, %v", h.id, linked(a, h), w.blamed(h))
				}
			}
		})
	}
}

// A machine goes to sleep right after it asked for a bundle, time and again, and wakes hours later: a neighbor that
// could not deliver meanwhile is not blamed, be it a promise or an audit.
func TestWhoOversleepsBlamesNobody(t *testing.T) {
	for _, audit := range []bool{false, true} {
		w, a, b := newPair(t, bound(), news)
		for i := range 4 {
			if audit {
				a.inside(func(n *node.Node) {
					n.Owe(b.id, did(i), incentive.Entry)
				})
			} else if r := a.hears(b, protocol.CheckDID{DID: did(i)}); r.Reply != protocol.Seen(false) {
				t.Fatalf("answered %v", r.Reply)
			}
			w.run(time.Second)
			a.hears(b, protocol.GetNeighbors{})
			w.sleep(5 * time.Hour)
		}
		if !linked(a, b) || len(w.blamed(b)) > 0 {
			t.Errorf("audit %v: linked %v, %v", audit, linked(a, b), w.blamed(b))
		}
	}
}
