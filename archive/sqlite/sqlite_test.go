package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// A reopened is a Store with what archivetest wants besides.
type reopened struct {
	*Store
	t testing.TB
}

func (r reopened) Reopen() archivetest.Archive {
	if err := r.Close(); err != nil {
		r.t.Fatalf("Close: %v", err)
	}
	return reopened{openFile(r.t, r.path), r.t}
}

// openFile opens the archive at path until the end of the test.
func openFile(t testing.TB, path string) *Store {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		copyEmpty(t, path)
	}
	s, err := Open(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	alone(t)
	archivetest.Run(t, func(t testing.TB) archivetest.Archive {
		return reopened{openFile(t, filepath.Join(t.TempDir(), "archive.db")), t}
	})
}

// What was committed is on the disk. No crash that a test can make shows that it is: the system keeps what a process
// that was killed had written. So each connection that writes is asked whether it waits for the disk at each commit.
func TestWritersWaitForTheDisk(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	h, err := s.housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s.KeepFeed(archive.Feed{URL: "http://a.example/feed"})
	commit(t, s)
	for name, w := range map[string]*writer{"the loop's": &s.writer, "the housekeeper's": &h.writer} {
		var level int
		var journal string
		var beyond bool // the disk's own memory: by what macOS has for that, and no other system
		if err := errors.Join(w.conn.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&level),
			w.conn.QueryRowContext(t.Context(), `PRAGMA fullfsync`).Scan(&beyond),
			w.conn.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&journal)); err != nil {
			t.Fatal(err)
		}
		const full = 2 // https://sqlite.org/pragma.html#pragma_synchronous
		if level < full || journal != "wal" {
			t.Errorf("%s connection has synchronous %d and journal %s; a write-ahead log is synced at each commit "+
				"from %d on", name, level, journal, full)
		}
		if !beyond {
			t.Errorf("%s connection has macOS leave a commit in the disk's memory", name)
		}
	}
}

// A fresh is a Store that is verified as another process would: the full-text index of a connection that has searched
// before looks damaged to SQLite's own check once another connection has merged it.
type fresh struct{ *Store }

func (f fresh) Verify(ctx context.Context, progress func(int64), report func(string)) error {
	r, err := OpenReader(f.path, Config{})
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(ctx, progress, report), r.Close())
}

func openDatabase(t testing.TB) reading.Database {
	return fresh{openFile(t, filepath.Join(t.TempDir(), "archive.db"))}
}

func TestDatabase(t *testing.T) { archivetest.RunDatabase(t, openDatabase) }

func TestRetention(t *testing.T) {
	alone(t)
	archivetest.RunRetention(t, openDatabase)
}

// emptyArchive is a file of the newest schema with nothing in it. To make one takes more than a second with the race
// detector, so tests copy this one.
var emptyArchive = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "feedex")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "archive.db")
	s, err := Open(context.Background(), path, Config{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// copyEmpty makes an archive without entries at path.
func copyEmpty(t testing.TB, path string) {
	t.Helper()
	text, err := emptyArchive()
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// alone skips a long test that starts no goroutine of its own where the race detector would make minutes of it.
func alone(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("it starts no goroutine, and the race detector slows SQLite down fortyfold: it runs without")
	}
}

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

// The way of reading that OpenReader falls back to where it may not write.
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

func TestOpenReaderOfAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenReader(path, Config{})
	wantCause(t, err, errEmpty, path)
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
