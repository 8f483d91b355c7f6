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

func feedID(t *testing.T, s *Store, u feed.URL) reading.FeedID {
	t.Helper()
	id, err := s.FeedID(t.Context(), u)
	if err != nil || id == 0 {
		t.Fatalf("%s has number %d, %v", u, id, err)
	}
	return id
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

// wantSound checks the whole archive.
func wantSound(t *testing.T, s *Store) {
	t.Helper()
	err := s.Verify(t.Context(), func(int64) {}, func(problem string) { t.Error(problem) })
	if err != nil {
		t.Error(err)
	}
}

var (
	all     = reading.Stream{}
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

// What arrives in a feed that is followed is unread and listed, in the order of arrival; what is filled in is neither.
func TestItemsArrive(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecord(news, 10), feedRecord(otherNews, 11), feedRecord(news, 12))
	wantIDs(t, s, all, 2, 1)
	s.Fill(time.Unix(20, 0), []archive.Record{feedRecord(news, 9), feedRecord(otherNews, 8), feedRecord(news, 7)})
	edited := feedRecord(news, 10)
	edited.Entry.Title = "edited"
	edited.Digest = edited.Entry.Digest()
	s.Mark(markedAt, []reading.ItemID{1}, reading.Mark{Read: reading.Yes})
	keep(t, s, edited, feedRecord(news, 21))
	wantIDs(t, s, all, 5, 2, 1)
	wantIDs(t, s, unread, 5, 2)
	wantIDs(t, s, reading.Stream{Unlisted: true}, 5, 4, 3, 2, 1)
	wantIDs(t, s, reading.Stream{Read: reading.Yes}, 1)
	wantIDs(t, s, reading.Stream{Since: time.Unix(12, 0)}, 5, 2)
	wantIDs(t, s, reading.Stream{Until: time.Unix(12, 0)}, 1)
	wantIDs(t, s, all.Before(time.Unix(12, 999)), 2, 1)
	wantIDs(t, s, reading.Stream{Since: time.Unix(20, 0), Unlisted: true}, 5, 4, 3)

	var got []string
	for item, err := range s.Items(t.Context(), []reading.ItemID{4, 99, 1, 5}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintln(item.ID, item.Feed, item.Arrived.Unix(), item.Time.Unix(), item.Entry.Title,
			item.Listed, item.Read, item.Starred))
	}
	id := feedID(t, s, news)
	want := []string{
		fmt.Sprintln(4, id, 20, 9, "title 9", false, true, false),
		fmt.Sprintln(1, id, 10, 10, "edited", true, true, false),
		fmt.Sprintln(5, id, 21, 21, "title 21", true, false, false),
	}
	if !slices.Equal(got, want) {
		t.Errorf("items are %q, want %q", got, want)
	}
	wantSound(t, s)
}

// An owner who follows a feed of which the archive has entries finds the latest unread, as if they had just been
// published.
func TestItemsOfAFeedThatIsFollowedLater(t *testing.T) {
	s := newStore(t)
	keep(t, s, feedRecords(news, 1, reading.FirstUnread+3)...)
	s.Fill(time.Unix(50, 0), []archive.Record{feedRecord(news, 0)})
	keep(t, s, feedRecord(otherNews, 60))
	wantIDs(t, s, all)
	follow(t, s, time.Unix(100, 0), news)
	var latest []reading.ItemID // behind the one that was filled in and three older ones
	for id := reading.ItemID(reading.FirstUnread + 4); id > 4; id-- {
		latest = append(latest, id)
	}
	wantIDs(t, s, unread, latest...)
	wantIDs(t, s, reading.Stream{Since: time.Unix(100, 0)}, latest...)
	wantIDs(t, s, reading.Stream{Unlisted: true}, append(latest, 4, 3, 2, 1)...)

	// While it is not followed nothing arrives; what was there keeps its marks.
	s.Mark(markedAt, latest[1:], reading.Mark{Read: reading.Yes})
	s.KeepFeed(archive.Feed{URL: news})
	keep(t, s, feedRecord(news, 200))
	wantIDs(t, s, all)
	for item, err := range s.Items(t.Context(), latest) {
		t.Errorf("%+v, %v of a feed that is not followed", item, err)
	}
	follow(t, s, time.Unix(300, 0), news)
	follow(t, s, time.Unix(400, 0), news) // says nothing new
	wantIDs(t, s, unread, latest[0]+1, latest[0])
	wantSound(t, s)
}

