package poller

import (
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const news feed.URL = "https://news.example/feed"

// A document is read by others too: dates that do not count are put right on a copy of its entries.
func TestKeptDatesLeaveTheDocument(t *testing.T) {
	first := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	doc := &feed.Document{Feed: news,
		Entries: []feed.Entry{{Feed: news, ID: "1", Title: "It passed", Published: first.Add(time.Hour)}}}
	kept := doc.Entries[0]
	kept.Published = first
	items := oldestFirst(doc)
	keepDates(items, []archive.Version{{Digest: kept.Digest(), Published: first, Seen: first, Confirmed: true,
		Polled: true}})
	if items[0].Digest != kept.Digest() || !items[0].entry.Published.Equal(first) {
		t.Errorf("the entry is dated %v, want %v", items[0].entry.Published, first)
	}
	if !doc.Entries[0].Published.Equal(first.Add(time.Hour)) {
		t.Error("the document was written to")
	}
}
