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

// What the owner starred of a feed comes with the latest arrival first: nothing of other feeds, and nothing that is
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
		commit(t, s)
		if got := s.Starred(news, n); !slices.Equal(got, ids) {
			t.Errorf("starred are %v, want %v", got, ids)
		}
	}
	want(9, three.ID, two.ID, one.ID)
	want(2, three.ID, two.ID)
	s.Pen(reading.Owner).Mark(markedAt, []reading.ItemID{1}, reading.Mark{Starred: reading.No})
	want(9, three.ID, two.ID)
	s.Hide([]feed.EntryID{three.ID})
	want(9, two.ID)

	pen, shelf := s.Pen(reading.Owner), s.Shelf(reading.Owner)
	all := reading.FilterWish{Name: "all", Words: "title", Rule: reading.RuleStar}
	if _, err := pen.AddFilter(markedAt, all); err != nil {
		t.Fatal(err)
	}
	want(9, two.ID)
	s.Keep([]archive.Record{feedRecord(news, 4)})
	want(9, two.ID) // a filter's star is not the owner's
	starred, err := shelf.IDs(t.Context(), reading.Stream{Starred: reading.Yes}, reading.Page{Limit: 9})
	if err != nil || !slices.Contains(starred, 5) {
		t.Errorf("the filter starred %v, %v", starred, err)
	}
}
