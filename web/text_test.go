package web

import (
	"strings"
	"testing"
	"time"

	"feedex/archive"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 89 * time.Second: "89 s", 90 * time.Second: "2 min", 59*time.Minute + 29*time.Second: "59 min",
		time.Hour:        "1 h",
		90 * time.Minute: "1 h 30 min", 10 * time.Hour: "10 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days",
		90 * 24 * time.Hour: "3 months", 800 * 24 * time.Hour: "2 years",
	} {
		if got := strings.ReplaceAll(span(d), "\u00a0", " "); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "A.", "it is full.": "It is full.", "öl fehlt": "Öl fehlt.",
		"日本": "日本.", "\xff!": "\uFFFD!."} {
		if got := sentence(text); got != want {
			t.Errorf("sentence(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", 1234567: "1 234 567", -1000: "−1 000"} {
		if got := strings.ReplaceAll(grouped(n), "\u202f", " "); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1500: "1.5 kB",
		12_345_678: "12.3 MB", 5e9: "5 GB"} {
		if got := strings.ReplaceAll(bytesOf(n), "\u00a0", " "); got != want {
			t.Errorf("bytesOf(%d) = %q, want %q", n, got, want)
		}
	}
}

// Arrivals are added up in bars of local days, of which the last is today.
func TestChart(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 30, 0, 0, time.Local)
	hours := []archive.Hour{
		{At: now.Add(-30 * 24 * time.Hour), Polled: 99}, // too old
		{At: now.Add(-24 * time.Hour), Polled: 30, Brought: 10},
		{At: now.Add(-20 * time.Minute).Truncate(time.Hour), Polled: 1, Brought: 2},
		{At: now.Truncate(time.Hour), Brought: 4},
	}
	c := newChart(hours, periods()[1], now)
	if len(c.Bars) != 7 || c.Total != 47 || c.Top != 40 {
		t.Fatalf("%d bars, %d entries, %d at the top", len(c.Bars), c.Total, c.Top)
	}
	if b := c.Bars[6]; b.Polled != 1 || b.Brought != 6 || b.Label != "Fri 20" || b.OwnHeight != 3 ||
		b.NearHeight != 18 || b.NearY+b.NearHeight != b.OwnY {
		t.Errorf("today is %+v", b)
	}
	if b := c.Bars[5]; b.Polled != 30 || b.Brought != 10 || b.OwnHeight+b.NearHeight != chartHeight || b.NearY != 0 {
		t.Errorf("yesterday is %+v", b)
	}
	if c := newChart(nil, periods()[0], now); len(c.Bars) != 24 || c.Top != 1 || c.Bars[23].Name != "Friday 15:00" {
		t.Errorf("of nothing: %+v", c)
	}
}

func TestRoundUp(t *testing.T) {
	for n, want := range map[int64]int64{0: 1, 1: 1, 3: 4, 7: 8, 9: 10, 11: 20, 61: 80, 100: 100, 101: 200,
		4001: 5000} {
		if got := roundUp(n); got != want {
			t.Errorf("roundUp(%d) = %d, want %d", n, got, want)
		}
	}
}
