package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// What the suite has for tests, too.
var (
	markedAt             = archivetest.MarkedAt
	follow, keep, commit = archivetest.Follow, archivetest.Keep, archivetest.Commit
	feedRecord           = archivetest.FeedRecord
	feedRecords, left    = archivetest.FeedRecords, archivetest.Left
	wantIDs, nodeID      = archivetest.WantIDs, archivetest.NodeID
)

const otherNews = feed.URL("https://example.org/other")

var (
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

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
	execSQL(t, s, `PRAGMA foreign_keys = 0; DROP TRIGGER items_marks; DELETE FROM items WHERE id = 2; UPDATE items SET feed = 2 WHERE id = 3;
		UPDATE marks SET listed = 0 WHERE item = 4; DELETE FROM entries WHERE seq = 5`)
	want := []string{"1 items have no entry", "1 items are of another feed than their entries",
		"1 entries of feeds that are followed have no item", "1 items are unread and not listed",
		"2 marks are not of the item that they name"}
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
	s.Pen(reading.Owner).Mark(markedAt, ids, reading.Mark{Starred: reading.Yes})
	s.Pen(reading.Owner).AddFolder("Folder")
	wantCause(t, s.Commit(), archive.ErrFull, s.path)
	if n, err := s.Shelf(reading.Owner).Size(t.Context(), starred); err != nil || n != 0 {
		t.Errorf("%d are starred, %v", n, err)
	}
	execSQL(t, s, `PRAGMA max_page_count = 1000000`)
	s.Pen(reading.Owner).Mark(markedAt, ids, reading.Mark{Starred: reading.Yes})
	commit(t, s)
	if n, err := s.Shelf(reading.Owner).Size(t.Context(), starred); err != nil || n != len(ids) {
		t.Errorf("%d are starred, %v", n, err)
	}
}

