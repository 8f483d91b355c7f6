package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

// startArchive publishes a feed of one entry whose archive has an entry that may be passed on, and one that may not be.
// It leads on to a document that is missing, or to none.
func startArchive(t *testing.T, missing string) feed.URL {
	t.Helper()
	const document = `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><link rel="prev-archive" href="%s"/>` +
		`<entry><id>%s</id><title>Entry %[2]s</title><published>2025-01-01T00:00:00Z</published></entry></feed>`
	mux := http.NewServeMux()
	page := func(path, older, id string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/atom+xml")
			if id == "withheld" {
				w.Header().Set("X-Robots-Tag", "noarchive")
			}
			fmt.Fprintf(w, document, older, id)
		})
	}
	page("/feed", "/2025", "newest")
	page("/2025", "/2024", "open")
	page("/2024", missing, "withheld")
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return feed.URL(srv.URL + "/feed")
}

func TestPagesOfAPublishersArchive(t *testing.T) {
	n := startNode(t, Config{})
	u := startArchive(t, "/2023")
	var page feed.URL
	for range 3 {
		p, err := n.client.FetchArchive(t.Context(), u, page)
		if err != nil || p.Listed != 1 || p.Stored != 1 || p.Bytes == 0 || p.PrevArchive == "" ||
			p.Oldest.Year() != 2025 {
			t.Fatalf("%s: %+v, %v", page, p, err)
		}
		page = p.PrevArchive
	}
	if p, err := n.client.FetchArchive(t.Context(), u, page); err == nil {
		t.Errorf("a document that is missing: %+v", p)
	}
	if p, err := n.client.FetchArchive(t.Context(), u, ""); err != nil || p.Stored != 0 {
		t.Errorf("the second time: %+v, %v", p, err)
	}
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u})
	if err != nil || len(records) != 3 {
		t.Fatalf("%d stored, %v", len(records), err)
	}
	var wanted protocol.GetEntries
	for _, r := range records {
		if r.Seq >= 0 || !r.Confirmed || !r.Source.IsZero() {
			t.Errorf("stored is %+v", r)
		}
		wanted.Wanted = append(wanted.Wanted, protocol.Wanted{ID: r.ID, Digest: r.Digest})
	}

	// A stranger is given what the publisher lets be passed on.
	b := n.given(wanted)
	if len(b.Entries) != 2 || b.Entries[0].Entry.ID == "withheld" || b.Entries[1].Entry.ID == "withheld" {
		t.Errorf("a stranger was given %+v", b)
	}
}

// Versions of an entry that others brought are put right by its publisher's archive.
func TestAPublishersArchiveSetsRightWhatOthersBrought(t *testing.T) {
	n := startNode(t, Config{})
	u := startArchive(t, "/2023")
	var lines []jsonl.Line
	for _, id := range []string{"newest", "open"} {
		e := feed.Entry{Feed: u, ID: id, Title: "Entry " + id, Published: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
		if id == "newest" {
			e.Title = "Altered"
		}
		r := archive.NewRecord(e, time.Now(), protocol.NodeID{})
		lines = append(lines, jsonl.NewLine(&r, false))
	}
	if added, err := n.client.Import(t.Context(), lines); err != nil || added != 2 {
		t.Fatalf("%d imported, %v", added, err)
	}
	for _, page := range []feed.URL{"", feed.URL(strings.TrimSuffix(string(u), "feed") + "2025")} {
		if p, err := n.client.FetchArchive(t.Context(), u, page); err != nil || p.Stored != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u})
	if err != nil || len(records) != 2 {
		t.Fatalf("%d stored, %v", len(records), err)
	}
	for _, r := range records {
		if !r.Confirmed || r.Entry.Title != "Entry "+r.Entry.ID {
			t.Errorf("stored is %+v", r)
		}
	}
}

// given is the batch that the node gives to a stranger.
func (n *testNode) given(wanted protocol.GetEntries) protocol.Batch {
	n.t.Helper()
	stranger := transport.NewClient(transport.ClientConfig{Port: 7790, AllowLocal: true})
	defer stranger.CloseIdle()
	r, err := stranger.Call(n.t.Context(), n.at.Listen, "", wanted)
	if err != nil {
		n.t.Fatal(err)
	}
	b, _ := r.Reply.(protocol.Batch)
	return b
}

// A stranger that is given what a publisher's archive holds could tell that the node follows the feed.
func TestAPastThatIsFollowedDiscreetlyIsHidden(t *testing.T) {
	n := startNode(t, Config{})
	u, yes := startArchive(t, "/2023"), true
	if err := n.client.Subscribe(t.Context(), node.Subscribe{Feeds: []feed.URL{u}, Discreet: &yes}); err != nil {
		t.Fatal(err)
	}
	n.waitArrival(u)
	if p, err := n.client.FetchArchive(t.Context(), u,
		feed.URL(strings.TrimSuffix(string(u), "feed")+"2025")); err != nil || p.Stored != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u})
	if err != nil || len(records) != 2 {
		t.Fatalf("%d stored, %v", len(records), err)
	}
	for _, r := range records {
		if b := n.given(protocol.GetEntries{Wanted: []protocol.Wanted{{ID: r.ID,
			Digest: r.Digest}}}); len(b.Entries) != 0 {
			t.Errorf("a stranger was given %+v", b)
		}
	}
}

// Refusals of a publisher to the owner hold for polls as well.
func TestPagesThatAreRefused(t *testing.T) {
	f := startFeed(t, "First")
	var refuse atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse.Load() {
			w.Header().Set("Retry-After", "360000")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	u := feed.URL(srv.URL + "/feed")
	n := startNode(t, Config{Subscribe: []feed.URL{u}})
	n.waitArrival(u)
	refuse.Store(true)
	if p, err := n.client.FetchArchive(t.Context(), u, ""); err == nil {
		t.Fatalf("the publisher gave %+v", p)
	}
	feeds, err := n.client.Feeds(t.Context())
	if err != nil || len(feeds) != 1 || time.Until(feeds[0].NextPoll) < 99*time.Hour {
		t.Errorf("polled next: %+v, %v", feeds, err)
	}
}
