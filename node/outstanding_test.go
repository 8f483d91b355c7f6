package node_test

import (
	"testing"
	"time"

	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// Tests of bundles that were offered and may not have arrived.

// get_bundle gives a neighbor what it was offered and may wait for, and nothing else; it is charged once, however often
// it is sent.
func TestABundleIsGivenToWhoMayWaitForIt(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, bound(), news)
	a, b, other := hosts[0], hosts[1], hosts[2]
	ask := func(from *testHost, bundle *protocol.Bundle) error {
		r := a.hears(from, protocol.GetBundle{DID: bundle.DID})
		if r.Fault != nil {
			return r.Fault
		}
		if got, ok := r.Reply.(*protocol.Bundle); !ok || got.DID != bundle.DID {
			t.Fatalf("answered %v", r.Reply)
		}
		return nil
	}
	bundle, never := one("offered"), one("never offered")
	a.knows(never)
	w.loses = func(from, _ *testHost, c protocol.Call, answer bool) bool {
		return from == a && (isOffer(c) || isPut(c)) && answer
	}
	a.offers(b, bundle)
	if a.account(b).Given != 0 {
		t.Error("an offer is charged")
	}
	w.run(time.Minute)
	for range 3 {
		if err := ask(b, bundle); err != nil {
			t.Errorf("what it waits for: %v", err)
		}
	}
	if err := ask(b, never); err == nil {
		t.Error("it got what it was not offered")
	}
	if err := ask(other, bundle); err == nil {
		t.Error("it got what another was offered")
	}
	if given := a.account(b).Given; given != incentive.Entry {
		t.Errorf("it was charged %v, want one entry", given)
	}
	for range exchange.MaxInVain {
		_ = ask(b, bundle)
	}
	if err := ask(b, bundle); err == nil {
		t.Error("it gets the same without end")
	}
	w.loses = nil
	if w.run(time.Minute); a.node.Offers(b.id) != 0 {
		t.Error("the offer is open after it arrived")
	}
	last := one("told so")
	b.knows(last)
	a.offers(b, last)
	if w.run(time.Minute); ask(b, last) == nil {
		t.Error("it got what it said it has")
	}
}

// A delivery that is repeated is charged once, and counts in the minute of who did not take it: else who refuses what
// it asked for has us send ten times what it pays for, as fast as we can.
func TestARepeatedDeliveryCountsInTheMinute(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	bundle, puts := one("too much"), 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if to != b || !isPut(c) {
			return nil, false
		}
		puts++
		return &protocol.RemoteError{Code: protocol.Busy, Text: "not now"}, true
	}
	w.run(w.Now().Truncate(time.Minute).Add(time.Minute + time.Second).Sub(w.Now()))
	a.offers(b, bundle)
	if w.run(w.rtt * 2); puts != 1 {
		t.Fatalf("%d deliveries at first", puts)
	}
	a.inside(func(n *node.Node) {
		n.Demand(b.id, core.BytesAMinute-2*bundle.WireBytes())
	})
	if w.run(45 * time.Second); puts != 4 || !linked(a, b) {
		t.Errorf("%d deliveries, of which the last three fill the minute", puts)
	}
	if w.run(20 * time.Second); puts == 4 || a.account(b).Given != incentive.Entry {
		t.Errorf("in the next minute %d deliveries, charged %v", puts, a.account(b).Given)
	}
}

// So does a node that was a neighbor a moment ago, by the session of the link, and nobody else.
func TestABundleIsGivenAfterTheLinkEnded(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	bundle := one("offered")
	w.loses = func(from, _ *testHost, c protocol.Call, answer bool) bool { return from == a && isOffer(c) && answer }
	a.offers(b, bundle)
	session := a.node.SessionOf(b.id)
	a.hears(b, protocol.Disconnect{})
	w.hang[a.id] = true // it cannot come back
	if r := a.answerTo(b.id, "guessed", protocol.GetBundle{DID: bundle.DID}); r.Fault == nil {
		t.Error("given to any caller from there")
	}
	if r := a.answerTo(b.id, session, protocol.GetBundle{DID: bundle.DID}); r.Fault != nil {
		t.Error(r.Fault)
	}
	if v := a.account(b).Given; v != incentive.Entry {
		t.Errorf("charged %v", v)
	}
	w.run(exchange.Outlives)
	if r := a.answerTo(b.id, session, protocol.GetBundle{DID: bundle.DID}); r.Fault == nil ||
		a.node.Lately() > 0 {
		t.Error("it is kept for ever")
	}
}

// A link that ended while something was outstanding, and was made anew by either side, goes on where it was.
func TestANewLinkGoesOnWhereTheLastEnded(t *testing.T) {
	for _, known := range []bool{false, true} {
		for name, renew := range map[string]func(a, b *testHost){
			"who waits connects": func(a,
				b *testHost) {
				b.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
			},
			"who offered connects": func(a,
				b *testHost) {
				a.inside(func(n *node.Node) { n.Connect(b.id, func(error) {}) })
			},
		} {
			w := newNetwork(t)
			hosts := w.full(2, bound(), news)
			a, b := hosts[0], hosts[1]
			bundle := one("outstanding")
			w.loses = func(from, _ *testHost, c protocol.Call, answer bool) bool {
				return from == a &&
					isOffer(c) && answer
			}
			if known {
				b.knows(bundle)
				b.inside(func(n *node.Node) {
					n.Owe(a.id, bundle.DID,
						incentive.Entry)
				})
			}
			a.offers(b, bundle)
			w.run(2 * time.Second)
			for _, h := range hosts {
				h.inside(func(n *node.Node) { n.Part(n.LinkIDs()[0], "silent") })
			}
			w.loses = nil
			renew(a, b)
			if w.run(10 * time.Second); !linked(a, b) {
				t.Fatal("not linked")
			}
			if n := b.node.Owed(a.id) + a.node.Offers(b.id) + a.node.Lately() +
				b.node.Lately(); n > 0 {
				t.Errorf("%s, known %v: ten seconds later something is outstanding still", name, known)
			}
			w.run(afterwards)
			if blamed := w.blamed(a); len(blamed) > 0 || !known && !b.has(bundle.Entries[0].EntryID()) {
				t.Errorf("%s, known %v: blamed for %v", name, known, blamed)
			}
		}
	}
}

// Messages in the meantime end no offer of which nobody knows how it was answered: a neighbor that is told "unseen"
// although it offered the same may be audited.
func TestAnOfferIsRepeatedThoughTheOtherOffersTheSame(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	bundle, left := one("both have it"), 1
	w.loses = func(from, _ *testHost, c protocol.Call, answer bool) bool {
		hit := from == a && isOffer(c) && answer && left > 0
		if hit {
			left--
		}
		return hit
	}
	a.offers(b, bundle)
	a.inside(func(n *node.Node) { n.NoteOffered(b.id, bundle.DID) })
	if w.run(protocol.PromiseTimeout - time.Second); !b.has(bundle.Entries[0].EntryID()) {
		t.Error("it is not delivered")
	}
}

// A delivery that is made again costs no more.
func TestARepeatedDeliveryIsChargedOnce(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	left := 3
	w.loses = func(from, _ *testHost, c protocol.Call, answer bool) bool {
		hit := from == a && isPut(c) && !answer && left > 0
		if hit {
			left--
		}
		return hit
	}
	a.offers(b, one("again"))
	w.run(afterwards)
	if v := a.account(b).Given; left > 0 || v != incentive.Entry {
		t.Errorf("charged %v, with %d of 3 deliveries to be lost", v, left)
	}
}
