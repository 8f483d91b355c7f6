package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"feedex/internal/when"
)

// spanText writes d as people write spans: "30d", "1h30m", "10ms".
func spanText(d time.Duration) string {
	if d <= 0 || d%time.Millisecond != 0 {
		return d.String()
	}
	var b strings.Builder
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		one, _ := when.Unit(unit)
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
	d, err := when.Span(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%q is no time at all", s)
	}
	return err
}

// duration is the span's length, 0 where none was set.
func duration(t span) time.Duration {
	d, _ := when.Span(string(t)) // the rule has checked it
	return d
}

// pastRule is for how far back something goes.
type pastRule struct{ spanRule }

// The values of a past that are no span of time.
const (
	noPast  = "none"
	allPast = "all"
)

func (pastRule) want() string { return `"none", "all" or a span of time such as "90d" or "2y"` }
func (r pastRule) check(s string) error {
	if s == noPast || s == allPast {
		return nil
	}
	return r.spanRule.check(s)
}

// reach is how far back that is, 0 for not at all.
func reach(t past) time.Duration {
	switch t {
	case noPast:
		return 0
	case allPast:
		return math.MaxInt64
	}
	return duration(span(t))
}

type momentRule struct{}

func (momentRule) kind() string { return "time" }
func (momentRule) want() string {
	return `a date (2025-01-31), a time (2025-01-31T15:04:05Z) or a span before now (36h, 2d, 2w, 1y)`
}
func (momentRule) check(s string) error {
	_, err := when.Moment(s, time.Unix(0, 0))
	return err
}

// at is the moment that t names, seen from now; the zero time where none was set.
func at(t moment, now time.Time) time.Time {
	m, _ := when.Moment(string(t), now) // the rule has checked it
	return m
}

// checkRange refuses a range of time that has nothing in it.
func checkRange(since, until moment, now time.Time) error {
	if since == "" || until == "" || at(since, now).Before(at(until, now)) {
		return nil
	}
	return usageError{fmt.Errorf("--until %s is not after --since %s, so there is nothing between", until, since)}
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
