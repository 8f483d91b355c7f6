package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"feedex/archive"
	"feedex/daemon"
	"feedex/internal/when"
)

// keepAll is how people say that there is no limit.
const keepAll = "all"

// The least that an archive may be told to keep, and the most entries.
const (
	mostCount  = 1_000_000_000
	leastBytes = 16 << 20
	leastAge   = 24 * time.Hour
	leastCount = 100
)

// sizeRule is for an amount of data, or all.
type sizeRule struct{}

func (sizeRule) kind() string { return "size" }
func (sizeRule) want() string { return `a size such as "500MB" or "2GiB", or "all"` }
func (sizeRule) check(s string) error {
	_, err := parseSize(s)
	return err
}

// ageRule is for a span of time, or all.
type ageRule struct{}

func (ageRule) kind() string { return "span" }
func (ageRule) want() string { return `a span of time such as "90d" or "2y", or "all"` }
func (ageRule) check(s string) error {
	_, err := parseAge(s)
	return err
}

// units are those of sizes, in lower case.
var units = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"tb", 1e12}, {"b", 1},
}

// parseSize reads a number of bytes, 0 for all.
func parseSize(s string) (int64, error) {
	if s == keepAll {
		return 0, nil
	}
	wrong := fmt.Errorf("%q is no size", s)
	lower := strings.ToLower(s)
	for _, u := range units {
		number, ok := strings.CutSuffix(lower, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if n *= u.bytes; err != nil || !(n >= 1 && n < math.MaxInt64/2) {
			return 0, wrong
		}
		return int64(n), nil
	}
	return 0, wrong
}

// parseAge reads a span of time, 0 for all.
func parseAge(s string) (time.Duration, error) {
	if s == keepAll {
		return 0, nil
	}
	d, err := when.Span(s)
	if err == nil && d < time.Second {
		err = fmt.Errorf("%q is less than a second", s)
	}
	return d, err
}

// bytesOf and spanOf are what settings say that were checked, 0 for all.
func bytesOf(s size) int64 { n, _ := parseSize(string(s)); return n }

func spanOf(a age) time.Duration { d, _ := parseAge(string(a)); return d }

// retention is what is kept of the archive.
func (s *settings) retention() archive.Retention {
	r := &s.Retention
	return archive.Retention{All: archive.Limits{Bytes: bytesOf(r.Bytes), Age: spanOf(r.Age), Count: int64(r.Count)},
		Relayed: bytesOf(r.Relayed)}
}

// keepFlags are what is kept of a feed, as flags.
type keepFlags struct {
	bytes size
	age   age
	count keepCount
}

func (k *keepFlags) bind(f *pflag.FlagSet) {
	f.Var(&k.age, "keep-age", "how long entries are kept, a span such as 90d, or all")
	f.Var(&k.count, "keep-count", "how many entries are kept, the latest, or all")
	f.Var(&k.bytes, "keep-bytes", "how much text is kept, a size such as 100MB, or all")
}

// wish is what is to change.
func (k *keepFlags) wish() (b daemon.RetentionChange) {
	if k.bytes != "" {
		n := bytesOf(k.bytes)
		b.Bytes = &n
	}
	if k.age != "" {
		d := spanOf(k.age)
		b.Age = &d
	}
	if k.count != "" {
		n, _ := k.count.number()
		b.Count = &n
	}
	return b
}

// keepCount is a number of entries as a flag, "" where it is not given.
type keepCount string

// Set implements pflag.Value.
func (v *keepCount) Set(s string) error {
	if _, err := keepCount(s).number(); err != nil {
		return err
	}
	*v = keepCount(s)
	return nil
}

// number is how many they are, 0 for all.
func (v keepCount) number() (int64, error) {
	if v == keepAll {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want a number from 1 on, or %q", string(v), keepAll)
	}
	return n, nil
}

// String implements pflag.Value.
func (v *keepCount) String() string { return string(*v) }

// Type implements pflag.Value.
func (v *keepCount) Type() string { return "n" }

// retentionLines say what an archive may hold, and what was purged last; none where it may hold everything.
func retentionLines(r *daemon.RetentionReport, now time.Time) (lines []string) {
	var bounds []string
	if r.Bytes > 0 {
		bounds = append(bounds, byteSize(r.Bytes))
	}
	if r.Age > 0 {
		bounds = append(bounds, "the last "+spanText(r.Age))
	}
	if r.Count > 0 {
		bounds = append(bounds, "the latest "+plural(r.Count, "entry", "entries"))
	}
	what := "everything of feeds that were followed ever"
	if len(bounds) > 0 {
		what = strings.Join(bounds, ", ") + ", and what is starred"
	}
	if r.Relayed > 0 {
		what += "; of others " + byteSize(r.Relayed)
	}
	if r.Feeds > 0 {
		what += "; less of " + plural(int64(r.Feeds), "feed", "feeds")
	}
	lines = append(lines, what)
	if l := &r.Last; !l.At.IsZero() {
		lines = append(lines, fmt.Sprintf("%s with %s of text, %s ago", plural(l.Entries, "entry", "entries"),
			byteSize(l.Bytes), roughly(now.Sub(l.At))))
	}
	return lines
}