// plansOf are the statements about entries that are asked for, and how SQLite goes about them.
func plansOf(t *testing.T, s *Store, ask func()) map[string]string {
	t.Helper()
	plans := make(map[string]string)
	reopen(t, s, func(c driver.Connector) driver.Connector {
		return lame{c, func(query string) time.Duration {
			if strings.Contains(query, "entries") && !strings.HasPrefix(query, "EXPLAIN") {
				plans[query] = ""
			}
			return 0
		}}
	})
	ask()
	type step struct {
		id, within, rest int
		what             string
	}
	for query := range plans {
		plan, err := list(t.Context(), s.Reader.db, by(func(x *step) []any {
			return []any{&x.id, &x.within, &x.rest, &x.what}
		}), `EXPLAIN QUERY PLAN `+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		plans[query] = fmt.Sprint(plan)
	}
	return plans
}

// A search in what a person reads asks no index for an entry in each of the feeds in turn: there may be thousands. One
// of a feed goes through its entries alone.
func TestSearchesGoThroughFewEntries(t *testing.T) {
	s := newStore(t)
	follow(t, s, markedAt, news)
	keep(t, s, feedRecords(news, 1, 3)...)
	if n, err := s.Index(3); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	for query, plan := range plansOf(t, s, func() {
		m, err := feed.ParseMatch("title")
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Shelf(reading.Owner).Find(t.Context(), m, []reading.FeedID{1}, 9)
		if err != nil || len(found) != 3 {
			t.Fatal(found, err)
		}
	}) {
		if !strings.Contains(plan, "entries_by_seq") || strings.Contains(plan, "AND feed=?)") {
			t.Errorf("%s\nis %s", query, plan)
		}
	}
	for query, plan := range plansOf(t, s, func() {
		f := feed.Filter{Feed: news, Words: []string{"title"}, Until: time.Unix(3, 0)}
		if found, err := s.Search(t.Context(), f); err != nil || len(found) != 2 {
			t.Fatal(found, err)
		}
	}) {
		if strings.Contains(plan, "SCAN e ") {
			t.Errorf("%s\nis %s", query, plan)
		}
	}
}

// BenchmarkItems measures what readers ask for with 100,000 items over 1,000 feeds, all unread and a thousand unread,
// for the only person and for the last of five; with -short it is 10,000 items.
func BenchmarkItems(b *testing.B) {
	for _, people := range []int{1, 5} {
		b.Run(fmt.Sprintf("people=%d", people), func(b *testing.B) { benchItems(b, people) })
	}
}

func benchItems(b *testing.B, people int) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	person := addBench(b, s, people)
	followBench(s)
	c := newCorpus()
	for range n / 1000 {
		s.Keep(c.records(1000))
		commit(b, s)
	}
	shelf, pen := s.Shelf(person), s.Pen(person)
	ctx := context.Background()
	every, err := shelf.IDs(ctx, reading.Stream{}, reading.Page{Limit: reading.MaxPage})
	if err := errors.Join(err, pen.Label(markedAt, every, "Labelled", true), s.Commit()); err != nil {
		b.Fatal(err)
	}
	labels, err := shelf.Labels(ctx)
	if err != nil {
		b.Fatal(err)
	}
	label := reading.Stream{Label: labels[0].ID}
	past := label
	past.Unlisted = true
	ids := func(stream reading.Stream, p reading.Page) func() (int, error) {
		return func() (int, error) {
			list, err := shelf.IDs(ctx, stream, p)
			return len(list), err
		}
	}
	id, err := shelf.FeedID(ctx, benchFeed(7))
	if err != nil {
		b.Fatal(err)
	}
	unread := reading.Stream{Read: reading.No}
	for _, state := range []string{"all", "thousand"} {
		for _, ask := range []struct {
			name string
			do   func() (int, error)
		}{
			{"reading list/10000", ids(reading.Stream{}, reading.Page{Limit: 10_000})},
			{"unread/10000", ids(unread, reading.Page{Limit: 10_000})},
			{"unread/middle", ids(unread, reading.Page{Limit: 1000, After: reading.ItemID(n / 2)})},
			{"unread/feed", ids(reading.Stream{Read: reading.No, Feed: id}, reading.Page{Limit: 1000})},
			{"unread/everything", ids(unread, reading.Page{Limit: reading.MaxPage})},
			{"label/250", ids(label, reading.Page{Limit: 250})},
			{"label/middle", ids(label, reading.Page{Limit: 250, Before: reading.ItemID(n / 2)})},
			{"label/past", ids(past, reading.Page{Limit: 250})},
			{"label/unread", ids(reading.Stream{Label: label.Label, Read: reading.No}, reading.Page{Limit: 250})},
			{"starred", ids(reading.Stream{Starred: reading.Yes}, reading.Page{Limit: 1000})},
			{"counts", func() (int, error) {
				list, err := shelf.Counts(ctx)
				return len(list), err
			}},
			{"subscriptions", func() (int, error) {
				list, err := shelf.Subscriptions(ctx)
				return len(list), err
			}},
			{"contents/250", func() (found int, err error) {
				list, err := shelf.IDs(ctx, reading.Stream{}, reading.Page{Limit: 250})
				for _, itemErr := range shelf.Items(ctx, list) {
					err = itemErr
					found++
				}
				return found, err
			}},
		} {
			b.Run(fmt.Sprintf("unread=%s/%s", state, ask.name), func(b *testing.B) {
				found := 0
				for range b.N {
					if found, err = ask.do(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(found), "found")
			})
		}
		b.Run(fmt.Sprintf("unread=%s/mark 100", state), func(b *testing.B) {
			for i := range b.N {
				list := make([]reading.ItemID, 100)
				for j := range list {
					list[j] = reading.ItemID((i*100+j)%n + 1)
				}
				pen.Mark(markedAt, list, reading.Mark{Starred: reading.Yes})
				commit(b, s)
			}
		})
		pen.MarkStream(markedAt, reading.Stream{Until: c.records(1)[0].Seen.Add(-1000e9)},
			reading.Mark{Read: reading.Yes}, n)
		commit(b, s)
	}
}

// addBench has an archive have so many people, and returns the last of them.
func addBench(b *testing.B, s *Store, people int) reading.PersonID {
	b.Helper()
	last := reading.Owner
	for i := 1; i < people; i++ {
		id, err := s.AddPerson(markedAt, fmt.Sprint("person ", i))
		if err != nil {
			b.Fatal(err)
		}
		last = id
	}
	return last
}

// BenchmarkPeople measures how a person is added to 100,000 items over 1,000 feeds, and one removed to whom all of
// these are unread, a step at a time; with -short it is 10,000 items.
func BenchmarkPeople(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	last := addBench(b, s, 2)
	followBench(s)
	c := newCorpus()
	for range n / 1000 {
		s.Keep(c.records(1000))
		commit(b, s)
	}
	b.Run("add", func(b *testing.B) {
		for i := range b.N {
			b.StopTimer()
			for id := last + 1; id <= last+1+reading.PersonID(i); id++ {
				s.RemovePerson(id, n)
			}
			commit(b, s)
			b.StartTimer()
			if _, err := s.AddPerson(markedAt, "new"); err != nil {
				b.Fatal(err)
			}
			commit(b, s)
		}
	})
	b.Run("remove/step", func(b *testing.B) {
		for range b.N {
			s.RemovePerson(last, 500)
			commit(b, s)
		}
	})
}

// A filter of a transaction that is dropped catches nothing, and one that such a transaction removed goes on.
func TestFiltersOfDroppedTransactions(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	at := time.Unix(1, 0)
	keep := func(id, title string) {
		t.Helper()
		e := feed.Entry{Feed: "https://example.com/feed", ID: id, Title: title}
		s.Keep([]archive.Record{archive.NewRecord(e, at, protocol.NodeID{})})
		commit(t, s)
	}
	s.KeepFeed(archive.Feed{URL: "https://example.com/feed", Subscribed: true})
	pen, shelf := s.Pen(reading.Owner), s.Shelf(reading.Owner)
	stays, err := pen.AddFilter(at, reading.FilterWish{Name: "stays", Words: "storm"})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	keep("0", "calm")

	pen = s.Pen(reading.Owner)
	never, err := pen.AddFilter(at, reading.FilterWish{Name: "never", Words: "storm"})
	if err != nil || !pen.RemoveFilter(time.Unix(9, 0), stays) {
		t.Fatal(err)
	}
	s.writer.err = errors.New("the disk is full")
	if s.Commit() == nil {
		t.Fatal("the transaction is not dropped")
	}
	keep("1", "storm")
	for id, want := range map[reading.FilterID]int{stays: 1, never: 0} {
		if list, err := shelf.CaughtBy(t.Context(), id, 0, true, 10); err != nil || len(list) != want {
			t.Errorf("filter %d has %+v, %v", id, list, err)
		}
	}
	var rows int
	if err := s.Reader.db.QueryRow(`SELECT count(*) FROM caught`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Where the disk is full while filters act nothing of it is there: neither the entries nor what was caught, starred or
// is to be told of them. Once there is room they come again, and all of it with them, once.
func TestFiltersOnAFullDisk(t *testing.T) {
	s := newStore(t)
	s.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), LastSuccess: time.Unix(1, 0)})
	pen, shelf := s.Pen(reading.Owner), s.Shelf(reading.Owner)
	at := time.Now()
	told, err := pen.AddFilter(at, reading.FilterWish{Name: "told", Words: "storm"})
	_, err2 := pen.AddFilter(at, reading.FilterWish{Name: "starred", Words: "storm", Rule: reading.RuleStar})
	to, err3 := pen.KeepReceiver(reading.Receiver{Name: "hook", Kind: reading.Webhook, Only: []reading.FilterID{told}})
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	records := feedRecords(news, 1, 300)
	for i := range records {
		e := records[i].Entry
		e.Title, e.Published = fmt.Sprint("storm ", i), at
		records[i] = archive.NewRecord(e, at, protocol.NodeID{})
	}
	want := func(n int) {
		t.Helper()
		caught, err := shelf.CountedFilters(t.Context())
		marked, err2 := shelf.Size(t.Context(), starred)
		waiting, err3 := s.CountWaiting(t.Context(), to)
		found, err4 := s.Search(t.Context(), feed.Filter{Limit: 1000})
		if err := errors.Join(err, err2, err3, err4); err != nil || caught[0].Caught != n || caught[1].Acted != n ||
			marked != n || waiting != n || len(found) != n {
			t.Errorf("%d entries, filters %+v, %d starred, %d waiting (%v); want %d of each", len(found), caught,
				marked, waiting, err, n)
		}
	}
	// It is full at one time as entries are written, at another as they are caught, or as rules act.
	var pages, full int
	if err := s.Reader.db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	for {
		execSQL(t, s, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
		s.Keep(records)
		err := s.Commit()
		if err == nil {
			break
		}
		wantCause(t, err, archive.ErrFull, s.path)
		want(0)
		pages, full = pages+2, full+1
	}
	if full < 10 {
		t.Errorf("it was full %d times", full)
	}
	want(len(records))
}

// Filters that are moved, and rules that are changed, act so at once; the index of all people's words stays as it is.
func TestFiltersChangeInPlace(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	at := time.Unix(1, 0)
	s.KeepFeed(archive.Feed{URL: "https://example.com/feed", Subscribed: true, LastSuccess: at})
	pen := s.Pen(reading.Owner)
	muting := reading.FilterWish{Name: "first", Words: "storm", Rule: reading.RuleMute}
	first, err := pen.AddFilter(at, muting)
	second, err2 := pen.AddFilter(at, reading.FilterWish{Name: "second", Words: "storm"})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	index := s.catch()
	pen.MoveFilter(second, first)
	if _, err := pen.ChangeFilter(at, second, reading.FilterWish{Name: "second", Words: "storm",
		Rule: reading.RuleStar}); err != nil {
		t.Fatal(err)
	}
	e := feed.Entry{Feed: "https://example.com/feed", ID: "1", Title: "storm"}
	s.Keep([]archive.Record{archive.NewRecord(e, at, protocol.NodeID{})})
	commit(t, s)
	starred := reading.Stream{Starred: reading.Yes}
	if n, err := s.Shelf(reading.Owner).Size(t.Context(), starred); err != nil || n != 1 {
		t.Errorf("%d are starred, %v", n, err)
	}
	if s.catch() != index {
		t.Error("the index was made again")
	}
}
