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

	"feedex/archive"
	"feedex/reading"
)

// A backup holds what was there when it was made, opens as an archive, and is whole.
func TestBackup(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	path := filepath.Join(t.TempDir(), "backup.db")
	for _, left := range []string{path + ".1.part", path + ".1.part-journal", PartOf(path)} {
		if err := os.WriteFile(left, []byte("of a backup that was killed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 1 {
		t.Errorf("beside it are %v", files)
	}
	s.Keep(newCorpus().records(130)[120:])
	commit(t, s)

	restored := openFile(t, path)
	defer restored.Close()
	got := exported(t, restored.Reader, "")
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Seq != want[i].Seq || got[i].Digest != want[i].Digest || got[i].Hidden != want[i].Hidden ||
			!got[i].Entry.Equal(&want[i].Entry) {
			t.Errorf("entry %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if problems := verified(t, restored.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	restored.Keep(newCorpus().records(121)[120:])
	commit(t, restored)
	if found := exported(t, restored.Reader, ""); found[0].Seq <= 1<<20 {
		t.Errorf("the next entry has seq %d", found[0].Seq)
	}

	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("backup over a file: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	other := filepath.Join(t.TempDir(), "other.db")
	if err := s.Backup(ended, other); !errors.Is(err, context.Canceled) {
		t.Errorf("backup that was canceled: %v", err)
	}
	if left, _ := filepath.Glob(other + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	var only int
	if err := s.Reader.db.QueryRow(`PRAGMA query_only`).Scan(&only); err != nil || only != 1 {
		t.Errorf("the readers may write: %d, %v", only, err)
	}
}

// Of two backups to one file that are made at the same time one succeeds, and what has its name then is whole.
func TestTwoBackupsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open stays where it is")
	}
	s := mixedArchive(t)
	path := filepath.Join(t.TempDir(), "backup.db")
	first := openFile(t, s.path)
	first.Reader.db.SetMaxOpenConns(1)
	hold, err := first.Reader.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- first.Backup(t.Context(), path) }()
	for begun := false; !begun; { // and cannot go on
		_, err := os.Stat(PartOf(path))
		begun = err == nil
		runtime.Gosched()
	}
	if err := s.Backup(t.Context(), path); err != nil {
		t.Errorf("the second ends with %v", err)
	}
	hold.Close()
	if err := <-ended; !errors.Is(err, errOvertaken) {
		t.Errorf("the first ends with %v", err)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 1 {
		t.Errorf("there are %v", files)
	}
	if problems := verified(t, openFile(t, path).Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// No number that the archive gave out after a backup is given out again after that is put in its place, whatever it is
// of: readers know what had it.
func TestNumbersAfterARestore(t *testing.T) {
	s := newStore(t)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	keep(t, s, newsRecord("1", "one", time.Now().Add(-time.Hour)))
	backup, path := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "feedex.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	numbers := func(s *Store) string {
		t.Helper()
		text, err := one(t.Context(), s.conn, single[string],
			`SELECT json_group_array(name || ' ' || seq ORDER BY name) FROM sqlite_sequence`)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const jump = 1<<20 + 36_000
	again := func() *Store {
		copyFile(t, backup, path)
		restored := openFile(t, path)
		folder, _ := restored.Pen(reading.Owner).AddFolder("first")
		restored.KeepFeed(archive.Feed{URL: "https://new.example.org/feed", Subscribed: true})
		keep(t, restored, newsRecord("2", "two", time.Now()))
		ids, err := restored.Shelf(reading.Owner).IDs(t.Context(), reading.Stream{}, reading.Page{Limit: 10})
		number, err2 := restored.Shelf(reading.Owner).FeedID(t.Context(), "https://new.example.org/feed")
		if err := errors.Join(err, err2); err != nil || len(ids) != 2 || ids[0] < jump || ids[1] != 1 ||
			number < jump || folder < jump {
			t.Errorf("items %d, feed %d, folder %d, %v", ids, number, folder, err)
		}
		return restored
	}
	restored := again()
	missing, err := list(t.Context(), restored.conn, single[string], `SELECT name FROM sqlite_schema
		WHERE sql LIKE '%AUTOINCREMENT%' AND name NOT IN (SELECT name FROM sqlite_sequence WHERE seq >= 1 << 20)`)
	if err != nil || len(missing) > 0 {
		t.Errorf("%q go on with the numbers of the backup, %v", missing, err)
	}
	before := numbers(restored)
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}
	restored = openFile(t, path)
	if after := numbers(restored); after != before {
		t.Errorf("a restart moves the numbers from %s to %s", before, after)
	}
	if err := restored.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again().Close(); err != nil {
		t.Fatal(err)
	}

	// However often that was done, and whatever the clock says, there is room for more.
	copyFile(t, backup, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE sqlite_sequence SET seq = (1 << 30) - 10; UPDATE entries SET seen = 1`); err != nil {
		t.Fatal(err)
	}
	if id := openFile(t, path).feedID("https://another.example.org/feed"); id != 1<<30-4 {
		t.Errorf("where there is little room the next feed has number 2^30 %+d", id-(1<<30))
	}
}

// A backup that an older program wrote jumps before it is brought up to date, and what is no archive is left alone.
func TestNumbersAfterARestoreOfAnOlderBackup(t *testing.T) {
	asBackup := func(path string) string {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(`PRAGMA journal_mode = DELETE`); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const feeds = 57 // after which they count as tables with AUTOINCREMENT
	path := asBackup(olderArchive(t, feeds, `INSERT INTO feeds (id, url, secret) VALUES (7, 'https://a.example/', 0)`))
	s := openFile(t, path)
	if id := s.feedID("https://b.example/"); id != 7+1<<20+1 {
		t.Errorf("the next feed has number %d", id)
	}
	for _, known := range []int{1, 8, 29, 35, 53} {
		s := openFile(t, asBackup(olderArchive(t, known, ``)))
		low, err := list(t.Context(), s.conn, single[string], `SELECT name FROM sqlite_schema
			WHERE (sql LIKE '%AUTOINCREMENT%' OR name = 'feeds') AND type = 'table'
			AND name NOT IN (SELECT name FROM sqlite_sequence WHERE seq >= 1 << 20)`)
		if err != nil || len(low) > 0 {
			t.Errorf("of version %d: %q go on with the numbers of the backup, %v", known, low, err)
		}
	}
	foreign := asBackup(filepath.Join(t.TempDir(), "other.db"))
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE feeds (id INTEGER PRIMARY KEY AUTOINCREMENT)`); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), foreign, Config{}); !errors.Is(err, errForeign) {
		t.Errorf("another program's database: %v", err)
	}
	var rows int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_sequence`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("it has %d rows more, %v", rows, err)
	}
}

// The number of a feed that is removed is not that of another one afterwards.
func TestNumbersOfFeedsAreNotUsedTwice(t *testing.T) {
	s := newStore(t)
	first := s.feedID(news)
	commit(t, s)
	u, err := s.Housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if _, _, err := u.ForgetFeeds(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if second := s.feedID("https://new.example.org/feed"); second <= first {
		t.Errorf("feed %d comes after feed %d", second, first)
	}
	commit(t, s)
}

// Where a node was killed its log stays behind. A backup that is put in the place of the archive is not spoiled by
// that.
func TestBackupInThePlaceOfAKilledArchive(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	s.Keep(newCorpus().records(2000)[120:])
	commit(t, s)
	if err := s.Shorten(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Keep(newCorpus().records(2200)[2000:])
	commit(t, s)
	path := filepath.Join(t.TempDir(), "feedex.db")
	for _, name := range []string{"", "-wal", "-shm"} { // as a node leaves them that is killed now
		copyFile(t, s.path+name, path+name)
	}
	killed := filepath.Join(t.TempDir(), "feedex.db")
	copyFile(t, path, killed)

	copyFile(t, backup, path)
	if r, err := OpenReader(path, Config{}); err == nil || !strings.Contains(err.Error(), path+"-wal") {
		t.Errorf("a reader does not say which file is in its way: %v", err)
		if err == nil {
			r.Close()
		}
	}
	restored := openFile(t, path)
	if got := exported(t, restored.Reader, ""); len(got) != len(want) {
		t.Errorf("%d entries, want the %d of the backup", len(got), len(want))
	}
	if problems := verified(t, restored.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	restored.Keep(newCorpus().records(130)[120:])
	commit(t, restored)
	r, err := OpenReader(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := exported(t, r, ""); len(got) != len(want)+10 {
		t.Errorf("%d entries with what came since, want %d", len(got), len(want)+10)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := restored.Close(); err != nil {
		t.Error(err)
	}

	// The log of the archive itself is as good as ever: who moved that away, and not the log, has both.
	if err := os.Rename(path+"-wal.old", killed+"-wal"); err != nil {
		t.Fatal(err)
	}
	whole := openFile(t, killed)
	defer whole.Close()
	if got, all := exported(t, whole.Reader, ""), exported(t, s.Reader, ""); len(got) != len(all) {
		t.Errorf("%d entries after the kill, want %d", len(got), len(all))
	}
}

// The log stands beside the file itself, also where the node knows that by a symbolic link, as to a larger disk.
func TestBackupInThePlaceOfAKilledArchiveBehindALink(t *testing.T) {
	s := newStore(t)
	backup, path, link := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "large.db"),
		filepath.Join(t.TempDir(), "feedex.db")
	if runtime.GOOS == "windows" {
		t.Skip("SQLite has the log beside the link on Windows: run it elsewhere")
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s.Keep(newCorpus().records(10))
	commit(t, s)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	s.Keep(newCorpus().records(2000)[10:])
	commit(t, s)
	copyFile(t, backup, path)
	copyFile(t, s.path+"-wal", path+"-wal")
	if r, err := OpenReader(link, Config{}); err == nil || !strings.Contains(err.Error(), path+"-wal") {
		t.Errorf("a reader does not say which file is in its way: %v", err)
		if err == nil {
			r.Close()
		}
	}
	restored := openFile(t, link)
	defer restored.Close()
	if got := exported(t, restored.Reader, ""); len(got) != 10 {
		t.Errorf("%d entries, want the 10 of the backup", len(got))
	}
	if problems := verified(t, restored.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// A file that was just made, or rewritten, is in WAL mode before it has a log, so that this log is never taken for
// another's.
func TestTheLogOfAnArchiveIsItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedex.db")
	s := openFile(t, path)
	defer s.Close()
	for i := range 3 {
		s.Keep(newCorpus().records(i + 1)[i:])
		commit(t, s)
		if err := foreignLog(path); err != nil || !logged(path) {
			t.Errorf("step %d: %v, there is a log: %v", i, err, logged(path))
		}
		if i == 1 {
			if err := s.Vacuum(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A reader of the archive while a node starts on a backup does not take the log that the node makes for another's.
func TestReadingWhileANodeStartsOnABackup(t *testing.T) {
	s := newStore(t)
	s.Keep(newCorpus().records(5))
	commit(t, s)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		path := filepath.Join(t.TempDir(), "feedex.db")
		copyFile(t, backup, path)
		started := make(chan struct{})
		go func() {
			defer close(started)
			if node, err := Open(t.Context(), path, Config{}); err != nil {
				t.Error(err)
			} else if err := node.Close(); err != nil {
				t.Error(err)
			}
		}()
		for starting := true; starting; {
			select {
			case <-started:
				starting = false
			default:
			}
			if err := foreignLog(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
