package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	codes "modernc.org/sqlite/lib"

	"feedex/archive"
	"feedex/feed"
	"feedex/internal/asnobody"
	"feedex/protocol"
)

func TestSentinel(t *testing.T) {
	for code, want := range map[int]error{
		codes.SQLITE_FULL:             archive.ErrFull,
		codes.SQLITE_IOERR_SHMSIZE:    archive.ErrFull,
		codes.SQLITE_IOERR_IN_PAGE:    archive.ErrFull,
		codes.SQLITE_IOERR_SHMMAP:     ErrUnshared,
		codes.SQLITE_IOERR_LOCK:       ErrUnshared,
		codes.SQLITE_IOERR:            ErrDisk,
		codes.SQLITE_IOERR_FSYNC:      ErrDisk,
		codes.SQLITE_IOERR_WRITE:      ErrDisk,
		codes.SQLITE_IOERR_SHORT_READ: ErrDamaged,
		codes.SQLITE_IOERR_CORRUPTFS:  ErrDamaged,
		codes.SQLITE_NOTADB:           ErrDamaged,
		codes.SQLITE_BUSY_SNAPSHOT:    ErrLocked,
		codes.SQLITE_CANTOPEN:         ErrReadOnly,
		codes.SQLITE_INTERRUPT:        nil,
	} {
		if got := sentinel(code); got != want {
			t.Errorf("code %d: %v, want %v", code, got, want)
		}
	}
}

// newStore opens an archive that is empty.
func newStore(t *testing.T) *Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "archive.db"))
}

// execSQL carries out statements on the writing connection, past all that Store does.
func execSQL(t *testing.T, s *Store, query string) {
	t.Helper()
	if _, err := s.conn.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

// wantCause checks that err is want and says in one sentence what happened, where and what to do.
func wantCause(t *testing.T, err, want error, path string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("err = %v, want %v", err, want)
	}
	if text := err.Error(); !strings.Contains(text, path) || !strings.Contains(text, want.Error()) ||
		strings.Contains(text, "\n") {
		t.Errorf("err = %q, want a line with %s and %q", text, path, want)
	}
}

