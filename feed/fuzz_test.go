package feed_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
)

// FuzzParse holds what Parse promises of whatever it is given.
func FuzzParse(f *testing.F) {
	for _, file := range documents(f) {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(contentTypes[filepath.Base(file)], body)
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		doc, err := feed.Parse(goldenURL, contentType, body, goldenTime)
		if err != nil {
			if doc != nil || !errors.Is(err, feed.ErrFormat) && !errors.Is(err, feed.ErrLimit) {
				t.Fatalf("got a document %v and the error %v", doc, err)
			}
			return
		}
		again, err := feed.Parse(goldenURL, contentType, body, goldenTime)
		if err != nil || len(again.Entries) != len(doc.Entries) {
			t.Fatalf("the second time: %v, %v", again, err)
		}
		for _, s := range []string{doc.Title, doc.Link, doc.Description} {
			if feed.Clean(s) != s {
				t.Fatalf("%q is not clean", s)
			}
		}
		if len(doc.Clients) > feed.MaxClients || len(doc.Entries) > feed.MaxEntries {
			t.Fatalf("%d clients, %d entries", len(doc.Clients), len(doc.Entries))
		}
		for _, c := range doc.Clients {
			if addr, err := netip.ParseAddrPort(c); err != nil || addr.String() != c {
				t.Fatalf("client %q: %v", c, err)
			}
		}
		seen := map[feed.EntryID]bool{}
		for i := range doc.Entries {
			e := &doc.Entries[i]
			checkEntry(t, e)
			if !e.Equal(&again.Entries[i]) {
				t.Fatalf("the second time %+v is %+v", e, again.Entries[i])
			}
			if seen[e.EntryID()] {
				t.Fatalf("%+v occurs twice", e)
			}
			seen[e.EntryID()] = true
		}
	})
}

// FuzzRepetition holds that no piece of a document, however often it is repeated, takes more than bounded memory, and
// that the answer is a document or says why not. Input that takes more than bounded time the fuzzer itself reports.
func FuzzRepetition(f *testing.F) {
	for _, s := range [][3]string{
		{"<rss><channel>", "<item>", ""}, {"<rss><channel>", "<item><guid>1</guid></item>", "</channel></rss>"},
		{"<feed>", "<entry xml:base='a/'>", ""}, {"<rss><channel><item><title>", "<![CDATA[x]]>&amp;",
			"</title></item></channel></rss>"},
		{"<rss", " xmlns:a='b'", "><channel/></rss>"}, {"<!DOCTYPE a [", "<!ENTITY a '&a;&a;'>",
			"]><rss><channel/></rss>"},
		{"{\"items\":[", "{\"id\":1},", "{}]}"}, {"{\"items\":", "[", ""},
		{"<rss><channel><item><pubDate>", "1", "</pubDate></item></channel></rss>"},
		{"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a/'><entry><content type='html'>",
			"&lt;a href='b'>", "</content></entry></feed>"},
		{"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a/'><entry><content type='xhtml'><div>",
			"<a href='b'>", "</div></content></entry></feed>"},
	} {
		f.Add(s[0], s[1], s[2], uint32(50_000))
	}
	f.Fuzz(func(t *testing.T, head, piece, tail string, n uint32) {
		n = min(n, feed.MaxDocumentBytes/uint32(len(piece)+1), 1_000_000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, err := feed.Parse(goldenURL, "", []byte(head+strings.Repeat(piece, int(n))+tail), goldenTime)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, feed.ErrFormat) && !errors.Is(err, feed.ErrLimit) ||
			(err == nil) != (doc != nil) {
			t.Fatalf("%d times %q: %v, %v", n, piece, doc, err)
		}
		if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 1024 {
			t.Fatalf("%d times %q took %d MiB in all", n, piece, spent)
		}
	})
}

func checkEntry(t *testing.T, e *feed.Entry) {
	if e.Feed != goldenURL || e.ID == "" && e.Title == "" && e.Link == "" {
		t.Fatalf("%+v cannot be told from others", e)
	}
	clean := *e
	clean.Authors, clean.Categories = slices.Clone(e.Authors), slices.Clone(e.Categories)
	clean.Enclosures = slices.Clone(e.Enclosures)
	clean.Clean()
	if !clean.Equal(e) {
		t.Fatalf("%+v is not clean", e)
	}
	for _, d := range []time.Time{e.Published, e.Updated} {
		if d.After(goldenTime.Add(time.Hour)) || !d.IsZero() && d.Unix() <= 0 {
			t.Fatalf("%+v is dated %v", e, d)
		}
	}
}
