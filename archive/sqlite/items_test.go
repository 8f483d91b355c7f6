package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// markedAt is when tests mark items where the moment does not matter.
var markedAt = time.Unix(1000, 0)

const otherNews = feed.URL("https://example.org/other")

// follow has the archive follow feeds from a moment on.
func follow(t *testing.T, s *Store, at time.Time, urls ...feed.URL) {
	t.Helper()
	for _, u := range urls {
		s.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: at})
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// feedRecord is entry n of a feed, which came n seconds after the epoch.
func feedRecord(u feed.URL, n int) archive.Record {
	e := feed.Entry{Feed: u, ID: fmt.Sprint(n), Title: fmt.Sprint("title ", n)}
	return archive.NewRecord(e, time.Unix(int64(n), 0), protocol.NodeID{})
}

func feedRecords(u feed.URL, from, to int) (list []archive.Record) {
	for n := from; n <= to; n++ {
		list = append(list, feedRecord(u, n))
	}
	return list
}

// wantIDs checks what is in a stream, and that its size is counted so.
func wantIDs(t *testing.T, s *Store, stream reading.Stream, want ...reading.ItemID) {
	t.Helper()
	got, err := s.IDs(t.Context(), stream, reading.Page{Limit: 1000})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v: %v, %v; want %v", stream, got, err, want)
	}
	if n, err := s.Size(t.Context(), stream); err != nil || n != len(want) {
		t.Errorf("%+v: %d items, %v; want %d", stream, n, err, len(want))
	}
}

var (
	all     = reading.Stream{}
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

func commit(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// An archive from before there were items has them for what is followed, in the order of arrival and read but for the
// last day's.
func TestMigrateToItems(t *testing.T) {
	now := time.Now().Unix()
	insert := func(seq int, feed int, seen int64) string {
		r := feedRecord(news, seq)
		return fmt.Sprintf(`INSERT INTO entries (seq, id, digest, feed, seen, source, guid, title, link, summary, content)
			VALUES (%d, x'%x', x'%x', %d, %d, '', '%d', 'title %d', '', '', '');`, seq, r.ID[:], r.Digest[:], feed,
			seen, seq, seq)
	}
	path := olderArchive(t, 8,
		fmt.Sprintf(`INSERT INTO feeds (id, url, secret, kept, subscribed) VALUES (1, '%s', 0, 1, 1), (2, '%s', 0, `+
			`1, 0);`, news, otherNews)+
			insert(1, 1, 100)+insert(2, 2, 200)+insert(3, 1, now-2*86400)+insert(4, 1, now-3600)+insert(-1, 1, now)+
			insert(-2, 1, 50))
	s := openFile(t, path)
	wantIDs(t, s, reading.Stream{Unlisted: true}, 5, 4, 3, 2, 1)
	wantIDs(t, s, all, 5, 4, 3)
	wantIDs(t, s, unread, 5)
	var titles []string
	for item, err := range s.Items(t.Context(), []reading.ItemID{1, 2, 3, 4, 5}) {
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, item.Entry.Title)
	}
	if want := []string{"title -2", "title -1", "title 1", "title 3", "title 4"}; !slices.Equal(titles, want) {
		t.Errorf("items are %q, want %q", titles, want)
	}
	keep(t, s, feedRecord(news, 7))
	wantIDs(t, s, unread, 6, 5)
	if problems := itemProblems(t, s); len(problems) > 0 {
		t.Error(problems)
	}
}

func itemProblems(t *testing.T, s *Store) (problems []string) {
	t.Helper()
	if err := s.verifyItems(t.Context(), func(p string) { problems = append(problems, p) }); err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestVerifyFindsWhatItemsLack(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news, otherNews)
	keep(t, s, feedRecords(news, 1, 5)...)
	if problems := itemProblems(t, s); problems != nil {
		t.Fatal(problems)
	}
	execSQL(t, s, `PRAGMA foreign_keys = 0; DELETE FROM items WHERE id = 2; UPDATE items SET feed = 2 WHERE id = 3;
		UPDATE items SET listed = 0 WHERE id = 4; DELETE FROM entries WHERE seq = 5`)
	want := []string{"1 items have no entry", "1 items are of another feed than their entries",
		"1 entries of feeds that are followed have no item", "1 items are unread and not listed"}
	if got := itemProblems(t, s); !slices.Equal(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
}

// Marks that do not fit on the disk are not there, and said not to be.
func TestMarksOnAFullDisk(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecords(news, 1, 2000)...)
	execSQL(t, s, `PRAGMA max_page_count = 1`)
	var ids []reading.ItemID
	for id := range reading.ItemID(2000) {
		ids = append(ids, id+1)
	}
	s.Mark(markedAt, ids, reading.Mark{Starred: reading.Yes})
	s.AddFolder("Folder")
	wantCause(t, s.Commit(), archive.ErrFull, s.path)
	if n, err := s.Size(t.Context(), starred); err != nil || n != 0 {
		t.Errorf("%d are starred, %v", n, err)
	}
	execSQL(t, s, `PRAGMA max_page_count = 1000000`)
	s.Mark(markedAt, ids, reading.Mark{Starred: reading.Yes})
	commit(t, s)
	if n, err := s.Size(t.Context(), starred); err != nil || n != len(ids) {
		t.Errorf("%d are starred, %v", n, err)
	}
}
