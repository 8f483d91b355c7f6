package archivetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// linked is an entry with a page of its own.
func linked(of feed.URL, id string, at time.Time) archive.Record {
	return archive.NewRecord(feed.Entry{Feed: of, ID: id, Title: id, Link: "https://example.com/" + id, Published: at,
		Summary: "An opening."}, at, protocol.NodeID{})
}

// A full text is beside its entry: people read it, nothing that others are told has any of it, and it goes with the
// entry.
func testFullTexts(t *testing.T, a reading.Database) {
	at := time.Unix(100_000, 0).UTC()
	a.KeepFeed(archive.Feed{URL: news, Subscribed: true, LastSuccess: at})
	record := linked(news, "ferry", at)
	a.Keep([]archive.Record{record})
	Commit(t, a)
	shelf := a.Shelf(reading.Owner)
	ids, err := shelf.IDs(t.Context(), reading.Stream{}, reading.Page{Limit: 9})
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	channel := func() archive.FeedVersion {
		t.Helper()
		return newsChannel(t, a).Version
	}
	before := channel()
	const full = "<p>Zeppelins everywhere.</p>"
	a.KeepFullText(reading.FullText{Item: ids[0], HTML: full, At: at.Add(time.Minute), Shown: true})
	a.KeepFullText(reading.FullText{Item: ids[0] + 1, HTML: full, At: at, Shown: true})
	Commit(t, a)

	read := func(want string) {
		t.Helper()
		for i, err := range shelf.Items(t.Context(), ids) {
			if err != nil || i.Entry.Content != want || i.Entry.Summary != "An opening." || i.EntryID != record.ID {
				t.Errorf("the item reads %+v, %v; want %q", i.Entry, err, want)
			}
		}
		texts, err := a.FullTexts(t.Context(), []int64{1, 2, -1})
		if err != nil || texts[1] != want || len(texts) > 1 {
			t.Errorf("texts %v, %v; want %q", texts, err, want)
		}
	}
	read(full)
	if kept, err := a.FullText(t.Context(), ids[0]); err != nil || kept.HTML != full || !kept.Shown ||
		!kept.At.Equal(at.Add(time.Minute)) {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	now := channel()
	changed, err := a.Changed(t.Context(), 1, before, now.Arrived, 9)
	if err != nil || len(changed) != 1 || now.Changed <= before.Changed {
		t.Errorf("%v changed, version %+v, was %+v: %v", changed, now, before, err)
	}

	// What may go to others has nothing of it.
	for r, err := range a.Records(t.Context(), changed) {
		if err != nil || r.Entry.Content != "" || r.Digest != record.Digest {
			t.Errorf("the record is %+v, %v", r, err)
		}
	}
	if r, number, err := a.ItemRecord(t.Context(), ids[0]); err != nil || number != 1 || r.Entry.Content != "" {
		t.Errorf("the record of the item is %+v of %d, %v", r, number, err)
	}
	for _, words := range []string{"zeppelins", "opening"} {
		f := feed.Filter{Words: []string{words}}
		found, err := a.Search(t.Context(), f)
		if err != nil || len(found) != map[string]int{"opening": 1}[words] {
			t.Errorf("%q finds %d, %v", words, len(found), err)
		}
	}

	// Readers hear of what changes for them, and of nothing else.
	told := func(want bool, what string, t1 reading.FullText) {
		t.Helper()
		was := channel()
		a.KeepFullText(t1)
		Commit(t, a)
		if got := channel().Changed > was.Changed; got != want {
			t.Errorf("%s: readers are told so: %v", what, got)
		}
	}
	again := reading.FullText{Item: ids[0], HTML: full, At: at.Add(2 * time.Minute), Shown: true}
	told(false, "the same text", again)
	again.HTML = "<p>Otherwise."
	told(true, "another text", again)
	told(true, "it is shown no more", reading.FullText{Item: ids[0], HTML: full, At: at})
	told(false, "what is not shown", reading.FullText{Item: ids[0], HTML: again.HTML, At: at})
	again.HTML = full
	told(true, "it is shown", again)

	a.ShowFullText(at, ids[0], false)
	Commit(t, a)
	read("")
	a.ShowFullText(at, ids[0], true)
	Commit(t, a)
	read(full)
	a.Purge(at, []feed.EntryID{record.ID})
	Commit(t, a)
	read("")
	if kept, err := a.FullText(t.Context(), ids[0]); err != nil || kept != (reading.FullText{}) {
		t.Errorf("after the entry went there is %+v, %v", kept, err)
	}
}

// Full texts are due of what a feed just published, as long as its owner wants them, within bounds.
func testFullTextsDue(t *testing.T, a reading.Database) {
	at := time.Unix(1_000_000, 0).UTC()
	for _, u := range []feed.URL{news, otherNews} {
		a.KeepFeed(archive.Feed{URL: u, Subscribed: true, LastSuccess: at})
	}
	old, unlinked := linked(news, "old", at.Add(-72*time.Hour)), linked(news, "unlinked", at)
	old.Seen, unlinked.Entry.Link = at, ""
	a.Keep([]archive.Record{old, unlinked, linked(news, "ferry", at), linked(otherNews, "other", at)})
	a.Fill(at, []archive.Record{linked(news, "filled in", at)})
	brought := linked(news, "brought", at)
	brought.Source = NodeID(t, "192.0.2.7:7790")
	a.Keep([]archive.Record{brought})
	Commit(t, a)
	due := func(now time.Time, want string) {
		t.Helper()
		id, err := a.FullTextDue(t.Context(), now, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, _, err := a.ItemRecord(t.Context(), id); err != nil || r.Entry.ID != want {
			t.Errorf("due at %v is %q, %v; want %q", now.Sub(at), r.Entry.ID, err, want)
		}
	}
	ask := func(u feed.URL, wanted bool, p reading.PersonID) {
		t.Helper()
		a.Pen(p).Arrange([]reading.Arrangement{{URL: u, FullText: &wanted}})
		Commit(t, a)
	}
	due(at, "")
	other, err := a.AddPerson(at, "other")
	if err != nil {
		t.Fatal(err)
	}
	ask(news, true, other)
	due(at, "")
	ask(news, true, reading.Owner)
	due(at.Add(time.Hour), "ferry")
	ferry, _ := a.FullTextDue(t.Context(), at.Add(time.Hour), nil)
	if id, err := a.FullTextDue(t.Context(), at.Add(time.Hour), []reading.ItemID{ferry}); id != 0 || err != nil {
		t.Errorf("beside one of the feed %d is due, %v", id, err)
	}
	due(at.Add(25*time.Hour), "")
	a.DeferFullTexts(news, at.AddDate(10, 0, 0)) // by a clock that was ahead
	Commit(t, a)
	due(at.Add(time.Hour), "ferry")
	a.DeferFullTexts(news, at.Add(2*time.Hour))
	a.DeferFullTexts(otherNews, at)
	Commit(t, a)
	due(at.Add(time.Hour), "")
	due(at.Add(2*time.Hour), "ferry")
	id, _ := a.FullTextDue(t.Context(), at.Add(2*time.Hour), nil)
	a.KeepFullText(reading.FullText{Item: id, Problem: "it is not there", At: at})
	Commit(t, a)
	due(at.Add(2*time.Hour), "") // what a neighbor brought leads to no page, whoever says that it is right
	a.Confirm(at, []feed.EntryID{brought.ID})
	Commit(t, a)
	due(at.Add(2*time.Hour), "")
	a.MarkPolled(at, []feed.EntryID{brought.ID})
	Commit(t, a)
	due(at.Add(2*time.Hour), "brought")
	id, _ = a.FullTextDue(t.Context(), at.Add(2*time.Hour), nil)
	again := reading.FullText{Item: id, Problem: "it is in trouble", At: at, Again: at.Add(4 * time.Hour), Troubles: 2}
	a.KeepFullText(again)
	Commit(t, a)
	if kept, err := a.FullText(t.Context(), id); err != nil || kept != again {
		t.Errorf("kept is %+v, %v; want %+v", kept, err, again)
	}
	due(at.Add(3*time.Hour), "")
	due(at.Add(4*time.Hour), "brought")
	again.Again = at.AddDate(10, 0, 0) // by a clock that was ahead
	a.KeepFullText(again)
	Commit(t, a)
	due(at.Add(3*time.Hour), "brought")
	a.Keep([]archive.Record{linked(news, "later", at)})
	Commit(t, a)
	due(at.Add(4*time.Hour), "later") // which has not been asked for
	later, _ := a.FullTextDue(t.Context(), at.Add(4*time.Hour), nil)
	a.KeepFullText(reading.FullText{Item: later, HTML: "<p>x", At: at, Again: at.Add(time.Hour)})
	a.KeepFullText(reading.FullText{Item: id, Problem: "it is not there", At: at})
	Commit(t, a)
	due(at.Add(4*time.Hour), "")

	// One that takes the feed's place is read so as well.
	const heir feed.URL = "https://example.net/heir"
	a.KeepFeed(archive.Feed{URL: heir, Subscribed: true, LastSuccess: at})
	a.KeepFeed(archive.Feed{URL: news, LastSuccess: at})
	a.Inherit(heir, news)
	a.Keep([]archive.Record{linked(heir, "heir", at)})
	Commit(t, a)
	due(at.Add(2*time.Hour), "heir")

	// No more than so many are asked for within a day.
	var many []archive.Record
	for i := range reading.FullTextsOfFeed + 1 {
		many = append(many, linked(heir, fmt.Sprintf("m%d", i), at))
	}
	a.Keep(many)
	Commit(t, a)
	for range reading.FullTextsOfFeed {
		id, err := a.FullTextDue(t.Context(), at.Add(2*time.Hour), nil)
		if err != nil || id == 0 {
			t.Fatal(id, err)
		}
		a.KeepFullText(reading.FullText{Item: id, Problem: "it is not there", At: at.Add(2 * time.Hour)})
		Commit(t, a)
	}
	due(at.Add(2*time.Hour), "")
	due(at.Add(time.Hour), "m49") // the clock was ahead when they were
	ask(heir, false, reading.Owner)
	ask(otherNews, true, reading.Owner)
	due(at.Add(2*time.Hour), "other")
}

// What a rule asks for is due as what is wanted of a feed is, of what it acted on alone, until that is taken back.
func testFullTextRule(t *testing.T, a reading.Database) {
	at := time.Unix(1_000_000, 0).UTC()
	ann, err := a.AddPerson(at, "Ann")
	if err != nil {
		t.Fatal(err)
	}
	wish := reading.FilterWish{Name: "full", Words: "ferry", Rule: reading.RuleFull}
	if _, err := deskOf(a, ann).AddFilter(at, wish); !errors.Is(err, reading.ErrOwnersRule) {
		t.Errorf("the rule of somebody else: %v", err)
	}
	d := deskOf(a, reading.Owner)
	Follow(t, a, at, news)
	Keep(t, a, linked(news, "an early ferry", at))
	full := d.add(t, "full", "ferry", reading.RuleFull)
	old := linked(news, "an old ferry", at.Add(-72*time.Hour))
	old.Seen = at
	brought := linked(news, "a ferry of a neighbor", at)
	brought.Source = NodeID(t, "192.0.2.7:7790")
	Keep(t, a, linked(news, "calm", at), old, brought)
	due := func(now time.Time, want string) reading.ItemID {
		t.Helper()
		id, err := a.FullTextDue(t.Context(), now, nil)
		if r, _, err2 := a.ItemRecord(t.Context(), id); errors.Join(err, err2) != nil || r.Entry.ID != want {
			t.Errorf("due is %q, %v; want %q", r.Entry.ID, errors.Join(err, err2), want)
		}
		return id
	}
	due(at, "") // what a neighbor brought no poll has shown yet
	a.MarkPolled(at, []feed.EntryID{brought.ID})
	Commit(t, a)
	a.DeferFullTexts(news, at.Add(time.Hour))
	Commit(t, a)
	due(at, "")
	item := due(at.Add(time.Hour), "a ferry of a neighbor")
	a.KeepFullText(reading.FullText{Item: item, HTML: "<p>more", At: at, Shown: true})
	Commit(t, a)
	now := at.Add(2 * time.Hour)
	due(now, "")

	// On the past it acts as far as that may come to something.
	all, err := d.Shelf.IDs(t.Context(), reading.Stream{Unlisted: true}, reading.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	d.Catch(now, full, all)
	if n := d.Act(now, full, all); n != 2 {
		t.Errorf("it acted on %d of the past, want the two that are neither old nor had", n)
	}
	Commit(t, a)
	due(now, "an early ferry")
	if list, err := d.CountedFilters(t.Context()); err != nil || list[0].Acted != 3 {
		t.Errorf("filters are %+v, %v", list, err)
	}
	d.TakeBack(now, full, now, 10)
	Commit(t, a)
	due(now, "")
	if kept, err := a.FullText(t.Context(), item); err != nil || !kept.Shown {
		t.Errorf("what was done before is %+v, %v", kept, err)
	}
	d.TakeBack(now, full, time.Time{}, 10)
	Commit(t, a)
	if kept, err := a.FullText(t.Context(), item); err != nil || kept.Shown || kept.HTML == "" {
		t.Errorf("what was taken back is %+v, %v", kept, err)
	}
	d.Act(now, full, all)
	d.RemoveFilter(time.Unix(9, 0), full)
	Commit(t, a)
	due(now, "")
}