func TestMarks(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news, otherNews)
	keep(t, s, feedRecord(news, 10), feedRecord(otherNews, 11), feedRecord(news, 12))
	s.Fill(time.Unix(20, 0), []archive.Record{feedRecord(news, 9)})
	mark := func(m reading.Mark, ids ...reading.ItemID) {
		t.Helper()
		s.Mark(markedAt, ids, m)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	mark(reading.Mark{Read: reading.Yes, Starred: reading.Yes}, 1, 3, 99)
	mark(reading.Mark{})
	mark(reading.Mark{Read: reading.Yes})
	wantIDs(t, s, unread, 2)
	wantIDs(t, s, starred, 3, 1)
	mark(reading.Mark{Read: reading.No, Starred: reading.No}, 3)
	mark(reading.Mark{Starred: reading.Yes}, 4)
	wantIDs(t, s, starred, 4, 1) // also what is not listed
	wantIDs(t, s, reading.Stream{Starred: reading.No}, 3, 2)
	wantIDs(t, s, reading.Stream{Starred: reading.Yes, Read: reading.Yes}, 4, 1)
	mark(reading.Mark{Read: reading.No}, 4) // which lists it
	wantIDs(t, s, unread, 4, 3, 2)
	wantIDs(t, s, all, 4, 3, 2, 1)

	counts, err := s.Counts(t.Context())
	want := []reading.Count{{Feed: feedID(t, s, news), Unread: 2, Newest: time.Unix(20, 0).UTC()},
		{Feed: feedID(t, s, otherNews), Unread: 1, Newest: time.Unix(11, 0).UTC()}}
	if err != nil || !slices.Equal(counts, want) {
		t.Errorf("Counts = %+v, %v; want %+v", counts, err, want)
	}

	if s.MarkStream(markedAt, reading.Stream{Feed: want[0].Feed}.Before(time.Unix(12, 0)),
		reading.Mark{Read: reading.Yes}, 10) {
		t.Error("MarkStream is not done, but there was little to do")
	}
	commit(t, s)
	wantIDs(t, s, unread, 4, 2)
	var more []bool
	for range 3 {
		more = append(more, s.MarkStream(markedAt, all, reading.Mark{Read: reading.Yes}, 1))
	}
	if !slices.Equal(more, []bool{true, true, false}) {
		t.Errorf("MarkStream of two items, one by one: more is %v", more)
	}
	commit(t, s)
	wantIDs(t, s, unread)
	wantSound(t, s)
}

// What changed since a moment is what arrived as news since then, and what was marked, by what it was not before.
func TestStreamChanged(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecord(news, 10), feedRecord(news, 11), feedRecord(news, 12))
	s.Fill(time.Unix(20, 0), []archive.Record{feedRecord(news, 9), feedRecord(news, 8)})
	s.Mark(time.Unix(30, 0), []reading.ItemID{1, 5}, reading.Mark{Starred: reading.Yes})
	// 1 is so already
	s.Mark(time.Unix(40, 0), []reading.ItemID{1, 2}, reading.Mark{Starred: reading.Yes, Read: reading.No})
	s.MarkStream(time.Unix(50, 0), reading.Stream{Since: time.Unix(12, 0)}, reading.Mark{Read: reading.Yes}, 10)
	commit(t, s)
	changed := func(since int64) reading.Stream { return reading.Stream{Changed: time.Unix(since, 0)} }
	wantIDs(t, s, changed(1), 5, 3, 2, 1)
	wantIDs(t, s, changed(11), 5, 3, 2, 1)
	wantIDs(t, s, changed(31), 3, 2)
	wantIDs(t, s, changed(50), 3)
	wantIDs(t, s, changed(51))
	for item, err := range s.Items(t.Context(), []reading.ItemID{1, 2, 3, 4}) {
		want := map[reading.ItemID]int64{1: 30, 2: 40, 3: 50, 4: 20}[item.ID]
		if err != nil || item.Changed.Unix() != want {
			t.Errorf("item %d changed at %d, %v; want %d", item.ID, item.Changed.Unix(), err, want)
		}
	}
}

