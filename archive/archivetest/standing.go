package archivetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/reading"
)

// wantFound checks which entries a filter has, as they are listed: the caught ones and the found ones.
func (d *desk) wantFound(t *testing.T, id reading.FilterID, want ...feed.EntryID) {
	t.Helper()
	list, err := d.CaughtBy(t.Context(), id, 0, true, 100)
	var seqs []int64
	for i := range list {
		seqs = append(seqs, list[i].Seq)
	}
	var got []feed.EntryID
	for r, err := range d.Database.Records(t.Context(), seqs) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.ID)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("filter %d has %v (%v), want %v", id, got, err, want)
	}
}

// The owner's filters may be standing queries. They are asked for when they are due, find what is kept of feeds that
// nobody follows, each once and as long as there is room, and nothing once they are none any more.
func testStandingQueries(t *testing.T, a reading.Database) {
	d := deskOf(a, reading.Owner)
	Follow(t, a, time.Unix(1, 0), otherNews)
	Keep(t, a, titled(1, "a storm"), titled(2, "a storm at sea"), titled(3, "calm"))
	at := func(r, n int) feed.EntryID { return titled(r, []string{"", "a storm", "a storm at sea", "calm"}[n]).ID }
	wish := reading.FilterWish{Name: "Storms", Words: "storm"}
	home, err := d.AddFilter(time.Unix(5, 0), wish)
	if err != nil {
		t.Fatal(err)
	}
	due := func(now int64, want reading.FilterID, asked time.Time) {
		t.Helper()
		Commit(t, a)
		f, last, err := a.StandingDue(t.Context(), time.Unix(now, 0))
		if err != nil || f.ID != want || !last.Equal(asked) {
			t.Errorf("at %d filter %d is due, asked for at %v (%v), want %d, %v", now, f.ID, last, err, want, asked)
		}
	}
	due(1<<40, 0, time.Time{}) // it stays at home
	wish.Standing = true
	if same, err := d.ChangeFilter(time.Unix(6, 0), home, wish); err != nil || same != home {
		t.Fatalf("filter %d is %d as a standing query, %v", home, same, err)
	}
	due(6, home, time.Time{})
	a.Asking(time.Unix(10, 0), home, time.Unix(20, 0))
	due(19, 0, time.Time{})
	due(20, home, time.Unix(10, 0))

	Keep(t, a, FeedRecord(otherNews, 9))
	own := FeedRecord(otherNews, 9).ID
	a.Found(time.Unix(11, 0), home, []feed.EntryID{at(1, 1), own, at(77, 1)}, "a trouble")
	Commit(t, a)
	d.wantFound(t, home, at(1, 1)) // what is followed is caught, or not
	a.Found(time.Unix(12, 0), home, []feed.EntryID{at(1, 1), at(2, 2)}, "")
	Commit(t, a)
	d.wantFound(t, home, at(2, 2), at(1, 1))
	list, err := d.CountedFilters(t.Context())
	if err != nil || list[0].Found != 2 || list[0].Caught != 0 || list[0].Trouble != "" || !list[0].Standing ||
		!list[0].Asked.Equal(time.Unix(10, 0)) || !list[0].Next.Equal(time.Unix(20, 0)) {
		t.Errorf("counted are %+v, %v", list, err)
	}
	a.Purge(time.Unix(13, 0), []feed.EntryID{at(2, 2)})
	Commit(t, a)
	d.wantFound(t, home, at(1, 1))

	wish.Standing = false
	if _, err := d.ChangeFilter(time.Unix(14, 0), home, wish); err != nil {
		t.Fatal(err)
	}
	a.Found(time.Unix(15, 0), home, []feed.EntryID{at(3, 3)}, "it was being asked for")
	due(1<<40, 0, time.Time{})
	d.wantFound(t, home, at(1, 1)) // what it had stays

	// Once the feed is followed the entry is caught, and is there once.
	Follow(t, a, time.Unix(16, 0), news, otherNews)
	d.wantFound(t, home, at(1, 1))
	wish.Standing = true
	if _, err := d.ChangeFilter(time.Unix(17, 0), home, wish); err != nil {
		t.Fatal(err)
	}
	due(20, home, time.Unix(10, 0)) // as it was, however often it is turned off and on
	wish.Words = "calm"
	other, err := d.ChangeFilter(time.Unix(18, 0), home, wish)
	if err != nil {
		t.Fatal(err)
	}
	for a.Sweep(time.Unix(100, 0), 100) {
	}
	Commit(t, a)
	d.wantFound(t, other)
}

// A person other than the owner has no standing query, and the owner not any number of them.
func testStandingBounds(t *testing.T, a reading.Database) {
	ann := addPerson(t, a, "Ann")
	Commit(t, a)
	d, hers := deskOf(a, reading.Owner), deskOf(a, ann)
	wish := reading.FilterWish{Name: "Storms", Words: "storm", Standing: true}
	if _, err := hers.AddFilter(time.Unix(1, 0), wish); !errors.Is(err, reading.ErrStanding) {
		t.Errorf("another person's: %v", err)
	}
	id := hers.add(t, "Storms", "storm", reading.RuleNone)
	if _, err := hers.ChangeFilter(time.Unix(1, 0), id, wish); !errors.Is(err, reading.ErrStanding) {
		t.Errorf("another person's: %v", err)
	}
	var last reading.FilterID
	for n := range reading.MaxStanding {
		wish.Name = fmt.Sprint(n)
		var err error
		if last, err = d.AddFilter(time.Unix(1, 0), wish); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.ChangeFilter(time.Unix(1, 0), last, wish); err != nil {
		t.Errorf("one of them again: %v", err)
	}
	wish.Name = "more"
	if _, err := d.AddFilter(time.Unix(1, 0), wish); !errors.Is(err, reading.ErrStanding) {
		t.Errorf("one more than there may be: %v", err)
	}
	Commit(t, a)

	var ids []feed.EntryID
	for n := range reading.MaxFound + 10 {
		r := titled(n, "storm")
		Keep(t, a, r)
		ids = append(ids, r.ID)
		if len(ids) == 505 {
			a.Found(time.Unix(int64(2000+n), 0), last, ids, "")
			ids = nil
		}
	}
	Commit(t, a)
	list, err := d.CaughtBy(t.Context(), last, 0, true, 2*reading.MaxFound)
	if err != nil || len(list) != reading.MaxFound || list[0].At.Unix() != 2000+1009 ||
		list[len(list)-1].At.Unix() != 2000+504 {
		t.Errorf("it has %d entries (%v), want the latest", len(list), err)
	}
}
