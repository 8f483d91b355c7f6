package daemon

import (
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/protocol"
)

// A reading that knows how much time passed can be had from the system alone, and so can no test set its wall. But
// two readings without that differ as walls do.
func TestClock(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var c clock
	for _, step := range []struct {
		name       string
		wall, want time.Duration // after noon
	}{
		{"first", 0, 0},
		{"a second", time.Second, time.Second},
		{"asleep for a night", 8 * time.Hour, 8 * time.Hour},
		{"goes on", 8*time.Hour + time.Second, 8*time.Hour + time.Second},
	} {
		if got := c.now(noon.Add(step.wall)).Sub(noon); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}

	// The system's reading: what is told follows the time that passed, and keeps none of it for comparisons.
	c = clock{}
	begun := time.Now()
	first := c.now(begun)
	if first != begun.Round(0) {
		t.Errorf("told %v, want the wall's %v", first, begun.Round(0))
	}
	c.told = c.told.Add(time.Hour) // as if the wall was set back by an hour since
	if got := c.now(begun.Add(time.Second)); got != first.Add(time.Hour+time.Second) {
		t.Errorf("after the wall was set back %v, want a second more than before", got.Sub(first))
	}
	c.told = first.Add(-8 * time.Hour) // as if it had been asleep
	if got := c.now(begun.Add(2 * time.Second)); got != first.Add(2*time.Second) {
		t.Errorf("after sleep %v, want the wall's time", got.Sub(first))
	}
}

// A machine without a battery starts in 1970, and learns the time minutes later: until then the node rests, and says
// so. What is owed to publishers is not taken for what lies decades ahead. A clock that was ahead once, and is right
// now, is waited for in vain, and no longer than an hour.
func TestAClockThatStartsIn1970(t *testing.T) {
	for _, test := range []struct {
		name         string
		ahead, waits time.Duration
	}{
		{"it is set after 20 minutes", 20 * time.Minute, 20 * time.Minute},
		{"it was ahead by years once", 10 * 365 * 24 * time.Hour, clockPatience},
		{"it is right", -time.Minute, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			polled := func() *disk {
				d := newDisk()
				d.KeepFeed(archive.Feed{URL: exampleFeed, Subscribed: true, LastPoll: time.Now().Add(test.ahead)})
				return d
			}
			runLoopOn(t, polled, friendly, func(t *testing.T, l *testLoop) {
				if test.waits > 0 {
					l.pass(test.waits - 2*clockEvery)
					if fault := l.knock(); fault == nil || fault.Code != protocol.Unavailable {
						t.Errorf("while the clock is behind a peer hears %v", fault)
					}
					var problem string
					l.inspect(func(h *host) { problem = h.storage.problem })
					if !strings.Contains(problem, "the clock says") {
						t.Errorf("the owner hears %q", problem)
					}
				}
				l.pass(3 * clockEvery)
				if fault := l.knock(); fault != nil {
					t.Errorf("a peer hears %v", fault)
				}
			})
		})
	}
}
