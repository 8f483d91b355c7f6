package incentive

import (
	"testing"
	"time"

	"feedex/protocol"
)

// Each switch takes away its rule, and nothing changes where it is not set.
func TestEachRuleCanBeSwitchedOff(t *testing.T) {
	seen := func(a Ablation) int {
		e, b := NewEarnings(a), bundle(news, "a", 3, now, time.Hour)
		e.Stored(now, b, b.Entries, Holder{})
		_, earned := e.Offered(now, holder(1), b.DID)
		return earned
	}
	audits := func(a Ablation) (count int) {
		l, rng := newLedger(Config{Ablate: a}), newRand(1)
		for i := range 100 {
			if l.Audit(rng, holder(i)) {
				count++
			}
		}
		return count
	}
	ports := func(a Ablation) int {
		l, id := newLedger(Config{Ablate: a}), node(1)
		if l.HolderOf(id) == l.HolderOf(protocol.NewNodeID(id.Addr(), id.Port()+1)) {
			return 1
		}
		return 2
	}
	stranger := func(a Ablation) int { return newLedger(Config{Ablate: a}).Room(holder(1), 0) }
	flood := func(a Ablation) int {
		b := bundle(news, "a", 40, now, time.Hour)
		return NewEarnings(a).Stored(now, b, b.Entries, holder(1))
	}
	for _, c := range []struct {
		rule    string
		measure func(Ablation) int
		off     Ablation
		on, not int
	}{
		{`credit for "seen" offers`, seen, Ablation{NoSeenCredit: true}, 3, 0},
		{"audits", audits, Ablation{NoAudits: true}, audits(Ablation{}), 0},
		{"accounts of addresses", ports, Ablation{PortAccounts: true}, 1, 2},
		{"the limit for strangers", stranger, Ablation{NoStrangerLimit: true}, 1, 10},
		{"the daily cap", flood, Ablation{NoDailyCap: true}, 5, 40},
	} {
		if got := c.measure(Ablation{}); got != c.on || got == c.not {
			t.Errorf("%s on: %d, want %d", c.rule, got, c.on)
		}
		if got := c.measure(c.off); got != c.not {
			t.Errorf("%s off: %d, want %d", c.rule, got, c.not)
		}
	}
}
