package archivetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// MarkedAt is when tests mark items where the moment does not matter.
var MarkedAt = time.Unix(1000, 0)

// Follow has the archive follow feeds from a moment on.
func Follow(t testing.TB, a Archive, at time.Time, urls ...feed.URL) {
	t.Helper()
	for _, u := range urls {
		a.KeepFeed(archive.Feed{URL: u, Subscribed: true, Since: at})
	}
	Commit(t, a)
}

// Keep keeps records for good.
func Keep(t testing.TB, a Archive, records ...archive.Record) {
	t.Helper()
	a.Keep(records)
	Commit(t, a)
}

// FeedRecord is entry n of a feed, which came n seconds after the epoch.
func FeedRecord(u feed.URL, n int) archive.Record {
	e := feed.Entry{Feed: u, ID: fmt.Sprint(n), Title: fmt.Sprint("title ", n)}
	return archive.NewRecord(e, time.Unix(int64(n), 0), protocol.NodeID{})
}

// FeedRecords are entries of a feed from one number to another.
func FeedRecords(u feed.URL, from, to int) (list []archive.Record) {
	for n := from; n <= to; n++ {
		list = append(list, FeedRecord(u, n))
	}
	return list
}

// PastLines are lines of an export of a feed, every third hidden.
func PastLines(u feed.URL, n int) (lines []jsonl.Line) {
	for i := range n {
		r := archive.NewRecord(feed.Entry{Feed: u, ID: fmt.Sprint(i)}, time.Unix(1000, 0), protocol.NodeID{})
		lines = append(lines, jsonl.NewLine(&r, i%3 == 0))
	}
	return lines
}

func feedID(t *testing.T, a reading.Filing, u feed.URL) reading.FeedID {
	t.Helper()
	id, err := a.FeedID(t.Context(), u)
	if err != nil || id == 0 {
		t.Fatalf("%s has number %d, %v", u, id, err)
	}
	return id
}

// WantIDs checks what is in a stream, and that its size is counted so.
func WantIDs(t *testing.T, a reading.Items, stream reading.Stream, want ...reading.ItemID) {
	t.Helper()
	got, err := a.IDs(t.Context(), stream, reading.Page{Limit: 1000})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v: %v, %v; want %v", stream, got, err, want)
	}
	if n, err := a.Size(t.Context(), stream); err != nil || n != len(want) {
		t.Errorf("%+v: %d items, %v; want %d", stream, n, err, len(want))
	}
}

var (
	all     = reading.Stream{}
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

// Entries that arrive in a feed that is followed are unread and listed, in the order of arrival; entries that are
// filled in are neither.
func testItemsArrive(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecord(news, 10), FeedRecord(otherNews, 11), FeedRecord(news, 12))
	WantIDs(t, a, all, 2, 1)
	a.Fill(time.Unix(20, 0), []archive.Record{FeedRecord(news, 9), FeedRecord(otherNews, 8), FeedRecord(news, 7)})
	edited := FeedRecord(news, 10)
	edited.Entry.Title = "edited"
	edited.Digest = edited.Entry.Digest()
	a.Mark(MarkedAt, []reading.ItemID{1}, reading.Mark{Read: reading.Yes})
	Keep(t, a, edited, FeedRecord(news, 21))
	WantIDs(t, a, all, 5, 2, 1)
	WantIDs(t, a, unread, 5, 2)
	WantIDs(t, a, reading.Stream{Unlisted: true}, 5, 4, 3, 2, 1)
	WantIDs(t, a, reading.Stream{Read: reading.Yes}, 1)
	WantIDs(t, a, reading.Stream{Since: time.Unix(12, 0)}, 5, 2)
	WantIDs(t, a, reading.Stream{Until: time.Unix(12, 0)}, 1)
	WantIDs(t, a, all.Before(time.Unix(12, 999)), 2, 1)
	WantIDs(t, a, reading.Stream{Since: time.Unix(20, 0), Unlisted: true}, 5, 4, 3)

	var got []string
	for item, err := range a.Items(t.Context(), []reading.ItemID{4, 99, 1, 5}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintln(item.ID, item.Feed, item.Arrived.Unix(), item.Time.Unix(), item.Entry.Title,
			item.Listed, item.Read, item.Starred))
	}
	id := feedID(t, a, news)
	want := []string{
		fmt.Sprintln(4, id, 20, 9, "title 9", false, true, false),
		fmt.Sprintln(1, id, 10, 10, "edited", true, true, false),
		fmt.Sprintln(5, id, 21, 21, "title 21", true, false, false),
	}
	if !slices.Equal(got, want) {
		t.Errorf("items are %q, want %q", got, want)
	}
	wantSound(t, a)
}

