package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
func TestReaderWithoutTheRightToWrite(t *testing.T) {
	s := newStore(t)
	keep(t, s, newsRecord("1", "hello", time.Unix(1, 0)))
	visit := func() {
		t.Helper()
		r, err := newReader(s.path, roleReadOnly, Config{}.withDefaults())
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

func TestStats(t *testing.T) {
	s := newStore(t)
	stats := func() archive.Stats {
		t.Helper()
		st, err := s.Stats(t.Context())
		if err != nil || st.Bytes <= 0 {
			t.Fatalf("Stats = %+v, %v", st, err)
		}
		st.Bytes = 0
		return st
	}
	if got := stats(); got != (archive.Stats{InSteps: true}) {
		t.Errorf("Stats of an empty archive = %+v", got)
	}
	records := newCorpus().records(20)
	s.KeepFeed(archive.Feed{URL: news})
	keep(t, s, records...)
	if got, want := stats(), (archive.Stats{Entries: 20, Feeds: 21, Unindexed: 20, InSteps: true}); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	if remaining, err := s.Index(15); remaining != 5 || err != nil {
		t.Fatalf("Index = %d, %v", remaining, err)
	}
	records[0].Entry.Title, records[19].Entry.Title = "replaced", "replaced"
	keep(t, s, records[0], records[19])
	if got, want := stats(), (archive.Stats{Entries: 20, Feeds: 21, Unindexed: 6, InSteps: true}); got != want {
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
