package incentive

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

// A deed is one thing that a neighbor and we may do. A history is what a Ledger decides from.
type deed struct {
	kind   string // gave, got, returned, revoked, punish, forgive, met, expire
	holder Holder
	value  Credit
	by     Offence
	after  time.Duration // since the deed before
}

// kinds of deeds; each gave asks Allowance first, as a node does.
var honestKinds = []string{"gave", "gave", "gave", "got", "got", "met"}
var allKinds = append(slices.Clone(honestKinds), "returned", "revoked", "punish", "forgive", "expire")

func deeds(kinds []string) *rapid.Generator[[]deed] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
		return deed{
			kind:   rapid.SampledFrom(kinds).Draw(t, "kind"),
			holder: holder(rapid.IntRange(0, 3).Draw(t, "holder")),
			value:  Value(rapid.IntRange(0, 30).Draw(t, "entries"), rapid.IntRange(0, 4).Draw(t, "hops")),
			by:     Offence(rapid.IntRange(int(BrokenPromise), int(BadAnswer)).Draw(t, "offence")),
			after:  time.Duration(rapid.IntRange(0, 200_000).Draw(t, "seconds")) * time.Second,
		}
	}), 0, 200)
}

// do carries the deed out and says what was decided.
func (d deed) do(l *Ledger, at time.Time) string {
	decision := ""
	switch d.kind {
	case "gave":
		if v := l.Allowance(d.holder); d.value <= v {
			l.Gave(at, d.holder, d.value)
			decision = "sent"
		}
	case "got":
		l.Got(at, d.holder, d.value)
	case "returned":
		l.Returned(at, d.holder, d.value)
	case "revoked":
		l.Revoked(at, d.holder, d.value)
	case "punish":
		decision = fmt.Sprint(l.Punish(at, d.holder, d.by, d.value))
	case "forgive":
		decision = fmt.Sprint(l.Forgive(at, d.holder))
	case "met":
		l.Met(at, d.holder)
	case "expire":
		l.Expire(at)
	}
	since, bound := l.AtBound(d.holder)
	return fmt.Sprint(decision, l.Allowance(d.holder), l.Limit(d.holder), since, bound, l.Refused(at, d.holder))
}

// play carries out all deeds and calls check after each.
func play(l *Ledger, list []deed, check func(deed, time.Time)) (decisions []string, end time.Time) {
	at := now
	for _, d := range list {
		at = at.Add(d.after)
		decisions = append(decisions, d.do(l, at))
		if check != nil {
			check(d, at)
		}
	}
	return decisions, at
}

func config(t *rapid.T) Config {
	return Config{Bound: rapid.SampledFrom([]int{0, 1, 2, 10, 300, 1000}).Draw(t, "bound")}
}

// Paper §3.5: "node i ensures that d_{i,j} does not exceed a constant parameter D."
func TestDeficitKeepsToTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		play(l, deeds(honestKinds).Draw(t, "history"), func(d deed, _ time.Time) {
			a := l.Account(d.holder)
			if a.Deficit > l.Limit(d.holder) || l.Limit(d.holder) > l.bound {
				t.Fatalf("deficit %v, limit %v, D %v", a.Deficit, l.Limit(d.holder), l.bound)
			}
		})
	})
}

func TestDeficitKeepsToItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		play(l, deeds(allKinds).Draw(t, "history"), func(d deed, _ time.Time) {
			a := l.Account(d.holder)
			if a.Deficit < -l.bound || a.Deficit > max(200*Entry, 2*l.bound) {
				t.Fatalf("deficit %v, D %v", a.Deficit, l.bound)
			}
			if l.Allowance(d.holder) < 0 || a.Given < 0 || a.Got < 0 || a.Fined < 0 {
				t.Fatalf("allowance %v of %+v", l.Allowance(d.holder), a)
			}
		})
	})
}

func TestLimitGrowsUpToTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		last := make(map[Holder]Credit)
		kinds := slices.DeleteFunc(slices.Clone(allKinds),
			func(k string) bool { return k == "expire" || k == "revoked" })
		play(l, deeds(kinds).Draw(t, "history"), func(d deed, _ time.Time) {
			limit := l.Limit(d.holder)
			if limit < max(last[d.holder], Entry) || limit > l.bound {
				t.Fatalf("limit went from %v to %v, D %v", last[d.holder], limit, l.bound)
			}
			last[d.holder] = limit
		})
	})
}

// A neighbor that earned for as long as it liked, and then only takes, takes 2D at most.
func TestTraitorTakesTwiceTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		_, at := play(l, deeds(allKinds).Draw(t, "history"), nil)
		h := holder(rapid.IntRange(0, 3).Draw(t, "traitor"))
		taken := Credit(0)
		for _, entries := range rapid.SliceOf(rapid.IntRange(1, 30)).Draw(t, "wishes") {
			for v := Value(entries, 0); v > 0 && v <= l.Allowance(h); {
				l.Gave(at, h, v)
				taken += v
			}
		}
		if taken > 2*l.bound {
			t.Fatalf("took %v, D is %v", taken, l.bound)
		}
	})
}

// One gives, the other only takes, and both pass on what they get to each other: together they get no more than the
// giver earned, D, and the one entry that every stranger may have. Earned credit counts though it is revoked later,
// because the entries that were sent for it by then cannot be had back: the giver owes it.
func TestPairGetsNoMoreThanTheWorkerEarned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		leech, worker := holder(0), holder(1)
		list := slices.DeleteFunc(deeds(allKinds).Draw(t, "history"), func(d deed) bool {
			return d.kind == "got" && d.holder == leech || d.kind == "expire" || d.kind == "forgive"
		})
		var got, earned Credit
		play(l, list, func(deed, time.Time) {
			x := l.Account(leech)
			y := l.Account(worker)
			earned, got = earned+max(y.Got-got, 0), y.Got
			if x.Given+y.Given > earned+l.bound+Entry {
				t.Fatalf("leech got %v, worker %v for %v, D is %v", x.Given, y.Given, earned, l.bound)
			}
		})
	})
}

// A neighbor that was sent something for what turns out to be worth nothing gets no more until it has given as much.
func TestWhatIsRevokedIsMadeGoodFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(config(t))
		capped := make(map[Holder]bool) // of whose debt something was forgiven
		play(l, deeds(append(slices.Clone(honestKinds), "revoked")).Draw(t, "history"), func(d deed, _ time.Time) {
			a := l.Account(d.holder)
			capped[d.holder] = capped[d.holder] || a.Deficit == l.debt
			if v := l.Allowance(d.holder); v > 0 && a.Given+v > a.Got+max(l.Limit(d.holder), Entry) &&
				!capped[d.holder] {
				t.Fatalf("got %v for %v, and may have %v more, D is %v", a.Given, a.Got, v, l.bound)
			}
		})
	})
}

// A node stands the same whatever it does, as one port or as many of the same address.
func TestPortsWinNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, many := newLedger(Config{}), newLedger(Config{})
		list := deeds(allKinds).Draw(t, "history")
		ports := slices.Clone(list)
		for i := range ports {
			port := rapid.Uint16Range(protocol.LowestPort, 65535).Draw(t, "port")
			ports[i].holder = HolderOf(protocol.NewNodeID(ports[i].holder.id.Addr(), port))
		}
		a, _ := play(one, list, nil)
		b, _ := play(many, ports, nil)
		if !slices.Equal(a, b) {
			t.Fatalf("decided %v with one port, %v with many", a, b)
		}
	})
}

