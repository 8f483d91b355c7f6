package node_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Tests of a bundle's fate between "unseen" and its delivery.

// offers has from offer the bundle to h, and adds what is answered to got.
func (h *testHost) offered(from *testHost, b *protocol.Bundle, got *[]protocol.Reply) {
	h.askedBy(from, protocol.CheckDID{DID: b.DID}, func(r node.Respond) { *got = append(*got, r.Reply) })
}

// unaudited has every offer believed, a stranger's first as well.
func unaudited() node.Config {
	return node.Config{Incentive: incentive.Config{Rules: incentive.Altered(func(r *incentive.Rules) {
		r.Audit = func(*rand.Rand, int) bool { return false }
	})}}
}

// A promised bundle is never answered "seen"; a neighbor that offers it meanwhile is held for a second and then
// inherits the promise.
func TestPromisedBundleIsNotSeen(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, unaudited(), news)
	a, claimer, second, third := hosts[0], hosts[1], hosts[2], hosts[3]
	b := bundleOf(1)
	var first, others []protocol.Reply
	a.offered(claimer, b, &first)
	a.offered(second, b, &others)
	a.offered(third, b, &others)
	if len(first) != 1 || first[0] != protocol.Seen(false) || len(others) != 0 {
		t.Fatalf("at once: %v to the first, %v to the others", first, others)
	}
	w.run(999 * time.Millisecond)
	if len(others) != 0 {
		t.Fatalf("answered before the second was over: %v", others)
	}
	w.run(2 * time.Millisecond)
	if len(others) != 1 || others[0] != protocol.Seen(false) {
		t.Fatalf("after a second: %v, want one unseen", others)
	}
	heir := second
	if a.node.Promised(b.DID) == third.id {
		heir = third
	}
	a.put(heir, b)
	if len(others) != 2 || others[1] != protocol.Seen(true) {
		t.Errorf("once it is stored: %v, want seen for neighbors that wait", others)
	}
	w.run(time.Minute)
	if got := a.node.Status().Counters.Broken; got != 1 {
		t.Errorf("%d broken promises, want the claimer's", got)
	}
}

// A promise that was kept wakes nobody.
func TestAKeptPromiseWakesNobody(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, unaudited(), news)
	a, b := hosts[0], bundleOf(1)
	open := func() int {
		_, open := a.node.Tasks()
		return open
	}
	a.inside(func(n *node.Node) { n.SaveAccounts() }) // a delivery has that done as well
	before := open()
	var got []protocol.Reply
	a.offered(hosts[1], b, &got)
	a.offered(hosts[2], b, &got)
	if n := open() - before; n != 2 {
		t.Fatalf("%d tasks are for the promise, want one to pass it on and one to end it", n)
	}
	a.put(hosts[1], b)
	if n := open() - before; n != 0 {
		t.Errorf("%d more tasks are to be done than before", n)
	}
}

// A neighbor that promises, delivers nothing and says nothing either is asked whether it is there: one that is broke
// its promise, one that is not may be cut off.
func TestWhoKeepsSilentIsHeldToItsPromise(t *testing.T) {
	for name, dead := range map[string]bool{"it answers": false, "it is dead": true} {
		w, a, claimer := newPair(t, node.Config{}, news)
		a.hears(claimer, protocol.CheckDID{DID: one("x").DID})
		if dead {
			claimer.kill()
		}
		w.run(protocol.PromiseTimeout + core.CallTimeout)
		if marks := len(a.account(claimer).Standing.Marks); (marks == 0) != dead {
			t.Errorf("%s: %d offences are held against it", name, marks)
		}
		w.run(core.CallTimeout * 4)
		if linked := a.neighborOf(claimer.id); linked == dead {
			t.Errorf("%s: after a minute it counts as a neighbor: %v", name, linked)
		}
	}
}

// Nine neighbors offer a bundle, and none delivers: each of them has its answer within three seconds, and
// none is told "seen".
func TestNobodyWaitsForEver(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(10, node.Config{MaxNeighbors: 20, MinNeighbors: 9}, news)
	a := hosts[0]
	b := bundleOf(1)
	var got []protocol.Reply
	for _, from := range hosts[1:] {
		a.offered(from, b, &got)
	}
	for second, want := range []int{1, 2, 3, 9} { // the promise passes on twice, then all are asked
		if len(got) != want {
			t.Errorf("after %d s %d of 9 are answered, want %d", second, len(got), want)
		}
		w.run(time.Second + time.Millisecond)
	}
	for _, r := range got {
		if r != protocol.Seen(false) {
			t.Errorf("a bundle that nobody delivered was answered %v", r)
		}
	}
}

