// Package when reads times as people write them, orders them, and says how long to wait.
package when

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Span reads a length of time: numbers with units, such as "30m", "36h", "1d12h", "2w" or "1y". A
// day has 24 hours, a year 365 days. It is never negative.
func Span(s string) (time.Duration, error) {
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
		unit, ok := units[rest[:letters]]
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

// Clock writes d in hours and smaller units, without those that are zero at its end: "36h", "1h30m", "45s".
func Clock(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Text writes a length of time as people write spans: "30d", "1h30m", "10ms".
func Text(d time.Duration) string {
	if d <= 0 || d%time.Millisecond != 0 {
		return d.String()
	}
	var b strings.Builder
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		if n := d / units[unit]; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			d -= n * units[unit]
		}
	}
	return b.String()
}

// units are the units of a Span.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour,
}

// Moment reads a point in time: a date, which begins at midnight where now is, an RFC 3339 time, or a span
// of time before now.
func Moment(s string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if d, err := Span(s); err == nil {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is no point in time", s)
}
