package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

const news feed.URL = "https://news.example.org/feed"

func newsRecord(id, text string, seen time.Time) archive.Record {
	return archive.NewRecord(feed.Entry{Feed: news, ID: id, Title: text}, seen, protocol.NodeID{})
}

func titles(records []archive.Record) (titles []string) {
	for _, r := range records {
		titles = append(titles, r.Entry.Title)
	}
	return titles
}

func TestOpenReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a #1 100%?.db") // a URL would take some of that for syntax
	if _, err := OpenReader(path, Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("OpenReader of no file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("OpenReader made a file")
	}

	find := func() []string {
		t.Helper()
		r, err := OpenReader(path, Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		found, err := r.Search(t.Context(), feed.Filter{Words: []string{"hello"}})
		if err != nil {
			t.Fatal(err)
		}
		return titles(found)
	}
	s := openFile(t, path)
	if got := find(); got != nil {
		t.Errorf("found %q in an empty archive", got)
	}
	s.Keep([]archive.Record{newsRecord("1", "hello one", time.Unix(1, 0))})
	if got := find(); got != nil {
		t.Errorf("found %q before Commit", got)
	}
	keep(t, s, newsRecord("2", "hello two", time.Unix(2, 0)))
	want := []string{"hello two", "hello one"}
	if got := find(); !slices.Equal(got, want) {
		t.Errorf("beside a node, found %q, want %q", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := find(); !slices.Equal(got, want) {
		t.Errorf("without a node, found %q, want %q", got, want)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// What OpenReader falls back to where it may not write.
func TestVisitor(t *testing.T) {
	s := newStore(t)
	keep(t, s, newsRecord("1", "hello", time.Unix(1, 0)))
	visit := func() {
		t.Helper()
		r, err := newReader(s.path, roleVisitor, Config{}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		found, err := r.Search(t.Context(), feed.Filter{})
		if err != nil || len(found) != 1 {
			t.Errorf("found %q, %v", titles(found), err)
		}
	}
	visit() // beside a node
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	visit() // without one
}

func TestOpenReaderOfOlder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReader(path, Config{})
	wantCause(t, err, errOlder, path)
}

func TestReaderWritesNothing(t *testing.T) {
	s := newStore(t)
	if _, err := s.Reader.db.ExecContext(t.Context(), `DELETE FROM entries`); !errors.Is(cause(err), ErrReadOnly) {
		t.Errorf("a reader's DELETE: %v", err)
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	s := newStore(t)
	keep(t, s, newsRecord("1", "hello", time.Unix(1, 0)))
	if _, err := s.Search(t.Context(), feed.Filter{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{s.path, s.path + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want a file for its owner alone", name, info.Mode(), err)
		}
	}
	s.KeepDID(protocol.DID{1}) // is dropped
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(s.path))
	if err != nil || len(files) != 1 {
		t.Errorf("Close left %v, %v", files, err)
	}
	if openFile(t, s.path).HasDID(protocol.DID{1}) {
		t.Error("what was not committed is there")
	}
}

func TestFeedVersion(t *testing.T) {
	s := newStore(t)
	version := func() FeedVersion {
		t.Helper()
		v, err := s.FeedVersion(t.Context(), news)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := version(); v != (FeedVersion{}) {
		t.Errorf("version of an unknown feed: %+v", v)
	}
	s.KeepFeed(archive.Feed{URL: news})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	last := version()
	if last != (FeedVersion{}) {
		t.Errorf("version of a feed without entries: %+v", last)
	}
	brought := newsRecord("4", "four", time.Unix(500, 0))
	brought.Source, brought.Confirmed = protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, 2, 7}), 7790), false
	for i, step := range []struct {
		work    func()
		changed int64 // Unix seconds, 0 where the version must stay
	}{
		{func() { s.Keep([]archive.Record{newsRecord("1", "one", time.Unix(100, 0))}) }, 100},
		{func() { s.KeepFeed(archive.Feed{URL: news, Title: "other"}) }, 0},
		{func() {
			s.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: "https://example.com/"}, time.Unix(150, 0), protocol.NodeID{})})
		}, 0},
		{func() { s.Keep([]archive.Record{newsRecord("2", "two", time.Unix(200, 0))}) }, 200},
		{func() { s.Keep([]archive.Record{newsRecord("1", "replaced", time.Unix(300, 0))}) }, 300},
		{func() { s.Keep([]archive.Record{newsRecord("1", "replaced again", time.Unix(301, 0))}) }, 301},
		{func() { s.Keep([]archive.Record{newsRecord("3", "three", time.Unix(400, 0))}) }, 400},
		{func() { s.Keep([]archive.Record{brought}) }, 500},
		{func() { s.Confirm(time.Unix(600, 0), []feed.EntryID{brought.ID, {9}}) }, 600},
		{func() { s.Confirm(time.Unix(700, 0), []feed.EntryID{brought.ID}) }, 0},
	} {
		step.work()
		if v := version(); v != last {
			t.Errorf("step %d: version %+v before Commit, want %+v", i, v, last)
		}
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		v := version()
		if step.changed == 0 {
			if v != last {
				t.Errorf("step %d: version %+v, want still %+v", i, v, last)
			}
		} else if v.Number <= last.Number || !v.Changed.Equal(time.Unix(step.changed, 0)) {
			t.Errorf("step %d: version %+v after %+v, want a greater number and second %d", i, v, last, step.changed)
		}
		last = v
	}
}

