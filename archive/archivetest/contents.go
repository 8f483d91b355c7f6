package archivetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

func testFeedsBesideTheLoop(t *testing.T, a reading.Database) {
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	kept := []archive.Feed{
		{URL: "https://a.example.com/", Title: "A", Subscribed: true, Since: at, ETag: `"1"`, Interval: time.Hour,
			NextPoll: at},
		{URL: "https://b.example.com/", Title: "B", Private: true, Errors: 2, LastError: "HTTP status 500"},
	}
	for _, f := range kept {
		a.KeepFeed(f)
	}
	Commit(t, a)
	if feeds, err := a.Feeds(t.Context()); err != nil || !reflect.DeepEqual(feeds, kept) {
		t.Errorf("feeds: %+v, %v", feeds, err)
	}
	if f, err := a.Feed(t.Context(), kept[1].URL); err != nil || !reflect.DeepEqual(f, kept[1]) {
		t.Errorf("feed: %+v, %v", f, err)
	}
	if f, err := a.Feed(t.Context(), "https://c.example.com/"); err != nil || f != (archive.Feed{}) {
		t.Errorf("a feed that is not known: %+v, %v", f, err)
	}
}

// The content of an archive is counted and exported, in full and feed by feed.
func testContents(t *testing.T, a reading.Database) {
	Follow(t, a, time.Unix(1, 0), news)
	a.KeepFeed(archive.Feed{URL: otherNews, Title: "Other", Private: true})
	a.KeepFeed(archive.Feed{URL: "https://example.com/tried", Errors: 1, LastError: "HTTP status 404"})
	brought := FeedRecord(news, 13)
	brought.Source, brought.Confirmed = someNeighbor, false
	Keep(t, a, append(FeedRecords(news, 10, 12), brought, FeedRecord(otherNews, 14))...)
	a.Fill(time.Unix(20, 0), []archive.Record{FeedRecord(news, 9)})
	a.Hide([]feed.EntryID{FeedRecord(news, 11).ID})
	Commit(t, a)

	st, err := a.Stats(t.Context())
	if err != nil || st.Entries != 6 || st.Feeds != 2 || st.Free > st.Bytes {
		t.Errorf("Stats = %+v, %v", st, err)
	}
	at := func(n int64) time.Time { return time.Unix(n, 0).UTC() }
	list, err := a.FeedStats(t.Context())
	if err != nil || len(list) != 2 || list[1].Bytes <= list[0].Bytes || list[0].Bytes <= 0 {
		t.Fatalf("FeedStats = %+v, %v", list, err)
	}
	want := []archive.FeedStats{
		{URL: otherNews, Title: "Other", Entries: 1, Hidden: 1, Oldest: at(14), Newest: at(14)},
		{URL: news, Subscribed: true, Entries: 5, Unconfirmed: 1, Filled: 1, Hidden: 1, Oldest: at(9), Newest: at(13)},
	}
	for i, f := range list {
		if f.Bytes = 0; f != want[i] {
			t.Errorf("FeedStats = %+v, want %+v", f, want[i])
		}
	}
	for u, want := range map[feed.URL][]string{
		"":        {"14 hidden", "13", "12", "11 hidden", "10", "9"},
		news:      {"13", "12", "11 hidden", "10", "9"},
		otherNews: {"14 hidden"},
	} {
		var got []string
		for x, err := range a.Export(t.Context(), u) {
			if err != nil {
				t.Fatal(err)
			}
			text := x.Entry.ID
			if x.Hidden {
				text += " hidden"
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("exported of %q are %q, want %q", u, got, want)
		}
	}
}