// Of what the first poll of a feed brings, in whatever portions, the latest is unread, unless neighbors were there
// before it; the rest is read. All that comes later is unread.
func testItemsOfAFirstPoll(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecords(news, 1, archive.FirstUnread+5)...)
	a.Mark(MarkedAt, []reading.ItemID{archive.FirstUnread}, reading.Mark{Starred: reading.Yes})
	Keep(t, a, FeedRecords(news, archive.FirstUnread+6, archive.FirstUnread+10)...)
	var latest []reading.ItemID
	for id := reading.ItemID(archive.FirstUnread + 10); id > 10; id-- {
		latest = append(latest, id)
	}
	WantIDs(t, a, unread, latest...)
	WantIDs(t, a, all, latest...)

	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), LastSuccess: time.Unix(2, 0)})
	Keep(t, a, FeedRecords(news, 101, 101+archive.FirstUnread)...)
	if n, err := a.Size(t.Context(), unread); err != nil || n != 2*archive.FirstUnread+1 {
		t.Errorf("%d unread, %v, after a second poll brought %d", n, err, archive.FirstUnread+1)
	}

	var brought []archive.Record
	for _, r := range FeedRecords(otherNews, 1, archive.FirstUnread-1) {
		r.Source, r.Confirmed = someNeighbor, false
		brought = append(brought, r)
	}
	Keep(t, a, brought...)
	Keep(t, a, FeedRecords(otherNews, 101, 105)...)
	id := feedID(t, a, otherNews)
	if n, err := a.Size(t.Context(), reading.Stream{Feed: id, Read: reading.No}); err != nil ||
		n != archive.FirstUnread {
		t.Errorf("%d unread, %v, where neighbors brought all but one before the first poll", n, err)
	}
	wantSound(t, a)
}

// An owner who follows a feed of which the archive has entries finds the latest unread, as if they had just been
// published.
func testItemsOfAFeedThatIsFollowedLater(t *testing.T, a *desk) {
	Keep(t, a, FeedRecords(news, 1, archive.FirstUnread+3)...)
	a.Fill(time.Unix(50, 0), []archive.Record{FeedRecord(news, 0)})
	Keep(t, a, FeedRecord(otherNews, 60))
	WantIDs(t, a, all)
	Follow(t, a, time.Unix(100, 0), news)
	var latest []reading.ItemID // behind the one that was filled in and three older ones
	for id := reading.ItemID(archive.FirstUnread + 4); id > 4; id-- {
		latest = append(latest, id)
	}
	WantIDs(t, a, unread, latest...)
	WantIDs(t, a, reading.Stream{Since: time.Unix(100, 0)}, latest...)
	WantIDs(t, a, reading.Stream{Unlisted: true}, append(latest, 4, 3, 2, 1)...)

	// While it is not followed nothing arrives; what was there keeps its marks.
	a.Mark(MarkedAt, latest[1:], reading.Mark{Read: reading.Yes})
	a.KeepFeed(archive.Feed{URL: news})
	Keep(t, a, FeedRecord(news, 200))
	WantIDs(t, a, all)
	for item, err := range a.Items(t.Context(), latest) {
		t.Errorf("%+v, %v of a feed that is not followed", item, err)
	}
	Follow(t, a, time.Unix(300, 0), news)
	Follow(t, a, time.Unix(400, 0), news) // says nothing new
	WantIDs(t, a, unread, latest[0]+1, latest[0])
	wantSound(t, a)
}

