package polling_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/polling"
)

// A clock that has run for so long has run until then, whatever the hour; nobody waits past the last moment.
func TestClockRunsThereAndBack(t *testing.T) {
	var times []int64
	for d := range 60 { // at work in the morning
		times = append(times, clock(int64(d)*24*60).Unix(), clock(int64(d)*24*60+30).Unix())
	}
	c := polling.Auto{}.Clock(polling.History{Times: times}, clock(60*24*60))
	rapid.Check(t, func(t *rapid.T) {
		from := clock(rapid.Int64Range(0, 30*24*60).Draw(t, "from"))
		to := from.Add(time.Duration(rapid.Int64Range(0, int64(72*time.Hour)).Draw(t, "for")))
		last := to.Add(time.Hour)
		if back := c.After(from, c.Passed(from, to), last); back.Sub(to).Abs() > time.Millisecond {
			t.Errorf("from %v to %v, and back to %v", from, to, back)
		}
		if back := c.Passed(to, from); back != -c.Passed(from, to) {
			t.Errorf("from %v back to %v: %v", to, from, time.Duration(back))
		}
		if got := c.After(from, math.Inf(1), last); !got.Equal(last) {
			t.Errorf("it waits until %v, past %v", got, last)
		}
		var plain *polling.Clock
		if got := plain.Passed(from, to); got != float64(to.Sub(from)) || !plain.After(from, got, last).Equal(to) {
			t.Errorf("no clock: %v passed from %v to %v", time.Duration(got), from, to)
		}
	})
	busy, quiet := c.Passed(clock(0), clock(60)), c.Passed(clock(12*60), clock(13*60))
	if busy < 3*quiet {
		t.Errorf("the clock runs %v in the hour that the feed publishes in, %v in another", time.Duration(busy),
			time.Duration(quiet))
	}
	if (polling.Auto{}).Clock(polling.History{}, clock(0)) != nil {
		t.Error("a feed of which nothing is known has a clock of its own")
	}
}
