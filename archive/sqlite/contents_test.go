package sqlite

import (
	"database/sql"
	"errors"
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
	commit(t, s)
	if _, err := s.Index(60); err != nil {
		t.Fatal(err)
	}
	s.Fill(time.Unix(2_000_000_000, 0), records[80:])
	edited := records[2]
	edited.Entry.Title = "edited title"
	edited.Digest = edited.Entry.Digest()
	keep(t, s, edited)
	if _, err := s.Index(30); err != nil {
		t.Fatal(err)
	}
	return s
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
		{`UPDATE entries SET summary = summary || ' more' WHERE seq = -40`, "entry -40: the full-text indexes hold "},
		{`DELETE FROM words WHERE rowid = 9`, "entry 9: the full-text indexes hold [9] words"},
		{`INSERT OR REPLACE INTO headings (rowid, title) VALUES (9, ' a b c d ')`,
			"entry 9: the full-text indexes hold [1 9 90 4] "},
		{`INSERT INTO words (rowid, feed, title, rest) VALUES (5000, '1', ' a ', ' b ')`,
			"the full-text index words holds 1 entries that are not there"},
		{`INSERT INTO headings (rowid, title) VALUES (5000, ' a ')`,
			"the full-text index headings holds 1 entries that are not there"},
		{`UPDATE entries SET feed = 5000 WHERE seq = 9`, "entries 9 refers to what is not there"},
		{`INSERT INTO unread SELECT 1, min(id), 7 FROM feeds WHERE true ON CONFLICT DO UPDATE SET items = items + 7`,
			"1 counts of what is unread are wrong"},
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
	empty := stats()
	if free := empty.Free; free > 64<<10 { // migrations leave some pages, which the first entries take
		t.Errorf("an empty archive has %d bytes free", free)
	}
	if empty.Free = 0; empty != (archive.Stats{InSteps: true}) {
		t.Errorf("Stats of an empty archive = %+v", empty)
	}
	records := newCorpus().records(20)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true})
	s.KeepFeed(archive.Feed{URL: "https://example.com/tried"})
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