func testMarks(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecord(news, 10), FeedRecord(otherNews, 11), FeedRecord(news, 12))
	a.Fill(time.Unix(20, 0), []archive.Record{FeedRecord(news, 9)})
	mark := func(m reading.Mark, ids ...reading.ItemID) {
		t.Helper()
		a.Mark(MarkedAt, ids, m)
		Commit(t, a)
	}
	mark(reading.Mark{Read: reading.Yes, Starred: reading.Yes}, 1, 3, 99)
	mark(reading.Mark{})
	mark(reading.Mark{Read: reading.Yes})
	WantIDs(t, a, unread, 2)
	WantIDs(t, a, starred, 3, 1)
	mark(reading.Mark{Read: reading.No, Starred: reading.No}, 3)
	mark(reading.Mark{Starred: reading.Yes}, 4)
	WantIDs(t, a, starred, 4, 1) // also what is not listed
	WantIDs(t, a, reading.Stream{Starred: reading.No}, 3, 2)
	WantIDs(t, a, reading.Stream{Starred: reading.Yes, Read: reading.Yes}, 4, 1)
	mark(reading.Mark{Read: reading.No}, 4) // which lists it
	WantIDs(t, a, unread, 4, 3, 2)
	WantIDs(t, a, all, 4, 3, 2, 1)

	counts, err := a.Counts(t.Context())
	want := []reading.UnreadCount[reading.FeedID]{{Of: feedID(t, a, news), Unread: 2, Newest: time.Unix(20, 0).UTC()},
		{Of: feedID(t, a, otherNews), Unread: 1, Newest: time.Unix(11, 0).UTC()}}
	if err != nil || !slices.Equal(counts, want) {
		t.Errorf("Counts = %+v, %v; want %+v", counts, err, want)
	}

	if a.MarkStream(MarkedAt, reading.Stream{Feed: want[0].Of}.Before(time.Unix(12, 0)),
		reading.Mark{Read: reading.Yes}, 10) {
		t.Error("MarkStream is not done, but there was little to do")
	}
	Commit(t, a)
	WantIDs(t, a, unread, 4, 2)
	var more []bool
	for range 3 {
		more = append(more, a.MarkStream(MarkedAt, all, reading.Mark{Read: reading.Yes}, 1))
	}
	if !slices.Equal(more, []bool{true, true, false}) {
		t.Errorf("MarkStream of two items, one by one: more is %v", more)
	}
	Commit(t, a)
	WantIDs(t, a, unread)
	wantSound(t, a)
}

// The changes since a moment are the items that arrived as news since then, and those that were marked, by what they
// were not before.
func testStreamChanged(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecord(news, 10), FeedRecord(news, 11), FeedRecord(news, 12))
	a.Fill(time.Unix(20, 0), []archive.Record{FeedRecord(news, 9), FeedRecord(news, 8)})
	a.Mark(time.Unix(30, 0), []reading.ItemID{1, 5}, reading.Mark{Starred: reading.Yes})
	// 1 is so already
	a.Mark(time.Unix(40, 0), []reading.ItemID{1, 2}, reading.Mark{Starred: reading.Yes, Read: reading.No})
	a.MarkStream(time.Unix(50, 0), reading.Stream{Since: time.Unix(12, 0)}, reading.Mark{Read: reading.Yes}, 10)
	Commit(t, a)
	changed := func(since int64) reading.Stream { return reading.Stream{Changed: time.Unix(since, 0)} }
	WantIDs(t, a, changed(1), 5, 3, 2, 1)
	WantIDs(t, a, changed(11), 5, 3, 2, 1)
	WantIDs(t, a, changed(31), 3, 2)
	WantIDs(t, a, changed(50), 3)
	WantIDs(t, a, changed(51))
	for item, err := range a.Items(t.Context(), []reading.ItemID{1, 2, 3, 4}) {
		want := map[reading.ItemID]int64{1: 30, 2: 40, 3: 50, 4: 20}[item.ID]
		if err != nil || item.Changed.Unix() != want {
			t.Errorf("item %d changed at %d, %v; want %d", item.ID, item.Changed.Unix(), err, want)
		}
	}
}

