package reader_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader"
)

// titlesOf are the titles in a document.
func titlesOf(t *testing.T, document []byte) (titles []string) {
	t.Helper()
	doc, err := gofeed.NewParser().Parse(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range doc.Items {
		titles = append(titles, item.Title)
	}
	return titles
}

// longLibrary has one feed with more entries than a document holds, called by their seqs.
func longLibrary(n int) *library {
	l := exampleLibrary()
	l.entries[exampleURL], l.changed = nil, make(map[int64]int64)
	for seq := n; seq > 0; seq-- {
		e := feed.Entry{Feed: exampleURL, ID: fmt.Sprint("tag:example.com,2026:", seq), Title: fmt.Sprint(seq),
			Link: "https://example.com/"}
		l.entries[exampleURL] = append(l.entries[exampleURL], archive.NewRecord(e, day(6), protocol.NodeID{}))
	}
	l.versions[exampleURL] = archive.FeedVersion{Arrived: int64(1000 + n), At: day(6)}
	return l
}

// A feed's own document has the latest entries and, behind them, older ones that were changed.
func TestWindow(t *testing.T) {
	l := longLibrary(reader.Window + 100)
	l.changed[1007], l.changed[1003], l.changed[1290] = 1, 2, 3
	titles := titlesOf(t, body(t, get(t, reader.New(reader.Config{Source: l}), "/feeds/1.atom")))
	if len(titles) != reader.Window+2 || titles[0] != "300" || titles[reader.Window-1] != "101" ||
		!slices.Equal(titles[reader.Window:], []string{"3", "7"}) {
		t.Errorf("%d entries from %s, at last %q", len(titles), titles[0], titles[reader.Window-1:])
	}
	for seq := int64(1001); seq <= 1100; seq++ {
		l.changed[seq] = seq
	}
	if titles = titlesOf(t, body(t, get(t, reader.New(reader.Config{Source: l}),
		"/feeds/1.atom"))); len(titles) != reader.Window+50 || titles[reader.Window] != "100" {
		t.Errorf("%d entries with a hundred changed ones, those from %s", len(titles), titles[reader.Window])
	}
}

// A document that is bounded has the latest entries that fit, whatever others there are: an apostrophe is nine bytes.
func TestWhatDoesNotFit(t *testing.T) {
	const most = 1 << 20
	for _, target := range []string{"/feeds/1.atom", "/feeds/1.rss", "/feeds/1.json"} {
		for _, c := range []struct{ every, long, least, most int }{
			{1, 0, reader.Window, reader.Window}, {4, most, reader.Window * 3 / 4, reader.Window * 3 / 4},
			{1, most / 100, 10, 20},
		} {
			l := longLibrary(reader.Window)
			for i := 0; i < reader.Window; i += c.every {
				l.entries[exampleURL][i].Entry.Content = strings.Repeat("'", c.long)
			}
			document := body(t, get(t, reader.New(reader.Config{Source: l, MaxBytes: most}), target))
			titles := titlesOf(t, document)
			if n := len(titles); len(document) > most || n < c.least || n > c.most ||
				slices.Contains(titles, "200") == (c.long == most) {
				t.Errorf("%s, one in %d has %d bytes: a document of %d bytes with %d entries", target, c.every, c.long,
					len(document), n)
			}
		}
	}
}

// One that is too large keeps no other long one out.
func TestWhatFitsBesideWhatDoesNot(t *testing.T) {
	const most = 1 << 20
	l := longLibrary(reader.Window)
	list := l.entries[exampleURL]
	list[len(list)-1].Entry.Content = strings.Repeat("'", most/2)
	for i := range 8 {
		list[i].Entry.Content = strings.Repeat("word ", most/100)
	}
	document := body(t, get(t, reader.New(reader.Config{Source: l, MaxBytes: most}), "/feeds/1.atom"))
	if titles := titlesOf(t, document); len(titles) != reader.Window-1 || len(document) > most {
		t.Errorf("a document of %d bytes with %d entries", len(document), len(titles))
	}
}

// A reader that says which version it has gets what is new since, in every format, and nothing else.
func TestDelta(t *testing.T) {
	for _, target := range []string{"/feed/" + string(exampleURL), "/feeds/1.rss", "/feeds/1.json"} {
		l := longLibrary(250)
		l.pages = pagedLibrary().pages
		h := reader.New(reader.Config{Source: l})
		old := get(t, h, target).Header().Get("ETag")
		more := longLibrary(253)
		l.entries, l.changed[1002], l.changed[1100], l.changed[1252] = more.entries, 1, 2, 3
		l.versions[exampleURL] = archive.FeedVersion{Arrived: 1253, Changed: 3, At: day(7)}

		for _, c := range []struct {
			name    string
			headers []string
			code    int
			titles  []string
		}{
			{"a reader that knows deltas", []string{"A-IM", "feed", "If-None-Match", old}, 226,
				[]string{"253", "252", "251", "100", "2"}},
			{"among others", []string{"A-IM", "vcdiff, Feed;q=0.5, gzip", "If-None-Match", `"x", W/` + old}, 226,
				[]string{"253", "252", "251", "100", "2"}},
			{"one that does not", []string{"If-None-Match", old}, 200, nil},
			{"one that wants none", []string{"A-IM", "feed;q=0.0", "If-None-Match", old}, 200, nil},
			{"one that knows other ones", []string{"A-IM", "diffe", "If-None-Match", old}, 200, nil},
			{"one that has nothing", []string{"A-IM", "feed"}, 200, nil},
			{"one that has something else", []string{"A-IM", "feed", "If-None-Match",
				old[:len(old)-2] + `x"`}, 200, nil},
			{"one from the future", []string{"A-IM", "feed", "If-None-Match",
				strings.Replace(old, `"1250.`, `"9999.`, 1)}, 200, nil},
			{"one that has hardly anything", []string{"A-IM", "feed", "If-None-Match",
				strings.Replace(old, `"1250.`, `"1001.`, 1)}, 200, nil},
		} {
			w := get(t, h, target, c.headers...)
			if w.Code != c.code {
				t.Errorf("%s: %s: status %d, want %d", target, c.name, w.Code, c.code)
				continue
			}
			etag := w.Header().Get("ETag")
			if w := get(t, h, target, "A-IM", "feed", "If-None-Match", etag); w.Code != http.StatusNotModified {
				t.Errorf("%s: %s: asked again: %d", target, c.name, w.Code)
			}
			if c.code == 200 {
				if vary := w.Header()["Vary"]; w.Header().Get("IM") != "" || !slices.Contains(vary, "A-IM") ||
					len(titlesOf(t, w.Body.Bytes())) < reader.Window {
					t.Errorf("%s: %s: %v", target, c.name, w.Header())
				}
				continue
			}
			h := w.Header()
			if h.Get("IM") != "feed" || h.Get("Delta-Base") != old ||
				h.Get("Cache-Control") != "private, no-store, im" || !slices.Contains(h["Vary"], "A-IM") ||
				!slices.Contains(h["Vary"], "If-None-Match") {
				t.Errorf("%s: %s: %v", target, c.name, h)
			}
			if !bytes.Contains(w.Body.Bytes(), []byte("/feeds/1/3-22.")) {
				t.Errorf("%s: %s: no way to what came before", target, c.name)
			}
			if titles := titlesOf(t, w.Body.Bytes()); !slices.Equal(titles, c.titles) {
				t.Errorf("%s: %s: %q, want %q", target, c.name, titles, c.titles)
			}
		}
		if w := do(t, h, http.MethodHead, target, "A-IM", "feed", "If-None-Match", old); w.Code != 200 ||
			w.Header().Get("IM") != "" {
			t.Errorf("%s: HEAD: %d, %v", target, w.Code, w.Header())
		}
	}
}

// A reader that follows the links gets from the newest archive document to the oldest and back (RFC 5005 §4).
func TestArchiveDocuments(t *testing.T) {
	l := pagedLibrary()
	l.pages[0].Seqs = []int64{1004}
	h := reader.New(reader.Config{Source: l})
	link := func(document []byte, rel string) string {
		m := regexp.MustCompile(`rel="` + rel + `" href="http://127.0.0.1:7791([^"]*)"`).FindSubmatch(document)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	for _, name := range []string{"atom", "rss"} {
		document := body(t, get(t, h, "/feeds/1."+name))
		if bytes.Contains(document, []byte("fh:archive>")) || link(document, "current") != "" ||
			link(document, "next-archive") != "" {
			t.Errorf("%s: the feed's own document is marked as an archive", name)
		}
		var way []string
		for at := link(document, "prev-archive"); at != ""; at = link(document, "prev-archive") {
			way = append(way, at)
			w := get(t, h, at)
			if document = body(t, w); !bytes.Contains(document, []byte("<fh:archive></fh:archive>")) ||
				link(document, "current") != "/feeds/1."+name || link(document, "self") != at {
				t.Errorf("%s: %s", at, document)
			}
			if w := get(t, h, at, "If-None-Match", w.Header().Get("ETag")); w.Code != http.StatusNotModified {
				t.Errorf("%s: asked again: %d", at, w.Code)
			}
		}
		if want := []string{"/feeds/1/3-22." + name, "/feeds/1/2." + name,
			"/feeds/1/1." + name}; !slices.Equal(way, want) {
			t.Errorf("%s: the way is %q, want %q", name, way, want)
		}
		if back := link(document, "next-archive"); back != "/feeds/1/2."+name {
			t.Errorf("%s: behind the first comes %q", name, back)
		}
	}
	tag := get(t, h, "/feeds/1/2.atom").Header().Get("ETag")
	l.versions[exampleURL] = archive.FeedVersion{Arrived: 1005, Changed: 7, At: day(7)}
	if again := get(t, h, "/feeds/1/2.atom").Header().Get("ETag"); again != tag {
		t.Error("an archive document changes with the feed")
	}
	l.pages[1].Digest = "other"
	if again := get(t, h, "/feeds/1/2.atom").Header().Get("ETag"); again == tag {
		t.Error("an archive document does not change with its entries")
	}
	l.pages[0].Seqs = nil
	for target, code := range map[string]int{
		"/feeds/1/1.atom": 410, "/feeds/1/4.atom": 404, "/feeds/1/3.atom": 404, "/feeds/1/3-23.atom": 404,
		"/feeds/1/02.atom": 404, "/feeds/1/2-0.atom": 404,
		"/feeds/1/.atom": 404, "/feeds/1/x.atom": 404, "/feeds/1/2.xml": 404, "/feeds/1": 404, "/feeds/": 404,
		"/feeds/9.atom": 404, "/feeds/0.atom": 404, "/feeds/-1.atom": 404,
		"/feeds/1-.atom": 404, "/feeds/01.atom": 404, "/feeds/1-x.atom": 404, "/feeds/1.atom?x": 200, "/all.xml": 404,
	} {
		if w := get(t, h, target); w.Code != code {
			t.Errorf("%s: %d, want %d", target, w.Code, code)
		}
	}
}

// The number of a feed whose URL is a secret leads nowhere without what only the URL tells.
func TestNumbersOfSecrets(t *testing.T) {
	l := followedLibrary()
	l.pages = pagedLibrary().pages
	h := reader.New(reader.Config{Source: l})
	if w := get(t, h, "/feeds/3.atom"); w.Code != 404 || strings.Contains(w.Body.String(), "Hush") {
		t.Errorf("by its number alone: %d %s", w.Code, w.Body)
	}
	document := string(body(t, get(t, h, "/feed/https://example.net/?token=abc123")))
	m := regexp.MustCompile(`prev-archive" href="http://127.0.0.1:7791(/feeds/3-[0-9a-f]{32})/3-22.atom`).
		FindStringSubmatch(document)
	if m == nil {
		t.Fatal(document)
	}
	if w := get(t, h, m[1]+".rss"); !strings.Contains(w.Body.String(), "Hush") {
		t.Errorf("by its number and key: %d %s", w.Code, w.Body)
	}
	if w := get(t, h, strings.Replace(m[1], "/3-", "/2-", 1)+".rss"); w.Code != 404 {
		t.Errorf("another feed by that key: %d", w.Code)
	}
}

// All feeds together are without secrets, say where each entry is from, and give deltas of what arrived.
func TestAll(t *testing.T) {
	l := followedLibrary()
	storm := archive.NewRecord(feed.Entry{Feed: l.feeds[1].URL, ID: "1", Title: "Gale"}, day(7), protocol.NodeID{})
	hush := archive.NewRecord(feed.Entry{Feed: l.feeds[2].URL, ID: "1", Title: "Psst"}, day(7), protocol.NodeID{})
	l.entries[hush.Entry.Feed] = []archive.Record{hush}
	h := reader.New(reader.Config{Source: l})
	first := get(t, h, "/all.atom")
	if titles := titlesOf(t, body(t, first)); len(titles) != 4 || strings.Contains(first.Body.String(), "abc123") {
		t.Errorf("%q", titles)
	}
	old := first.Header().Get("ETag")
	l.entries[storm.Entry.Feed] = []archive.Record{storm}
	l.versions[storm.Entry.Feed] = archive.FeedVersion{Arrived: 2001, At: day(7)}
	w := get(t, h, "/all.atom", "A-IM", "feed", "If-None-Match", old)
	if titles := titlesOf(t, w.Body.Bytes()); w.Code != 226 || !slices.Equal(titles, []string{"Gale"}) ||
		!strings.Contains(w.Body.String(), "<title>Storms &amp; more</title>") {
		t.Errorf("%d %q: %s", w.Code, titles, w.Body)
	}
	l.versions[exampleURL] = archive.FeedVersion{Arrived: 1004, Changed: 1, At: day(8)}
	if w := get(t, h, "/all.atom", "A-IM", "feed", "If-None-Match", old); w.Code != 200 ||
		len(titlesOf(t, w.Body.Bytes())) != 5 {
		t.Errorf("after a change: %d", w.Code)
	}
}

// No reader is given an address that would run something.
func TestNothingToRun(t *testing.T) {
	l := longLibrary(3)
	l.feeds[0].Link = "javascript:alert(1)"
	e := &l.entries[exampleURL][0].Entry
	e.Link, e.Enclosures = "javascript:alert(2)", []feed.Enclosure{{URL: "javascript:alert(3)"},
		{URL: "https://example.com/a.mp3"}}
	h := reader.New(reader.Config{Source: l})
	for _, target := range []string{"/feeds/1.atom", "/feeds/1.rss", "/feeds/1.json", "/all.atom",
		"/archive?format=atom&q=3"} {
		text := string(body(t, get(t, h, target)))
		if strings.Contains(text, "javascript") || !strings.Contains(text, "a.mp3") {
			t.Errorf("%s: %s", target, text)
		}
	}
}

// Where entries went and none came, readers of deltas and subscribers of the hub are not sent an empty document.
func TestDeltaOfNothing(t *testing.T) {
	l := longLibrary(5)
	h := reader.New(reader.Config{Source: l})
	old := get(t, h, "/feeds/1.atom").Header().Get("ETag")
	l.versions[exampleURL] = archive.FeedVersion{Arrived: 1005, Changed: 1, At: day(7)}
	if w := get(t, h, "/feeds/1.atom", "A-IM", "feed", "If-None-Match", old); w.Code != http.StatusNotModified ||
		w.Header().Get("ETag") != old || w.Body.Len() > 0 {
		t.Errorf("a reader of deltas: %d %v", w.Code, w.Header())
	}
	if w := get(t, h, "/feeds/1.atom", "If-None-Match", old); w.Code != http.StatusOK ||
		len(titlesOf(t, w.Body.Bytes())) != 5 {
		t.Errorf("another: %d %v", w.Code, w.Header())
	}
}

// Clients that do not name the host that they ask get addresses all the same.
func TestWithoutHost(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/feeds/1.atom", nil)
	r.Host = ""
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7791}))
	w := httptest.NewRecorder()
	reader.New(reader.Config{Source: longLibrary(3)}).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `rel="self" href="http://127.0.0.1:7791/feeds/1.atom"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Where there is a hub, the feeds' own documents lead to it, in every format, and archive documents do not.
func TestHubIsNamed(t *testing.T) {
	hub := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hub ", r.Method) })
	h := reader.New(reader.Config{Source: pagedLibrary(), Hub: hub})
	const at = "http://127.0.0.1:7791/hub"
	for target, want := range map[string]string{
		"/feeds/1.atom": `<link rel="hub" href="` + at + `">`,
		"/all.atom":     `<link rel="hub" href="` + at + `">`,
		"/feeds/1.rss":  `<atom:link rel="hub" href="` + at + `">`,
		"/feeds/1.json": `"hubs":[{"type":"WebSub","url":"` + at + `"}]`,
	} {
		w := get(t, h, target)
		if want2 := []string{"<http://127.0.0.1:7791" + target + `>; rel="self"`,
			"<" + at + `>; rel="hub"`}; !slices.Equal(w.Header()["Link"], want2) ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %q\n%s", target, w.Header()["Link"], w.Body)
		}
	}
	if w := get(t, h, "/feeds/1/2.atom"); strings.Contains(w.Body.String(), at) {
		t.Errorf("an archive document: %s", w.Body)
	}
	if w := do(t, h, http.MethodPost, "/hub"); w.Body.String() != "hub POST" {
		t.Errorf("/hub: %d %s", w.Code, w.Body)
	}
	if w := do(t, h, http.MethodPost, "/hub", "Host", "evil.example"); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("/hub under another name: %d", w.Code)
	}
	if w := do(t, reader.New(reader.Config{Source: pagedLibrary()}), http.MethodPost,
		"/hub"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("/hub without one: %d", w.Code)
	}
}

// Where the node or a web server in front of it speaks TLS every address in a document begins with https.
func TestAddressesBehindTLS(t *testing.T) {
	h := reader.New(reader.Config{Source: followedLibrary(), Hub: http.NotFoundHandler()})
	byTLS := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.TLS = new(tls.ConnectionState)
		h.ServeHTTP(w, r)
	})
	for _, target := range []string{"/feed/" + string(exampleURL), "/feeds/1.rss", "/feeds/1.json", "/all.atom",
		"/opml?via=node", "/archive?q=id&format=atom", "/archive/opensearch.xml"} {
		for proto, h := range map[string]http.Handler{"https": h, "HTTPS": h, "https, http": h, "http": byTLS} {
			w := get(t, h, target, "X-Forwarded-Proto", proto)
			text := string(body(t, w)) + strings.Join(w.Header().Values("Link"), " ")
			if strings.Contains(text, "http://127.0.0.1:7791/") || !strings.Contains(text, "https://127.0.0.1:7791/") {
				t.Errorf("%s by %s:\n%s", target, proto, text)
			}
		}
		if w := get(t, h, target, "X-Forwarded-Proto", "http"); strings.Contains(string(body(t, w)),
			"https://127.0.0.1:7791/") {
			t.Errorf("%s by http:\n%s", target, w.Body)
		}
	}
}