func commit(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// A stream is read page by page, in either direction, whatever arrives and is read meanwhile.
func TestPages(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecords(news, 1, 10)...)
	page := func(want []reading.ItemID, p reading.Page) reading.ItemID {
		t.Helper()
		got, err := s.IDs(t.Context(), unread, p)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, %v; want %v", p, got, err, want)
		}
		if len(got) == 0 {
			return 0
		}
		return got[len(got)-1]
	}
	last := page([]reading.ItemID{10, 9, 8, 7}, reading.Page{Limit: 4})
	keep(t, s, feedRecord(news, 11))
	s.Mark(markedAt, []reading.ItemID{7, 10}, reading.Mark{Read: reading.Yes})
	commit(t, s)
	last = page([]reading.ItemID{6, 5, 4, 3}, reading.Page{Limit: 4, After: last})
	last = page([]reading.ItemID{2, 1}, reading.Page{Limit: 4, After: last})
	page([]reading.ItemID{}, reading.Page{Limit: 4, After: last})
	last = page([]reading.ItemID{1, 2, 3}, reading.Page{Limit: 3, Oldest: true})
	page([]reading.ItemID{4, 5, 6, 8, 9, 11}, reading.Page{Limit: 50, Oldest: true, After: last})
	page([]reading.ItemID{}, reading.Page{Limit: -1})
}

// Items come in pieces; all of them come, and in their order.
func TestManyItems(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	records := feedRecords(news, 1, 3*pageEntries)
	records[5].Entry.Content = string(make([]byte, pageBytes))
	keep(t, s, records...)
	ids := []reading.ItemID{7, 6, 1000, 5}
	for id := reading.ItemID(3 * pageEntries); id > 0; id-- {
		ids = append(ids, id)
	}
	var got []reading.ItemID
	for item, err := range s.Items(t.Context(), ids) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, item.ID)
	}
	if want := slices.DeleteFunc(slices.Clone(ids),
		func(id reading.ItemID) bool { return id == 1000 }); !slices.Equal(got, want) {
		t.Errorf("items %v, want %v", got, want)
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

// No program of the owner's is given an address that would run something.
func TestItemsRunNothing(t *testing.T) {
	s := newStore(t)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), Link: "javascript:alert(1)"})
	e := feed.Entry{Feed: news, ID: "1", Link: "javascript:alert(2)",
		Enclosures: []feed.Enclosure{{URL: "javascript:alert(3)"}, {URL: "https://example.com/a.mp3"}}}
	keep(t, s, archive.NewRecord(e, time.Unix(10, 0), protocol.NodeID{}))
	list, err := s.Subscriptions(t.Context())
	if err != nil || len(list) != 1 || list[0].Site != "" {
		t.Errorf("subscriptions: %+v, %v", list, err)
	}
	for item, err := range s.Items(t.Context(), []reading.ItemID{1}) {
		if err != nil || item.Link() != string(news) || len(item.Entry.Enclosures) != 1 ||
			item.Entry.Enclosures[0].URL != e.Enclosures[1].URL {
			t.Errorf("item: %+v, %v", item, err)
		}
	}
}
