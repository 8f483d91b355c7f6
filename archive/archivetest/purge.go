package archivetest

import (
	"slices"
	"testing"

	"feedex/archive"
	"feedex/feed"
)

// testPurge drops entries: they are gone wherever one looks, and nothing but Readmit lets them come back.
func testPurge(t *testing.T, a Archive) {
	one, two, three := record(news, 1, "word one", ""), record(news, 2, "word two", ""),
		record(blog, 3, "word three", "")
	past := record(news, 0, "word zero", "")
	a.Keep([]archive.Record{one, two, three})
	a.Fill(base, []archive.Record{past})
	a.Hide([]feed.EntryID{one.ID})
	Commit(t, a)
	indexAll(t, a)

	ids := []feed.EntryID{one.ID, {9}, past.ID, one.ID}
	if got := a.Purge(base, ids); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("Purge = %v, want those dropped that were there, each once", got)
	}
	two.Seq, three.Seq = 2, 3
	wantPurged := func() {
		t.Helper()
		Commit(t, a)
		for _, r := range []archive.Record{one, past} {
			want := archive.Version{Seen: r.Seen, Polled: true, Purged: true}
			if got := a.Known([]feed.EntryID{r.ID})[0]; got != want || got.New() || got.Kept() {
				t.Errorf("Known = %+v, want %+v", got, want)
			}
		}
		wantFound(t, a, feed.Filter{}, three, two)
		wantFound(t, a, feed.Filter{Words: []string{"word"}}, three, two)
		wantFound(t, a, feed.Filter{Words: []string{"one"}})
		wantFound(t, a, feed.Filter{IDs: []feed.EntryID{one.ID, past.ID, two.ID}}, two)
		if got := a.Arrivals(news, 10); len(got) != 1 {
			t.Errorf("Arrivals = %v, want the one that is left", got)
		}
	}
	wantPurged()

	// However it comes.
	edited := one
	edited.Entry.Title = "word one, edited"
	edited.Digest = edited.Entry.Digest()
	a.Keep([]archive.Record{one, edited, past})
	if got := a.Fill(base, []archive.Record{one, past, edited}); slices.Contains(got, true) {
		t.Errorf("Fill = %v, want nothing", got)
	}
	a.Confirm(base, []feed.EntryID{one.ID})
	a.Hide([]feed.EntryID{one.ID})
	Commit(t, a)
	indexAll(t, a)
	wantPurged()

	// A new entry beside it comes, with a Seq that was never used.
	four := record(news, 4, "word four", "")
	a.Keep([]archive.Record{one, four})
	Commit(t, a)
	four.Seq = 4
	wantFound(t, a, feed.Filter{}, four, three, two)

	a.Readmit([]feed.EntryID{one.ID, {9}})
	if got := a.Known([]feed.EntryID{one.ID})[0]; !got.New() {
		t.Errorf("Known = %+v of an entry that may come again", got)
	}
	if got := a.Fill(base, []archive.Record{past, edited}); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("Fill = %v, want the one that may come again", got)
	}
	Commit(t, a)
	edited.Seq = -2
	for range 2 {
		wantFound(t, a, feed.Filter{Words: []string{"word"}}, four, three, two, edited)
		wantFound(t, a, feed.Filter{Words: []string{"word"}, Shareable: true}, four, three, two, edited)
		indexAll(t, a)
	}

	// The newest too, and all.
	a.Purge(base, []feed.EntryID{four.ID, three.ID, two.ID, edited.ID})
	Commit(t, a)
	indexAll(t, a)
	wantFound(t, a, feed.Filter{})
	five := record(blog, 5, "five", "")
	a.Keep([]archive.Record{five})
	Commit(t, a)
	five.Seq = 5
	wantFound(t, a, feed.Filter{}, five)
	indexAll(t, a)
	wantFound(t, a, feed.Filter{Words: []string{"five"}}, five)
}

// testPurgeUnshown drops what neighbors brought. Neighbors do not bring it back, and an own poll does: to have it
// dropped in time would else be a way to keep it from the owner.
func testPurgeUnshown(t *testing.T, a Archive) {
	one, two, polled := record(news, 1, "one", ""), record(news, 2, "two", ""), record(news, 3, "three", "")
	for _, r := range []*archive.Record{&one, &two, &polled} {
		r.Source, r.Confirmed = NodeID(t, "192.0.2.7:7790"), false
	}
	a.Keep([]archive.Record{one, two, polled})
	a.MarkPolled(base, []feed.EntryID{polled.ID})
	Commit(t, a)
	a.Purge(base, []feed.EntryID{one.ID, two.ID, polled.ID})
	a.Keep([]archive.Record{one})
	Commit(t, a)
	for i, want := range []archive.Version{{Seen: one.Seen, Purged: true, Gone: one.Digest},
		{Seen: two.Seen, Purged: true, Gone: two.Digest}, {Seen: polled.Seen, Polled: true, Purged: true}} {
		if got := a.Known([]feed.EntryID{one.ID, two.ID, polled.ID})[i]; got != want {
			t.Errorf("Known = %+v, want %+v", got, want)
		}
	}
	own, past, late := record(news, 1, "one", ""), record(news, 2, "two", ""), record(news, 3, "three", "")
	a.Keep([]archive.Record{own, late})
	if got := a.Fill(base, []archive.Record{two, past, late}); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("Fill = %v, want what the publisher's archive has", got)
	}
	Commit(t, a)
	own.Seq, past.Seq = 4, -1
	past.Confirmed = true
	wantFound(t, a, feed.Filter{}, own, past)
}

// testPurgeForged drops what one neighbor forged. Others bring what is true, and what was purged stays away, whichever
// neighbor brings it; of what own polls had shown neighbors bring nothing.
func testPurgeForged(t *testing.T, a Archive) {
	forged, polled := record(news, 1, "forged", ""), record(news, 2, "polled", "")
	forged.Source, forged.Confirmed = NodeID(t, "192.0.2.7:7790"), false
	a.Keep([]archive.Record{forged, polled})
	Commit(t, a)
	a.Purge(base, []feed.EntryID{forged.ID, polled.ID})
	genuine, other := record(news, 1, "genuine", ""), record(news, 2, "other", "")
	genuine.Source, other.Source, forged.Source = NodeID(t, "198.51.100.9:7790"), forged.Source,
		NodeID(t, "203.0.113.5:7790")
	for _, r := range []*archive.Record{&genuine, &other, &forged} {
		r.Confirmed = false
		if v := a.Shared().Known([]feed.EntryID{r.ID})[0]; v.Kept() || v.Admits(r) != (r == &genuine) {
			t.Errorf("%q is known as %+v", r.Entry.Title, v)
		}
	}
	if got := a.Fill(base, []archive.Record{forged, other}); slices.Contains(got, true) {
		t.Errorf("Fill = %v of what was purged", got)
	}
	a.Shared().Keep([]archive.Record{forged, other, genuine})
	Commit(t, a)
	genuine.Seq = 3
	wantFound(t, a, feed.Filter{}, genuine)
}