// A stream is read page by page, in either direction, whatever arrives and is read meanwhile.
func testPages(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecords(news, 1, 10)...)
	page := func(want []reading.ItemID, p reading.Page) reading.ItemID {
		t.Helper()
		got, err := a.IDs(t.Context(), unread, p)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, %v; want %v", p, got, err, want)
		}
		if len(got) == 0 {
			return 0
		}
		return got[len(got)-1]
	}
	last := page([]reading.ItemID{10, 9, 8, 7}, reading.Page{Limit: 4})
	Keep(t, a, FeedRecord(news, 11))
	a.Mark(MarkedAt, []reading.ItemID{7, 10}, reading.Mark{Read: reading.Yes})
	Commit(t, a)
	last = page([]reading.ItemID{6, 5, 4, 3}, reading.Page{Limit: 4, After: last})
	last = page([]reading.ItemID{2, 1}, reading.Page{Limit: 4, After: last})
	page([]reading.ItemID{}, reading.Page{Limit: 4, After: last})
	last = page([]reading.ItemID{1, 2, 3}, reading.Page{Limit: 3, Oldest: true})
	page([]reading.ItemID{4, 5, 6, 8, 9, 11}, reading.Page{Limit: 50, Oldest: true, After: last})
	page([]reading.ItemID{6, 5}, reading.Page{Limit: 2, After: 8, Before: 2})
	page([]reading.ItemID{4, 3}, reading.Page{Limit: 50, After: 5, Before: 2})
	page([]reading.ItemID{11, 9}, reading.Page{Limit: 50, Before: 8})
	page([]reading.ItemID{4, 5, 6}, reading.Page{Limit: 50, Oldest: true, After: 3, Before: 7})
	page([]reading.ItemID{1, 2}, reading.Page{Limit: 50, Oldest: true, Before: 3})
	page([]reading.ItemID{}, reading.Page{Limit: -1})
}

// Who is not to learn of feeds whose URL is a secret has a stream without them.
func testStreamWithoutSecrets(t *testing.T, a *desk) {
	const letters = feed.URL("https://letters.example.com/feed?token=x1y2z3")
	Follow(t, a, time.Unix(1, 0), news, letters)
	Keep(t, a, FeedRecord(news, 2), FeedRecord(letters, 3))
	for _, c := range []struct {
		stream reading.Stream
		want   []reading.ItemID
	}{
		{reading.Stream{Read: reading.No}, []reading.ItemID{2, 1}},
		{reading.Stream{Read: reading.No, NoSecrets: true}, []reading.ItemID{1}},
		{reading.Stream{Feed: 1, NoSecrets: true}, []reading.ItemID{1}},
		{reading.Stream{Feed: 2, NoSecrets: true}, []reading.ItemID{}},
	} {
		if got, err := a.IDs(t.Context(), c.stream, reading.Page{Limit: 9}); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v; want %v", c.stream, got, err, c.want)
		}
	}
}

// Items come in pieces; all of them come, and in their order.
func testManyItems(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	records := FeedRecords(news, 1, 200)
	records[5].Entry.Content = string(make([]byte, 1<<20))
	Keep(t, a, records...)
	ids := []reading.ItemID{7, 6, 1000, 5}
	for id := reading.ItemID(200); id > 0; id-- {
		ids = append(ids, id)
	}
	var got []reading.ItemID
	for item, err := range a.Items(t.Context(), ids) {
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

// No program of the owner's is given an address that would run something.
func testItemsRunNothing(t *testing.T, a *desk) {
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, Since: time.Unix(1, 0), Link: "javascript:alert(1)"})
	e := feed.Entry{Feed: news, ID: "1", Link: "javascript:alert(2)",
		Enclosures: []feed.Enclosure{{URL: "javascript:alert(3)"}, {URL: "https://example.com/a.mp3"}}}
	Keep(t, a, archive.NewRecord(e, time.Unix(10, 0), protocol.NodeID{}))
	list, err := a.Subscriptions(t.Context())
	if err != nil || len(list) != 1 || list[0].Site != "" {
		t.Errorf("subscriptions: %+v, %v", list, err)
	}
	for item, err := range a.Items(t.Context(), []reading.ItemID{1}) {
		if err != nil || item.Link() != "https://news.example.org/" || len(item.Entry.Enclosures) != 1 ||
			item.Entry.Enclosures[0].URL != e.Enclosures[1].URL {
			t.Errorf("item: %+v, %v", item, err)
		}
	}
}

