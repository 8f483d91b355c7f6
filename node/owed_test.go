package node_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// A delivery that got lost is told from one that was never made.

// afterwards is when everything that was owed is delivered or judged.
const afterwards = 5 * time.Minute

// knows has h have a bundle without telling anybody.
func (h *testHost) knows(b *protocol.Bundle) {
	h.inside(func(n *node.Node) { n.Store(b) })
}

// offers has h offer a bundle to one neighbor.
func (h *testHost) offers(to *testHost, b *protocol.Bundle) {
	h.inside(func(n *node.Node) { n.Offer(to.id, b) })
}

// The bundle arrives and nobody is blamed, whichever message of an offer and its delivery is lost, and whichever other
// neighbor brings the bundle meanwhile.
func TestWhatIsLostBreaksNoPromise(t *testing.T) {
	lost := map[string]func(c protocol.Call, answer bool) bool{
		"the answer to the offer":    func(c protocol.Call, answer bool) bool { return isOffer(c) && answer },
		"the delivery":               func(c protocol.Call, answer bool) bool { return isPut(c) && !answer },
		"the answer to the delivery": func(c protocol.Call, answer bool) bool { return isPut(c) && answer },
		"all of them": func(c protocol.Call, answer bool) bool {
			return isPut(c) ||
				isOffer(c) && answer
		},
	}
	for name, loses := range lost {
		for _, times := range []int{1, 3, 1000} {
			for _, meanwhile := range []bool{false, true} {
				w := newNetwork(t)
				hosts := w.full(3, bound(), news)
				a, b, c := hosts[0], hosts[1], hosts[2]
				bundle, left := one("lost"), times
				w.loses = func(from, to *testHost, c protocol.Call, answer bool) bool {
					hit := from == b && to == a && left > 0 && loses(c, answer)
					if hit {
						left--
					}
					return hit
				}
				b.offers(a, bundle)
				if w.run(3 * time.Second); meanwhile {
					a.put(c, bundle)
				}
				w.run(afterwards)
				what := fmt.Sprintf("%s, %d times, another brings it: %v", name, times, meanwhile)
				if !a.has(bundle.Entries[0].EntryID()) {
					t.Errorf("%s: it does not arrive", what)
				}
				if blamed := w.blamed(b); len(blamed) > 0 {
					t.Errorf("%s: blamed for %v", what, blamed)
				}
			}
		}
	}
}

func isOffer(c protocol.Call) bool {
	checks, ok := c.(protocol.CheckDIDs)
	_, check := c.(protocol.CheckDID)
	return check || ok && len(checks.DIDs) > 0
}

func isPut(c protocol.Call) bool { _, ok := c.(protocol.PutEntries); return ok }

func isDemand(c protocol.Call) bool { _, ok := c.(protocol.GetBundle); return ok }

// Of all messages a tenth is lost, and neighbors offer each other what they have, and what they have not: an honest one
// fails no audit, though links end. Its neighbor knows everything already, so that all that it owes is audits.
func TestHonestNeighborsFailNoAudit(t *testing.T) {
	w := newLargeNetwork(t)
	uncapped := incentive.Altered(func(r *incentive.Rules) { r.CapFree = math.MaxInt32 })
	hosts := w.full(4, node.Config{Incentive: incentive.Config{Rules: uncapped}}, news)
	w.loses = func(_, _ *testHost, _ protocol.Call, _ bool) bool { return w.rng.Float64() < .1 }
	for i := range 600 {
		bundle := one(fmt.Sprint("known ", i))
		for _, h := range hosts {
			h.knows(bundle)
		}
		for j := range hosts {
			from := hosts[(i+j)%len(hosts)] // each in turn is the first
			for k := 1; j+k < len(hosts); k++ {
				if to := hosts[(i+j+k)%len(hosts)]; from.neighborOf(to.id) {
					from.offers(to, bundle)
				} else {
					from.inside(func(n *node.Node) { n.Connect(to.id, func(error) {}) })
				}
			}
		}
		w.run(time.Minute)
	}
	w.run(afterwards)
	var audits, broken int64
	ended := 0
	for _, h := range hosts {
		c := h.node.Status().Counters
		audits, broken, ended = audits+c.Audits, broken+c.Broken, ended+w.parted(h)
	}
	if t.Logf("%d audits, %d links ended", audits, ended); audits < 50 || ended < 10 {
		t.Errorf("%d audits, %d links ended: nothing is shown", audits, ended)
	}
	if broken > 0 {
		t.Errorf("%d of %d bundles are said never to have been there", broken, audits)
	}
}

// An excuse is the answer of a neighbor that is asked for what it offered and has not, and its consequences.
type excuse struct {
	name string
	// reply returns its answer: nil for none at all.
	reply func(liar *testHost, c protocol.Call) (reply protocol.Reply, scripted bool)
	// unless it is no word that is broken, but a neighbor that is not there any more.
	gone bool
}

