package incentive

import (
	"testing"
	"time"
)

func TestWhoIsForgiven(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		rule   string
		steps  []step
		after  time.Duration
		rounds int     // in each of which it is served to its bound
		want   float64 // entries
	}{
		{"half of D, after an hour at the bound", []step{got(40), gave(20)}, hour, 1, 5},
		{"not before", []step{got(40), gave(20)}, hour - time.Second, 1, 0},
		{"not who is below it", []step{got(40), gave(9)}, hour, 1, 0},
		{"a quarter of what it earned, if that is less", []step{got(12), gave(20)}, hour, 1, 3},
		{"an entry, if that is a quarter of it", []step{got(4), gave(9)}, hour, 1, 1},
		{"D in all, however much that was", []step{got(400), gave(20)}, hour, 4, 10},
		{"not what was revoked", []step{got(40), gave(20), revoked(20)}, hour, 1, 0},
		{"a quarter of what is left when some is revoked", []step{got(40), revoked(20)}, hour, 2, 5},
		{"not what it was fined", []step{got(400), gave(20), punish(BrokenPromise, 1)}, 48 * hour, 3, 0},
		{"an entry after a day, where nothing else is left", []step{got(10), gave(20)}, day, 3, 2.5 + 1 + 1},
		{"not who earned too little", []step{got(3), gave(13)}, 100 * day, 1, 0},
		{"nor who gave nothing", []step{gave(1)}, 100 * day, 9, 0},
	} {
		l, h := newLedger(Config{}), holder(1)
		for _, s := range c.steps {
			s(l, h)
		}
		forgiven := Credit(0)
		for i := range c.rounds {
			if at := now.Add(time.Duration(i+1) * c.after); l.Forgive(at, h) {
				forgiven += l.Allowance(h)
				l.Gave(at, h, l.Allowance(h))
			}
		}
		if got := forgiven.Entries(); got != c.want {
			t.Errorf("%s: %v are forgiven, want %v", c.rule, got, c.want)
		}
	}
}

// What crosses on its way is paid for out of what may be forgiven, once, and so is an entry before that is earned.
func TestWhatCrossesIsForgiven(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	if got := l.Crossed(h, Entry); got != 0 {
		t.Errorf("who is not known earns %v", got)
	}
	l.Gave(now, h, Entry)
	crosses := func(earns ...Credit) {
		t.Helper()
		for _, want := range earns {
			if got := l.Crossed(h, 2*Entry); got != want {
				t.Errorf("it earns %v, want %v", got, want)
			}
		}
	}
	crosses(Entry, 0)
	l.Got(now, h, 4*Entry) // which makes up for it
	crosses(Entry, 0)
	l.Got(now, h, 16*Entry)
	crosses(2*Entry, 2*Entry, 0)
}

// A key that stood at its bound for what others at its address owe is forgiven nothing once they gave, and it may have
// an entry again.
func TestWhoMayHaveAnEntryAgainIsNotForgiven(t *testing.T) {
	l := newLedger(Config{})
	a, b := meetKey(l, now, behind(1), nodeKey(1)), meetKey(l, now, behind(2), nodeKey(2))
	for _, k := range []*keyed{a, b} {
		k.gives(now, Entry) // its own account counts what it gives from here
		k.gives(now, 39*Entry)
	}
	h, other := l.HolderOf(a.id), l.HolderOf(b.id)
	l.Gave(now, other, 10*Entry)
	l.Gave(now, h, l.Allowance(h))
	if _, at := l.AtBound(h); !at || l.Allowance(h) != 0 {
		t.Fatalf("at its bound it may have %v", l.Allowance(h))
	}
	later := newLedger(Config{})
	later.Load(now.Add(forgiveAfter), l.Accounts())
	if since, at := later.AtBound(h); !at || !since.Equal(now) {
		t.Errorf("after a restart it stands at its bound since %v", since)
	}
	b.gives(now, Entry)
	if got := l.Allowance(h); got != Entry || l.Forgive(now.Add(forgiveAfter), h) {
		t.Errorf("it might have %v, and has %v now", got, l.Allowance(h))
	}
}

// A neighbor that changes sides takes 2D, D more within hours, and an entry a day.
func TestATraitorIsForgivenLittle(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	l.Got(now, h, 1000*Entry)
	taken := Credit(0)
	const days = 30
	for minute := 0; minute < days*24*60; minute += 5 {
		at := now.Add(time.Duration(minute) * time.Minute)
		l.Forgive(at, h)
		v := l.Allowance(h)
		l.Gave(at, h, v)
		taken += v
	}
	if want := 3*10*Entry + days*Entry; taken > want || taken < want-3*Entry {
		t.Errorf("took %v in %d days, want nearly %v", taken, days, want)
	}
}

// An account that came to its bound by a clock that was ahead has stood there since it was loaded, at the latest.
func TestAtBoundByAClockThatWasAhead(t *testing.T) {
	const year = 365 * day
	ahead, h := newLedger(Config{}), holder(1)
	ahead.Got(now.Add(80*year), h, 40*Entry)
	ahead.Gave(now.Add(80*year), h, 20*Entry)
	l := newLedger(Config{})
	l.Load(now, ahead.Accounts())
	if since, at := l.AtBound(h); !at || !since.Equal(now) {
		t.Errorf("at its bound since %v", since)
	}
	if l.Forgive(now.Add(time.Hour-time.Second), h) || !l.Forgive(now.Add(time.Hour), h) {
		t.Error("it is not forgiven after an hour")
	}
}