func TestFullDisk(t *testing.T) {
	s := newStore(t)
	records := newCorpus().records(300)
	keep(t, s, records[:10]...)
	execSQL(t, s, `PRAGMA max_page_count = 60`)

	s.Keep(records[10:])
	s.KeepDID(protocol.DID{1})
	if s.HasDID(protocol.DID{1}) {
		t.Error("something was kept after the disk was full")
	}
	if got := s.Known([]feed.EntryID{records[0].ID}); got[0] != (archive.Version{}) {
		t.Error("something was found after the disk was full")
	}
	wantCause(t, s.Commit(), archive.ErrFull, s.path)
	if err := s.Commit(); err != nil {
		t.Errorf("the second Commit after a full disk: %v", err)
	}

	execSQL(t, s, `PRAGMA max_page_count = 1000000`)
	got := s.Known([]feed.EntryID{records[0].ID, records[10].ID})
	if got[0].Digest != records[0].Digest || got[1] != (archive.Version{}) || s.HasDID(protocol.DID{1}) {
		t.Error("the transaction that met a full disk was not undone")
	}
	s.KeepDID(protocol.DID{1})
	keep(t, s, records...) // the feeds' rows, too, were undone and are made again
	if found, err := s.Search(t.Context(), feed.Filter{Limit: 1000}); err != nil || len(found) != 300 ||
		found[0].Seq != 300 {
		t.Errorf("found %d records, %v, want 300 without a gap", len(found), err)
	}
	if !s.HasDID(protocol.DID{1}) {
		t.Error("the did is not there")
	}

	execSQL(t, s, `PRAGMA max_page_count = 1`)
	_, err := s.Index(300)
	wantCause(t, err, archive.ErrFull, s.path)
	execSQL(t, s, `PRAGMA max_page_count = 1000000`)
	if remaining, err := s.Index(300); remaining != 0 || err != nil {
		t.Errorf("Index = %d, %v", remaining, err)
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	s, err := Open(t.Context(), path, Config{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other := openFile(t, path)
	other.KeepDID(protocol.DID{1}) // holds the lock until it commits

	if s.HasDID(protocol.DID{1}) {
		t.Error("found a did that is not committed")
	}
	if err := s.Commit(); err != nil {
		t.Errorf("reading needs no lock: %v", err)
	}
	s.KeepDID(protocol.DID{2})
	wantCause(t, s.Commit(), ErrLocked, path)
	_, err = s.Index(1)
	wantCause(t, err, ErrLocked, path)

	commit(t, other)
	s.KeepDID(protocol.DID{2})
	commit(t, s)
	if got := s.LatestDIDs(9); len(got) != 2 {
		t.Errorf("LatestDIDs = %v, want both", got)
	}
}

// Reading leaves the file open to others and takes no commit.
func TestReadingTakesNoLock(t *testing.T) {
	s := newStore(t)
	other := openFile(t, s.path)
	s.Known([]feed.EntryID{{1}})
	s.HasDID(protocol.DID{1})
	s.LoadFeeds()
	s.LoadPeers()
	s.LoadAccounts()
	s.LatestDIDs(1)
	if s.tx != nil {
		t.Error("reading began a transaction")
	}
	other.KeepDID(protocol.DID{1})
	if err := other.Commit(); err != nil {
		t.Errorf("the file is locked: %v", err)
	}
	if !s.HasDID(protocol.DID{1}) {
		t.Error("what another committed is not seen")
	}
}

// What would be written to a file that nobody finds again is refused.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays where it is")
	}
	s := newStore(t)
	write := func() error {
		s.KeepDID(protocol.DID{1})
		return s.Commit()
	}
	away, other := s.path+".away", newStore(t)
	for _, step := range []struct {
		what  string
		do    func() error
		moved bool
	}{
		{"as it was", func() error { return nil }, false},
		{"moved away", func() error { return os.Rename(s.path, away) }, true},
		{"put back", func() error { return os.Rename(away, s.path) }, false},
		{"linked to", func() error { return errors.Join(os.Rename(s.path, away), os.Symlink(away, s.path)) }, false},
		{"replaced", func() error { return os.Rename(other.path, s.path) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if err := write(); step.moved {
			wantCause(t, err, ErrMoved, s.path)
		} else if err != nil {
			t.Errorf("%s: %v", step.what, err)
		}
		if err := s.Commit(); err != nil {
			t.Errorf("%s: nothing was written, and it says %v", step.what, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	s := newStore(t)
	execSQL(t, s, `PRAGMA query_only = 1`)
	s.KeepPeer(protocol.FormerNeighbor{})
	wantCause(t, s.Commit(), ErrReadOnly, s.path)

	_, err := Open(t.Context(), t.TempDir(), Config{}) // a folder
	if err == nil {
		t.Error("a folder was opened")
	}
	missing := filepath.Join(t.TempDir(), "no", "archive.db")
	_, err = Open(t.Context(), missing, Config{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("Open in a missing folder: %v", err)
	}
}

func TestForbidden(t *testing.T) {
	if !asnobody.Run(t) {
		return
	}
	s := newStore(t)
	keep(t, s, newsRecord("1", "hello", time.Unix(1, 0)))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.path, 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), s.path, Config{})
	wantCause(t, err, ErrReadOnly, s.path)

	// A folder in which nothing can be made: neither an archive nor the files beside one.
	dir := filepath.Dir(s.path)
	if err := errors.Join(os.Chmod(s.path, 0o600), os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	_, err = Open(t.Context(), s.path, Config{})
	wantCause(t, err, ErrReadOnly, s.path)
	other := filepath.Join(dir, "other.db")
	_, err = Open(t.Context(), other, Config{})
	wantCause(t, err, ErrReadOnly, other)

	// A file that is whole can be read there, one that a node left half done cannot.
	r, err := OpenReader(s.path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if found, err := r.Search(t.Context(), feed.Filter{}); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.WriteFile(s.path+"-wal", nil, 0o600),
		os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	_, err = OpenReader(s.path, Config{})
	wantCause(t, err, ErrReadOnly, s.path)
}

func TestNotAnArchive(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("This is no database. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), text, Config{})
	wantCause(t, err, ErrDamaged, text)
	_, err = OpenReader(text, Config{})
	wantCause(t, err, ErrDamaged, text)

	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE theirs (x); PRAGMA user_version = 1`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), foreign, Config{})
	wantCause(t, err, errForeign, foreign)
	_, err = OpenReader(foreign, Config{})
	wantCause(t, err, errForeign, foreign)
}

func TestNewerArchive(t *testing.T) {
	s := newStore(t)
	execSQL(t, s, `PRAGMA user_version = 1000`)
	_, err := Open(t.Context(), s.path, Config{})
	wantCause(t, err, ErrNewer, s.path)
	_, err = OpenReader(s.path, Config{})
	wantCause(t, err, ErrNewer, s.path)
}

func TestIndexWithinTransaction(t *testing.T) {
	s := newStore(t)
	s.KeepDID(protocol.DID{1})
	if _, err := s.Index(1); !errors.Is(err, errBusy) {
		t.Errorf("Index = %v, want %v", err, errBusy)
	}
	if err := s.Commit(); err != nil || !s.HasDID(protocol.DID{1}) {
		t.Errorf("the transaction is lost: %v", err)
	}
}

// A query that would never end is given up when its time is, between rows and before the first.
func TestDeadline(t *testing.T) {
	s := newStore(t)
	const endless = `WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n) SELECT seq FROM n WHERE ` +
		`seq < 10`
	tx, err := s.Reader.db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = (&search{ctx: ctx, tx: tx}).seqs(endless, nil, 10)
	if err = s.failed(ctx, "search", err); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want the context's", err)
	}
	if _, err := s.Search(t.Context(), feed.Filter{}); err != nil {
		t.Errorf("the next search: %v", err)
	}
}
