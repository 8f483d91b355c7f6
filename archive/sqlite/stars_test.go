package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// What the owner starred of a feed comes with the latest star first: nothing of other feeds, and nothing that is
// starred no more, or that others know nothing of.
func TestStarred(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "feedex.db"))
	follow(t, s, time.Unix(0, 0), news, otherNews)
	one, two, three := feedRecord(news, 1), feedRecord(news, 2), feedRecord(news, 3)
	s.Keep([]archive.Record{one, two, three, feedRecord(otherNews, 1)})
	for i, item := range []reading.ItemID{3, 1, 2, 4} {
		s.Pen(reading.Owner).Mark(markedAt.Add(time.Duration(i)*time.Second), []reading.ItemID{item},
			reading.Mark{Starred: reading.Yes})
	}
	want := func(n int, ids ...feed.EntryID) {
		t.Helper()
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := s.Starred(news, n); !slices.Equal(got, ids) {
			t.Errorf("starred are %v, want %v", got, ids)
		}
	}
	want(9, two.ID, one.ID, three.ID)
	want(2, two.ID, one.ID)
	s.Pen(reading.Owner).Mark(markedAt, []reading.ItemID{1}, reading.Mark{Starred: reading.No})
	want(9, two.ID, three.ID)
	s.Hide([]feed.EntryID{three.ID})
	want(9, two.ID)
}
