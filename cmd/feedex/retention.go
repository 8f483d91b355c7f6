package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"feedex/daemon"
	"feedex/internal/when"
	"feedex/settings"
)

// keepAll is how people say that there is no limit.
const keepAll = "all"

// keepFlags are what is kept of a feed, as flags.
type keepFlags struct {
	bytes, age string
	count      keepCount
}

func (k *keepFlags) bind(f *pflag.FlagSet) {
	f.Var(settings.Age.Flag(&k.age), "keep-age", "how long entries are kept, a span such as 90d, or all")
	f.Var(&k.count, "keep-count", "how many entries are kept, the latest, or all")
	f.Var(settings.Size.Flag(&k.bytes), "keep-bytes", "how much text is kept, a size such as 100MB, or all")
}

// wish is what is to change.
func (k *keepFlags) wish() (b daemon.RetentionChange) {
	if k.bytes != "" {
		n := settings.Bytes(k.bytes)
		b.Bytes = &n
	}
	if k.age != "" {
		d := settings.Lifetime(k.age)
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
		bounds = append(bounds, "the last "+when.Text(r.Age))
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
