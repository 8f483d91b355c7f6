package reader_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader"
	"feedex/safehtml"
)

var update = flag.Bool("update", false, "rewrite the documents in testdata")

// pagedLibrary is exampleLibrary with archive documents, and a neighbor's word for its last entry.
func pagedLibrary() *library {
	l := exampleLibrary()
	l.entries[exampleURL][3].Confirmed = false
	page := func(ref, prev, next archive.BlockRef, seqs ...int64) archive.Block {
		return archive.Block{BlockRef: ref, Prev: prev, Next: next, Seqs: seqs, Updated: day(5),
			Digest: fmt.Sprint(ref)}
	}
	one, two, open := archive.BlockRef{Block: 1}, archive.BlockRef{Block: 2}, archive.BlockRef{Block: 3, Filled: 22}
	l.pages = []archive.Block{page(one, archive.BlockRef{}, two), page(two, one, open, 1003, 1001),
		page(open, two, archive.BlockRef{}, 1002)}
	return l
}

// The documents are those in testdata, to the byte.
func TestFormatsGolden(t *testing.T) {
	h := reader.New(reader.Config{Source: pagedLibrary(), Version: "1.0"})
	for target, c := range map[string]struct{ golden, contentType string }{
		"/feed/" + string(exampleURL): {"example.atom", "application/atom+xml; charset=utf-8"},
		"/feeds/1.rss":                {"example.rss", "application/rss+xml; charset=utf-8"},
		"/feeds/1.json":               {"example.json", "application/feed+json"},
		"/feeds/1/2.atom":             {"page.atom", "application/atom+xml; charset=utf-8"},
		"/feeds/1/2.rss":              {"page.rss", "application/rss+xml; charset=utf-8"},
		"/feeds/1/2.json":             {"page.json", "application/feed+json"},
		"/all.atom":                   {"all.atom", "application/atom+xml; charset=utf-8"},
		"/all.rss":                    {"all.rss", "application/rss+xml; charset=utf-8"},
		"/all.json":                   {"all.json", "application/feed+json"},
	} {
		w := get(t, h, target)
		got := body(t, w)
		if ct := w.Header().Get("Content-Type"); ct != c.contentType {
			t.Errorf("%s: Content-Type %q", target, ct)
		}
		golden := "testdata/" + c.golden
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s (go test -update rewrites it):\n%s", target, golden, got)
		}
	}
}

// Whatever the format, a reader gets the same entries under the same ids.
func TestFormatsReadByGofeed(t *testing.T) {
	l := pagedLibrary()
	h := reader.New(reader.Config{Source: l})
	var first *gofeed.Feed
	for _, name := range []string{"atom", "rss", "json"} {
		doc, err := gofeed.NewParser().Parse(bytes.NewReader(body(t, get(t, h, "/feeds/1."+name))))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if first == nil {
			first = doc
		}
		if doc.Title != "Example News" || doc.Link != "https://example.com/" ||
			doc.FeedLink != "http://127.0.0.1:7791/feeds/1."+name || len(doc.Items) != 4 {
			t.Fatalf("%s: %q, %q, %q with %d entries", name, doc.Title, doc.Link, doc.FeedLink, len(doc.Items))
		}
		for i, item := range doc.Items {
			want := first.Items[i]
			e := &l.entries[exampleURL][i].Entry
			if item.GUID != want.GUID || item.Link != want.Link || name != "rss" &&
				len(item.Authors) != len(e.Authors) || item.Title == "" {
				t.Errorf("%s: entry %d is %q at %q, want %q at %q", name, i, item.GUID, item.Link, want.GUID, want.Link)
			}
			if !e.Published.IsZero() && (item.PublishedParsed == nil || !item.PublishedParsed.Equal(e.Published)) {
				t.Errorf("%s: entry %d was published at %v, want %v", name, i, item.PublishedParsed, e.Published)
			}
			if text := item.Content + item.Description; !strings.Contains(text, want.Content) || want.Content == "" &&
				!strings.Contains(text, want.Description) {
				t.Errorf("%s: entry %d: %q, want %q", name, i, text, want.Content)
			}
		}
	}
}

