package archivetest

import (
	"fmt"
	"testing"

	"feedex/archive"
	"feedex/feed"
)

// testRelevance looks for what fits best among much that fits.
func testRelevance(t *testing.T, a Archive) {
	texts := []struct{ title, summary string }{
		1: {"harbor", "once and no more"},
		2: {"harbor news", "harbor"},
		3: {"something else, with a title that goes on for a while and at last names the harbor", "and more"},
		4: {"other", "harbor harbor harbor harbor"},
		5: {"other", "harbor"},
		6: {"other", "the harbor, then"},
		7: {"none", "none"},
	}
	for n, text := range texts[1:] {
		a.Keep([]archive.Record{record(news, n, text.title, text.summary)})
	}
	// Newer ones, more than are looked at otherwise, that hold it once in a long text.
	long := "harbor"
	for i := range 200 {
		long += fmt.Sprint(" word", i)
	}
	for n := range archive.RankCandidates {
		a.Keep([]archive.Record{record(blog, n, "other", long)})
	}
	Commit(t, a)
	for range 2 { // before and after they are indexed
		var got []int64
		for _, r := range search(t, a, feed.Filter{Words: []string{"harbor"}, Relevance: true, Limit: 4}) {
			got = append(got, r.Seq)
		}
		// Those with the word in the title are found behind a thousand others; 4 to 6 are not.
		if want := []int64{2, 1, 3, 7 + archive.RankCandidates}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("found %v, want %v", got, want)
		}
		got = nil
		for _, r := range search(t, a, feed.Filter{Match: mustMatch(t, "harbor NOT news"),
			Feed: news, Relevance: true}) {
			got = append(got, r.Seq)
		}
		if want := []int64{1, 3, 4, 6, 5}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of the feed, found %v, want %v", got, want)
		}
		if n := len(search(t, a, feed.Filter{Relevance: true})); n != feed.DefaultLimit {
			t.Errorf("without words, found %d", n)
		}
		indexAll(t, a)
	}
}