func excuses() []excuse {
	demanded := func(reply protocol.Reply) func(*testHost, protocol.Call) (protocol.Reply, bool) {
		return func(_ *testHost, c protocol.Call) (protocol.Reply, bool) { return reply, isDemand(c) }
	}
	refused := func(code protocol.Code) func(*testHost, protocol.Call) (protocol.Reply, bool) {
		return demanded(&protocol.RemoteError{Code: code, Text: "no"})
	}
	return []excuse{
		{name: "the truth", reply: refused(protocol.NotOffered)},
		{name: "a method it does not have", reply: refused(protocol.UnknownMethod)},
		{name: "nothing, as if all that were lost", reply: demanded(nil)},
		{name: "a connection reset", reply: demanded(errors.New("connection reset by peer"))},
		{name: "no connection is free", reply: demanded(errQueued)},
		{name: "too much to do", reply: refused(protocol.Busy)},
		{name: "a failure of its own", reply: refused(protocol.Internal)},
		{name: "it knows no such neighbor", reply: refused(protocol.UnknownNeighbor)},
		{name: "another bundle", reply: demanded(one("another"))},
		{name: "nothing to any call", reply: func(*testHost, protocol.Call) (protocol.Reply,
			bool) {
			return nil, true
		}, gone: true},
	}
}

// A neighbor that offered what it has not is fined, whatever it says when it is asked for it; but nobody is told from
// the dead.
func TestNoExcuseSparesAFine(t *testing.T) {
	for _, x := range excuses() {
		for _, audit := range []bool{false, true} {
			w := newNetwork(t)
			hosts := w.full(3, bound(), news)
			a, liar := hosts[0], hosts[1]
			w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
				if to != liar {
					return nil, false
				}
				return x.reply(liar, c)
			}
			want, left := incentive.BrokenPromise, 1
			if audit {
				want = incentive.FailedAudit
				a.inside(func(n *node.Node) {
					n.Owe(liar.id, did(1),
						incentive.Entry)
				})
			} else {
				a.hears(liar, protocol.CheckDID{DID: did(1)})
			}
			if x.gone && !audit {
				left = 0
			}
			w.run(afterwards)
			marks := a.account(liar).Standing.Marks
			if len(marks) != left || left > 0 && (marks[0].Offence != want || a.account(liar).Fined == 0) {
				t.Errorf("audit %v, it says %q: %v, fined %v", audit, x.name, marks, a.account(liar).Fined)
			}
		}
	}
}

// To hang up is no way out, neither of a promise nor of an audit, and neither is it to come back.
func TestHangingUpSparesNoFine(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, audit := range []incentive.Credit{0, incentive.Entry} {
			w := newNetwork(t)
			hosts := w.full(3, bound(), news)
			a, liar := hosts[0], hosts[1]
			a.inside(func(n *node.Node) { n.Owe(liar.id, did(1), audit) })
			a.hears(liar, protocol.Disconnect{})
			if a.neighborOf(liar.id) {
				t.Fatal("still linked")
			}
			if back {
				liar.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
			}
			w.run(afterwards)
			if back && !linked(a, liar) {
				t.Fatal("it did not come back")
			}
			if marks := a.account(liar).Standing.Marks; len(marks) != 1 {
				t.Errorf("back: %v, audit of %v: %v", back, audit, marks)
			}
		}
	}
}

// A neighbor that leaves it open whether it has one bundle earns nothing with others meanwhile, and goes on once it has
// shown it.
func TestWhoIsAskedInVainEarnsNothing(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	owed := one("owed")
	a.hears(b, protocol.CheckDID{DID: owed.DID})
	w.loses = func(_, _ *testHost, c protocol.Call, answer bool) bool { return isDemand(c) && answer }
	earned := func(name string) incentive.Credit {
		before := a.account(b).Got
		for i := range 40 {
			bundle := one(fmt.Sprint(name, i))
			a.knows(bundle)
			if r := a.hears(b, protocol.CheckDID{DID: bundle.DID}); r.Reply == protocol.Seen(false) {
				a.put(b, bundle)
			}
		}
		return a.account(b).Got - before
	}
	if v := earned("before"); v == 0 {
		t.Error("it earns nothing from the beginning")
	}
	w.run(protocol.PromiseTimeout + exchange.MaxPutTimeout + time.Second)
	if v := earned("meanwhile"); v != 0 {
		t.Errorf("it earned %v while it was asked in vain", v)
	}
	a.put(b, owed)
	if v := earned("afterwards"); v == 0 || len(w.blamed(b)) > 0 {
		t.Errorf("once it delivered it earns %v, blamed for %v", v, w.blamed(b))
	}
}