// Read by ourselves, the formats give back what went in, as readers are given it.
func TestFormatsReadByFeed(t *testing.T) {
	l := pagedLibrary()
	h := reader.New(reader.Config{Source: l})
	for _, name := range []string{"atom", "rss", "json"} {
		w := get(t, h, "/feeds/1."+name)
		doc, err := feed.Parse(exampleURL, w.Header().Get("Content-Type"), body(t, w), day(9))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, got := l.entries[exampleURL][0].Entry, doc.Entries[0]
		safehtml.Entry(&e)
		enclosures := slices.Clone(e.Enclosures)
		if name == "json" {
			enclosures[1].Type = "application/octet-stream" // there must be one
		}
		// RSS has no id of a source, and what is Dublin Core's comes behind what is Atom's.
		var rights []string
		var from feed.Original
		switch r := e.Rights; name {
		case "atom":
			rights, from = []string{r[0], r[2], r[1], r[3]}, e.CopiedFrom
		case "rss":
			rights, from = r, feed.Original{Title: e.CopiedFrom.Title, URL: e.CopiedFrom.URL}
		}
		if !slices.Equal(got.Rights, rights) || got.CopiedFrom != from {
			t.Errorf("%s: %q from %+v, want %q from %+v", name, got.Rights, got.CopiedFrom, rights, from)
		}
		extras := e.Extras
		if name == "json" { // it has no name for these
			extras.Season, extras.Episode, extras.Chapters, extras.Transcripts = 0, 0, feed.Companion{}, nil
		}
		if !got.Extras.Equal(&extras) || doc.Language != "en" || doc.Description != "Engines &amp; more" &&
			doc.Description != "Engines & more" || doc.Icon != "https://example.com/logo.png?a=1&b=2" {
			t.Errorf("%s: %+v of %q, %q, %q, want %+v", name, got.Extras, doc.Language, doc.Description, doc.Icon,
				extras)
		}
		if got.ID != e.ID || !slices.Equal(got.Authors, e.Authors) || !slices.Equal(got.Enclosures, enclosures) ||
			!slices.Equal(got.Categories, e.Categories) {
			t.Errorf("%s: %+v, want %+v", name, got, e)
		}
		if name != "json" && doc.PrevArchive != "http://127.0.0.1:7791/feeds/1/3-22."+feed.URL(name) {
			t.Errorf("%s: what came before is at %q", name, doc.PrevArchive)
		}
	}
}

// The demands of the specification of RSS 2.0 and of its best practices.
func TestRSSMusts(t *testing.T) {
	l := pagedLibrary()
	l.entries[exampleURL][3].Entry.Title, l.entries[exampleURL][3].Entry.Summary = "", ""
	var doc struct {
		Version string `xml:"version,attr"`
		Channel struct {
			Title, Link, Description string
			Items                    []struct {
				Title       string `xml:"title"`
				Link        string `xml:"link"`
				Description string `xml:"description"`
				PubDate     string `xml:"pubDate"`
				GUID        struct {
					Permanent string `xml:"isPermaLink,attr"`
					ID        string `xml:",chardata"`
				} `xml:"guid"`
				Enclosures []struct {
					URL    string `xml:"url,attr"`
					Length string `xml:"length,attr"`
					Type   string `xml:"type,attr"`
				} `xml:"enclosure"`
				Media []struct{} `xml:"http://search.yahoo.com/mrss/ content"`
			} `xml:"item"`
		} `xml:"channel"`
	}
	if err := xml.Unmarshal(body(t, get(t, reader.New(reader.Config{Source: l}), "/feeds/1.rss")), &doc); err != nil ||
		doc.Version != "2.0" {
		t.Fatalf("version %q, %v", doc.Version, err)
	}
	for i, item := range doc.Channel.Items {
		if item.Title == "" && item.Description == "" {
			t.Errorf("item %d has neither title nor description", i)
		}
		if _, err := time.Parse(time.RFC1123Z, item.PubDate); err != nil {
			t.Errorf("item %d: %v", i, err)
		}
		if permanent := item.GUID.Permanent == "true"; item.GUID.ID == "" || permanent != (item.GUID.ID == item.Link) {
			t.Errorf("item %d: guid %+v of %q", i, item.GUID, item.Link)
		}
		if len(item.Enclosures) > 1 {
			t.Errorf("item %d has %d enclosures", i, len(item.Enclosures))
		}
		for _, e := range item.Enclosures {
			if e.URL == "" || e.Length == "" || e.Type == "" {
				t.Errorf("item %d: enclosure %+v", i, e)
			}
		}
	}
	if first := doc.Channel.Items[0]; first.Title != "Everything & more inside" || len(first.Media) != 1 {
		t.Errorf("the first item: %+v", first)
	}
}

