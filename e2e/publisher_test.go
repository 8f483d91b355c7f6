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
	agents []string              // User-Agent of every request
}

// A published feed is the title and the titles of its entries, the oldest first.
type published struct {
	title   string
	entries []string
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
	p.feeds[path].entries = append(p.feeds[path].entries, entries...)
	return p.server.URL + path
}

// asked counts the requests of programs whose User-Agent begins so.
func (p *publisher) asked(agent string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		if strings.HasPrefix(strings.ToLower(a), agent) {
			n++
		}
	}
	return n
}

// ServeHTTP serves the feeds as RSS.
func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agents = append(p.agents, r.UserAgent())
	f := p.feeds[r.URL.Path]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	tag := fmt.Sprintf(`"%d"`, len(f.entries))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, "<rss version=\"2.0\"><channel><title>%s</title><link>%s/</link><description>d</description>\n",
		html.EscapeString(f.title), p.server.URL)
	for i, title := range f.entries {
		fmt.Fprintf(w, "<item><guid isPermaLink=\"false\">%s#%d</guid><title>%s</title><link>%s/%d</link><pubDate>"+
			"%s</pubDate>"+
			"<description>&lt;p&gt;What there is to say of “%s”.&lt;/p&gt;</description></item>\n", r.URL.Path, i,
			html.EscapeString(title),
			p.server.URL, i, p.first.Add(time.Duration(i)*time.Minute).UTC().Format(time.RFC1123Z),
			html.EscapeString(title))
	}
	fmt.Fprint(w, "</channel></rss>\n")
}
