package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// exported is an archive of which nothing but the entries is asked.
type exported struct {
	archive.Contents
	entries []archive.Exported
}

func (e exported) Export(context.Context, feed.URL) iter.Seq2[archive.Exported, error] {
	return func(yield func(archive.Exported, error) bool) {
		for _, x := range e.entries {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// What feeds publish is counted over whole days since the first arrival, by what publishers say unless that is no
// time, and the past that was filled in begins no day.
func TestPublishingOfAnArchive(t *testing.T) {
	begun := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	var all exported
	add := func(u feed.URL, seq int64, published, seen time.Time) {
		all.entries = append(all.entries, archive.Exported{Record: archive.Record{Seq: seq, Seen: seen,
			Entry: feed.Entry{Feed: u, ID: fmt.Sprint(u, seq), Published: published}}})
	}
	add("http://a.example/", -1, time.Time{}, begun.AddDate(0, 0, -9))
	for hour := range 4*24 + 1 { // of which 3 whole days count, to the end of the 4th
		at := begun.Add(time.Duration(hour) * time.Hour)
		add("http://a.example/", int64(1+hour), at, at)
		if hour%2 == 0 { // its publisher says nothing, or what cannot be
			add("http://b.example/", int64(1000+hour), time.Time{}, at)
			add("http://b.example/", int64(2000+hour), at.AddDate(1, 0, 0), at)
		}
	}
	var out strings.Builder
	if err := printPublishing(t.Context(), &out, all, begun.Add(4*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 feeds, which publish 144 entries from Monday 2026-03-02 00:00 UTC on for 3 days",
		"33.3%"} { // of a day's entries within eight hours
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &out)
		}
	}
	if err := printPublishing(t.Context(), &out, all, begun.Add(20*time.Hour)); !errors.Is(err, errTooYoung) {
		t.Errorf("of an archive of a night: %v", err)
	}
}
