package daemon

import (
	"testing"
	"time"
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
