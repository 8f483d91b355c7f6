package node

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/polling"
	"feedex/protocol"
)

// What a forger invents is stopped by those who know him, on its way too.

// TestAKnownForgerReachesNobodyByRelays: who found a forger out does not take what relays bring of him. They are not
// to blame, and what others bring of the same is taken.
func TestAKnownForgerReachesNobodyByRelays(t *testing.T) {
	w := skeptics(t, 4)
	a, forger, relay, other := w.list[0], w.list[1], w.list[2], w.list[3]
	a.node.punish(a.node.dues.ledger.HolderOf(forger.id), incentive.ForgedEntry, incentive.Entry)
	before := a.account(relay)
	for i, path := range [][]protocol.NodeID{{forger.id}, {forger.id, stranger(1)}, {stranger(1), forger.id}} {
		b := w.junk(fmt.Sprint("junk ", i), path...)
		if r := a.put(relay, b); r.Fault == nil || r.Fault.Code != protocol.ForgedSource {
			t.Fatalf("what came by %v is answered with %v", path, r)
		}
		if a.has(b.Entries[0].EntryID()) || a.node.gossip.seen.has(b.DID) {
			t.Error("it was kept, or counts as seen: others could not bring it")
		}
	}
	if after := a.account(relay); after.Deficit != before.Deficit || len(after.Standing.Marks) > 0 || a.node.linkTo(relay.id) == nil {
		t.Errorf("the relay was blamed: %+v", after)
	}
	b := w.junk("junk 0")
	a.take(other, b)
	if !a.has(b.Entries[0].EntryID()) {
		t.Error("what another brings was not kept")
	}
	w.run(8 * 24 * time.Hour)
	a.take(relay, w.junk("a week later", forger.id))
}

// A node does not pass on what it took before it found out.
func TestWhatAForgerBroughtIsNotPassedOn(t *testing.T) {
	w := skeptics(t, 3)
	a, forger, hearer := w.list[0], w.list[1], w.list[2]
	b := w.junk("junk").Via(forger.id)
	if l := a.node.linkTo(hearer.id); !a.node.wants(l, b) {
		t.Fatal("it was not to be passed on anyhow")
	}
	a.node.punish(a.node.dues.ledger.HolderOf(forger.id), incentive.ForgedEntry, incentive.Entry)
	if l := a.node.linkTo(hearer.id); a.node.wants(l, b) {
		t.Error("it is passed on")
	}
}

// Two neighbors that refuse what we bring of a third make us hold it back, and look for ourselves: one may lie.
func TestADoubtedNeighborGoesNoFurther(t *testing.T) {
	for refusals, want := range []int{4, 3, 0} {
		w := newNetwork(t)
		w.publish(news)
		w.full(6, Config{Incentive: incentive.Config{Bound: 10}, Policy: polling.Fixed{Every: 16 * time.Hour}}, news)
		w.run(17 * time.Hour)
		a, doubted := w.list[0], w.list[1]
		for _, h := range w.list[2 : 2+refusals] {
			h.node.punish(h.node.dues.ledger.HolderOf(doubted.id), incentive.ForgedEntry, incentive.Entry)
		}
		for _, h := range w.list[2:] { // none is a stranger that may have one entry
			a.node.dues.ledger.Got(a.node.now, incentive.HolderOf(h.id), incentive.Entry)
		}
		for i := range 3 { // whatever it first says, it is refused by those who know better
			a.take(doubted, w.junk(fmt.Sprint("junk ", i)))
			w.run(time.Minute)
		}
		last := w.junk("last")
		a.take(doubted, last)
		w.run(time.Minute)
		reached := 0
		for _, h := range w.list[2:] {
			if h.has(last.Entries[0].EntryID()) {
				reached++
			}
		}
		if reached != want {
			t.Errorf("%d refuse it: it reached %d of the others, want %d", refusals, reached, want)
		}
		if refusals == 2 && a.node.feeds[news].ordinary.IsZero() {
			t.Error("no spot poll is to tell")
		}
		late := w.junk("relayed", doubted.id)
		a.take(w.list[2+refusals], late)
		if goes := !a.node.holdsBack(a.node.linkTo(w.list[2+refusals].id), late); goes != (refusals < 2) {
			t.Errorf("%d refuse it: what others relay of it goes on is %v", refusals, goes)
		}
		if l := a.node.linkTo(doubted.id); l == nil || len(a.account(doubted).Standing.Marks) > 0 {
			t.Error("a doubt cost it its link or standing")
		}
	}
}

// Two relays that say the same node polled what the publisher does not have are witnesses against it.
func TestRelaysAreWitnesses(t *testing.T) {
	w := skeptics(t, 5)
	a, named := w.list[0], stranger(7)
	for i, relay := range w.list[1:4] {
		a.take(relay, w.junk(fmt.Sprint("junk ", i), named))
		w.run(time.Hour)
		if i == 0 {
			a.take(relay, w.junk("twice", named))
			w.run(time.Hour)
		}
		a.poll(news)
		if got := a.node.dues.doubts.Doubted(w.now, a.node.dues.ledger.HolderOf(named)); got != (i > 0) {
			t.Errorf("after %d relays it is doubted is %v", i+1, got)
		}
	}
}

// An edited title is no forgery: nobody is doubted for it.
func TestAnEditCastsNoDoubt(t *testing.T) {
	w := skeptics(t, 5)
	a, named := w.list[0], stranger(7)
	for i, relay := range w.list[1:4] {
		old := w.feeds[news].entries[0]
		e := feed.Entry{Feed: news, ID: fmt.Sprint("another id ", i), Title: old.Title, Published: w.now.Truncate(time.Second)}
		b := bundleWith(e)
		b.Path = []protocol.NodeID{named}
		a.take(relay, b)
	}
	w.run(time.Hour)
	a.poll(news)
	if a.node.dues.doubts.Doubted(w.now, a.node.dues.ledger.HolderOf(named)) {
		t.Error("it is doubted")
	}
}
