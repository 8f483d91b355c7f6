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

// What the owner labelled of a feed comes with the latest arrival first: nothing of other feeds or people, and nothing
// that a filter labelled, that has the label no more, or that others know nothing of.
func TestLabelled(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "feedex.db"))
	follow(t, s, time.Unix(0, 0), news, otherNews)
	one, two, three := feedRecord(news, 1), feedRecord(news, 2), feedRecord(news, 3)
	s.Keep([]archive.Record{one, two, three, feedRecord(otherNews, 1)})
	other, err := s.AddPerson(time.Unix(1, 0), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	label := func(p reading.PersonID, name string, has bool, items ...reading.ItemID) {
		t.Helper()
		if err := s.Pen(p).Label(markedAt, items, name, has); err != nil {
			t.Fatal(err)
		}
	}
	label(reading.Owner, "recipes", true, 1, 2, 3, 4)
	label(reading.Owner, "for work", true, 2)
	label(reading.Owner, "für work", true, 3) // of as many letters, and a byte more
	label(other, "mine", true, 2)
	want := func(n int, list ...archive.Labelled) {
		t.Helper()
		commit(t, s)
		if got := s.Labelled(news, n, len("for work")); !slices.Equal(got, list) {
			t.Errorf("labelled are %v, want %v", got, list)
		}
	}
	recipe := func(r archive.Record) archive.Labelled { return archive.Labelled{Name: "recipes", Entry: r.ID} }
	work := archive.Labelled{Name: "for work", Entry: two.ID}
	want(9, recipe(three), work, recipe(two), recipe(one))
	want(2, recipe(three), work)
	label(reading.Owner, "recipes", false, 2)
	s.Hide([]feed.EntryID{three.ID})
	want(9, work, recipe(one))
	all := reading.FilterWish{Name: "all", Words: "title", Rule: reading.RuleLabel, Label: "caught"}
	if _, err := s.Pen(reading.Owner).AddFilter(markedAt, all); err != nil {
		t.Fatal(err)
	}
	four := feedRecord(news, 4)
	s.Keep([]archive.Record{four})
	want(9, work, recipe(one))
	label(reading.Owner, "caught", true, 5)
	want(9, archive.Labelled{Name: "caught", Entry: four.ID}, work, recipe(one))
}
