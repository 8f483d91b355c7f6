package when_test

import (
	"testing"
	"time"

	"feedex/internal/when"
)

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for in, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "250ms": 250 * time.Millisecond, "90m": 90 * time.Minute, "36h": 36 * time.Hour,
		"2d": 2 * day, "2w": 14 * day, "1y": 365 * day, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute, "0s": 0,
	} {
		if got, err := when.Span(in); err != nil || got != want {
			t.Errorf("Span(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "30", "h", "-1h", "1 h", "1h 2m", "1x", "1.2.3h", "1e3h", "9999y", "1hh", "∞"} {
		if got, err := when.Span(in); err == nil {
			t.Errorf("Span(%q) = %v, want an error", in, got)
		}
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 45 * time.Second: "45s", 90 * time.Minute: "1h30m", 36 * time.Hour: "36h", 10 * time.Minute: "10m",
		time.Hour + time.Second: "1h0m1s",
	} {
		if got := when.Clock(d); got != want {
			t.Errorf("%d is written as %q, want %q", d, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, want := range []string{"10ms", "1s", "1h30m", "16h", "30d", "1d12h", "1m30s"} {
		d, err := when.Span(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := when.Text(d); got != want {
			t.Errorf("Text(%v) = %s, want %s", d, got, want)
		}
	}
}

func FuzzSpan(f *testing.F) {
	for _, s := range []string{"30m", "1d12h", "1.5h", "99999999999y", ".h", "1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := when.Span(s); err == nil && d < 0 {
			t.Errorf("Span(%q) = %v, which is negative", s, d)
		}
	})
}

func TestMoment(t *testing.T) {
	here := time.FixedZone("here", 5*60*60)
	now := time.Date(2025, 6, 15, 12, 0, 0, 0, here)
	for in, want := range map[string]time.Time{
		"2025-01-31":                time.Date(2025, 1, 31, 0, 0, 0, 0, here),
		"2025-01-31T15:04:05Z":      time.Date(2025, 1, 31, 15, 4, 5, 0, time.UTC),
		"2025-01-31T15:04:05+02:00": time.Date(2025, 1, 31, 13, 4, 5, 0, time.UTC),
		"36h":                       now.Add(-36 * time.Hour),
		"2w":                        now.AddDate(0, 0, -14),
	} {
		if got, err := when.Moment(in, now); err != nil || !got.Equal(want) {
			t.Errorf("Moment(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "yesterday", "2025-13-01", "2025-02-30", "31.1.2025", "2025"} {
		if got, err := when.Moment(in, now); err == nil {
			t.Errorf("Moment(%q) = %v, want an error", in, got)
		}
	}
}
