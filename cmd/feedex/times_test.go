package main

import (
	"math"
	"testing"
	"time"

	"feedex/internal/when"
)

func TestSpanText(t *testing.T) {
	for _, want := range []string{"10ms", "1s", "1h30m", "16h", "30d", "1d12h", "1m30s"} {
		d, err := when.Span(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := spanText(d); got != want {
			t.Errorf("spanText(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestRoughly(t *testing.T) {
	now := time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		119 * time.Minute: "119m", 5 * time.Hour: "5h", 48 * time.Hour: "2d", -time.Hour: "0s",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%v) = %s, want %s", d, got, want)
		}
	}
	for got, want := range map[string]string{
		ago(time.Time{}, now): "never", ago(now.Add(-time.Hour), now): "60m ago",
		in(time.Time{}, now): "-", in(now, now): "now", in(now.Add(3*time.Hour), now): "in 3h",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReach(t *testing.T) {
	const day = 24 * time.Hour
	for value, want := range map[past]time.Duration{"none": 0, "all": math.MaxInt64, "90d": 90 * day,
		defaultSettings().Backfill: 365 * day} {
		if err := value.check(); err != nil || reach(value) != want {
			t.Errorf("%s: %v, %v, want %v", value, reach(value), err, want)
		}
	}
}
