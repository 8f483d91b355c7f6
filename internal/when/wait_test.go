package when_test

import (
	"math"
	"testing"
	"time"

	"feedex/internal/when"
)

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
