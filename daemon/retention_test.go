package daemon

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/diskcache"
	"feedex/protocol"
	"feedex/reading"
)

// longRecords are entries of some KiB of text each, which arrive an hour apart from the year 2026 on.
func longRecords(from, to int) (list []archive.Record) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := from; n < to; n++ {
		e := feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(n), Title: fmt.Sprint("entry ", n),
			Content: strings.Repeat(fmt.Sprint("word", n, " "), 500)}
		list = append(list, archive.NewRecord(e, begin.Add(time.Duration(n)*time.Hour), protocol.NodeID{}))
	}
	return list
}

// holds has the library's archive keep records.
func (l *testLibrary) holds(records []archive.Record) {
	l.t.Helper()
	err := l.host.write(l.t.Context(), func(reading.Database) error { l.host.store.Keep(records); return nil })
	if err != nil {
		l.t.Fatal(err)
	}
}

// retainer returns the retainer that keeps the library to its limits, of which no goroutine runs.
func (l *testLibrary) retainer(keep archive.Retention) *retainer {
	return &retainer{host: l.host, keep: keep, reserve: reserveIn(filepath.Dir(l.path), 0)}
}

func (l *testLibrary) entries() int64 {
	l.t.Helper()
	stats, err := l.store.Stats(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return stats.Entries
}

func TestRetention(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	if _, err := l.Subscribe(ctx, exampleFeed); err != nil {
		t.Fatal(err)
	}
	records := longRecords(0, 1000)
	l.holds(records)
	if err := l.Mark(ctx, []reading.ItemID{1, 2}, reading.Mark{Starred: reading.Yes}); err != nil {
		t.Fatal(err)
	}
	before, err := l.store.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}

	r := l.retainer(archive.Retention{})
	if n, err := r.pass(ctx); n != 0 || err != nil || l.entries() != 1000 {
		t.Fatalf("%d entries were purged without a bound, %v", n, err)
	}
	count := int64(100)
	if err := l.host.SetRetention(ctx, control.RetentionChange{Feeds: []feed.URL{exampleFeed},
		Count: &count}); err != nil {
		t.Fatal(err)
	}
	if n, err := r.pass(ctx); n != 898 || err != nil || l.entries() != 102 {
		t.Fatalf("%d entries were purged, %v, and %d are left; want the latest 100 and two that are starred", n,
			err, l.entries())
	}
	after, err := l.store.Stats(ctx)
	if err != nil || after.Free != 0 || after.Bytes > before.Bytes/2 {
		t.Errorf("the archive took %d bytes and takes %d, of which %d are free, %v", before.Bytes, after.Bytes,
			after.Free, err)
	}
	report, err := l.host.Status(ctx)
	if got := report.Retention; err != nil || got.Feeds != 1 || got.Last.Entries != 898 || got.Last.Bytes < 898*2000 ||
		time.Since(got.Last.At) > time.Hour {
		t.Errorf("status: %+v, %v", got, err)
	}
	if n, err := r.pass(ctx); n != 0 || err != nil {
		t.Errorf("again %d were purged, %v", n, err)
	}
	if err := l.host.SetRetention(ctx, control.RetentionChange{Feeds: []feed.URL{exampleFeed},
		Count: new(int64)}); err != nil {
		t.Fatal(err)
	}

	// An import is the owner's wish, and brings back what was purged, as entries of the past.
	lines := []jsonl.Line{jsonl.NewLine(&records[500], false), jsonl.NewLine(&records[999], false)}
	if n, err := l.host.Import(ctx, lines); n != 1 || err != nil {
		t.Errorf("%d entries came back, %v, want the one that was purged", n, err)
	}
	if n, err := r.pass(ctx); n != 0 || err != nil || l.entries() != 103 {
		t.Errorf("%d entries are left, %d were purged, %v", l.entries(), n, err)
	}
	if err := r.forget(ctx); err != nil {
		t.Error(err)
	}
	bad := int64(-1)
	if err := l.host.SetRetention(ctx, control.RetentionChange{Feeds: []feed.URL{exampleFeed},
		Bytes: &bad}); !errors.As(err,
		new(control.BadRequest)) {
		t.Errorf("a bound below 0: %v", err)
	}
}

// A clock that is ahead by years for a while, from the start on or since, makes nothing old at once; after a sleep what
// is old goes, a day's worth after the other. One that starts in 1970 puts that off no longer than until it is set.
func TestAClockThatIsAheadPurgesLittle(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := retainer{noted: now, now: now}
	for _, step := range []struct{ clock, want time.Duration }{
		{10 * time.Minute, 10 * time.Minute},
		{1000 * day, day + 10*time.Minute}, {1000 * day, 2*day + 10*time.Minute},
		{time.Hour, time.Hour},
		{2 * day, day + time.Hour}, {2 * day, 2 * day},
		{-20_000 * day, -20_000 * day}, {time.Hour, time.Hour},
	} {
		if got := r.reckon(now.Add(step.clock)).Sub(now); got != step.want {
			t.Errorf("with the clock at %v ages are reckoned by %v, want %v", step.clock, got, step.want)
		}
	}
	if got := new(retainer).reckon(now); !got.Equal(now) {
		t.Errorf("where nothing is known, by %v", got)
	}
}

// Where the disk is nearly full pictures that may go do so, and entries only where that is not enough.
func TestPicturesGoBeforeEntries(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	neighbor, err := protocol.ParseNodeID("192.0.2.7:7790")
	if err != nil {
		t.Fatal(err)
	}
	brought := longRecords(0, 100)
	for i := range brought {
		brought[i].Source, brought[i].Confirmed = neighbor, false
	}
	l.holds(brought)
	shown, err := diskcache.Open(t.TempDir(), maxPictures)
	if err != nil {
		t.Fatal(err)
	}
	l.host.shown = shown
	full := false
	l.host.config.roomOn = func(string) (room, size int64) {
		if _, ok := shown.Get("a picture"); ok || full {
			return 0, 1 << 40
		}
		return 1 << 30, 1 << 40
	}
	if err := shown.Put("a picture", []byte(pngIcon)); err != nil {
		t.Fatal(err)
	}
	r := l.retainer(archive.Retention{})
	if n, err := r.pass(t.Context()); n != 0 || err != nil || l.entries() != 100 {
		t.Errorf("%d entries were purged, %v, where a picture took the room", n, err)
	}
	if _, ok := shown.Get("a picture"); ok {
		t.Error("the picture is there")
	}
	full = true
	if n, err := r.pass(t.Context()); n != 99 || err != nil { // the latest stays
		t.Errorf("%d entries were purged, %v, where no picture was left", n, err)
	}
}
