package archivetest

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

const (
	oldName  feed.URL = "http://moved.example.org/feed"
	newName  feed.URL = "https://moved.example.org/feed/"
	nameToo  feed.URL = "http://www.moved.example.org/feed"
	newest   feed.URL = "https://moved.example.net/feed"
	otherOne feed.URL = "https://other.example.org/feed"
)

// as is a record as one of another feed.
func as(u feed.URL, r archive.Record) archive.Record {
	r.Entry.Feed = u
	return archive.NewRecord(r.Entry, r.Seen, r.Source)
}

// A feed that is renamed is what it was to who reads it; what neighbors brought by its new name is of its past.
func testRename(t *testing.T, a *desk) {
	Follow(t, a, time.Unix(1, 0), oldName, otherNews)
	title := "My own"
	if !a.Arrange([]reading.Arrangement{{URL: oldName, Name: &title, Into: []string{"A"}}}) {
		t.Fatal("no room")
	}
	Keep(t, a, FeedRecord(oldName, 10), FeedRecord(otherNews, 11), FeedRecord(oldName, 12), FeedRecord(oldName, 13))
	a.Mark(MarkedAt, []reading.ItemID{1}, reading.Mark{Read: reading.Yes})
	a.Mark(MarkedAt, []reading.ItemID{3}, reading.Mark{Starred: reading.Yes})
	a.Purge(time.Unix(20, 0), []feed.EntryID{FeedRecord(oldName, 13).ID})
	brought := []archive.Record{FeedRecord(newName, 3), FeedRecord(newName, 12), FeedRecord(newName, 13)}
	for i := range brought {
		brought[i].Source, brought[i].Confirmed = from, false
	}
	a.Shared().Keep(brought)
	Commit(t, a)
	id := feedID(t, a, oldName)
	listed := []feed.Entry{FeedRecord(oldName, 12).Entry, FeedRecord(oldName, 13).Entry}
	if !a.Rename(time.Unix(30, 0), oldName, newName, listed) {
		t.Fatal("not renamed")
	}
	Commit(t, a)

	if got := feedID(t, a, newName); got != id {
		t.Errorf("its number was %d and is %d", id, got)
	}
	if f := a.LoadFeed(oldName); f.Subscribed || f.Became != newName || !a.LoadFeed(newName).Subscribed {
		t.Errorf("by its old name it is followed, or became %q", f.Became)
	}
	for n, want := range map[int]archive.Version{3: {Seen: time.Unix(3, 0).UTC()},
		10: {Seen: time.Unix(10, 0).UTC(), Polled: true}, 12: {Seen: time.Unix(12, 0).UTC(), Polled: true}} {
		r := FeedRecord(newName, n)
		v := a.Known([]feed.EntryID{r.ID, FeedRecord(oldName, n).ID})
		if v[0].Digest != r.Digest || v[0].Seen != want.Seen || v[0].Polled != want.Polled || !v[1].New() {
			t.Errorf("entry %d is %+v, and by its old name %+v", n, v[0], v[1])
		}
	}
	if v := a.Known([]feed.EntryID{FeedRecord(newName, 13).ID}); !v[0].Purged || v[0].Kept() {
		t.Errorf("what was purged is %+v", v[0])
	}
	WantIDs(t, a, all, 3, 2, 1)
	WantIDs(t, a, unread, 3, 2)
	WantIDs(t, a, starred, 3)
	WantIDs(t, a, reading.Stream{Feed: id, Unlisted: true}, 5, 3, 1)
	wantFolders(t, a, "My own [A]", " []")
	Keep(t, a, FeedRecord(newName, 10), FeedRecord(newName, 12), FeedRecord(newName, 40))
	WantIDs(t, a, reading.Stream{Feed: id}, 6, 3, 1)
	wantSound(t, a)
}

// Filters, labels and limits stay with a feed that is renamed, what was it by earlier names is it still, and nothing is
// renamed that may not be.
func testRenameWhole(t *testing.T, a reading.Database) {
	d, days := deskOf(a, reading.Owner), 30*24*time.Hour
	Follow(t, a, time.Unix(1, 0), oldName, otherOne)
	a.KeepFeed(archive.Feed{URL: nameToo, Became: oldName})
	a.SetLimits(oldName, nil, &days, nil)
	storms := d.add(t, "Storms", "storm", reading.RuleNone)
	Keep(t, a, as(oldName, titled(1, "storm")), as(oldName, titled(2, "calm")))
	d.label(t, "weather", true, 2)
	refused := func(to feed.URL) {
		t.Helper()
		if a.Rename(time.Unix(30, 0), oldName, to, nil) {
			t.Errorf("it is %s as well", to)
		}
		Commit(t, a)
		wantSound(t, a)
	}
	refused(otherOne) // it is followed itself
	a.KeepFeed(archive.Feed{URL: otherOne, Discreet: true})
	refused(otherOne)
	Follow(t, a, time.Unix(1, 0), blog)
	Keep(t, a, record(blog, 5, "read", ""))
	a.KeepFeed(archive.Feed{URL: blog})
	refused(blog) // it was read
	if a.Rename(time.Unix(30, 0), blog, newName, nil) {
		t.Error("what nobody follows is renamed")
	}
	many := make([]archive.Record, archive.MaxMerged/archive.RenamedEntry)
	for i := range many {
		many[i] = FeedRecord(news, i)
		many[i].Source, many[i].Confirmed = from, false
	}
	a.Shared().Keep(many)
	refused(news)

	if !a.Rename(time.Unix(30, 0), oldName, newName, nil) {
		t.Fatal("not renamed")
	}
	Commit(t, a)
	// Who knows the entry by the id that it had finds it by that, also if its feed is renamed again.
	if !a.Rename(time.Unix(31, 0), newName, newest, nil) || !a.Rename(time.Unix(32, 0), newest, newName, nil) {
		t.Error("not renamed again")
	}
	Commit(t, a)
	storm, is := as(oldName, titled(1, "storm")), as(newName, titled(1, "storm"))
	for _, id := range []feed.EntryID{storm.ID, is.ID} {
		if r, _, _, err := d.Shelf.Entry(t.Context(), id); err != nil || r.ID != is.ID || r.Was != storm.ID {
			t.Errorf("by %v it is %+v, %v", id, r, err)
		}
	}
	d.wantCaught(t, storms, 1)
	d.wantLabels(t, "weather[2] ")
	if became := a.LoadFeed(nameToo).Became; became != newName {
		t.Errorf("what became it earlier is %q now", became)
	}
	limits, err := a.FeedLimits(t.Context())
	if err != nil || !slices.ContainsFunc(limits, func(l archive.FeedLimits) bool {
		return l.URL == newName && l.Age == days
	}) {
		t.Errorf("limits are %+v, %v", limits, err)
	}
	Keep(t, a, as(newName, titled(7, "another storm")))
	d.wantCaught(t, storms, 4, 1)
	for _, f := range []feed.Filter{{Feed: newName}, {Feed: oldName}, {Feed: oldName, Shareable: true}} {
		f.Words, f.Limit = []string{"storm"}, 9
		want := 2
		if f.Shareable {
			want = 0
		}
		if got, err := a.Search(t.Context(), f); err != nil || len(got) != want {
			t.Errorf("%+v finds %+v, %v", f, got, err)
		}
	}
	wantSound(t, a)
}
