package demo

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"feedex/feed"
	"feedex/internal/sleep"
)

// A publisher serves feeds on loopback, each with the newest entries that it published.
type publisher struct {
	ln        net.Listener
	urls      []feed.URL
	published func(e feed.Entry, at time.Time) // told before anybody can fetch the entry

	mu    sync.Mutex
	feeds [][]feed.Entry // by feed, oldest first
}

// titles name the feeds of the demonstration.
var titles = []string{
	"Harbor News", "Kitchen Notes", "Night Trains", "The Weekly Map", "Seeds and Soil",
	"Old Machines", "Cloud Atlas", "Chess Endings", "Quiet Rivers", "Letterpress",
}

func newPublisher() (*publisher, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the feeds: %w", err)
	}
	p := &publisher{ln: ln, feeds: make([][]feed.Entry, len(titles))}
	for i := range titles {
		u, err := feed.ParseURL(fmt.Sprintf("http://%s/%d.xml", ln.Addr(), i+1))
		if err != nil {
			return nil, err
		}
		p.urls = append(p.urls, u)
	}
	return p, nil
}

// serve answers requests until ctx ends.
func (p *publisher) serve(ctx context.Context) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(p.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the feeds: %w", err)
	}
	return nil
}

// publish adds an entry to each feed every few seconds until ctx ends.
func (p *publisher) publish(ctx context.Context) {
	var feeds sync.WaitGroup
	defer feeds.Wait()
	for i := range p.urls {
		feeds.Go(func() {
			for sleep.For(ctx, shortestGap+rand.N(longestGap-shortestGap)) == nil {
				p.add(i, time.Now())
			}
		})
	}
}

// add publishes one entry of feed i.
func (p *publisher) add(i int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.feeds[i]) + 1
	e := feed.Entry{
		Feed: p.urls[i], ID: fmt.Sprintf("%s#%d", p.urls[i], n), Title: fmt.Sprintf("%s, no. %d", titles[i], n),
		Link: fmt.Sprintf("%s#%d", p.urls[i], n), Published: now,
		Summary: "<p>" + strings.Repeat("An entry that is here to travel. ", 12) + "</p>",
	}
	p.published(e, now)
	p.feeds[i] = append(p.feeds[i], e)
}

// rss is a document of RSS 2.0, as far as the demonstration needs it.
type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Title   string   `xml:"channel>title"`
	Link    string   `xml:"channel>link"`
	Items   []item   `xml:"channel>item"`
}

type item struct {
	GUID        string `xml:"guid"`
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Date        string `xml:"pubDate"`
	Description string `xml:"description"`
}

// ServeHTTP serves a feed's newest entries, or 304 where nothing is new.
func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".xml"))
	if err != nil || n < 1 || n > len(p.urls) {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	entries := p.feeds[n-1]
	p.mu.Unlock()
	etag := fmt.Sprintf(`"%d"`, len(entries))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	doc := rss{Version: "2.0", Title: titles[n-1], Link: string(p.urls[n-1])}
	for i := len(entries) - 1; i >= max(0, len(entries)-windowEntries); i-- {
		e := entries[i]
		doc.Items = append(doc.Items, item{e.ID, e.Title, e.Link, e.Published.UTC().Format(time.RFC1123), e.Summary})
	}
	w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
	// A node that went away meanwhile polls again.
	_ = xml.NewEncoder(w).Encode(doc)
}