// The neighbor that is to deliver goes, or delivers something else: one that waits takes over at once.
func TestAPromiseThatIsLostIsInheritedAtOnce(t *testing.T) {
	for name, lose := range map[string]func(a, holder *testHost, b *protocol.Bundle){
		"the link ends": func(a, holder *testHost, _ *protocol.Bundle) { a.hears(holder, protocol.Disconnect{}) },
		"another content": func(a, holder *testHost, b *protocol.Bundle) {
			forged := *b
			forged.Entries = one("another").Entries
			a.put(holder, &forged)
		},
		"it connects anew": func(a, holder *testHost, _ *protocol.Bundle) {
			a.inside(func(n *node.Node) {
				n.Join(holder.id, false, n.SessionOf(holder.id), protocol.Subset{{Feed: news}})
			})
		},
	} {
		w := newNetwork(t)
		hosts := w.full(3, node.Config{}, news)
		a, holder, second := hosts[0], hosts[1], hosts[2]
		b := bundleOf(1)
		var first, got []protocol.Reply
		a.offered(holder, b, &first)
		a.offered(second, b, &got)
		lose(a, holder, b)
		if len(got) != 1 || got[0] != protocol.Seen(false) {
			t.Errorf("%s: the neighbor that waits was answered %v, want unseen", name, got)
		}
	}
}

// A neighbor that did not get our answer asks again, and must not wait for itself.
func TestTheHolderMayAskAgain(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	var got []protocol.Reply
	for range 3 {
		hosts[0].offered(hosts[1], bundleOf(1), &got)
	}
	if len(got) != 3 || got[2] != protocol.Seen(false) {
		t.Errorf("answered %v", got)
	}
	if owed := hosts[0].node.Owed(hosts[1].id); owed != 1 {
		t.Errorf("owes the same bundle %d times", owed)
	}
}

// A call that offered a bundle is answered, whatever becomes of the link over which it came: a host keeps it open until
// then.
func TestWhoWaitsIsAnsweredWhenItsLinkEnds(t *testing.T) {
	for name, end := range map[string]func(a, waiting *testHost){
		"it disconnects": func(a, waiting *testHost) { a.hears(waiting, protocol.Disconnect{}) },
		"it is declared gone": func(a, waiting *testHost) {
			a.inside(func(n *node.Node) { n.Part(waiting.id, "gone") })
		},
		"it connects anew": func(a, waiting *testHost) {
			waiting.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
		},
	} {
		w := newNetwork(t)
		hosts := w.full(3, node.Config{}, news)
		a, holder, waiting := hosts[0], hosts[1], hosts[2]
		var first, got []protocol.Reply
		a.offered(holder, bundleOf(1), &first)
		a.offered(waiting, bundleOf(1), &got)
		end(a, waiting)
		w.run(5 * time.Second)
		if len(got) != 1 || len(a.waiting) != 0 {
			t.Errorf("%s: answered %v, %d calls are still open", name, got, len(a.waiting))
		}
	}
}

// A neighbor offers a bundle twice, inherits it, and delivers something else.
func TestOneThatOffersTwiceHoldsNobodyUp(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, node.Config{}, news)
	a, claimer, twice, honest := hosts[0], hosts[1], hosts[2], hosts[3]
	for i := range 10 {
		b := one(fmt.Sprint("x", i))
		var ignored, got []protocol.Reply
		a.offered(claimer, b, &ignored)
		a.offered(twice, b, &ignored)
		a.offered(twice, b, &ignored)
		a.offered(honest, b, &got)
		w.run(protocol.HoldAnswer + time.Millisecond)
		a.inside(func(n *node.Node) { n.GiveUp(twice.id, b.DID) })
		w.run(2 * protocol.HoldAnswer)
		if len(got) != 1 {
			t.Fatalf("bundle %d: an honest neighbor's offer was answered %d times", i, len(got))
		}
	}
	w.run(time.Minute)
	if n := a.node.Promises(); n != 0 {
		t.Errorf("%d promises are open although their time is over", n)
	}
}

// A neighbor may owe 64 deliveries at a time, and no more.
func TestPromisesAreBounded(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	refused := 0
	for i := range 100 {
		r := a.hears(b, protocol.CheckDID{DID: protocol.DID{byte(i), 1}})
		if r.Fault != nil && r.Fault.Code == protocol.Busy {
			refused++
		}
	}
	if refused != 36 {
		t.Errorf("%d of 100 offers were refused, want 36", refused)
	}
	w.run(time.Minute)
	if n := a.node.Promises(); n != 0 {
		t.Errorf("%d promises are open although their time is over", n)
	}
}

// Nor does it owe more by inheriting what others promised.
func TestInheritedPromisesAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, node.Config{}, news)
	a, heir := hosts[0], hosts[1]
	offer := func(from *testHost, kind byte) {
		dids := make([]protocol.DID, protocol.MaxDIDs)
		for i := range dids {
			dids[i] = protocol.DID{byte(i), kind}
		}
		a.askedBy(from, protocol.CheckDIDs{DIDs: dids}, func(node.Respond) {})
	}
	offer(hosts[2], 2)
	offer(hosts[3], 3)
	for kind := range byte(3) {
		offer(heir, 1+kind)
	}
	for range 5 {
		w.run(protocol.HoldAnswer)
		if owed := a.node.Owed(heir.id); owed > protocol.MaxPromises {
			t.Fatalf("a neighbor owes %d bundles, the limit is %d", owed, protocol.MaxPromises)
		}
	}
}

