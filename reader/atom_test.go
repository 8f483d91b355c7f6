package reader_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader"
	"feedex/safehtml"
)

func exampleDocument(t *testing.T) []byte {
	t.Helper()
	h := reader.New(reader.Config{Source: exampleLibrary(), Version: "1.0"})
	w := get(t, h, "/feed/"+string(exampleURL))
	if got := w.Header().Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	return body(t, w)
}

// texts are the entry's summary and content as Atom has them: where there is neither content nor a link,
// Atom wants content.
func texts(e feed.Entry) (summary, content string) {
	safe := safehtml.New()
	e.Summary, e.Content = safe.Clean(e.Summary, e.Link), safe.Clean(e.Content, e.Link)
	if e.Content == "" && e.Link == "" {
		return "", e.Summary
	}
	return e.Summary, e.Content
}

// ids are the ids of the example's entries in Atom: as published where that is unique in the world, else made from the
// EntryID, the first that it had.
func ids(records []archive.Record) []string {
	uuid := func(r archive.Record) string {
		s := cmp.Or(r.Was, r.ID).String()
		variant := "89ab"[strings.IndexByte("0123456789abcdef", s[16])%4]
		return fmt.Sprintf("urn:uuid:%s-%s-8%s-%c%s-%s", s[:8], s[8:12], s[13:16], variant, s[17:20], s[20:32])
	}
	return []string{"tag:example.com,2026:4", "https://example.com/3", uuid(records[2]), uuid(records[3])}
}

func TestAtomReadByGofeed(t *testing.T) {
	records := exampleLibrary().entries[exampleURL]
	doc, err := gofeed.NewParser().Parse(bytes.NewReader(exampleDocument(t)))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Title != "Example News" || doc.Link != "https://example.com/" ||
		doc.FeedLink != "http://127.0.0.1:7791/feed/https://example.com/feed.xml" {
		t.Errorf("feed is %q, %q, %q", doc.Title, doc.Link, doc.FeedLink)
	}
	if len(doc.Items) != len(records) {
		t.Fatalf("%d items, want %d", len(doc.Items), len(records))
	}
	for i, want := range ids(records) {
		e, item := records[i].Entry, doc.Items[i]
		if item.GUID != want || item.Title != safehtml.Label(e.Title) || item.Link != e.Link {
			t.Errorf("item %d: %q %q %q, want %q %q %q", i, item.GUID, item.Title, item.Link, want, e.Title, e.Link)
		}
		if summary, content := texts(e); item.Description != summary || item.Content != content {
			t.Errorf("item %d: summary %q, content %q, want %q, %q", i, item.Description, item.Content,
				summary, content)
		}
		if !slices.Equal(item.Categories, e.Categories) || len(item.Enclosures) != len(e.Enclosures) {
			t.Errorf("item %d: categories %q, %d enclosures", i, item.Categories, len(item.Enclosures))
		}
		if item.UpdatedParsed == nil {
			t.Errorf("item %d has no time", i)
		}
	}
}

func TestAtomReadByFeed(t *testing.T) {
	records := exampleLibrary().entries[exampleURL]
	doc, err := feed.Parse(exampleURL, "application/atom+xml; charset=utf-8", exampleDocument(t), day(9))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Title != "Example News" || doc.Link != "https://example.com/" || len(doc.Entries) != len(records) {
		t.Fatalf("feed %q, %q with %d entries", doc.Title, doc.Link, len(doc.Entries))
	}
	times := []time.Time{day(5), day(3), day(2), day(6)} // updated, else published, else seen
	for i, want := range ids(records) {
		e, got := records[i].Entry, doc.Entries[i]
		summary, content := texts(e)
		if got.ID != want || got.Title != safehtml.Label(e.Title) || got.Link != e.Link || got.Summary != summary ||
			got.Content != content {
			t.Errorf("entry %d is\n%+v, want id %q of\n%+v", i, got, want, e)
		}
		if !got.Updated.Equal(times[i]) || !e.Published.IsZero() && !got.Published.Equal(e.Published) {
			t.Errorf("entry %d: published %v, updated %v, want %v, %v", i, got.Published, got.Updated,
				e.Published, times[i])
		}
		if !slices.Equal(got.Categories, e.Categories) || !slices.Equal(got.Enclosures, e.Enclosures) {
			t.Errorf("entry %d: %q %v, want %q %v", i, got.Categories, got.Enclosures, e.Categories, e.Enclosures)
		}
	}
}

