package main

import (
	"testing"
	"time"
)

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
