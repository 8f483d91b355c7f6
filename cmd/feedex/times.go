package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseSpan reads a length of time: numbers with units, such as "30m", "36h", "1d12h", "2w" or "1y". A
// day has 24 hours, a year 365 days. It is never negative.
func parseSpan(s string) (time.Duration, error) {
	var total float64
	rest := s
	for first := true; rest != "" || first; first = false {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no span of time", s)
		}
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzµ"))
		unit, ok := spanUnit(rest[:letters])
		if !ok {
			return 0, fmt.Errorf("%q is no span of time", s)
		}
		rest = rest[letters:]
		total += n * float64(unit)
	}
	if total >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is longer than feedex can count", s)
	}
	return time.Duration(math.Round(total)), nil
}

func spanUnit(name string) (time.Duration, bool) {
	switch name {
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	case "w":
		return 7 * 24 * time.Hour, true
	case "y":
		return 365 * 24 * time.Hour, true
	}
	return 0, false
}

// spanText writes d as people write spans: "30d", "1h30m", "10ms".
func spanText(d time.Duration) string {
	if d <= 0 || d%time.Millisecond != 0 {
		return d.String()
	}
	var b strings.Builder
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		one, _ := spanUnit(unit)
		if n := d / one; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			d -= n * one
		}
	}
	return b.String()
}

type spanRule struct{}

func (spanRule) kind() string { return "span" }
func (spanRule) want() string { return `a span of time such as "30m", "4h" or "2d"` }
func (spanRule) check(s string) error {
	d, err := parseSpan(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is no time at all", s)
	}
	return err
}

// duration is the span's length, 0 where none was set.
func duration(t span) time.Duration {
	d, _ := parseSpan(string(t)) // the rule has checked it
	return d
}

// parseMoment reads a point in time: a date, which begins at midnight here, an RFC 3339 time, or a span
// of time before now.
func parseMoment(s string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if d, err := parseSpan(s); err == nil {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no point in time", s)
}

type momentRule struct{}

func (momentRule) kind() string { return "time" }
func (momentRule) want() string {
	return `a date (2025-01-31), a time (2025-01-31T15:04:05Z) or a span before now (36h, 2d, 2w, 1y)`
}
func (momentRule) check(s string) error {
	_, err := parseMoment(s, time.Unix(0, 0))
	return err
}

// at is the moment that t names, seen from now; the zero time where none was set.
func at(t moment, now time.Time) time.Time {
	m, _ := parseMoment(string(t), now) // the rule has checked it
	return m
}

// roughly says how long d is in one number and unit, for people: "3s", "12m", "5h", "40d".
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// ago says how long before now t was: "5m ago", or "never" for the zero time.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return roughly(now.Sub(t)) + " ago"
}

// in says how long after now t will be: "in 5m", "now", or "-" for the zero time.
func in(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !t.After(now):
		return "now"
	}
	return "in " + roughly(t.Sub(now))
}
