package when_test

import (
	"math"
	"testing"
	"time"

	"feedex/internal/when"
)

func TestDue(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for wait, want := range map[time.Duration]bool{
		-time.Hour: true, 0: true, 1: false, time.Minute: false, time.Hour: false, time.Hour + 1: true,
	} {
		if got := when.Due(now, now.Add(wait), time.Hour); got != want {
			t.Errorf("what is put off by %v, an hour at most, is due: %v", wait, got)
		}
	}
	if !when.Due(now, time.Time{}, time.Hour) || !when.Due(now, now.AddDate(1000, 0, 0), time.Hour) {
		t.Error("what was never put off, or for longer than can be counted, is not due")
	}
}

func TestDoubled(t *testing.T) {
	for _, c := range []struct {
		first, most time.Duration
		times       int
		want        time.Duration
	}{
		{1, 100, 0, 1}, {1, 100, 3, 8}, {1, 100, 6, 64}, {1, 100, 7, 100}, {1, 64, 6, 64}, {3, 5, 1, 5},
		{200, 100, 0, 100}, {1, 100, -1, 1}, {time.Minute, time.Hour, math.MaxInt, time.Hour},
		{3, math.MaxInt64, 100, math.MaxInt64},
	} {
		if got := when.Doubled(c.first, c.most, c.times); got != c.want {
			t.Errorf("%d doubled %d times, %d at most, is %d, want %d", c.first, c.times, c.most, got, c.want)
		}
	}
}