func TestAtomHostileText(t *testing.T) {
	hostile := []string{
		`]]></title><entry>`, `"'<>&`, "&#0;&#x0;&lt;", "<![CDATA[x]]>", "\u202eright to left", "a\tb\nc\rd",
		"\ufeffmark", "<!--", "?>",
		"\x00\x1b[31mred", "\xff\xfe", "\ud7ff\ufffe\U0010ffff", strings.Repeat("<", 1000), "javascript:alert(1)",
		"-->", "é\u0301",
	}
	l := exampleLibrary()
	l.entries[exampleURL] = nil
	l.feeds[0].Title = hostile[0]
	for _, s := range hostile {
		e := feed.Entry{Feed: exampleURL, ID: s, Title: s, Link: "https://example.com/" + s, Authors: []string{s},
			Summary: s, Content: s,
			Categories: []string{s}, Enclosures: []feed.Enclosure{{URL: s, Type: s, Length: -1}}}
		e.Clean()
		l.entries[exampleURL] = append(l.entries[exampleURL], archive.NewRecord(e, day(6), protocol.NodeID{}))
	}
	got := body(t, get(t, reader.New(reader.Config{Source: l}), "/feed/"+string(exampleURL)))

	var doc struct {
		Title   string `xml:"http://www.w3.org/2005/Atom title"`
		Entries []struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Content string `xml:"content"`
		} `xml:"http://www.w3.org/2005/Atom entry"`
	}
	dec := xml.NewDecoder(bytes.NewReader(got))
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	for token, err := dec.Token(); !errors.Is(err, io.EOF); token, err = dec.Token() {
		if text, ok := token.(xml.CharData); !ok || len(bytes.TrimSpace(text)) > 0 {
			t.Fatalf("the document is followed by %v, %v", token, err)
		}
	}
	if want := safehtml.Label(hostile[0]); doc.Title != want || len(doc.Entries) != len(hostile) {
		t.Fatalf("title %q, %d entries, want %q, %d", doc.Title, len(doc.Entries), want, len(hostile))
	}
	seen, safe := make(map[string]bool), safehtml.New()
	for i, e := range doc.Entries {
		entry := l.entries[exampleURL][i].Entry
		title, content := safehtml.Label(entry.Title), safe.Clean(entry.Content, entry.Link)
		if e.Title != title || e.Content != content {
			t.Errorf("entry %d: %q, %q, want %q, %q", i, e.Title, e.Content, title, content)
		}
		if !strings.HasPrefix(e.ID, "urn:uuid:") || seen[e.ID] {
			t.Errorf("entry %d: id %q, want a urn of its own", i, e.ID)
		}
		seen[e.ID] = true
	}
}

// endless yields entries that are made one by one, and calls at before each.
type endless struct {
	library
	at func(i int)
}

func (s *endless) Records(_ context.Context, seqs []int64) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		summary := strings.Repeat("word ", 20_000)
		r := archive.NewRecord(feed.Entry{Feed: exampleURL, ID: "tag:example.com,2026:1", Title: "Title",
			Link:    "https://example.com/1",
			Authors: []string{"Ada"}, Categories: []string{"one"}, Summary: summary, Published: day(1)}, day(1),
			protocol.NodeID{})
		for i := range seqs {
			s.at(i)
			if !yield(r, nil) {
				return
			}
		}
	}
}

// sink counts what is written and keeps nothing.
type sink struct {
	header http.Header
	n      int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }

