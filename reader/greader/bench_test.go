package greader_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader/readertest"
)

// BenchmarkIDs asks for the numbers of 10,000 unread items, of 100,000 over 1,000 feeds.
func BenchmarkIDs(b *testing.B) {
	const feeds, items = 1000, 100_000
	l := readertest.New(b)
	address := func(i int) feed.URL { return feed.URL(fmt.Sprintf("https://www%d.example.org/feed", i)) }
	for i := range feeds {
		l.Follow(b, archive.Feed{URL: address(i), Since: readertest.Noon})
	}
	for n := 0; n < items; n += feeds {
		list := make([]feed.Entry, feeds)
		for i := range list {
			list[i] = feed.Entry{Feed: address(i), ID: fmt.Sprint(n), Title: fmt.Sprint("Entry ", n)}
		}
		l.Arrive(b, readertest.Noon.Add(time.Duration(n)*time.Second), list...)
	}
	h := open(l)
	b.ResetTimer()
	for range b.N {
		if w := ask(h, "GET", api+"stream/items/ids?n=10000&s="+all+"&xt="+isRead, ""); w.Body.Len() < 100_000 {
			b.Fatal(w.Body)
		}
	}
}