// The demands of the specification of JSON Feed 1.1.
func TestJSONFeedMusts(t *testing.T) {
	l := pagedLibrary()
	for _, text := range []string{`</script>"\`, "\u2028 line"} {
		l.entries[exampleURL][1].Entry.Title += text
	}
	var doc struct {
		Version string            `json:"version"`
		Title   string            `json:"title"`
		Next    string            `json:"next_url"`
		Items   []json.RawMessage `json:"items"`
	}
	h := reader.New(reader.Config{Source: l})
	if err := json.Unmarshal(body(t, get(t, h, "/feeds/1.json")), &doc); err != nil ||
		doc.Version != "https://jsonfeed.org/version/1.1" || doc.Title == "" || len(doc.Items) != 4 {
		t.Fatalf("%+v, %v", doc, err)
	}
	if doc.Next != "http://127.0.0.1:7791/feeds/1/3-22.json" {
		t.Errorf("next_url %q", doc.Next)
	}
	for i, text := range doc.Items {
		var item struct {
			ID          any     `json:"id"`
			Content     *string `json:"content_html"`
			Attachments []struct {
				URL  string `json:"url"`
				Type string `json:"mime_type"`
			} `json:"attachments"`
		}
		if err := json.Unmarshal(text, &item); err != nil || item.Content == nil {
			t.Errorf("item %d: %v: %s", i, err, text)
		}
		if id, ok := item.ID.(string); !ok || id == "" {
			t.Errorf("item %d: id %v", i, item.ID)
		}
		for _, a := range item.Attachments {
			if a.URL == "" || a.Type == "" {
				t.Errorf("item %d: attachment %+v", i, a)
			}
		}
	}
	l.entries[exampleURL] = nil
	if b := body(t, get(t, h, "/feeds/1.json")); !json.Valid(b) {
		t.Errorf("without entries: %s", b)
	}
}

// A post without a title is known by its text in every format, without anything that a reader would take for markup,
// and the direction of its text is left to it.
func TestUntitledPosts(t *testing.T) {
	l := exampleLibrary()
	e := &l.entries[exampleURL][0].Entry
	e.Title, e.Summary, e.Content = "", "", "<p>\u05e9\u05dc\u05d5\u05dd, a &lt;b&gt; tag &amp; more</p><p>two</p>"
	h := reader.New(reader.Config{Source: l})
	for _, name := range []string{"atom", "rss", "json"} {
		doc, err := gofeed.NewParser().Parse(bytes.NewReader(body(t, get(t, h, "/feeds/1."+name))))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		const title = "\u05e9\u05dc\u05d5\u05dd, a ＜b＞ tag & more two"
		if got := doc.Items[0]; got.Title != title || !strings.HasPrefix(got.Content, `<div dir="auto"><p>`) {
			t.Errorf("%s: %q is called %q", name, got.Content, got.Title)
		}
		if left := doc.Items[1]; strings.Contains(left.Content+left.Description, "dir=") {
			t.Errorf("%s: %q has a direction", name, left.Description)
		}
	}
}
