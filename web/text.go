package web

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"feedex/feed"
	"feedex/safehtml"
)

// A moment is a time as pages show it: by how far it is from now, in full where a pointer rests on it.
type moment struct{ T, Now time.Time }

// ISO is the moment for programs.
func (m moment) ISO() string { return m.T.UTC().Format(time.RFC3339) }

// Full is the moment for people, in their own time, which is that of Now.
func (m moment) Full() string {
	return m.T.In(m.Now.Location()).Format("Monday, 2 January 2006, 15:04:05 MST")
}

// Clock is the moment within a day.
func (m moment) Clock() string { return m.T.In(m.Now.Location()).Format("15:04") }

// Relative is how far the moment is from now.
func (m moment) Relative() string {
	switch d := m.T.Sub(m.Now); {
	case d > -45*time.Second && d < 45*time.Second:
		return "now"
	case d < 0:
		return span(-d) + " ago"
	default:
		return "in " + span(d)
	}
}

// span says how long d is, in one or two units: "40 s", "5 min", "2 h 10 min", "3 days".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d\u00a0s", int(math.Round(d.Seconds())))
	case d < time.Hour-30*time.Second:
		return fmt.Sprintf("%d\u00a0min", int(math.Round(d.Minutes())))
	case d < 10*time.Hour:
		d = d.Round(time.Minute)
		if rest := d % time.Hour; rest > 0 {
			return fmt.Sprintf("%d\u00a0h\u00a0%d\u00a0min", d/time.Hour, rest/time.Minute)
		}
		return fmt.Sprintf("%d\u00a0h", d/time.Hour)
	case d < 2*day:
		return fmt.Sprintf("%d\u00a0h", int(math.Round(d.Hours())))
	case d < 60*day:
		return fmt.Sprintf("%d\u00a0days", int(math.Round(d.Hours()/24)))
	case d < 2*365*day:
		return fmt.Sprintf("%d\u00a0months", int(math.Round(d.Hours()/24/30.44)))
	}
	return fmt.Sprintf("%d\u00a0years", int(d.Hours()/24/365.25))
}

// grouped writes n with a thin blank between thousands.
func grouped[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return sign + s
}

// bytesOf writes a number of bytes in the unit that fits.
func bytesOf(n int64) string {
	switch {
	case n == 1:
		return "1\u00a0byte"
	case n < 1000:
		return grouped(n) + "\u00a0bytes"
	case n < 1_000_000:
		return fmt.Sprintf("%.3g\u00a0kB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.3g\u00a0MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g\u00a0GB", float64(n)/1e9)
}

// count writes a number with what it counts: "1 feed", "2 feeds".
func count[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// percent writes a share of 0 to 1.
func percent(share float64) string { return fmt.Sprintf("%.0f\u202f%%", 100*share) }

// longestLead is how long the beginning of a text is that stands below its title, in characters.
const longestLead = 280

// titleOf is the name of a feed on the page: the first that there is of these, or what its address tells.
func titleOf(u feed.URL, names ...string) string {
	name := shortURL(u)
	if u.Secret() {
		name = u.Host()
	}
	return cmp.Or(safehtml.Title(cmp.Or(names...)), name)
}

// shortURL is a URL as people write it.
func shortURL(u feed.URL) string {
	_, rest, _ := strings.Cut(string(u), "://")
	return strings.TrimSuffix(rest, "/")
}

// sentence makes a sentence of an error's text, "" of none.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	_, first := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:first]) + strings.TrimSuffix(s[first:], ".") + "."
}
