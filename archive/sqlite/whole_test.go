package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// mixedArchive is an archive with entries that arrived, were replaced, were filled in and hidden, most of
// them indexed.
func mixedArchive(t *testing.T) *Store {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	t.Cleanup(func() { s.Close() })
	records := newCorpus().records(120)
	s.Keep(records[:80])
	s.KeepFeed(archive.Feed{URL: records[0].Entry.Feed, Title: "One", Private: true})
	s.Hide([]feed.EntryID{records[1].ID})
	mustCommit(t, s)
	if _, err := s.Index(60); err != nil {
		t.Fatal(err)
	}
	s.Fill(time.Unix(2_000_000_000, 0), records[80:])
	edited := records[2]
	edited.Entry.Title = "edited title"
	edited.Digest = edited.Entry.Digest()
	s.Keep([]archive.Record{edited})
	mustCommit(t, s)
	if _, err := s.Index(30); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustCommit(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

func verified(t *testing.T, r *Reader) (problems []string) {
	t.Helper()
	err := r.Verify(t.Context(), func(int64) {}, func(p string) { problems = append(problems, p) })
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func exported(t *testing.T, r *Reader, u feed.URL) (list []archive.Exported) {
	t.Helper()
	for x, err := range r.Export(t.Context(), u) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ harm, problem string }{
		{``, ""},
		{`UPDATE entries SET title = 'forged' WHERE seq = 7`, "entry 7: its digest is "},
		{`UPDATE entries SET guid = 'forged' WHERE seq = 7`, "entry 7: its id is "},
		{`UPDATE entries SET summary = summary || ' more' WHERE seq = -40`, "entry -40: the full-text index holds "},
		{`DELETE FROM words WHERE rowid = 9`, "entry 9: the full-text index holds [] words"},
		{`INSERT INTO words (rowid, feed, title, rest) VALUES (5000, '1', ' a ', ' b ')`,
			"the full-text index holds 1 entries that are not there"},
		{`UPDATE entries SET feed = 5000 WHERE seq = 9`, "entries 9 refers to what is not there"},
		{`DELETE FROM words_data WHERE id = (SELECT max(id) FROM words_data)`, "words"},
	} {
		s := mixedArchive(t)
		if c.harm != "" {
			plain, err := sql.Open("sqlite", s.path) // without what keeps us from such harm
			if err == nil {
				_, err = plain.Exec(c.harm)
			}
			if err := errors.Join(err, plain.Close()); err != nil {
				t.Fatal(err)
			}
		}
		problems := verified(t, s.Reader)
		if c.problem == "" && len(problems) > 0 || c.problem != "" &&
			!slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, c.problem) }) {
			t.Errorf("%s: problems are %q, want %q", c.harm, problems, c.problem)
		}
	}
}

func TestExport(t *testing.T) {
	s := mixedArchive(t)
	all := exported(t, s.Reader, "")
	if len(all) != 120 || all[0].Seq != 80 || all[119].Seq != -40 {
		t.Fatalf("%d entries, from %d to %d", len(all), all[0].Seq, all[119].Seq)
	}
	private, of := all[79].Entry.Feed, 0
	for i, x := range all {
		want, err := s.Search(t.Context(), feed.Filter{IDs: []feed.EntryID{x.ID}})
		if err != nil || len(want) != 1 || !want[0].Entry.Equal(&x.Entry) || want[0].Seq != x.Seq {
			t.Fatalf("entry %d is %+v, want %+v, %v", i, x, want, err)
		}
		if hidden := x.Entry.Feed == private || x.Seq == 2; x.Hidden != hidden {
			t.Errorf("entry %d: hidden is %v", x.Seq, x.Hidden)
		}
		if x.Entry.Feed == private {
			of++
		}
	}
	if got := exported(t, s.Reader, private); len(got) != of {
		t.Errorf("%d entries of the feed, want %d", len(got), of)
	}
}

