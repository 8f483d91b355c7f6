package courtesy

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whose fault it is that nobody is reached, step by step.
func TestOutage(t *testing.T) {
	type step struct {
		after   time.Duration // since noon
		host    string        // that was not reached, "" for an answer from anybody
		lost    time.Duration // when its feed was first not reached
		excused bool
		down    bool // our network, from then on
	}
	for name, steps := range map[string][]step{
		"one host is down, and others answer": {
			{0, "a", 0, true, false}, {time.Minute, "", 0, false, false}, {2 * time.Minute, "a", 0, false, false},
		},
		"two hosts are down, and others answer": {
			{0, "a", 0, true, false}, {1, "b", 1, true, true}, {time.Minute, "", 0, false, false},
			{2 * time.Minute, "a", 0, false, false}, {2 * time.Minute, "b", 1, false, false},
		},
		"our network is down": {
			{0, "a", 0, true, false}, {time.Minute, "a", 0, true, false},
			{2 * time.Minute, "b", 2 * time.Minute, true, true},
			{5 * time.Hour, "a", 0, true, true}, {48 * time.Hour, "c", 48 * time.Hour, true, true},
			{49 * time.Hour, "", 0, false, false},
		},
		"the only host is down": {
			{0, "a", 0, true, false}, {lonelyFor - 1, "a", 0, true, false}, {lonelyFor, "a", 0, false, false},
		},
	} {
		o := NewOutage(rand.New(rand.NewPCG(1, 2)))
		for i, s := range steps {
			now, excused := epoch.Add(s.after), false
			if s.host == "" {
				o.Reached(now)
			} else {
				excused = o.Excuses(now, s.host, epoch.Add(s.lost))
			}
			if excused != s.excused || o.Since().IsZero() == s.down {
				t.Errorf("%s, step %d: excused %v, down since %v", name, i, excused, o.Since())
			}
			if excused && !o.Next().After(now) {
				t.Errorf("%s, step %d: is to be tried again at once", name, i)
			}
		}
	}
}

// An outage lasts since the first host was not reached, though it takes a second one to know.
func TestAnOutageBeginsWithTheFirstHost(t *testing.T) {
	o := NewOutage(rand.New(rand.NewPCG(1, 2)))
	o.Excuses(epoch, "a", epoch)
	o.Excuses(epoch.Add(time.Minute), "b", epoch.Add(time.Minute))
	if got := o.Since(); !got.Equal(epoch) {
		t.Errorf("it lasts since %v, want %v", got, epoch)
	}
	if d := upTo(rand.New(rand.NewPCG(1, 2)), 0); d != 0 {
		t.Errorf("a random duration below nothing is %v", d)
	}
}

// While nobody is reached one tries now and then, ever more rarely after a day; when somebody answers nobody waits.
func TestAttemptsWithinAnOutage(t *testing.T) {
	o := NewOutage(rand.New(rand.NewPCG(1, 2)))
	if o.Postpones(epoch) {
		t.Error("a network that works has feeds wait")
	}
	o.Excuses(epoch, "a", epoch)
	o.Excuses(epoch, "b", epoch)
	attempts := func(from, to time.Time) (n int) {
		for now := from; now.Before(to); now = now.Add(time.Second) {
			if !o.Postpones(now) {
				n++
			}
		}
		return n
	}
	for _, test := range []struct {
		name        string
		from, to    time.Duration
		least, most int
	}{
		{"the first five minutes", 0, 5 * time.Minute, 3, 5},
		{"an hour", time.Hour, 2 * time.Hour, 26, 31},
		{"the third day", 48 * time.Hour, 72 * time.Hour, 22, 27},
	} {
		if n := attempts(epoch.Add(test.from), epoch.Add(test.to)); n < test.least || n > test.most {
			t.Errorf("%d attempts within %s, want %d to %d", n, test.name, test.least, test.most)
		}
	}
	o.Reached(epoch.Add(72 * time.Hour))
	if o.Postpones(epoch.Add(72 * time.Hour)) {
		t.Error("feeds wait for a network that is back")
	}
}
