package reader_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
	"feedex/safehtml"
)

const exampleURL = feed.URL("https://example.com/feed.xml")

// library is a Source in memory. The number of a feed is its place in feeds, from 1, or comes behind them; the seq of
// an entry is its place from the end of all entries of its feed, from 1, and 1000 times the feed's number more.
type library struct {
	feeds    []archive.Feed
	names    map[feed.URL]string // that the owner gave
	folders  map[feed.URL][]reading.Folder
	versions map[feed.URL]archive.FeedVersion
	entries  map[feed.URL][]archive.Record // newest first
	changed  map[int64]int64               // seq of an entry to which change of its feed it was
	pages    []archive.Block               // of any feed
	failAt   int                           // Records fails instead of yielding this entry, 0 is never
	err      error                         // of the other methods
	asked    feed.Filter                   // of the last search
}

var errDisk = errors.New("disk on fire")

func (l *library) Feeds(context.Context) ([]archive.Feed, error) { return l.feeds, l.err }

func (l *library) Subscriptions(context.Context) (list []reading.FollowedFeed, err error) {
	for i, f := range l.feeds {
		if f.Subscribed {
			list = append(list, reading.FollowedFeed{
				ID: reading.FeedID(i + 1), URL: f.URL, Name: l.names[f.URL], Title: safehtml.Label(f.Title),
				Site: f.Link, Folders: l.folders[f.URL],
			})
		}
	}
	return list, l.err
}

func (l *library) Channel(_ context.Context, u feed.URL) (archive.Channel, error) {
	for i, f := range l.feeds {
		if f.URL == u {
			return archive.Channel{Number: int64(i + 1), URL: u, Title: f.Title, Link: f.Link, Since: f.Since,
				About: f.About, Language: f.Language, Icon: f.Icon,
				Version: l.versions[u]}, l.err
		}
	}
	return archive.Channel{}, l.err
}

func (l *library) ChannelNumber(ctx context.Context, n int64) (archive.Channel, error) {
	if n < 1 || n > int64(len(l.feeds)) {
		return archive.Channel{}, l.err
	}
	return l.Channel(ctx, l.feeds[n-1].URL)
}

func (l *library) Newest(_ context.Context, n int64, limit int) (seqs []int64, err error) {
	for seq := len(l.entries[l.feeds[n-1].URL]); seq > 0 && len(seqs) < limit; seq-- {
		seqs = append(seqs, 1000*n+int64(seq))
	}
	return seqs, l.err
}

func (l *library) Changed(_ context.Context, n int64, since archive.FeedVersion, last int64,
	limit int) (seqs []int64, err error) {
	for seq, change := range l.changed {
		if seq/1000 == n && change > since.Changed && seq <= last {
			seqs = append(seqs, seq)
		}
	}
	slices.SortFunc(seqs, func(a, b int64) int { return cmp.Compare(l.changed[b], l.changed[a]) })
	return seqs[:min(limit, len(seqs))], l.err
}

func (l *library) Records(_ context.Context, seqs []int64) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for i, seq := range seqs {
			if l.failAt == i+1 {
				yield(archive.Record{}, errDisk)
				return
			}
			list := l.entries[l.feeds[seq/1000-1].URL]
			if !yield(list[len(list)-int(seq%1000)], nil) {
				return
			}
		}
	}
}

func (l *library) LastBlock(context.Context, int64) (archive.BlockRef, error) {
	if len(l.pages) == 0 {
		return archive.BlockRef{}, l.err
	}
	return l.pages[len(l.pages)-1].BlockRef, l.err
}

func (l *library) Block(_ context.Context, _ int64, ref archive.BlockRef) (archive.Block, error) {
	for _, p := range l.pages {
		if p.BlockRef == ref {
			return p, l.err
		}
	}
	return archive.Block{}, l.err
}