// The state that a host keeps from step to step is the whole Ledger: one that is loaded from it, by way of text,
// decides as the first goes on to decide.
func TestLoadRestoresWhatWasKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(t)
		before := newLedger(c)
		kept := make(map[Holder][]byte)
		_, at := play(before, deeds(allKinds).Draw(t, "history"), func(deed, time.Time) {
			dropped, changed := before.Changed()
			for _, h := range dropped {
				delete(kept, h)
			}
			for _, a := range changed {
				text, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				kept[a.Holder] = text
			}
		})
		var accounts []Account
		for _, text := range slices.SortedFunc(maps.Values(kept), slices.Compare) {
			var a Account
			if err := json.Unmarshal(text, &a); err != nil {
				t.Fatal(err)
			}
			accounts = append(accounts, a)
		}
		after := newLedger(c)
		after.Load(at, accounts)
		if !reflect.DeepEqual(after.Accounts(), before.Accounts()) {
			t.Fatalf("loaded %+v, want %+v", after.Accounts(), before.Accounts())
		}
		if _, changed := after.Changed(); len(changed) != 0 {
			t.Fatalf("loading changed %+v", changed)
		}
		more := deeds(allKinds).Draw(t, "more")
		more = append([]deed{{kind: "met", holder: holder(0), after: at.Sub(now)}}, more...)
		a, _ := play(before, more, nil)
		b, _ := play(after, more, nil)
		if !slices.Equal(a, b) {
			t.Fatalf("decided %v, and %v after loading", a, b)
		}
	})
}

// Equal histories give equal decisions: ledger, audits and earnings together, and what is kept in which
// order.
func TestEqualHistoriesGiveEqualDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := deeds(allKinds).Draw(t, "history")
		run := func() (log []string) {
			l, e := newLedger(Config{}), NewEarnings(DefaultRules())
			rng := newRand(7)
			bundles := make([]*protocol.Bundle, 20)
			at := now
			for i, d := range list {
				at = at.Add(d.after)
				log = append(log, d.do(l, at))
				b := bundle(feed.URL(fmt.Sprint("https://example.com/", i%3)), fmt.Sprint(i), 1+i%4, at, 0)
				bundles[i%len(bundles)] = b
				from := d.holder
				if i%2 == 0 {
					from = Holder{}
				}
				log = append(log, fmt.Sprint(e.Stored(at, b, b.Entries, from)))
				if b := bundles[(i*7)%len(bundles)]; b != nil {
					_, n := e.Offered(at, d.holder, b.DID)
					log = append(log, fmt.Sprint(n, l.Audit(rng, d.holder)))
				}
			}
			dropped, changed := l.Changed()
			log = append(log, fmt.Sprint(dropped))
			for _, a := range changed {
				log = append(log, fmt.Sprint(*a))
			}
			return log
		}
		if a, b := run(), run(); !slices.Equal(a, b) {
			t.Fatal("two runs decided differently")
		}
	})
}

// However a neighbor delivers and offers, what it earns with one feed in a day keeps to the cap, and it
// earns with one bundle once.
func TestEarningsKeepToTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEarnings(DefaultRules())
		midnight := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
		rate := rapid.IntRange(0, 30).Draw(t, "rate")
		if rate > 0 {
			own := bundle(news, "own", rate, midnight, 0)
			e.Stored(midnight, own, own.Entries, Holder{})
		}
		total, done := 0, make(map[protocol.DID]int)
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			at := midnight.Add(time.Duration(i) * time.Minute)
			b := bundle(news, fmt.Sprint(rapid.IntRange(0, 10).Draw(t, "bundle")),
				rapid.IntRange(1, 9).Draw(t, "entries"), midnight, 0)
			n := 0
			if rapid.Bool().Draw(t, "delivers") {
				n = e.Stored(at, b, b.Entries, holder(1)).Entries
			} else {
				_, n = e.Offered(at, holder(1), b.DID)
			}
			total += n
			if n > 0 {
				done[b.DID]++
			}
			if done[b.DID] > 1 {
				t.Fatal("a bundle earned twice")
			}
		}
		if limit := capFactor*rate + capFree; total > limit {
			t.Fatalf("earned %d, the cap is %d", total, limit)
		}
	})
}
