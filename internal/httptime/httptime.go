// Package httptime reads the times in the headers of answers.
package httptime

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// Longest is the longest span that Seconds tells apart: ten years.
	Longest = 10 * 365 * 24 * time.Hour
	// LongestAway is the longest for which one answer can keep us away: a slip of a server is not to end anything for
	// ever.
	LongestAway = 30 * 24 * time.Hour
)

// RetryAfter is how long the server asks us to stay away, 0 where it does not say: a number of seconds or a date (RFC
// 9110 §10.2.3). A date is read against the server's own clock where it sent one.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	s := strings.TrimSpace(h.Get("Retry-After"))
	if at, err := http.ParseTime(s); err == nil {
		return min(max(at.Sub(Answered(h, now)), 0), LongestAway)
	}
	return min(Seconds(s), LongestAway)
}

// Answered is when the server answered, by its own clock where it says so.
func Answered(h http.Header, now time.Time) time.Time {
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		return theirs
	}
	return now
}

// Seconds reads a number of seconds (RFC 9111 §1.2.2), 0 where it is none.
func Seconds(s string) time.Duration {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(Longest/time.Second) {
		return Longest
	}
	return time.Duration(n) * time.Second
}
