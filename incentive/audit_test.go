package incentive

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/protocol"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func did(i int) (d protocol.DID) {
	binary.BigEndian.PutUint64(d[:], uint64(i))
	return d
}

// audited offers new bundles until one is audited, and returns its did.
func audited(t *testing.T, a *Audits, at time.Time, h Holder, from int) protocol.DID {
	t.Helper()
	for i := from; i < from+10_000; i++ {
		if a.Offered(at, h, did(i), Entry) == Audited {
			return did(i)
		}
	}
	t.Fatal("no offer is audited")
	return protocol.DID{}
}

func TestHowManyOffersAreAudited(t *testing.T) {
	h := holder(1)
	for _, c := range []struct {
		rule   string
		ledger *Ledger
		oneIn  int
	}{
		{"one in fifty", known(Config{}, h), 50},
		{"one in five of a stranger's", newLedger(Config{}), 5},
		{"and of one that works off a fine", func() *Ledger {
			l := known(Config{}, h)
			l.Punish(now, h, FailedAudit, Entry)
			return l
		}(), 5},
		{"a neighbor at its bound is not doubted", func() *Ledger {
			l := known(Config{}, h)
			l.Gave(now, h, Value(10, 0))
			return l
		}(), 50},
	} {
		a := NewAudits(newRand(1), c.ledger)
		count := make(map[Finding]int)
		const offers = 50_000
		for i := range offers {
			f := a.Offered(now, h, did(i), Entry)
			count[f]++
			if f == Audited {
				if v, ok := a.Delivered(h, did(i)); !ok || v != Entry {
					t.Fatalf("a delivery earns %v, %v", v, ok)
				}
			}
		}
		want := offers / c.oneIn
		if n := count[Audited]; n < want*9/10 || n > want*11/10 || count[Earned] != offers-n {
			t.Errorf("%s: findings: %v", c.rule, count)
		}
	}
}

func TestAudit(t *testing.T) {
	a := NewAudits(newRand(1), newLedger(Config{}))
	if !a.Next().IsZero() {
		t.Error("an audit is open from the beginning")
	}
	for range 1000 {
		if f := a.Offered(now, holder(1), did(0), 0); f != Idle {
			t.Fatalf("an offer that earns nothing is found %v", f)
		}
	}
	d := audited(t, a, now, holder(1), 0)
	if !a.Next().Equal(now.Add(30 * time.Second)) {
		t.Errorf("due at %v", a.Next())
	}
	if f := a.Offered(now, holder(1), d, 0); f != Audited {
		t.Error("asking again gets another answer")
	}
	if _, ok := a.Delivered(holder(2), d); ok {
		t.Error("somebody else can pass the audit")
	}
	if due := a.Due(now.Add(30*time.Second - 1)); len(due) != 0 {
		t.Errorf("due too early: %v", due)
	}
	due := a.Due(now.Add(30 * time.Second))
	if len(due) != 1 || due[0].Holder != holder(1) || due[0].DID != d || due[0].Value != Entry {
		t.Errorf("due: %v", due)
	}
	if _, ok := a.Delivered(holder(1), d); ok || !a.Next().IsZero() {
		t.Error("an audit can be passed when it is over")
	}
}

func TestOpenAuditsAreBounded(t *testing.T) {
	a := NewAudits(newRand(1), newLedger(Config{}))
	i := 0
	for range protocol.MaxPromises {
		d := audited(t, a, now, holder(1), i)
		i = int(binary.BigEndian.Uint64(d[:])) + 1
	}
	for range 1000 {
		i++
		if f := a.Offered(now, holder(1), did(i), Entry); f != Idle {
			t.Fatalf("with %d audits open an offer is found %v", protocol.MaxPromises, f)
		}
	}
	if f := a.Offered(now, holder(2), did(1), Entry); f == Idle {
		t.Error("another neighbor earns nothing either")
	}
	if due := a.Due(now.Add(time.Minute)); len(due) != protocol.MaxPromises {
		t.Errorf("%d audits fall due", len(due))
	}
}

// playDay plays one neighbor's day: so many offers, evenly spread, each of a bundle worth an entry that we have;
// and whenever it may have an entry it takes one. It returns how many it took.
func playDay(l *Ledger, a *Audits, start time.Time, h Holder, offers, from int, has bool) (taken int) {
	for i := range offers {
		at := start.Add(time.Duration(i) * 24 * time.Hour / time.Duration(offers))
		for _, due := range a.Due(at) {
			l.Punish(due.Due, due.Holder, FailedAudit, due.Value)
		}
		if _, refused := l.Refused(at, h); refused {
			continue
		}
		switch d := did(from + i); a.Offered(at, h, d, Entry) {
		case Earned:
			l.Got(at, h, Entry)
		case Audited:
			if has {
				v, _ := a.Delivered(h, d)
				l.Got(at, h, v)
			}
		}
		if l.Room(h, 0) > 0 {
			l.Gave(at, h, Entry)
			taken++
		}
	}
	return taken
}

// Offering what others have without having it loses on average, from the first day and at any rate.
func TestEchoingLosesFromTheFirstDay(t *testing.T) {
	const lives = 1000
	for _, offers := range []int{10, 50, 200, 1000} {
		var net Credit
		for seed := range uint64(lives) {
			l := newLedger(Config{})
			a := NewAudits(newRand(seed), l)
			playDay(l, a, now, holder(1), offers, 0, false)
			for _, due := range a.Due(now.Add(48 * time.Hour)) {
				l.Punish(due.Due, due.Holder, FailedAudit, due.Value)
			}
			account, _ := l.Account(holder(1))
			net += account.Got - account.Fined
		}
		mean := (net / lives).Entries()
		t.Logf("%d echoes: %.1f entries on the first day", offers, mean)
		if mean >= 0 {
			t.Errorf("%d echoes a day win %.1f entries on average", offers, mean)
		}
	}
}

// In the long run an echoer gets next to nothing, and who has what it offers gets everything.
func TestEchoersStarve(t *testing.T) {
	const lives, days, offers = 50, 60, 200
	share := func(has bool) float64 {
		taken := 0
		for seed := range uint64(lives) {
			l := newLedger(Config{})
			a := NewAudits(newRand(seed), l)
			for d := range days {
				taken += playDay(l, a, now.Add(time.Duration(d)*24*time.Hour), holder(1), offers, d*offers, has)
			}
		}
		return float64(taken) / float64(lives*days*offers)
	}
	honest, echo := share(true), share(false)
	t.Logf("honest %.1f%%, echo %.2f%%", 100*honest, 100*echo)
	if honest != 1 {
		t.Errorf("an honest neighbor gets %.3f", honest)
	}
	if echo > 0.01 {
		t.Errorf("an echoer gets %.3f", echo)
	}
}
