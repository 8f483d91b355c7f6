package reader_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader"
)

// ask makes a request of the archive.
func ask(l *library, target, accept string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7791"+target, nil)
	r.RequestURI = target
	r.Header.Set("Accept", accept)
	reader.New(reader.Config{Source: l, Version: "1.2"}).ServeHTTP(w, r)
	return w
}

type foundJSON struct {
	Query   string
	Entries []struct{ ID, Title, Feed string }
	More    bool
}

func TestArchiveAsJSON(t *testing.T) {
	l := exampleLibrary()
	for _, c := range []struct {
		query  string
		titles []string
		more   bool
	}{
		{"", []string{"Everything & more <em>inside</em>", "A map<string> of 1 < 2", "The id is a number",
			"No id, no link, no date"}, false},
		{"?q=number+OR+brief", []string{"A map<string> of 1 < 2", "The id is a number"}, false},
		{"?q=id+NOT+number&limit=1", []string{"No id, no link, no date"}, false},
		{"?limit=1", []string{"Everything & more <em>inside</em>"}, true},
		{"?q=&title=map&unknown=x", []string{"A map<string> of 1 < 2"}, false},
		{"?since=2026-03-04T00:00:00Z&until=2026-03-05T00:00:00Z",
			[]string{"Everything & more <em>inside</em>"}, false},
		{"?feed=HTTPS://example.com/feed.xml&q=number", []string{"The id is a number"}, false},
		{"?feed=https://example.net/&q=number", nil, false},
		{"?q=id&order=relevance&format=json", []string{"The id is a number", "No id, no link, no date"}, false},
	} {
		w := ask(l, "/archive"+c.query, "*/*")
		var got foundJSON
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: status %d, %v: %s", c.query, w.Code, err, w.Body)
		}
		var titles []string
		for _, e := range got.Entries {
			titles = append(titles, e.Title)
		}
		if !slices.Equal(titles, c.titles) || got.More != c.more {
			t.Errorf("%s: found %q, more is %v; want %q, %v", c.query, titles, got.More, c.titles, c.more)
		}
	}
	if body := ask(l, "/archive?q=nothing", "").Body.String(); !strings.Contains(body, `"entries":[]`) {
		t.Errorf("nothing found: %s", body)
	}
	ask(l, "/archive?since=36h&q=a", "")
	if age := time.Since(l.asked.Since); age < 36*time.Hour || age > 37*time.Hour {
		t.Errorf("36 hours ago is %v", l.asked.Since)
	}
}

