package fetch

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"feedex/feed"
	"feedex/internal/dnstest"
	"feedex/node"
)

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>Example</title><link>https://example.com/</link>
<item><guid isPermaLink="false">one</guid><title>First</title><link>https://example.com/1</link></item></channel></rss>`

// serveRSS answers with a small feed.
func serveRSS(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/rss+xml")
	w.Write([]byte(rss))
}

// serve starts a server on loopback. Its requests are counted.
func serve(t *testing.T, h http.HandlerFunc) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// local fetches a URL with loopback allowed.
func local(t *testing.T, url string) node.Fetched {
	t.Helper()
	return fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(url)})
}

func fetchWith(t *testing.T, cfg Config, f node.Fetch) node.Fetched {
	t.Helper()
	c := New(cfg)
	t.Cleanup(c.CloseIdle)
	got := c.Fetch(t.Context(), f)
	if got.Feed != f.Feed {
		t.Errorf("Fetched.Feed is %q, want %q", got.Feed, f.Feed)
	}
	if (got.Document != nil) && got.Err != nil {
		t.Errorf("both a document and an error: %v", got.Err)
	}
	return got
}

// wantEntry fails unless the fetch brought the feed of serveRSS.
func wantEntry(t *testing.T, got node.Fetched) {
	t.Helper()
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	if got.Document == nil || len(got.Document.Entries) != 1 || got.Document.Entries[0].Title != "First" {
		t.Fatalf("document is %+v, want the feed", got.Document)
	}
}

// A listener counts the connections that come in, and closes them.
type listener struct {
	net.Listener
	done chan struct{}
	n    atomic.Int32
}

func listen(t *testing.T) *listener {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Listener: inner, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			l.n.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.close(t) })
	return l
}

func (l *listener) port() string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// close ends the listener and returns how many connections it accepted. A connection that was made
// before is in the queue before ours, so the count is complete.
func (l *listener) close(t *testing.T) int {
	t.Helper()
	select {
	case <-l.done:
		return int(l.n.Load()) - 1
	default:
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Read(make([]byte, 1)) // ends when it was accepted and closed
	conn.Close()
	l.Listener.Close()
	<-l.done
	return int(l.n.Load()) - 1
}

// nameServer is a resolver by which names have what answer says at the n-th question for an A record, from 0.
func nameServer(t *testing.T, answer func(name string, n int) netip.Addr) *net.Resolver {
	asked := make(map[string]int)
	return dnstest.Resolver(t, func(name string, of dnsmessage.Type) (list []dnsmessage.ResourceBody, ok bool) {
		if of == dnsmessage.TypeA {
			list = append(list, &dnsmessage.AResource{A: answer(name, asked[name]).As4()})
			asked[name]++
		}
		return list, true
	})
}
