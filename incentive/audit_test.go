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

func TestHowManyOffersAreAudited(t *testing.T) {
	h := holder(1)
	for _, c := range []struct {
		rule   string
		ledger *Ledger
		oneIn  int
	}{
		{"one in fifty", known(Config{}, h), 50},
		{"the first of a stranger's", newLedger(Config{}), 1},
		{"one in five of who has earned little", func() *Ledger {
			l := newLedger(Config{})
			l.Got(now, h, Entry)
			return l
		}(), 5},
		{"which ten entries are not", func() *Ledger {
			l := newLedger(Config{})
			l.Got(now, h, proven)
			return l
		}(), 50},
		{"and of one that works off a fine", func() *Ledger {
			l := known(Config{}, h)
			l.Punish(now, h, FailedAudit, Entry)
			return l
		}(), 5},
		{"one in 25 where an address has two keys", func() *Ledger {
			l := newLedger(Config{})
			for i := range 2 {
				k := keyHolder(nodeKey(i))
				l.Load(now, []Account{{Holder: k, At: behind(i), Got: 2 * proven, Since: now, Met: now}})
			}
			return l
		}(), 25},
		{"one in fifty of a key alone", func() *Ledger {
			l := newLedger(Config{})
			k := keyHolder(nodeKey(1))
			l.Load(now, []Account{{Holder: k, At: behind(1), Got: 2 * proven, Since: now, Met: now}})
			return l
		}(), 50},
		{"a neighbor at its bound is not doubted", func() *Ledger {
			l := known(Config{}, h)
			l.Gave(now, h, Value(10, 0))
			return l
		}(), 50},
	} {
		rng, count := newRand(1), 0
		const offers = 50_000
		for range offers {
			if c.ledger.Audit(rng, c.ledger.HolderOf(behind(1))) {
				count++
			}
		}
		if want := offers / c.oneIn; count < want*9/10 || count > want*11/10 {
			t.Errorf("%s: %d of %d", c.rule, count, offers)
		}
	}
}

// playDay plays one neighbor's day: so many offers, evenly spread, each of a bundle worth an entry that we have;
// and whenever it may have an entry it takes one. It returns how many it took.
func playDay(l *Ledger, rng *rand.Rand, start time.Time, h Holder, offers int, has bool) (taken int) {
	for i := range offers {
		at := start.Add(time.Duration(i) * 24 * time.Hour / time.Duration(offers))
		if l.Refused(at, h) {
			continue
		}
		if has || !l.Audit(rng, h) {
			l.Got(at, h, Entry)
		} else {
			l.Punish(at, h, FailedAudit, Entry)
		}
		if l.Allowance(h) >= Entry {
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
			playDay(l, newRand(seed), now, holder(1), offers, false)
			account := l.Account(holder(1))
			net += account.Got - account.Fined
		}
		mean := (net / lives).Entries()
		t.Logf("%d echoes: %.1f entries on the first day", offers, mean)
		if mean >= 0 {
			t.Errorf("%d echoes a day win %.1f entries on average", offers, mean)
		}
	}
}

// In the long run an echoer gets next to nothing, and a neighbor that has what it offers gets everything.
func TestEchoersStarve(t *testing.T) {
	const lives, days, offers = 50, 60, 200
	share := func(has bool) float64 {
		taken := 0
		for seed := range uint64(lives) {
			l := newLedger(Config{})
			rng := newRand(seed)
			for d := range days {
				taken += playDay(l, rng, now.Add(time.Duration(d)*24*time.Hour), holder(1), offers, has)
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
