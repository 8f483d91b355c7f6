package web

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/grade"
	"feedex/safehtml"
)

var update = flag.Bool("update", false, "write the expected drawings anew")

// The expected drawings are in UTC, wherever they are drawn.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// The timeline has a mark for every event in the day, a line for every confirmation, and the same in words.
func TestTimeline(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	at := func(hours float64) time.Time { return now.Add(-time.Duration(hours * float64(time.Hour))) }
	happened := Happened{
		Requests: []grade.Request{
			{At: at(30), Status: 200},
			{At: at(20), Status: 304},
			{At: at(12), Status: 200, Bytes: 12_000},
			{At: at(6), Status: 429, RetryAfter: 2 * time.Hour},
			{At: at(5), Status: 0},
			{At: at(1), Status: 226, Bytes: 300},
		},
		Heard: []time.Time{at(31), at(14), at(13), at(12.5), at(3)},
		Entries: []archive.Appearance{
			{ID: feed.EntryID{1}, Title: "Not yet <b>confirmed</b>", Seen: at(.5), Source: "192.0.2.7:7790"},
			{ID: feed.EntryID{2}, Lead: "<p>A short post</p>", Seen: at(1)},
			{ID: feed.EntryID{3}, Title: "Early", Seen: at(15), Source: "192.0.2.7:7790", Polled: at(12)},
			{ID: feed.EntryID{4}, Title: "From the day before", Seen: at(26), Source: "192.0.2.8:7790", Polled: at(20)},
			{ID: feed.EntryID{5}, Seen: at(40), Source: "192.0.2.8:7790", Polled: at(30)},
		},
	}
	assets, err := newAssets()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := newPages(assets)
	if err != nil {
		t.Fatal(err)
	}
	timeline := newTimeline(safehtml.New(), happened, 24*time.Hour, now)
	for what, c := range map[string]struct{ got, want int }{
		"own polls": {len(timeline.Polls), 5}, "polls by others": {len(timeline.Others), 4},
		"entries from neighbors": {len(timeline.Brought), 2}, "own entries": {len(timeline.Own), 1},
		"lines": {len(timeline.Links), 2}, "events": {len(timeline.Events), 12},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, what, c.want)
		}
	}
	for i := 1; i < len(timeline.Events); i++ {
		if timeline.Events[i].At.T.After(timeline.Events[i-1].At.T) {
			t.Errorf("event %d is later than the one before", i)
		}
	}
	var b bytes.Buffer
	if err := pages["feed"].ExecuteTemplate(&b, "timeline", timeline); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "timeline.html")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Fatalf("line %d is\n%s\nwant\n%s\n(-update writes it anew)", i+1, gotLines[i], wantLines[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
}

// A timeline shows a day, or three intervals where that is more, in whole days up to a week. Its hours are few enough
// to be read, and say which day they are of where there are several.
func TestHowFarBackATimelineGoes(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 20, 12, 30, 0, 0, time.Local)
	for _, c := range []struct{ interval, span time.Duration }{
		{0, day}, {30 * time.Minute, day}, {8 * time.Hour, day}, {9 * time.Hour, 2 * day}, {16 * time.Hour, 2 * day},
		{day, 3 * day}, {4 * day, 7 * day}, {1 << 62, 7 * day},
	} {
		if got := timelineSpan(c.interval); got != c.span {
			t.Errorf("of a feed that is polled every %v it shows %v, want %v", c.interval, got, c.span)
		}
		scale := newTimeline(safehtml.New(), Happened{}, c.span, now)
		if n := len(scale.Ticks); n < 6 || n > 9 {
			t.Errorf("%v have %d hours", c.span, n)
		}
		if text := scale.clock(now); text == "12:30" != (c.span == day) {
			t.Errorf("of %v it says %q", c.span, text)
		}
		if !strings.HasPrefix(scale.Summary, "In the "+scale.Name()) {
			t.Errorf("it says %q", scale.Summary)
		}
	}
}
