package archivetest

import (
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// testFill fills in the past of a feed: it stands behind what arrived, whenever that was.
func testFill(t *testing.T, a Archive) {
	first, second := record(news, 8, "word eight", ""), record(news, 9, "word nine", "")
	past := []archive.Record{record(news, 7, "word seven", ""), second, record(blog, 6, "word six", ""),
		record(news, 5, "word five", "")}
	for i := range past {
		past[i].Confirmed = i == 3 // what the caller says, and no more: no own poll has shown them
	}
	a.Keep([]archive.Record{first})
	Commit(t, a)
	indexAll(t, a)
	a.Keep([]archive.Record{second})
	edited := past[1]
	edited.Entry.Title = "another version of nine"
	edited.Digest = edited.Entry.Digest()
	if got := a.Fill(base.Add(time.Hour), []archive.Record{past[0], edited, past[2]}); !slices.Equal(got,
		[]bool{true, false, true}) {
		t.Errorf("Fill = %v, want all but what is kept", got)
	}
	Commit(t, a)
	if got := a.Fill(base.Add(time.Hour), []archive.Record{past[3], past[3], past[0]}); !slices.Equal(got,
		[]bool{true, false, false}) {
		t.Errorf("Fill = %v, want each once", got)
	}
	Commit(t, a)
	first.Seq, second.Seq, past[0].Seq, past[2].Seq, past[3].Seq = 1, 2, -1, -2, -3
	all := []archive.Record{second, first, past[0], past[2], past[3]}
	for range 2 { // before and after they are indexed
		wantFound(t, a, feed.Filter{}, all...)
		wantFound(t, a, feed.Filter{Words: []string{"word"}}, all...)
		wantFound(t, a, feed.Filter{Words: []string{"word"}, Limit: 3}, all[:3]...)
		wantFound(t, a, feed.Filter{Feed: news}, second, first, past[0], past[3])
		wantFound(t, a, feed.Filter{Match: mustMatch(t, "NOT eight"), Limit: 3}, second, past[0], past[2])
		wantFound(t, a, feed.Filter{Until: first.Time()}, past[0], past[2], past[3])
		wantFound(t, a, feed.Filter{IDs: []feed.EntryID{past[2].ID}}, past[2])
		if got := a.Arrivals(news, 10); len(got) != 2 {
			t.Errorf("Arrivals = %v, want the two that arrived", got)
		}
		indexAll(t, a)
	}

	// The numbering of later entries goes on from where it was, and an entry that arrives again stays where it is.
	third := record(news, 10, "third", "")
	again := past[2]
	again.Entry.Title = "six again"
	again.Digest, again.Confirmed = again.Entry.Digest(), true
	a.Keep([]archive.Record{third, again})
	a.Confirm(base, []feed.EntryID{past[0].ID})
	Commit(t, a)
	third.Seq, again.Seq, past[0].Confirmed = 3, -2, true
	for range 2 {
		wantFound(t, a, feed.Filter{}, third, second, first, past[0], again, past[3])
		wantFound(t, a, feed.Filter{Words: []string{"again"}}, again)
		wantFound(t, a, feed.Filter{Words: []string{"six", "word"}})
		indexAll(t, a)
	}
}

func mustMatch(t testing.TB, text string) feed.Match {
	t.Helper()
	m, err := feed.ParseMatch(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