// Bundles that are delivered in time leave no task behind.
func TestKeptPromisesLeaveNothingBehind(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	owed := one("owed at any moment")
	for i := range 2000 {
		next := one(fmt.Sprint("x", i))
		a.hears(b, protocol.CheckDID{DID: next.DID})
		w.run(250 * time.Millisecond)
		a.put(b, owed)
		owed = next
	}
	if n, _ := a.node.Tasks(); n > 100 {
		t.Errorf("%d tasks are left", n)
	}
	if n := a.node.Owed(b.id); n != 1 {
		t.Errorf("%d bundles are owed, want the last", n)
	}
	if n := a.node.Status().Counters.Broken; n != 0 {
		t.Errorf("%d promises count as broken", n)
	}
}

// A bundle of a feed that the node does not follow is of no use, whatever it is.
func TestOffersOfUnwantedFeedsAreAnsweredSeen(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	b := protocol.NewBundle(comic, []feed.Entry{{Feed: comic, ID: "1"}})
	r := hosts[0].hears(hosts[1], protocol.CheckDID{DID: b.DID, Feed: comic})
	if r.Reply != protocol.Seen(true) || hosts[0].node.Promises() != 0 {
		t.Errorf("answered %v, %v; %d promises", r.Reply, r.Fault, hosts[0].node.Promises())
	}
}

// check_dids is answered in one piece: in order, once the last of its offers can be.
func TestOffersOfManyAreAnsweredTogether(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, unaudited(), news)
	a, other, b := hosts[0], hosts[1], hosts[2]
	stored, promised, fresh := one("stored"), one("promised"), one("fresh")
	a.put(other, stored)
	a.hears(other, protocol.CheckDID{DID: promised.DID})
	var got []node.Respond
	a.askedBy(b, protocol.CheckDIDs{DIDs: []protocol.DID{fresh.DID, stored.DID, promised.DID, fresh.DID}},
		func(r node.Respond) { got = append(got, r) })
	if len(got) != 0 {
		t.Fatalf("answered %+v before it is clear what becomes of a promise", got[0].Reply)
	}
	a.put(other, promised)
	if len(got) != 1 || fmt.Sprint(got[0].Reply) != fmt.Sprint(protocol.SeenList{false, true, true, false}) {
		t.Fatalf("answered %+v", got)
	}
	if r := a.hears(b, protocol.CheckDIDs{}); r.Fault != nil || len(r.Reply.(protocol.SeenList)) != 0 {
		t.Errorf("an offer of nothing was answered %+v, %v", r.Reply, r.Fault)
	}
	dids := make([]protocol.DID, protocol.MaxDIDs)
	for i := range dids {
		dids[i] = did(1000 + i)
	}
	if r := a.hears(b, protocol.CheckDIDs{DIDs: dids}); r.Fault == nil || r.Fault.Code != protocol.Busy {
		t.Errorf("an offer beyond what may be owed was answered %+v, %v", r.Reply, r.Fault)
	}
	if owed := a.node.Owed(b.id); owed != 1 {
		t.Errorf("%d bundles are owed after an offer that was refused, want 1", owed)
	}
}

// A neighbor that owes too much is asked to deliver all the same, rather than told that a promised bundle is seen.
func TestWhoOwesTooMuchIsNotToldSeen(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, holder, full := hosts[0], hosts[1], hosts[2]
	dids := make([]protocol.DID, protocol.MaxDIDs)
	for i := range dids {
		dids[i] = did(i)
	}
	a.hears(full, protocol.CheckDIDs{DIDs: dids})
	b := one("x")
	a.hears(holder, protocol.CheckDID{DID: b.DID})
	if r := a.hears(full, protocol.CheckDID{DID: b.DID}); r.Reply == protocol.Seen(true) {
		t.Errorf("a promised bundle is answered %v, %v", r.Reply, r.Fault)
	}
}

// A promise ends with its delivery also where we cut the same part out of a larger bundle meanwhile, because no more
// fitted somebody's account.
func TestAPartThatWeCutOurselvesEndsItsPromise(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, node.Config{}, news)
	a, holder, other, poor := hosts[0], hosts[1], hosts[2], hosts[3]
	whole := bundleOf(2)
	part := protocol.NewBundle(news, whole.Entries[:1])
	var got []protocol.Reply
	a.offered(holder, part, &got)
	a.take(other, whole)
	a.inside(func(n *node.Node) {
		if cut, _ := n.Fit(poor.id, whole, incentive.Entry); cut == nil ||
			cut.DID != part.DID {
			t.Fatal("it was not cut there")
		}
	})
	a.take(holder, part)
	if n := a.node.Promises(); n != 0 {
		t.Errorf("%d promises are open", n)
	}
}