func TestFeedEntries(t *testing.T) {
	s := newStore(t)
	const n = 2*pageEntries + 5
	var want []string
	for i := range n {
		r := newsRecord(word(uint64(i)), word(uint64(i)), time.Unix(int64(i), 0))
		if i%10 == 0 {
			r.Entry.Content = strings.Repeat("x", pageBytes*2/3) // two fill a page
		}
		want = append(want, r.Entry.Title)
		s.Keep([]archive.Record{r, archive.NewRecord(feed.Entry{Feed: "https://example.com/", ID: r.Entry.ID}, r.Seen, r.Source)})
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(want)

	var got []string
	for r, err := range s.FeedEntries(t.Context(), news) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Entry.Title)
		// What arrives meanwhile is not listed, and is not in the way.
		keep(t, s, newsRecord("late "+r.Entry.ID, "late", time.Unix(n, 0)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d, newest first", len(got), n)
	}

	got = nil
	for r := range s.FeedEntries(t.Context(), news) {
		if got = append(got, r.Entry.Title); len(got) == 3 {
			break
		}
	}
	if want := []string{"late", "late", "late"}; !slices.Equal(got, want) {
		t.Errorf("the first three are %q, want %q", got, want)
	}

	for r, err := range s.FeedEntries(t.Context(), "https://nowhere.example.org/") {
		t.Errorf("a feed that is not known has %v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range s.FeedEntries(ctx, news) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("with an ended context: %v", errs)
	}
}

func TestStats(t *testing.T) {
	s := newStore(t)
	stats := func() Stats {
		t.Helper()
		st, err := s.Stats(t.Context())
		if err != nil || st.Bytes <= 0 {
			t.Fatalf("Stats = %+v, %v", st, err)
		}
		st.Bytes = 0
		return st
	}
	if got := stats(); got != (Stats{}) {
		t.Errorf("Stats of an empty archive = %+v", got)
	}
	records := newCorpus().records(20)
	s.KeepFeed(archive.Feed{URL: news})
	keep(t, s, records...)
	if got, want := stats(), (Stats{Entries: 20, Feeds: 21, Unindexed: 20}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	if remaining, err := s.Index(15); remaining != 5 || err != nil {
		t.Fatalf("Index = %d, %v", remaining, err)
	}
	records[0].Entry.Title, records[19].Entry.Title = "replaced", "replaced"
	keep(t, s, records[0], records[19])
	if got, want := stats(), (Stats{Entries: 20, Feeds: 21, Unindexed: 6}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	if remaining, err := s.Index(100); remaining != 0 || err != nil {
		t.Fatalf("Index = %d, %v", remaining, err)
	}
	if got := stats(); got.Unindexed != 0 {
		t.Errorf("Stats = %+v, want all indexed", got)
	}
}

// Entries are found the moment they are committed, by searches that run beside the loop.
func TestSearchBesideLoop(t *testing.T) {
	s := newStore(t)
	r, err := OpenReader(s.path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const n = 200
	committed := make(chan int, n)
	done := make(chan error, 2)
	search := func(r *Reader) {
		for i := range committed {
			found, err := r.Search(t.Context(), feed.Filter{Words: []string{word(uint64(i))}})
			if err == nil && len(found) != 1 {
				err = errors.New("not found: " + word(uint64(i)))
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}
	go search(s.Reader)
	go search(r)
	for i := range n {
		keep(t, s, newsRecord(word(uint64(i)), word(uint64(i)), time.Unix(int64(i), 0)))
		committed <- i
		if i%7 == 0 {
			if _, err := s.Index(5); err != nil {
				t.Error(err)
			}
		}
	}
	close(committed)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
