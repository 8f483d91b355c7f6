package reader_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader"
)

const exampleURL = feed.URL("https://example.com/feed.xml")

// library is a Source in memory.
type library struct {
	feeds    []archive.Feed
	versions map[feed.URL]reader.Version
	entries  map[feed.URL][]archive.Record // newest first
	failAt   int                           // FeedEntries fails instead of yielding this entry, 0 is never
	err      error                         // of the other methods
	asked    feed.Filter                   // of the last search
}

var errDisk = errors.New("disk on fire")

func (l *library) Feeds(context.Context) ([]archive.Feed, error) { return l.feeds, l.err }

func (l *library) Feed(_ context.Context, u feed.URL) (archive.Feed, error) {
	for _, f := range l.feeds {
		if f.URL == u {
			return f, l.err
		}
	}
	return archive.Feed{}, l.err
}

func (l *library) FeedVersion(_ context.Context, u feed.URL) (reader.Version, error) {
	return l.versions[u], l.err
}

func (l *library) FeedEntries(_ context.Context, u feed.URL) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for i, r := range l.entries[u] {
			if l.failAt == i+1 {
				yield(archive.Record{}, errDisk)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Search is that of an archive with all the entries.
func (l *library) Search(ctx context.Context, f feed.Filter) ([]archive.Record, error) {
	l.asked = f
	if l.err != nil {
		return nil, l.err
	}
	memory := archive.NewMemory()
	for _, entries := range l.entries {
		for i := len(entries) - 1; i >= 0; i-- {
			memory.Keep(entries[i : i+1])
		}
	}
	return memory.Search(ctx, f)
}

// day is noon of the n-th of March 2026.
func day(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }

// exampleLibrary holds one feed with entries of all kinds.
func exampleLibrary() *library {
	entries := []feed.Entry{
		{
			ID: "tag:example.com,2026:4", Title: "Everything & more <em>inside</em>", Link: "https://example.com/4?a=1&b=2",
			Authors: []string{"Ada Lovelace", "Charles <Babbage>"}, Published: day(4), Updated: day(5),
			Summary: "<p>A summary &amp; so on</p>", Content: "<p>Line one\nline two</p>\r\n<pre>]]></pre>",
			Categories: []string{"engines", "R&D"},
			Enclosures: []feed.Enclosure{
				{URL: "https://example.com/4.mp3?x=1&y=2", Type: "audio/mpeg", Length: 1234},
				{URL: "https://example.com/4.bin"},
			},
		},
		{ID: "https://example.com/3", Title: "A map<string> of 1 < 2", Link: "https://example.com/3", Published: day(3), Summary: "brief"},
		{ID: "17", Title: "The id is a number", Link: "https://example.com/2", Updated: day(2)},
		{Title: "No id, no link, no date", Summary: "words"},
	}
	l := &library{
		feeds: []archive.Feed{
			{URL: exampleURL, Title: "Example News", Link: "https://example.com/", Subscribed: true, Since: day(1)},
		},
		versions: map[feed.URL]reader.Version{exampleURL: {Number: 4, Changed: day(6)}},
		entries:  make(map[feed.URL][]archive.Record),
	}
	for _, e := range entries {
		e.Feed = exampleURL
		e.Clean()
		l.entries[exampleURL] = append(l.entries[exampleURL], archive.NewRecord(e, day(6), protocol.NodeID{}))
	}
	return l
}

// get asks the handler for a target under a host, with headers in pairs.
func get(t *testing.T, h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return do(t, h, http.MethodGet, target, headers...)
}

func do(t *testing.T, h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "/", nil)
	r.RequestURI = target // as a server has it; httptest would refuse some of these
	r.Host = "127.0.0.1:7791"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// body is the whole body of a 200.
func body(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", w.Code, w.Body)
	}
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
