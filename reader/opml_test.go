package reader_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"feedex/archive"
	"feedex/feed"
	"feedex/opml"
	"feedex/reader"
)

// followedLibrary follows a feed, one with markup in its title and one with a secret URL, and once followed another.
func followedLibrary() *library {
	l := exampleLibrary()
	l.feeds = append(l.feeds,
		archive.Feed{URL: "https://example.org/?a=1&b=2", Title: "Storms &amp; <b>more</b>", Subscribed: true},
		archive.Feed{URL: "https://example.net/?token=abc123", Title: "Hush", Subscribed: true},
		archive.Feed{URL: "https://example.net/old"},
		archive.Feed{URL: "https://example.net/new", Subscribed: true},
	)
	return l
}

func TestOPML(t *testing.T) {
	h := reader.New(reader.Config{Source: followedLibrary()})
	for target, at := range map[string]feed.URL{"/opml": "", "/opml?via=node": "http://127.0.0.1:7791/feed/"} {
		unnamed := "" // the address says all
		if at != "" {
			unnamed = "https://example.net/new"
		}
		w := get(t, h, target)
		document := body(t, w)
		list, err := opml.Read(document)
		if err != nil {
			t.Fatal(err)
		}
		want := []opml.Outline{
			{URL: at + exampleURL, Title: "Example News", Site: "https://example.com/", Line: 7},
			{URL: at + "https://example.net/new", Title: unnamed, Line: 8},
			{URL: at + "https://example.org/?a=1&b=2", Title: "Storms & more", Line: 9},
		}
		same := func(a, b opml.Outline) bool {
			return a.URL == b.URL && a.Title == b.Title && a.Site == b.Site && a.Line == b.Line &&
				len(a.Folder)+len(b.Folder) == 0
		}
		if !slices.EqualFunc(list.Feeds, want, same) || list.Problems != nil {
			t.Errorf("%s: %+v, want %+v", target, list, want)
		}
		if strings.Contains(string(document), "abc123") || w.Header().Get("Feedex-Left-Out") != "1" ||
			!strings.Contains(list.Title, "without") {
			t.Errorf("%s: the secret feed: %q\n%s", target, w.Header().Get("Feedex-Left-Out"), document)
		}
		if got := w.Header().Get("Content-Type"); got != "text/x-opml; charset=utf-8" {
			t.Errorf("%s: Content-Type %q", target, got)
		}
		if w := get(t, h, target, "If-None-Match", w.Header().Get("ETag")); w.Code != http.StatusNotModified ||
			w.Body.Len() > 0 {
			t.Errorf("%s: asked again: %d", target, w.Code)
		}
		if w := do(t, h, http.MethodHead, target); w.Code != http.StatusOK || w.Body.Len() > 0 {
			t.Errorf("%s: HEAD: %d with %d bytes", target, w.Code, w.Body.Len())
		}
	}
	if w := get(t, h, "/opml?via=me"); w.Code != http.StatusBadRequest {
		t.Errorf("via=me: %d", w.Code)
	}
	if w := get(t, h, "/opml", "Host", "evil.example.com"); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("under a name that is not the node's: %d", w.Code)
	}
	if w := get(t, reader.New(reader.Config{Source: &library{err: errDisk}}),
		"/opml"); w.Code != http.StatusInternalServerError {
		t.Errorf("without an archive: %d", w.Code)
	}
}