func TestFeedStats(t *testing.T) {
	s := mixedArchive(t)
	list, err := s.FeedStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, own := archive.FeedStats{}, int64(0)
	for i, f := range list {
		if i > 0 && f.URL <= list[i-1].URL {
			t.Errorf("%s comes after %s", f.URL, list[i-1].URL)
		}
		sum.Entries, sum.Filled, sum.Hidden, sum.Unconfirmed = sum.Entries+f.Entries, sum.Filled+f.Filled,
			sum.Hidden+f.Hidden, sum.Unconfirmed+f.Unconfirmed
		sum.Bytes += f.Bytes
		if f.Title == "One" {
			own = f.Entries // of the private feed
		}
		if f.Oldest.IsZero() || f.Newest.Before(f.Oldest) {
			t.Errorf("%s is from %v to %v", f.URL, f.Oldest, f.Newest)
		}
	}
	if sum.Entries != 120 || sum.Filled != 40 || sum.Hidden != own+1 || sum.Unconfirmed != 0 || sum.Bytes < 120*600 ||
		sum.Bytes > 120*1000 {
		t.Errorf("all in all %+v", sum)
	}
}

// A backup holds what was there when it was made, opens as an archive, and is whole.
func TestBackup(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	path := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(PartOf(path), []byte("of a backup that was killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	s.Keep(newCorpus().records(130)[120:])
	mustCommit(t, s)

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
	mustCommit(t, restored)
	if found := exported(t, restored.Reader, ""); found[0].Seq != 81 {
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

func TestVacuum(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	execSQL(t, s, `CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(4000000)); DROP TABLE ballast`)
	before, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if before.Free < 3_900_000 {
		t.Errorf("%d bytes are free", before.Free)
	}
	s.Keep(newCorpus().records(1))
	if err := s.Vacuum(t.Context()); err == nil {
		t.Error("vacuum within a transaction")
	}
	mustCommit(t, s)
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.Bytes > before.Bytes-3_900_000 || after.Free != 0 {
		t.Errorf("%+v after %+v, %v", after, before, err)
	}
	if got := exported(t, s.Reader, ""); len(got) != len(want) {
		t.Errorf("%d entries after %d", len(got), len(want))
	}
	if problems := verified(t, s.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
	var store int
	if err := s.conn.QueryRowContext(t.Context(), `PRAGMA temp_store`).Scan(&store); err != nil || store != 2 {
		t.Errorf("temp_store is %d, %v", store, err)
	}
}

// A file is made so that it can be shortened in steps, between which others write; one of an older feedex is once it
// was rewritten.
func TestReclaim(t *testing.T) {
	s := mixedArchive(t)
	want := exported(t, s.Reader, "")
	ballast := func() {
		t.Helper()
		execSQL(t, s, `CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(4000000)); CREATE TABLE behind (x);
			INSERT INTO behind VALUES (zeroblob(400000)); DROP TABLE ballast`)
	}
	stats := func() archive.Stats {
		t.Helper()
		st, err := s.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	ballast()
	before := stats()
	if !before.InSteps || before.Free < 3_900_000 {
		t.Fatalf("a new archive: %+v", before)
	}
	s.Keep(newCorpus().records(1))
	if _, err := s.Reclaim(1); err == nil {
		t.Error("reclaimed within a transaction")
	}
	mustCommit(t, s)
	for last, steps := int(before.Free)/4096, 0; ; steps++ {
		left, err := s.Reclaim(100)
		if err != nil || left > max(0, last-90) {
			t.Fatalf("step %d: %d pages remain after %d, %v", steps, left, last, err)
		}
		if last = left; left == 0 {
			break
		}
	}
	if err := s.Shorten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := stats(); after.Free != 0 || after.Bytes > before.Bytes-3_900_000 {
		t.Errorf("%+v after %+v", after, before)
	}

	execSQL(t, s, `DROP TABLE behind`)
	mustVacuumTo(t, s, 0) // as it was made before
	ballast()
	if _, err := s.Reclaim(1); !errors.Is(err, archive.ErrWhole) || stats().InSteps {
		t.Errorf("a file that was not made for it: %v, %+v", err, stats())
	}
	mustVacuumTo(t, s, incremental)
	if _, err := s.Reclaim(1); err != nil || !stats().InSteps {
		t.Errorf("after it was rewritten: %v, %+v", err, stats())
	}
	if got := exported(t, s.Reader, ""); len(got) != len(want) {
		t.Errorf("%d entries after %d", len(got), len(want))
	}
	if problems := verified(t, s.Reader); len(problems) > 0 {
		t.Errorf("problems: %q", problems)
	}
}

// mustVacuumTo rewrites the file to have the auto_vacuum.
func mustVacuumTo(t *testing.T, s *Store, mode int) {
	t.Helper()
	execSQL(t, s, fmt.Sprintf(`PRAGMA auto_vacuum(%d)`, mode))
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
}
