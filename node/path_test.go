package node_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Paths that somebody wrote anew on the way.

// tamper has the attackers deliver bundles with a path of their making.
func (w *network) tamper(attackers []*testHost, path func(b *protocol.Bundle) []protocol.NodeID) {
	w.alter = func(from *testHost, c protocol.Call) protocol.Call {
		put, ok := c.(protocol.PutEntries)
		if !ok || !slices.Contains(attackers, from) {
			return c
		}
		b := *put.Bundle
		b.Path = path(&b)
		return protocol.PutEntries{Bundle: &b}
	}
}

// reach has each source in turn poll a new entry that nobody else can fetch, and returns how long each
// entry took to the victim, or fails the test where one does not come.
func (w *network) reach(victim *testHost, sources []*testHost, times int) (total time.Duration) {
	for _, h := range w.list {
		h.blocked[news] = true
	}
	for i := range times {
		id := w.publish(news)
		source, begun := sources[i%len(sources)], w.Now()
		source.blocked[news] = false
		source.poll(news)
		source.blocked[news] = true
		w.run(time.Minute)
		at, ok := victim.arrived[id]
		if !ok {
			w.t.Errorf("entry %d of %d never came", i, times)
		}
		total += at.Sub(begun)
	}
	return total
}

// An attacker writes the victim's name into every path, so that the victim takes each bundle for one
// that went in a loop.
func TestVictimsNameInThePathCutsNobodyOff(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(5, node.Config{}, news)
	victim, attacker := hosts[0], hosts[1]
	w.run(time.Minute)
	if victim.node.Status().Self != victim.id {
		t.Fatalf("the victim takes itself for %v", victim.node.Status().Self)
	}
	b := *bundleOf(1)
	b.Path = []protocol.NodeID{victim.id}
	if r := victim.put(attacker, &b); r.Fault != nil || !victim.has(b.Entries[0].EntryID()) {
		t.Errorf("the victim did not take the bundle: %v", r.Fault)
	}
	if n := victim.node.Status().Counters.PathsTampered; n != 1 {
		t.Errorf("%d tampered paths were noticed", n)
	}
	if victim.suspects(attacker.id) == 0 {
		t.Error("nobody was suspected")
	}
}

// The same in a network of 30, of which every third is an attacker: the victim misses nothing, and waits less than
// twice as long as among honest nodes.
func TestVictimsNameInEveryPathHardlyDelays(t *testing.T) {
	lag := func(attacked bool) time.Duration {
		w := newLargeNetwork(t)
		hosts := w.full(30, node.Config{}, news)
		victim := hosts[0]
		if victim.node.Status().Self != victim.id {
			t.Fatalf("the victim takes itself for %v", victim.node.Status().Self)
		}
		var attackers, honest []*testHost
		for i, h := range hosts[1:] {
			if i%3 == 0 {
				attackers = append(attackers, h)
			} else {
				honest = append(honest, h)
			}
		}
		if attacked {
			w.tamper(attackers, func(*protocol.Bundle) []protocol.NodeID { return []protocol.NodeID{victim.id} })
		}
		total := w.reach(victim, honest, 40)
		if tampered := victim.node.Status().Counters.PathsTampered; (tampered > 0) != attacked {
			t.Errorf("%d tampered paths were noticed", tampered)
		}
		return total / 40
	}
	without, with := lag(false), lag(true)
	t.Logf("the victim waits %v, %v without attackers", with, without)
	if with >= 2*without {
		t.Errorf("the victim waits %v, %v without attackers", with, without)
	}
}

// An attacker empties the paths, so that bundles might go round for ever: they end where they are known.
func TestEmptyPathsMakeNoLoop(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(12, node.Config{}, news)
	w.tamper(hosts[4:], func(*protocol.Bundle) []protocol.NodeID { return nil })
	before := make(map[*testHost]int64)
	for _, h := range hosts {
		before[h] = h.node.Status().Counters.PutsReceived
	}
	w.reach(hosts[0], hosts[1:2], 1)
	for _, h := range hosts {
		c := h.node.Status().Counters
		if n := c.PutsReceived - c.Audits - before[h]; n > 1 {
			t.Errorf("%s was delivered a bundle %d times", h.id, n)
		}
	}
}

