package poller

import (
	"testing"
	"time"

	"feedex/polling"
)

// What neighbors spare is by how many times longer the node waits for them, and nothing of what it would have waited
// for its publisher's sake.
func TestSparedByHelp(t *testing.T) {
	auto := polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}}
	p := polling.Poll{Interval: time.Hour, Helped: .9, Pollers: 5}
	lone := p
	lone.Helped, lone.Pollers = 0, 0
	alone := auto.Interval(lone)
	for _, c := range []struct {
		helped        float64
		wait, soonest time.Duration
		want          float64
	}{
		{.9, 4 * alone, 0, 3},
		{.9, 4 * alone, -time.Hour, 3},
		{.9, 4 * alone, 2 * alone, 1},
		{.9, 4 * alone, 8 * alone, 0},
		{.9, alone / 2, 0, 0},
		{0, 4 * alone, 0, 0},
	} {
		p.Helped = c.helped
		if got := sparedByHelp(auto, p, c.wait, c.soonest); got != c.want {
			t.Errorf("helped %v, waits %v, not before %v: spares %v, want %v", c.helped, c.wait, c.soonest, got, c.want)
		}
	}
}
