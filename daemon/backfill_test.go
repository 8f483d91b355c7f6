package daemon

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/backfill"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// A node fills in the past of what it follows by itself: from the publisher's archive and then from a neighbor, over
// restarts, without its owner, and as no news.
func TestFollowingAFeedFillsInItsPast(t *testing.T) {
	u := startArchive(t, "")
	holder := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{MinNeighbors: 1}})
	holder.waitArrival(u)
	old := feed.Entry{Feed: u, ID: "older than the archive", Title: "Walrus",
		Published: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)}
	r := archive.NewRecord(old, old.Published, protocol.NodeID{})
	if _, err := holder.client.Import(t.Context(), []jsonl.Line{jsonl.NewLine(&r, false)}); err != nil {
		t.Fatal(err)
	}

	c := Config{Data: t.TempDir(), Subscribe: []feed.URL{u},
		Node:      node.Config{MinNeighbors: 1, Peers: []string{holder.at.Listen}, Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Millisecond}
	n := startNode(t, c)
	first := n.waitArrival(u)
	n.waitPast(u, func(p *archive.Past) bool { return p == nil || p.Filled > 0 })
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	n = startNode(t, c)
	n.waitPast(u, func(p *archive.Past) bool { return p == nil })
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u})
	if err != nil || len(first.Records) != 1 || len(records) != 4 {
		t.Fatalf("%d came first, %d in the end, %v", len(first.Records), len(records), err)
	}
	for _, r := range records {
		if news := r.ID == first.Records[0].ID; news != (r.Seq > 0) {
			t.Errorf("%s has seq %d", r.Entry.ID, r.Seq)
		}
	}
}

// The node does not read again by itself those parts of a publisher's archive that the owner has read.
func TestABackfillIsNotRepeatedInTheBackground(t *testing.T) {
	u := startArchive(t, "")
	n := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Hour})
	n.waitArrival(u)
	n.waitPast(u, func(p *archive.Past) bool { return p != nil && p.Stage == archive.PastPublisher })
	ctx, cancel := context.WithCancel(t.Context())
	fill := backfill.Span{Feed: u, Publisher: true, Pause: time.Millisecond}
	if got, err := fill.Run(ctx, n.client, func(b backfill.Report) {
		if b.Pages == 2 {
			cancel()
		}
	}); err == nil {
		t.Fatalf("it was not broken off: %+v", got)
	}
	n.waitPast(u, func(p *archive.Past) bool {
		return p.Steps == 1 && p.Filled == 1 && strings.HasSuffix(string(p.Page), "/2024")
	})
	if got, err := fill.Run(t.Context(), n.client, func(backfill.Report) {}); err != nil || got.Pages != 3 ||
		got.Publisher != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	n.waitPast(u, func(p *archive.Past) bool {
		return p.Stage == archive.PastNetwork && p.Page == "" &&
			p.Filled == 2
	})
}

// Nor does it where the feed has not been polled yet: what was read counts, and the poll begins nothing anew.
func TestABackfillBeforeTheFirstPollIsNotRepeated(t *testing.T) {
	origin := strings.TrimSuffix(string(startArchive(t, "")), "/feed")
	var down atomic.Bool
	down.Store(true)
	reads := make(map[string]int)
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.Lock()
		reads[r.URL.Path]++
		mu.Unlock()
		resp, err := http.Get(origin + r.URL.Path)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", "application/atom+xml")
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(srv.Close)
	u := feed.URL(srv.URL + "/feed")
	n := startNode(t, Config{Subscribe: []feed.URL{u}, Node: node.Config{Backfill: 10 * 365 * 24 * time.Hour},
		pastPause: time.Hour})
	n.waitPast(u, func(p *archive.Past) bool { return p != nil && p.Stage == archive.PastPoll })
	n.waitFeed(u, func(f *node.FeedStatus) bool { return f.LastError != "" })
	down.Store(false)
	if got, err := (backfill.Span{Feed: u, Publisher: true, Pause: time.Millisecond}).Run(t.Context(), n.client,
		func(backfill.Report) {}); err != nil || got.Pages != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	done := func(p *archive.Past) bool { return p.Stage == archive.PastNetwork && p.Page == "" && p.Steps == 0 }
	n.waitPast(u, done)
	mu.Lock()
	defer mu.Unlock()
	if len(reads) != 3 || reads["/2025"] != 1 || reads["/2024"] != 1 {
		t.Errorf("read %v", reads)
	}
}

// waitFeed waits until the feed is as is wanted.
func (n *testNode) waitFeed(u feed.URL, want func(*node.FeedStatus) bool) {
	n.t.Helper()
	var last node.FeedStatus
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		feeds, err := n.client.Feeds(n.t.Context())
		if err != nil {
			n.t.Fatal(err)
		}
		for i := range feeds {
			if last = feeds[i]; last.URL == u && want(&last) {
				return
			}
		}
	}
	n.t.Fatalf("the feed stays at %+v", last)
}

// waitPast waits until the past of the feed is as is wanted.
func (n *testNode) waitPast(u feed.URL, want func(*archive.Past) bool) {
	n.t.Helper()
	n.waitFeed(u, func(f *node.FeedStatus) bool { return want(f.Past) })
}
