package settings

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"feedex/feed"
	"feedex/internal/when"
)

// The range of all intervals between polls.
const (
	shortestPoll = time.Second
	longestPoll  = 30 * 24 * time.Hour
)

// The least that an archive may be told to keep, and the most entries: with less, what came today would go today.
const (
	mostCount  = 1_000_000_000
	leastMiB   = 16
	leastAge   = 24 * time.Hour
	leastCount = 100
)

// between is for whole numbers from least to most.
func between(least, most int, besides string) func(value) string {
	return func(v value) string {
		if n := v.number(); n < least || n > most {
			return fmt.Sprintf("%d, want %d to %d%s", n, least, most, besides)
		}
		return ""
	}
}

// spanning is for spans of time from least to most.
func spanning(least, most time.Duration) func(value) string {
	return func(v value) string {
		if d := v.span(); d < least || d > most {
			return fmt.Sprintf("%s, want %s to %s", when.Text(d), when.Text(least), when.Text(most))
		}
		return ""
	}
}

func pollRange(v value) string { return spanning(shortestPoll, longestPoll)(v) }

func checkMinNeighbors(v value) string {
	most := int(v.of.field("max_neighbors").Int())
	if n := v.number(); n < 1 || n > most && !v.isUsual() { // the default moves with the other
		return fmt.Sprintf("%d, want 1 to max_neighbors (%d)", n, most)
	}
	return ""
}

func checkFreshness(v value) string {
	if f := v.fraction(); !(f > 0 && f <= 1) { // nor a NaN
		return fmt.Sprintf("%v, want more than 0 and at most 1", f)
	}
	return ""
}

func checkMin(v value) string {
	says, longest := pollRange(v), v.of.span("polling.max")
	if says == "" && v.span() > longest && !v.isUsual() {
		says = fmt.Sprintf("%s, want polling.max (%s) or less", when.Text(v.span()), when.Text(longest))
	}
	return says
}

func checkMax(v value) string {
	says, shortest := pollRange(v), v.of.span("polling.min")
	if says == "" && v.span() < shortest {
		says = fmt.Sprintf("%s, want polling.min (%s) or more", when.Text(v.span()), when.Text(shortest))
	}
	return says
}

func checkStart(v value) string {
	says, shortest, longest := pollRange(v), v.of.span("polling.min"), v.of.span("polling.max")
	if d := v.span(); says == "" && (d < shortest || d > longest) && !v.isUsual() {
		says = fmt.Sprintf("%s, want polling.min to polling.max (%s to %s)", when.Text(d), when.Text(shortest),
			when.Text(longest))
	}
	return says
}

func checkPoll(v value) string {
	if v.isUsual() {
		return ""
	}
	return pollRange(v)
}

func checkBytes(v value) string {
	if n := Bytes(v.text()); n != 0 && n < leastMiB<<20 {
		return fmt.Sprintf("%s, want %d.0 MiB or more, or \"all\"", v.text(), leastMiB)
	}
	return ""
}

func checkAge(v value) string {
	if d := Lifetime(v.text()); d != 0 && d < leastAge {
		return fmt.Sprintf("%s, want %s or more, or \"all\"", when.Text(d), when.Text(leastAge))
	}
	return ""
}

func checkCount(v value) string {
	if n := v.number(); n != 0 && (n < leastCount || n > mostCount) {
		return fmt.Sprintf("%d, want %d to %d, or 0 for all", n, leastCount, mostCount)
	}
	return ""
}

// outOfRange is the error of a setting that says something a node cannot have, with where the config file sets it.
func (s *Settings) outOfRange(row *setting, says string) error {
	if row.noKey != "" {
		return UsageError{Err: fmt.Errorf("--%s is %s", row.key, says)}
	}
	err := fmt.Errorf("%s is %s", row.key, says)
	data, readErr := os.ReadFile(s.File())
	if readErr != nil {
		return UsageError{Err: err}
	}
	line, column, ok := position(feed.UTF8(data), toml.Key(strings.Split(row.key, ".")))
	if !ok {
		return UsageError{Err: err}
	}
	return UsageError{Err: fmt.Errorf("%s:%d:%d: %w", s.File(), line, column, err)}
}