// A neighbor that owes as many bundles as it may is audited as well: who makes some up, and delivers each just in time,
// does not earn meanwhile with offers of what it has not.
func TestWhoOwesAsMuchAsItMayIsAudited(t *testing.T) {
	w, a, b := newPair(t, bound(), news)
	var dids []protocol.DID
	for i := range protocol.MaxPromises {
		dids = append(dids, did(i))
	}
	a.hears(b, protocol.CheckDIDs{DIDs: dids})
	known, more := one("known"), one("known as well")
	a.knows(known)
	a.knows(more)
	if r := a.hears(b, protocol.CheckDID{DID: known.DID}); r.Reply != protocol.Seen(false) {
		t.Errorf("the first offer of what is here is answered %v, %v", r.Reply, r.Fault)
	}
	if r := a.hears(b, protocol.CheckDID{DID: more.DID}); r.Reply != protocol.Seen(true) {
		t.Errorf("the next one, beside the audit, is answered %v, %v", r.Reply, r.Fault)
	}
	if v := a.account(b).Got; v != 0 {
		t.Errorf("it earned %v and showed nothing", v)
	}
	if w.run(time.Hour); a.account(b).Got != 0 || a.account(b).Fined == 0 {
		t.Errorf("it earned %v and was fined %v", a.account(b).Got, a.account(b).Fined)
	}
}

// Many bundles are owed, and nobody says anything about any of them: all of them are judged after the first.
func TestSilenceAboutManyIsJudgedAtOnce(t *testing.T) {
	w, a, liar := newPair(t, bound(), news)
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		return nil, to == liar &&
			isDemand(c)
	}
	for i := range protocol.MaxPromises {
		a.hears(liar, protocol.CheckDID{DID: did(i)})
	}
	w.run(afterwards)
	if n := a.node.Owed(liar.id); n != 0 {
		t.Errorf("%d bundles are owed still", n)
	}
	if n := a.node.Status().Counters.Broken; n != protocol.MaxPromises {
		t.Errorf("%d of %d were found missing", n, protocol.MaxPromises)
	}
}

// An answer that is none is no network's doing: nobody asks again.
func TestNonsenseInPlaceOfABundleIsJudgedAtOnce(t *testing.T) {
	w, a, liar := newPair(t, bound(), news)
	asked := 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if !isDemand(c) {
			return nil, false
		}
		asked++
		return fmt.Errorf("no proper answer: %w", protocol.ErrReply), true
	}
	a.hears(liar, protocol.CheckDID{DID: did(1)})
	w.run(afterwards)
	if n := a.node.Status().Counters.Broken; n != 1 || asked != 1 {
		t.Errorf("%d promises are broken after %d answers, want 1 after 1", n, asked)
	}
}

// A bundle behind another that came late is judged as any.
func TestNothingIsForgottenBehindWhatIsLate(t *testing.T) {
	w, a, liar := newPair(t, bound(), news)
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		return nil, to == liar &&
			isDemand(c)
	}
	late := one("late")
	a.hears(liar, protocol.CheckDID{DID: late.DID})
	a.inside(func(n *node.Node) { n.Owe(liar.id, did(1), incentive.Entry) })
	w.run(2*protocol.PromiseTimeout + core.ProbeIn)
	a.put(liar, late)
	w.run(afterwards)
	if marks := a.account(liar).Standing.Marks; len(marks) != 1 || marks[0].Offence != incentive.FailedAudit {
		t.Errorf("%v, want one failed audit", marks)
	}
}

// A neighbor that has earned nothing with us is audited at its first offer, and what it offers while it is being
// audited earns when it has passed. So hanging up, and going on to others with the same, wins nothing.
func TestWhatIsOfferedDuringAnAuditWaitsForIt(t *testing.T) {
	for _, has := range []bool{false, true} {
		w, a, b := newPair(t, bound(), news)
		var bundles []*protocol.Bundle
		var dids []protocol.DID
		for i := range exchange.MaxAsked {
			bundle := one(fmt.Sprint("known ", i))
			a.knows(bundle)
			bundles, dids = append(bundles, bundle), append(dids, bundle.DID)
		}
		seen, _ := a.hears(b, protocol.CheckDIDs{DIDs: dids}).Reply.(protocol.SeenList)
		if len(seen) != len(dids) || seen[0] || !seen[1] {
			t.Fatalf("its offers were answered %v, want the first to be audited", seen)
		}
		if v := a.account(b).Got; v != 0 {
			t.Errorf("it earned %v before it showed anything", v)
		}
		var want incentive.Credit
		if has {
			want = incentive.Value(len(dids), 0)
			a.put(b, bundles[0])
		} else {
			a.hears(b, protocol.Disconnect{})
			w.run(afterwards)
			b.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
		}
		if w.run(time.Minute); a.account(b).Got != want || (a.account(b).Fined > 0) == has {
			t.Errorf("it has the bundle: %v; earned %v, fined %v", has, a.account(b).Got, a.account(b).Fined)
		}
	}
}