// A search finds items of the feeds that are followed, what was filled in and what is not indexed yet among them; of
// too many it finds the latest. Streams may be of what it found alone.
func testFind(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecords(news, 10, 14)...) // items 1 to 5
	Keep(t, a, FeedRecord(otherNews, 15))
	a.Fill(time.Unix(20, 0), []archive.Record{FeedRecord(news, 9)}) // item 6
	Commit(t, a)
	indexSome(t, a.Database, 4)
	find := func(text string, limit int) []reading.ItemID {
		t.Helper()
		m, err := feed.ParseMatch(text)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := a.Find(t.Context(), m, nil, limit)
		if err != nil || ids == nil {
			t.Fatalf("%s: %v, %v", text, ids, err)
		}
		return ids
	}
	for _, c := range []struct {
		text  string
		limit int
		want  []reading.ItemID
	}{
		{"title", 100, []reading.ItemID{1, 2, 3, 4, 5, 6}},
		{"title", 2, []reading.ItemID{4, 5}},
		{"11 OR 9", 100, []reading.ItemID{2, 6}},
		{"title NOT 1*", 100, []reading.ItemID{6}},
		{"15", 100, []reading.ItemID{}},
	} {
		if got := find(c.text, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s, %d: %v, want %v", c.text, c.limit, got, c.want)
		}
	}

	a.Mark(MarkedAt, []reading.ItemID{2}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	Commit(t, a)
	found := find("11 OR 12 OR 9", 100)
	for _, c := range []struct {
		stream reading.Stream
		want   []reading.ItemID
	}{
		{reading.Stream{}, []reading.ItemID{3, 2}},
		{reading.Stream{Unlisted: true}, []reading.ItemID{6, 3, 2}},
		{unread, []reading.ItemID{3}},
		{starred, []reading.ItemID{2}},
		{reading.Stream{Feed: feedID(t, a, news), Unlisted: true}, []reading.ItemID{6, 3, 2}},
		{reading.Stream{Feed: feedID(t, a, otherNews), Unlisted: true}, nil},
	} {
		c.stream.Among = found
		WantIDs(t, a, c.stream, c.want...)
		c.stream.Among = []reading.ItemID{}
		WantIDs(t, a, c.stream)
	}
}

// A search of some feeds finds what is behind that of others.
func testFindInFeeds(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news, otherNews)
	Keep(t, a, FeedRecords(news, 10, 14)...)      // items 1 to 5
	Keep(t, a, FeedRecords(otherNews, 15, 20)...) // items 6 to 11
	m, err := feed.ParseMatch("title")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time by the index
		first, second := feedID(t, a, news), feedID(t, a, otherNews)
		for _, c := range []struct {
			of   []reading.FeedID
			want []reading.ItemID
		}{
			{nil, []reading.ItemID{10, 11}},
			{[]reading.FeedID{first}, []reading.ItemID{4, 5}},
			{[]reading.FeedID{first, second}, []reading.ItemID{10, 11}},
		} {
			if got, err := a.Find(t.Context(), m, c.of, 2); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("of %v: %v, %v, want %v", c.of, got, err, c.want)
			}
		}
		indexSome(t, a.Database, 100)
	}
}

func testFindEnds(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), news)
	Keep(t, a, FeedRecords(news, 1, 3)...)
	m, err := feed.ParseMatch("title")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(archive.ErrSlow)
	if ids, err := a.Find(ctx, m, nil, 10); !errors.Is(err, archive.ErrSlow) || len(ids) > 0 {
		t.Errorf("found %v, %v", ids, err)
	}
}
