package main

import (
	"fmt"
	"time"

	"feedex/internal/when"
	"feedex/settings"
)

// at is the moment that t names, seen from now; the zero time where none was set.
func at(t string, now time.Time) time.Time {
	m, _ := when.Moment(t, now) // its kind has checked it
	return m
}

// checkRange refuses a range of time that has nothing in it.
func checkRange(since, until string, now time.Time) error {
	if since == "" || until == "" || at(since, now).Before(at(until, now)) {
		return nil
	}
	return settings.UsageError{Err: fmt.Errorf("--until %s is not after --since %s, so there is nothing between",
		until, since)}
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
