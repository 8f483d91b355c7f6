package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A rangeError says that a number or a span of time that a setting holds is none that a node can have.
type rangeError struct {
	key  string // as in the config file, with dots
	says string // what it is, and what would be right
}

// Error implements error.
func (e rangeError) Error() string { return e.key + " is " + e.says }

// The range of all intervals between polls.
const (
	shortestPoll = time.Second
	longestPoll  = 30 * 24 * time.Hour
)

// checkRanges holds the settings to their ranges. A 0 is refused like every other number: an owner who writes it means
// it, and would get the default.
func (s *settings) checkRanges() error {
	for _, n := range []struct {
		key                string
		value, least, most int
		besides            string
	}{
		{"max_neighbors", s.MaxNeighbors, 1, 64, ""},
		{"max_subset_hops", s.MaxSubsetHops, 1, 8, ""},
		{"seen_dids", s.SeenDIDs, 1, 1_000_000, ""},
		{"cover_feeds", s.CoverFeeds, 0, 50, ""},
		{"deficit_bound", s.DeficitBound, 0, 1000, ", where 0 is no bound"},
		{"give_total", s.GiveTotal, 0, 1_000_000_000, ""},
		{"give_address", s.GiveAddress, 0, 1_000_000_000, ""},
	} {
		if n.value < n.least || n.value > n.most {
			return rangeError{n.key, fmt.Sprintf("%d, want %d to %d%s", n.value, n.least, n.most, n.besides)}
		}
	}
	// the default moves with the other
	if n := s.MinNeighbors; n < 1 || n > s.MaxNeighbors && n != defaultSettings().MinNeighbors {
		return rangeError{"min_neighbors", fmt.Sprintf("%d, want 1 to max_neighbors (%d)", n, s.MaxNeighbors)}
	}
	if d := duration(s.AdvertInterval); d < time.Second || d > 24*time.Hour {
		return rangeError{"advert_interval", spanText(d) + ", want 1s to 1d"}
	}
	if err := s.checkRetention(); err != nil {
		return err
	}
	return s.checkPolling()
}

// checkRetention holds what is kept of the archive to its range: less than that, and what came today would go today.
func (s *settings) checkRetention() error {
	r := &s.Retention
	for _, b := range []struct {
		key   string
		value size
	}{{"bytes", r.Bytes}, {"relayed", r.Relayed}} {
		if n := bytesOf(b.value); n != 0 && n < leastBytes {
			return rangeError{"retention." + b.key, fmt.Sprintf("%s, want %s or more, or \"all\"",
				b.value, byteSize(leastBytes))}
		}
	}
	if d := spanOf(r.Age); d != 0 && d < leastAge {
		return rangeError{"retention.age", fmt.Sprintf("%s, want %s or more, or \"all\"",
			spanText(d), spanText(leastAge))}
	}
	if r.Count != 0 && (r.Count < leastCount || r.Count > mostCount) {
		return rangeError{"retention.count", fmt.Sprintf("%d, want %d to %d, or 0 for all",
			r.Count, leastCount, mostCount)}
	}
	return nil
}

// checkPolling holds the settings of polling to their ranges.
func (s *settings) checkPolling() error {
	p := &s.Polling
	if s.Poll != "" {
		if err := checkPoll("--poll", s.Poll); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		key   string
		value span
	}{{"interval", p.Interval}, {"target_delay", p.TargetDelay}, {"min", p.Min}, {"max", p.Max}, {"start", p.Start}} {
		if err := checkPoll("polling."+d.key, d.value); err != nil {
			return err
		}
	}
	if f := p.TargetFreshness; !(f > 0 && f <= 1) { // nor a NaN
		return rangeError{"polling.target_freshness", fmt.Sprintf("%v, want more than 0 and at most 1", f)}
	}
	shortest, longest, first := duration(p.Min), duration(p.Max), duration(p.Start)
	usual := defaultSettings().Polling
	switch {
	case shortest > longest && p.Min == usual.Min:
		return rangeError{"polling.max", fmt.Sprintf("%s, want polling.min (%s) or more",
			spanText(longest), spanText(shortest))}
	case shortest > longest:
		return rangeError{"polling.min", fmt.Sprintf("%s, want polling.max (%s) or less",
			spanText(shortest), spanText(longest))}
	case (first < shortest || first > longest) && p.Start != usual.Start:
		return rangeError{"polling.start", fmt.Sprintf("%s, want polling.min to polling.max (%s to %s)",
			spanText(first), spanText(shortest), spanText(longest))}
	}
	return nil
}

// checkPoll holds an interval between polls to the range of all.
func checkPoll(key string, t span) error {
	if d := duration(t); d < shortestPoll || d > longestPoll {
		return rangeError{key, fmt.Sprintf("%s, want %s to %s", spanText(d),
			spanText(shortestPoll), spanText(longestPoll))}
	}
	return nil
}

// outOfRange makes an error about a setting a usage error that says where the config file sets it.
func (s *settings) outOfRange(err error) error {
	wrong := new(rangeError)
	if !errors.As(err, wrong) {
		return usageError{err}
	}
	data, readErr := os.ReadFile(s.Config)
	if readErr != nil {
		return usageError{err}
	}
	line, column, ok := position(withoutMark(data), toml.Key(strings.Split(wrong.key, ".")))
	if !ok {
		return usageError{err}
	}
	return usageError{fmt.Errorf("%s:%d:%d: %w", s.Config, line, column, err)}
}
