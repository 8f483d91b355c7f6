package sqlite

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// A search finds items of the feeds that are followed, what was filled in and what is not indexed yet among them; of
// too many it finds the latest. Streams may be of what it found alone.
func TestFind(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecords(news, 10, 14)...) // items 1 to 5
	keep(t, s, feedRecord(otherNews, 15))
	s.Fill(time.Unix(20, 0), []archive.Record{feedRecord(news, 9)}) // item 6
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Index(4); err != nil {
		t.Fatal(err)
	}
	find := func(text string, limit int) []reading.ItemID {
		t.Helper()
		m, err := feed.ParseMatch(text)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := s.Find(t.Context(), m, nil, limit)
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

	s.Mark(markedAt, []reading.ItemID{2}, reading.Mark{Read: reading.Yes, Starred: reading.Yes})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	found := find("11 OR 12 OR 9", 100)
	for _, c := range []struct {
		stream reading.Stream
		want   []reading.ItemID
	}{
		{reading.Stream{}, []reading.ItemID{3, 2}},
		{reading.Stream{Unlisted: true}, []reading.ItemID{6, 3, 2}},
		{unread, []reading.ItemID{3}},
		{starred, []reading.ItemID{2}},
		{reading.Stream{Feed: feedID(t, s, news), Unlisted: true}, []reading.ItemID{6, 3, 2}},
		{reading.Stream{Feed: feedID(t, s, otherNews), Unlisted: true}, nil},
	} {
		c.stream.Among = found
		wantIDs(t, s, c.stream, c.want...)
		c.stream.Among = []reading.ItemID{}
		wantIDs(t, s, c.stream)
	}
}

// A search of some feeds finds what is behind that of others.
func TestFindInFeeds(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news, otherNews)
	keep(t, s, feedRecords(news, 10, 14)...)      // items 1 to 5
	keep(t, s, feedRecords(otherNews, 15, 20)...) // items 6 to 11
	m, err := feed.ParseMatch("title")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time by the index
		first, second := feedID(t, s, news), feedID(t, s, otherNews)
		for _, c := range []struct {
			of   []reading.FeedID
			want []reading.ItemID
		}{
			{nil, []reading.ItemID{10, 11}},
			{[]reading.FeedID{first}, []reading.ItemID{4, 5}},
			{[]reading.FeedID{first, second}, []reading.ItemID{10, 11}},
		} {
			if got, err := s.Find(t.Context(), m, c.of, 2); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("of %v: %v, %v, want %v", c.of, got, err, c.want)
			}
		}
		if _, err := s.Index(100); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindEnds(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	keep(t, s, feedRecords(news, 1, 3)...)
	m, err := feed.ParseMatch("title")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(archive.ErrSlow)
	if ids, err := s.Find(ctx, m, nil, 10); !errors.Is(err, archive.ErrSlow) || len(ids) > 0 {
		t.Errorf("found %v, %v", ids, err)
	}
}
