package e2e

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A publisher publishes feeds on this machine.
type publisher struct {
	server *httptest.Server
	first  time.Time // when the first entry of each feed came out
	mu     sync.Mutex
	feeds  map[string]*published // by path
	log    []request
	refuse string // whose User-Agent has this is answered 403, "" for nobody
}

// A request is one that a publisher answered.
type request struct {
	at          time.Time
	path, agent string
}

// A published feed is its title and its entries, the oldest first. They are in its document from their time on.
type published struct {
	title   string
	entries []item
	window  int // how many of the latest entries the document lists at most; 0 is all
}

// An item is the title of an entry, and when it comes out.
type item struct {
	title string
	at    time.Time
}

func startPublisher(t *testing.T) *publisher {
	p := &publisher{first: time.Now().Add(-time.Hour).Truncate(time.Hour), feeds: make(map[string]*published)}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

// publish adds entries to the feed at path, which is there from then on, and returns its URL.
func (p *publisher) publish(path, title string, entries ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.feeds[path] == nil {
		p.feeds[path] = &published{title: title}
	}
	f := p.feeds[path]
	for _, e := range entries {
		f.entries = append(f.entries, item{e, p.first.Add(time.Duration(len(f.entries)) * time.Minute)})
	}
	return p.server.URL + path
}

// asked counts the requests of programs whose User-Agent begins so.
func (p *publisher) asked(agent string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.log {
		if strings.HasPrefix(strings.ToLower(r.agent), agent) {
			n++
		}
	}
	return n
}

// ServeHTTP serves the feeds as RSS.
func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.log = append(p.log, request{now, r.URL.Path, r.UserAgent()})
	if p.refuse != "" && strings.Contains(r.UserAgent(), p.refuse) {
		http.Error(w, "you are not welcome", http.StatusForbidden)
		return
	}
	f := p.feeds[r.URL.Path]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	out := 0
	for out < len(f.entries) && !f.entries[out].at.After(now) {
		out++
	}
	tag := fmt.Sprintf(`"%d"`, out)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, "<rss version=\"2.0\"><channel><title>%s</title><link>%s/</link><description>d</description>\n",
		html.EscapeString(f.title), p.server.URL)
	first := 0
	if f.window > 0 {
		first = max(0, out-f.window)
	}
	for i := first; i < out; i++ {
		e := f.entries[i]
		fmt.Fprintf(w, "<item><guid isPermaLink=\"false\">%s#%d</guid><title>%s</title><link>%s/%d</link><pubDate>"+
			"%s</pubDate>"+
			"<description>&lt;p&gt;What there is to say of “%s”.&lt;/p&gt;</description></item>\n", r.URL.Path, i,
			html.EscapeString(e.title), p.server.URL, i, e.at.UTC().Format(time.RFC1123Z), html.EscapeString(e.title))
	}
	fmt.Fprint(w, "</channel></rss>\n")
}