// An honest relay passes on what an attacker wrote; only the attacker, who stands last, is blamed.
func TestARelayIsNotBlamedForThePathItGot(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(5, node.Config{}, news)
	victim, relay, other := hosts[0], hosts[1], hosts[2]
	b := *bundleOf(1)
	b.Path = []protocol.NodeID{victim.id, other.id} // the last is the node that the relay had it from
	if r := victim.put(relay, &b); r.Fault != nil || !victim.has(b.Entries[0].EntryID()) {
		t.Errorf("the victim did not take the bundle: %v", r.Fault)
	}
	if n := victim.suspects(relay.id); n != 0 {
		t.Errorf("an honest relay is suspected %d times", n)
	}
	if n := victim.node.Status().Counters.PathsTampered; n != 1 {
		t.Errorf("%d tampered paths were noticed", n)
	}
}

// Most of the neighbors have a node believe that it is somebody else, so that relays of what that one has would seem to
// forge paths. Only a neighbor that calls us so itself is held to it.
func TestAFalseNameBlamesNobody(t *testing.T) {
	w := newNetwork(t)
	elsewhere := stranger(1)
	liars := make(map[*testHost]bool)
	w.intercept = func(_, to *testHost, call protocol.Call) (protocol.Reply, bool) {
		_, whoami := call.(protocol.WhoAmI)
		return elsewhere, whoami && liars[to]
	}
	config := node.Config{Trackers: []string{tracker}}
	victim, honest := w.add(config, news), w.add(config, news)
	for range 2 {
		liars[w.add(config, news)] = true
	}
	w.run(10 * time.Minute)
	if victim.node.Status().Self != elsewhere {
		t.Fatal("it was not deceived")
	}
	for i := range 12 {
		b := w.junk(fmt.Sprint("relayed ", i), elsewhere)
		victim.take(honest, b)
		if !victim.has(b.Entries[0].EntryID()) {
			t.Fatal("not taken")
		}
	}
	if n := victim.suspects(honest.id); n > 0 || !linked(victim, honest) {
		t.Errorf("an honest relay is suspected %d times", n)
	}
}

// An attacker that offers a bundle first with a path as long as it may be does not suppress it: it goes on, and of its
// path the first forwarders are left out.
func TestALongPathIsCut(t *testing.T) {
	for _, hops := range []int{protocol.MaxPath - 1, protocol.MaxPath} {
		w := newNetwork(t)
		hosts := w.full(3, node.Config{}, news)
		a, from, to := hosts[0], hosts[1], hosts[2]
		b := *bundleWith(feed.Entry{Feed: news, ID: "far"})
		for i := range hops {
			b.Path = append(b.Path, stranger(i))
		}
		if r := a.put(from, &b); r.Fault != nil {
			t.Fatal(r.Fault)
		}
		w.run(time.Minute)
		if id := b.Entries[0].EntryID(); !a.has(id) || !to.has(id) {
			t.Errorf("after %d hops: kept %v, passed on %v", hops, a.has(id), to.has(id))
		}
	}
}

// Attackers offer every bundle first, with a path as long as it may be. It still reaches everyone.
func TestAFullPathSuppressesNothing(t *testing.T) {
	for _, k := range []int{1, 10} {
		w := newLargeNetwork(t)
		hosts := w.full(40, node.Config{}, news)
		attackers := hosts[40-k:]
		w.tamper(attackers, func(*protocol.Bundle) (path []protocol.NodeID) {
			for i := range protocol.MaxPath {
				path = append(path, stranger(i))
			}
			return path
		})
		for _, h := range hosts {
			h.blocked[news] = true
		}
		missed, total := 0, 0
		for i := range 10 {
			id := w.publish(news)
			source := hosts[i]
			e := w.feeds[news].entries[len(w.feeds[news].entries)-1]
			for _, h := range attackers {
				h.inside(func(n *node.Node) {
					n.See(bundleWith(e).DID)
					h.store.Keep([]archive.Record{archive.NewRecord(e, w.Now(), protocol.NodeID{})})
					for _, p := range n.Neighbors() {
						n.Offer(p.ID, bundleWith(e))
					}
				})
			}
			w.run(time.Second)
			source.blocked[news] = false
			source.poll(news)
			source.blocked[news] = true
			w.run(time.Minute)
			for _, h := range hosts {
				total++
				if !h.has(id) {
					missed++
				}
			}
		}
		if missed > 0 {
			t.Errorf("%d attackers of 40: %d of %d deliveries never came", k, missed, total)
		}
	}
}