func TestArchiveAsAtom(t *testing.T) {
	l := exampleLibrary()
	for _, c := range []struct{ target, accept string }{
		{"/archive?q=everything+%22%26+more%22&format=atom", "application/json"},
		{"/archive?q=everything+%22%26+more%22", "application/atom+xml, text/html"},
	} {
		w := ask(l, c.target, c.accept)
		var got struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			ID      string   `xml:"id"`
			Title   string   `xml:"title"`
			Entries []struct {
				Title  string `xml:"title"`
				Source struct {
					ID    string `xml:"id"`
					Title string `xml:"title"`
				} `xml:"source"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(w.Body.Bytes(), &got); err != nil ||
			w.Header().Get("Content-Type") != "application/atom+xml; charset=utf-8" {
			t.Fatalf("%s: %v: %s", c.target, err, w.Body)
		}
		if got.ID != "http://127.0.0.1:7791"+c.target || got.Title != `feedex: everything "& more"` ||
			len(got.Entries) != 1 ||
			got.Entries[0].Source.ID != string(exampleURL) || got.Entries[0].Source.Title != l.feeds[0].Title {
			t.Errorf("%s: %+v", c.target, got)
		}
	}
}

func TestArchiveRefusals(t *testing.T) {
	l := exampleLibrary()
	for target, want := range map[string]string{
		"/archive?q=a+AND+(b":                     `q: column 7: this "(" is never closed`,
		"/archive?q=%22":                          "q: column 1: ",
		"/archive?q=%zz":                          "invalid URL escape",
		"/archive?limit=201":                      "limit: want a number from 1 to 200",
		"/archive?limit=0":                        "limit: want",
		"/archive?since=yesterday":                "since: ",
		"/archive?feed=ftp://x/":                  "feed: ",
		"/archive?order=best":                     "order: want",
		"/archive?format=rss":                     "format: want",
		"/archive?q=" + strings.Repeat("a", 2000): "2000 bytes are too many",
	} {
		if w := ask(l, target, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.60s: status %d, %q; want 400 and %q", target, w.Code, w.Body, want)
		}
	}
	l.err = fmt.Errorf("search x: %w", archive.ErrSlow)
	if w := ask(l, "/archive?q=a", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a search that takes too long: status %d, %v", w.Code, w.Header())
	}
	l.err = errDisk
	if w := ask(l, "/archive?q=a", ""); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), "fire") {
		t.Errorf("a search that fails: status %d, %s", w.Code, w.Body)
	}
}

// A client that does not know a secret URL learns neither it nor what is behind it; and no answer is larger than 16
// MiB.
func TestArchiveIsBounded(t *testing.T) {
	l := exampleLibrary()
	secret := feed.URL("https://example.com/feed?token=abc123")
	l.entries = map[feed.URL][]archive.Record{secret: {archive.NewRecord(feed.Entry{Feed: secret, ID: "1",
		Title: "Hush"}, day(1), protocol.NodeID{})}}
	if body := ask(l, "/archive?q=hush", "").Body.String(); strings.Contains(body, "abc123") ||
		strings.Contains(body, "Hush") {
		t.Errorf("to all: %s", body)
	}
	if body := ask(l, "/archive?q=hush&feed="+url.QueryEscape(string(secret)),
		"").Body.String(); !strings.Contains(body, "Hush") {
		t.Errorf("to a client that knows: %s", body)
	}
	open := feed.Entry{Feed: exampleURL, ID: "2", Title: "Hush, but aloud"}
	l.entries[exampleURL] = []archive.Record{archive.NewRecord(open, day(1), protocol.NodeID{})}
	l.entries[secret] = slices.Repeat(l.entries[secret], 3)
	for i := range l.entries[secret] {
		l.entries[secret][i] = archive.NewRecord(feed.Entry{Feed: secret, ID: fmt.Sprint(i), Title: "Hush"}, day(2),
			protocol.NodeID{})
	}
	if body := ask(l, "/archive?q=hush&limit=2", "").Body.String(); !strings.Contains(body, "aloud") ||
		!strings.Contains(body, `"more":false`) {
		t.Errorf("behind what is secret: %s", body)
	}
	var large []archive.Record
	for i := range 30 {
		large = append(large, archive.NewRecord(feed.Entry{Feed: exampleURL, ID: fmt.Sprint(i),
			Summary: strings.Repeat("x", 1<<20)}, day(1), protocol.NodeID{}))
	}
	l.entries = map[feed.URL][]archive.Record{exampleURL: large}
	var got foundJSON
	if err := json.Unmarshal(ask(l, "/archive", "").Body.Bytes(), &got); err != nil ||
		len(got.Entries) != 16 || !got.More {
		t.Errorf("%d of 30 large entries, more is %v, %v", len(got.Entries), got.More, err)
	}
}

func TestOpenSearchDescription(t *testing.T) {
	w := ask(exampleLibrary(), "/archive/opensearch.xml", "")
	var got struct {
		XMLName   xml.Name `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
		ShortName string
		URLs      []struct {
			Type     string `xml:"type,attr"`
			Template string `xml:"template,attr"`
		} `xml:"Url"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.URLs) != 2 || got.ShortName != "feedex" ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "application/opensearchdescription+xml") {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, u := range got.URLs {
		target := strings.NewReplacer("{searchTerms}", "number", "{count?}", "3", "http://127.0.0.1:7791",
			"").Replace(u.Template)
		if w := ask(exampleLibrary(), target, ""); w.Code != 200 ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), u.Type) {
			t.Errorf("%s: status %d, %s", target, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
