package incentive

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/protocol"
)

// Each rule can be taken away, and nothing changes where none is.
func TestEachRuleCanBeTakenAway(t *testing.T) {
	seen := func(r Rules) int {
		e, b := NewEarnings(r), bundle(news, "a", 3, now, time.Hour)
		e.Stored(now, b, b.Entries, Holder{})
		_, earned := e.Offered(now, holder(1), b.DID)
		return earned
	}
	audits := func(r Rules) (count int) {
		l, rng := newLedger(Config{Rules: &r}), newRand(1)
		for i := range 100 {
			if l.Audit(rng, holder(i)) {
				count++
			}
		}
		return count
	}
	ports := func(r Rules) int {
		l, id := newLedger(Config{Rules: &r}), node(1)
		if l.HolderOf(id) == l.HolderOf(protocol.NewNodeID(id.Addr(), id.Port()+1)) {
			return 1
		}
		return 2
	}
	stranger := func(r Rules) int { return int(newLedger(Config{Rules: &r}).Allowance(holder(1)) / Entry) }
	flood := func(r Rules) int {
		b := bundle(news, "a", 40, now, time.Hour)
		return NewEarnings(r).Stored(now, b, b.Entries, holder(1)).Entries
	}
	unsettled := func(r Rules) int {
		l := newLedger(Config{Rules: &r})
		k := meetKey(l, now, behind(1), nodeKey(1))
		if k.gives(now, proven); l.Settled(now, l.HolderOf(k.id)) {
			return 0
		}
		return 1
	}
	nothing := func(func() int) int { return 0 }
	noAudits := func(*rand.Rand, int) bool { return false }
	portHolder := func(id protocol.NodeID) Holder { return Holder{id: id} }
	for _, c := range []struct {
		rule    string
		measure func(Rules) int
		without func(r *Rules)
		on, not int
	}{
		{`credit for "seen" offers`, seen, func(r *Rules) { r.SeenEarns = nothing }, 3, 0},
		{"audits", audits, func(r *Rules) { r.Audit = noAudits }, audits(DefaultRules()), 0},
		{"accounts of addresses", ports, func(r *Rules) { r.HolderOf = portHolder }, 1, 2},
		{"the limit for strangers", stranger, func(r *Rules) { r.StrangerLimit = MaxCredit / 2 }, 1, 10},
		{"the week until a key is settled", unsettled, func(r *Rules) { r.SettledAfter = 0 }, 1, 0},
		{"the daily cap", flood, func(r *Rules) { r.CapFree = math.MaxInt32 }, 5, 40},
	} {
		if got := c.measure(DefaultRules()); got != c.on || got == c.not {
			t.Errorf("%s on: %d, want %d", c.rule, got, c.on)
		}
		if got := c.measure(*Altered(c.without)); got != c.not {
			t.Errorf("%s off: %d, want %d", c.rule, got, c.not)
		}
	}
}