func (l *library) Following(_ context.Context, secret bool) (archive.Following, error) {
	f := archive.Following{Titles: make(map[feed.URL]string)}
	for i := range l.feeds {
		if u := l.feeds[i].URL; l.feeds[i].Subscribed && (secret || !u.Secret()) {
			f.Titles[u] = l.feeds[i].Title
			v := l.versions[u]
			f.Version.Arrived, f.Version.Changed = max(f.Version.Arrived, v.Arrived), f.Version.Changed+v.Changed
			if v.At.After(f.Version.At) {
				f.Version.At = v.At
			}
			f.Digest += l.feeds[i].Title + " "
		}
	}
	return f, l.err
}

func (l *library) NewestOfAll(ctx context.Context, secret bool, after int64, limit int) (seqs []int64, err error) {
	for n := len(l.feeds); n > 0; n-- {
		if f := &l.feeds[n-1]; f.Subscribed && (secret || !f.URL.Secret()) {
			of, _ := l.Newest(ctx, int64(n), limit)
			seqs = append(seqs, of...)
		}
	}
	return seqs[:min(limit, len(seqs))], l.err
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
			ID: "tag:example.com,2026:4", Title: "Everything & more <em>inside</em>",
			Link:    "https://example.com/4?a=1&b=2",
			Authors: []string{"Ada Lovelace", "Charles <Babbage>"}, Published: day(4), Updated: day(5),
			Summary: "<p>A summary &amp; so on</p>", Content: "<p>Line one\nline two</p>\r\n<pre>]]></pre>",
			Categories: []string{"engines", "R&D"},
			Enclosures: []feed.Enclosure{
				{URL: "https://example.com/4.mp3?x=1&y=2", Type: "audio/mpeg", Length: 1234},
				{URL: "https://example.com/4.bin"},
			},
			Rights: []string{"© Ada & Charles", "Only as a whole",
				"https://creativecommons.org/licenses/by/4.0/?a=1&copy=2",
				`<rsl:content xmlns:rsl="https://rslstandard.org/rsl" url="/4"><rsl:license>` +
					`<rsl:permits type="usage">search</rsl:permits></rsl:license></rsl:content>`},
			CopiedFrom: feed.Original{ID: "tag:example.net,2026:engines", Title: "Engines & <i>mills</i>",
				URL: "https://example.net/engines.atom"},
			Extras: feed.Extras{Duration: 3723 * time.Second, Image: "https://example.com/4.jpg?a=1&b=2",
				Language: "en-GB", Season: 2, Episode: 17,
				Chapters: feed.Companion{URL: "https://example.com/4/chapters?a=1&b=2",
					Type: "application/json+chapters"},
				Transcripts: []feed.Companion{{URL: "https://example.com/4.vtt", Type: "text/vtt", Language: "de"},
					{URL: "https://example.com/4.html", Type: "text/html"}}},
		},
		{ID: "https://example.com/3", Title: "A map<string> of 1 < 2", Link: "https://example.com/3", Published: day(3),
			Summary: "brief"},
		{ID: "17", Title: "The id is a number", Link: "https://example.com/2", Updated: day(2)},
		{Title: "No id, no link, no date", Summary: "words"},
	}
	l := &library{
		feeds: []archive.Feed{
			{URL: exampleURL, Title: "Example News", Link: "https://example.com/", Subscribed: true, Since: day(1),
				About: "Engines &amp; <b>more</b>", Language: "en", Icon: "https://example.com/logo.png?a=1&b=2"},
		},
		versions: map[feed.URL]archive.FeedVersion{exampleURL: {Arrived: 1004, At: day(6)}},
		entries:  make(map[feed.URL][]archive.Record),
	}
	for _, e := range entries {
		e.Feed = exampleURL
		e.Clean()
		l.entries[exampleURL] = append(l.entries[exampleURL], archive.NewRecord(e, day(6), protocol.NodeID{}))
	}
	l.entries[exampleURL][3].Was = feed.EntryID{1, 2, 3, 4, 5, 6, 7, 8, 9} // the feed was renamed since it came
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