// A feed goes out as it comes out of the archive: however long its entries are, no more than the buffer is held
// back, and an entry costs a bounded amount of memory that is free again after it.
func TestLongFeedsStream(t *testing.T) {
	const entries, size, buffer, times = reader.Window, 100_000, 32 << 10, 12
	for _, name := range []string{"atom", "rss", "json"} {
		out := &sink{header: make(http.Header)}
		source := &endless{library: *exampleLibrary(), at: func(i int) {
			if out.n < i*size-buffer {
				t.Fatalf("%s: %d bytes written before entry %d: the feed is held back", name, out.n, i)
			}
		}}
		source.entries[exampleURL] = make([]archive.Record, entries+10)
		h := reader.New(reader.Config{Source: source})
		r, err := http.NewRequest(http.MethodGet, "http://localhost/feeds/1."+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h.ServeHTTP(out, r)
		runtime.ReadMemStats(&after)
		if out.n < entries*size {
			t.Errorf("%s: wrote %d bytes, want all entries", name, out.n)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) / entries; got > times*size {
			t.Errorf("%s: %d bytes allocated an entry, want at most %d times as many as it has", name, got, times)
		} else {
			t.Logf("%s: %d bytes allocated an entry of %d", name, got, size)
		}
	}
}

// Entries that only one neighbor tells of are marked, and their dates of the future are left out.
func TestAtomMarksWhatIsNotConfirmed(t *testing.T) {
	l := exampleLibrary()
	u := l.entries[exampleURL]
	u[0].Confirmed, u[0].Entry.Published, u[0].Entry.Updated = false, day(6).Add(61*time.Minute),
		day(6).Add(1000*time.Hour)
	u[1].Entry.Published, u[1].Entry.Updated = day(6).Add(59*time.Minute), day(6).Add(59*time.Minute)
	h := reader.New(reader.Config{Source: l, Version: "1.0"})
	doc, err := gofeed.NewParser().Parse(bytes.NewReader(body(t, get(t, h, "/feed/"+string(exampleURL)))))
	if err != nil {
		t.Fatal(err)
	}
	first, second := doc.Items[0], doc.Items[1]
	if !slices.Equal(first.Categories, []string{"engines", "R&D", "unconfirmed"}) ||
		!first.PublishedParsed.Equal(day(6)) || !first.UpdatedParsed.Equal(day(6)) {
		t.Errorf("the first is of %v, %v, in %q", first.PublishedParsed, first.UpdatedParsed, first.Categories)
	}
	if len(second.Categories) != 0 || !second.PublishedParsed.Equal(day(6).Add(59*time.Minute)) ||
		!second.UpdatedParsed.Equal(day(6).Add(59*time.Minute)) {
		t.Errorf("the second is of %v, %v, in %q", second.PublishedParsed, second.UpdatedParsed, second.Categories)
	}
}

// Text that a publisher or a neighbor wrote to do harm does not reach the feed reader, and addresses that are relative
// to the page lead there.
func TestAtomIsSanitized(t *testing.T) {
	l := exampleLibrary()
	l.feeds[0].Title = "The &lt;b&gt; tag"
	e := &l.entries[exampleURL][0].Entry
	e.Title = `A <b onclick="alert(1)">title</b><img src="x" onerror="alert(1)">`
	e.Summary = `<p style="position:fixed">a<script>alert(1)</script></p>`
	e.Content = `<a href="javascript:alert(1)">b</a> <img src="c.png" onerror="alert(1)">`
	got := body(t, get(t, reader.New(reader.Config{Source: l}), "/feed/"+string(exampleURL)))
	for _, bad := range []string{"alert", "position", "javascript", "onclick"} {
		if bytes.Contains(got, []byte(bad)) {
			t.Errorf("the document holds %q", bad)
		}
	}
	for _, want := range []string{"&lt;img src=&#34;https://example.com/c.png&#34;&gt;", "<name>The ＜b＞ tag</name>"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("the document lacks %s", want)
		}
	}
}

// Titles are text, in which nobody finds markup.
func TestAtomTitles(t *testing.T) {
	for title, want := range map[string]string{
		"Bread &amp; butter":       "<title>Bread &amp; butter</title>",
		"Bread & butter":           "<title>Bread &amp; butter</title>",
		"caf&eacute; &#8211; open": "<title>café – open</title>",
		"<em>Now</em> &amp; then":  "<title>Now &amp; then</title>",
		"The &lt;b&gt; tag":        "<title>The ＜b＞ tag</title>",
		"How to write &amp;lt;":    "<title>How to write ＆lt;</title>",
	} {
		l := exampleLibrary()
		l.entries[exampleURL][0].Entry.Title = title
		if got := body(t, get(t, reader.New(reader.Config{Source: l}), "/feeds/1.atom")); !bytes.Contains(got,
			[]byte(want)) {
			t.Errorf("%q: want %s in\n%.1500s", title, want, got)
		}
	}
}
