package neighbors

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestSuppression(t *testing.T) {
	type brought struct{ polled, delivered, entries, offering int }
	for _, c := range []struct {
		name  string
		days  []brought
		alarm bool
	}{
		{"neighbors bring nothing", []brought{{polled: 50, entries: 1, offering: 8}}, true},
		{"too few entries to tell", []brought{{polled: 49, entries: 1, offering: 8}}, false},
		{"as many as expected", []brought{{polled: 20, delivered: 80, entries: 1, offering: 4}}, false},
		{"somewhat more", []brought{{polled: 29, delivered: 71, entries: 1, offering: 4}}, false},
		{"much more", []brought{{polled: 40, delivered: 60, entries: 1, offering: 4}}, true},
		{"more than expected, and a fifth at most",
			[]brought{{polled: 20, delivered: 80, entries: 1, offering: 9}}, false},
		{"nobody offers it", []brought{{polled: 500, entries: 1}}, false},
		{"a few polls that brought much at once",
			[]brought{{polled: 3, delivered: 7, entries: 10, offering: 4}}, false},
		{"over the week", []brought{{polled: 10, entries: 1, offering: 3}, {}, {polled: 20, entries: 1, offering: 3},
			{}, {}, {}, {polled: 20, entries: 1, offering: 3}}, true},
		{"before the week", []brought{{polled: 10, entries: 1, offering: 3}, {}, {polled: 20, entries: 1, offering: 3},
			{}, {}, {}, {}, {polled: 20, entries: 1, offering: 3}}, false},
	} {
		var s Suppression
		at := now
		for i, d := range c.days {
			at = now.Add(time.Duration(i) * day)
			for j := range d.polled {
				s.Polled(at, url(j%10), d.entries, d.offering)
			}
			for j := range d.delivered {
				s.Delivered(at, url(j%10), d.entries, d.offering)
			}
		}
		if got := s.Alarming(at); got != c.alarm {
			polled, entries, expected := s.Week(at)
			t.Errorf("%s: alarming %v; %d of %d, expected %d", c.name, got, polled, entries, expected)
		}
	}
}

// What own polls were to bring, of entries that neighbors offer, and how far chance may lead from that.
func TestWhatIsExpected(t *testing.T) {
	var s Suppression
	for range 4 {
		s.Polled(now, url(0), 1, 3)
		s.Delivered(now, url(0), 1, 3)
		s.Polled(now, url(1), 5, 0) // nobody offers it
	}
	if polled, entries, expected := s.Week(now); polled != 4 || entries != 8 || expected != 2 {
		t.Errorf("%d of %d, %d expected", polled, entries, expected)
	}
	for _, c := range []struct{ entries, offering int }{{1, 1}, {10, 4}, {1000, 4}, {1000, 9}} {
		p := 1 / float64(c.offering+1)
		n := float64(c.entries)
		d := s.count(now, url(10+c.offering*c.entries), c.entries, c.offering)
		near := func(got int64, want float64) bool {
			return float64(got)/certain > .99*want-.5 && float64(got)/certain < 1.01*want+.01
		}
		if !near(d.expected, n*p) || !near(d.variance, n*n*p*(1-p)) || !near(d.advantage(), n*n*p*p*(1-p)/(1+p)) {
			t.Errorf("%+v: %+v, and %d by when they poll", c, *d, d.advantage())
		}
	}
}

// Honest nodes that poll at times of their own, the same every day, alarm nobody more often than in one week of
// a hundred.
func TestHonestNeighborsAlarmNobody(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alarms, weeks := 0, 2000
	for range weeks {
		var s Suppression
		for u := range 12 {
			k := 1 + rng.IntN(4)
			before := 1.0 // the part of the period between the last poll of another and ours
			for range k {
				before = min(before, rng.Float64())
			}
			for range 10 {
				if rng.Float64() < before {
					s.Polled(now, url(u), 1, k)
				} else {
					s.Delivered(now, url(u), 1, k)
				}
			}
		}
		if s.Alarming(now) {
			alarms++
		}
	}
	t.Logf("%d of %d weeks alarm", alarms, weeks)
	if alarms > weeks/50 {
		t.Errorf("%d of %d honest weeks alarm", alarms, weeks)
	}
}

// Who brings nothing that own polls find makes room, however much it brought before; whatever it is first to bring
// counts that own polls list.
func TestWhoBringsNothingIsUseless(t *testing.T) {
	table, now := newTable(), time.Unix(1_800_000_000, 0)
	n := table.Add(now, id(1), true, nil, nil)
	table.Brought(now, n, 1000*One)
	miss := func(polls int, want bool) {
		t.Helper()
		for range polls {
			n.Misses++
		}
		if n.Useless() != want {
			t.Errorf("useless %v, want %v", n.Useless(), want)
		}
	}
	miss(uselessAfter-1, false)
	n.Shown(n.Misses)
	miss(uselessAfter-1, false)
	table.Brought(now, n, One) // nobody has published it
	miss(1, true)
	n.Shown(n.Misses - 3) // an own poll lists it only now
	miss(uselessAfter-4, false)
	miss(1, true)
}
