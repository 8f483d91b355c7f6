package miniflux_test

import (
	"fmt"
	"net/http"
	"testing"

	"feedex/feed"
	"feedex/reader/readertest"
)

// BenchmarkEntries measures the requests of readers to a node with 20,000 entries, all unread.
func BenchmarkEntries(b *testing.B) {
	l := readertest.Example(b)
	var list []feed.Entry
	for i := range 20_000 {
		list = append(list, feed.Entry{Feed: readertest.News, ID: fmt.Sprint("more ", i), Title: "A title",
			Content: "<p>Some <b>words</b></p>"})
	}
	l.Arrive(b, readertest.Noon, list...)
	h := handler(l)
	for _, c := range []struct{ name, target string }{
		{"newsboat", "/v1/feeds/1/entries?order=published_at&direction=desc&limit=100"},
		{"page", "/v1/entries?limit=100&offset=10000&order=published_at&direction=desc"},
		{"below", "/v1/entries?order=id&direction=desc&limit=125&status=unread&before_entry_id=10000"},
		{"above", "/v1/entries?order=id&direction=desc&after_entry_id=19900&limit=125"},
		{"all", "/v1/entries?limit=0"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if w := readertest.Ask(h, "GET", c.target, ""); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
