package readertest

import (
	"context"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
)

// Noon is when the example was arranged, and Evening when all marks are made.
var (
	Noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	Evening = time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
)

// The feeds of the example.
const (
	News  = feed.URL("https://example.com/feed.xml")
	Comic = feed.URL("https://example.org/comic.atom")
	Plain = feed.URL("http://example.net/rss")
)

// Example opens a library with feeds 1 to 3 and items 1 to 7:
//
//	feed 1  News   in folder 1 "Papers"                  items 1, 2, 5 (read), 6 and 7
//	feed 2  Comic  in folders 1 and 2 "Ünsinn & Co"      item 3 (starred)
//	feed 3  Plain  in none, titled "My own title"        item 4
//
// Items 6 and 7 were filled in: they are read and not listed; 7 is starred. All others but 5 are unread.
func Example(t testing.TB) *Library {
	t.Helper()
	l := New(t)
	at := func(n int) time.Time { return Noon.Add(time.Duration(n) * time.Minute) }
	l.Follow(t, archive.Feed{URL: News, Title: "Example &amp; News", Link: "https://example.com/", Since: Noon,
		LastPoll: at(9)})
	l.Follow(t, archive.Feed{URL: Comic, Title: "Comic", Link: "https://example.org/", Since: Noon, LastPoll: at(8),
		Errors: 2, LastError: "404 Not Found"})
	l.Follow(t, archive.Feed{URL: Plain, Since: Noon})
	l.Arrive(t, at(1), feed.Entry{
		Feed: News, ID: "tag:example.com,2026:1", Title: "One &lt;1&gt;", Link: "https://example.com/1?a=1&b=2",
		Authors:   []string{"Ann", "Bob"},
		Published: at(-60), Content: `<p>First <a href="/more">more</a></p><script>alert(1)</script>`,
		Categories: []string{"a", "b"},
		Enclosures: []feed.Enclosure{{URL: "https://example.com/1.mp3", Type: "audio/mpeg", Length: 1000}},
		Extras:     feed.Extras{Duration: 754 * time.Second, Image: "https://example.com/1.jpg"},
	})
	l.Arrive(t, at(2), feed.Entry{Feed: News, ID: "2", Title: "Two", Link: "https://example.com/2", Published: at(-50),
		Updated: at(-40), Summary: "second"})
	l.Arrive(t, at(3), feed.Entry{Feed: Comic, ID: "https://example.org/3", Link: "https://example.org/3",
		Published: at(-30), Content: `<img src="3.png">`})
	l.Arrive(t, at(4), feed.Entry{Feed: Plain, Summary: "no id, no title, no link, no date"})
	l.Arrive(t, at(5), feed.Entry{Feed: News, ID: "5", Title: "Five", Link: "https://example.com/5", Published: at(-20),
		Content: "fifth"})
	l.FillIn(t, at(6), feed.Entry{Feed: News, ID: "-1", Title: "Before", Link: "https://example.com/b",
		Published: at(-9000), Content: "before"})
	l.FillIn(t, at(7), feed.Entry{Feed: News, ID: "-2", Title: "Long before", Link: "https://example.com/lb",
		Published: at(-9900), Content: "long before"})

	ctx, own := context.Background(), "My own title"
	for _, err := range []error{
		l.Arrange(ctx,
			reading.Arrangement{URL: News, Into: []string{"Papers"}},
			reading.Arrangement{URL: Comic, Into: []string{"Papers", "Ünsinn & Co"}},
			reading.Arrangement{URL: Plain, Name: &own}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l.must(t, func(s reading.Database) {
		s.Pen(reading.Owner).Mark(at(10), []reading.ItemID{5}, reading.Mark{Read: reading.Yes})
		s.Pen(reading.Owner).Mark(at(10), []reading.ItemID{3, 7}, reading.Mark{Starred: reading.Yes})
	})
	return l
}
