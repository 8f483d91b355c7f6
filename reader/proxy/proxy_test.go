package proxy_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/guard"
	"feedex/reader/proxy"
	"feedex/reading"
)

// reader tells what it was asked for.
type reader struct{}

func (reader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "reader %s of %s as %s", r.RequestURI, r.Host, r.Header.Get("Authorization"))
}

func (reader) ServeDocument(w http.ResponseWriter, _ *http.Request, doc *feed.Document) {
	fmt.Fprintf(w, "document %s", doc.Title)
}

// feeds is a node that follows some feeds, and to which any path with "feed" in it is one.
type feeds struct {
	mu       sync.Mutex
	followed map[feed.URL]bool
	looks    int
	wait     chan struct{} // where not nil, looks end when it is closed
	err      error
	rests    error // nothing can be followed now
}

func (f *feeds) Follows(_ context.Context, u feed.URL) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followed[u], f.err
}

func (f *feeds) Look(_ context.Context, u feed.URL) (*feed.Document, error) {
	f.mu.Lock()
	f.looks++
	wait := f.wait
	f.mu.Unlock()
	if wait != nil {
		<-wait
	}
	switch {
	case strings.Contains(string(u), "down"):
		return nil, errors.New("nobody answers")
	case strings.Contains(string(u), "broken"):
		panic("a document that nobody thought of")
	case strings.Contains(string(u), "gone"):
		return nil, fmt.Errorf("%w: HTTP 410", proxy.ErrAnswered)
	case !strings.Contains(string(u), "feed"):
		return nil, fmt.Errorf("%w: a page", proxy.ErrNoFeed)
	}
	return &feed.Document{Feed: u, Title: "of " + string(u)}, nil
}

func (f *feeds) Follow(_ context.Context, u feed.URL) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followed[u] = f.rests == nil
	return f.rests
}

func follows(urls ...feed.URL) *feeds {
	f := &feeds{followed: make(map[feed.URL]bool)}
	for _, u := range urls {
		f.followed[u] = true
	}
	return f
}

// ask makes a request of the handler, as a server has it.
func ask(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// pass is a RoundTripper that goes nowhere.
type pass struct{ err error }

func (p pass) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.err != nil {
		return nil, p.err
	}
	text := fmt.Sprintf("page %s for %q", r.URL, r.Header.Get("Proxy-Authorization")+r.Header.Get("X-Forwarded-For"))
	return &http.Response{StatusCode: 200, Header: make(http.Header), Body: io.NopCloser(strings.NewReader(text)),
		Request: r}, nil
}

// through leads nowhere, and fails with err if that is not nil.
func through(err error) *proxy.Passage {
	return &proxy.Passage{Fetch: pass{err}, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, cmp.Or(err, io.ErrClosedPipe)
	}}
}

func TestAnswers(t *testing.T) {
	const known, secure = "http://example.com/feed?a=1&b=%20", "https://example.org/feed"
	for _, c := range []struct {
		name           string
		config         proxy.Config
		method, target string
		headers        []string
		code           int
		text           string
	}{
		{"not for a proxy", proxy.Config{}, "GET", "/feed/x", nil, 200, "reader /feed/x"},
		{"known", proxy.Config{}, "GET", known, []string{"Authorization", "Basic publisher"}, 200,
			"reader /feed/" + known + " of localhost as "},
		{"known at https", proxy.Config{}, "GET", "http://example.org/feed", nil, 200, "reader /feed/" + secure},
		{"known at https, as such", proxy.Config{}, "GET", secure, nil, 200, "reader /feed/" + secure},
		{"unknown", proxy.Config{}, "GET", "http://example.com/feed", nil, 403,
			"feedex subscribe http://example.com/feed\n"},
		{"unknown, with a quote", proxy.Config{}, "GET", "http://example.com/it's", nil, 403,
			`feedex subscribe 'http://example.com/it'\''s'`},
		{"unknown, to be followed", proxy.Config{Subscribe: true}, "GET", "http://example.com/feed", nil, 200,
			"document of http://example.com/feed"},
		{"no feed", proxy.Config{Subscribe: true}, "GET", "http://example.com/page", nil, 403, "a page"},
		{"nobody there", proxy.Config{Subscribe: true}, "GET", "http://example.com/down", nil, 502, "nobody answers"},
		{"no feed, to be passed on", proxy.Config{Subscribe: true, Pass: through(nil)}, "GET",
			"http://example.com/page", []string{"Proxy-Authorization", "x"}, 200,
			`page http://example.com/page for ""`},
		{"what the node cannot read, to be passed on", proxy.Config{Subscribe: true, Pass: through(nil)}, "GET",
			"http://example.com/down", nil, 200, "page http://example.com/down"},
		{"what a browser asks for", proxy.Config{Subscribe: true, Pass: through(nil)}, "GET", "http://example.com/feed",
			[]string{"Accept", "text/html,*/*"}, 200, "page http://example.com/feed"},
		{"unknown, to be passed on", proxy.Config{Pass: through(nil)}, "GET", "http://example.com/feed", nil, 200,
			"page http://example.com/feed"},
		{"in the owner's network", proxy.Config{Pass: through(fmt.Errorf("dial: %w", guard.ErrForbidden))}, "GET",
			"http://192.168.1.1/", nil, 403, "public Internet"},
		{"at no host", proxy.Config{Pass: through(&net.DNSError{Err: "no such host", IsNotFound: true})}, "GET",
			"http://nas.home/", nil, 403, "public Internet"},
		{"to be passed on, and nobody there", proxy.Config{Pass: through(io.ErrUnexpectedEOF)}, "GET",
			"http://example.com/", nil, 502, "example.com does not answer"},
		{"a form", proxy.Config{Subscribe: true, Pass: through(nil)}, "POST", known, nil, 405, "GET"},
		{"a tunnel", proxy.Config{}, "CONNECT", "example.com:443", nil, 405,
			"http://localhost/feed/https://example.com/"},
		{"a tunnel into the owner's network",
			proxy.Config{Pass: through(fmt.Errorf("dial: %w", guard.ErrForbidden))}, "CONNECT",
			"192.168.1.1:443", nil, 403, "public Internet"},
		{"a tunnel to nobody", proxy.Config{Pass: through(io.ErrUnexpectedEOF)}, "CONNECT", "example.com:443", nil, 502,
			"example.com:443 does not answer"},
		{"no address", proxy.Config{}, "GET", "ftp://example.com/", nil, 400, "http://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Reader, c.config.Feeds = reader{}, follows(known, secure)
			w := ask(proxy.New(c.config), c.method, c.target, c.headers...)
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.text) ||
				strings.Contains(w.Body.String(), "publisher") {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.code, c.text)
			}
		})
	}
}

// Through a server, with a client that uses it as a proxy for everything, its own address too.
func TestOwnAddress(t *testing.T) {
	server := httptest.NewServer(proxy.New(proxy.Config{Reader: reader{}, Feeds: follows("http://example.com/feed"),
		Hosts: []string{"nas.example.org"}}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return at, nil }}}
	defer client.CloseIdleConnections()
	for target, want := range map[string]string{
		server.URL + "/opml":                        "reader " + server.URL + "/opml",
		"http://localhost:" + at.Port() + "/":       "reader http://localhost",
		"http://NAS.example.org:" + at.Port() + "/": "reader http://NAS.example.org",
		"http://example.com/feed":                   "reader /feed/http://example.com/feed of " + at.Host,
		"http://127.0.0.1:1/":                       "does not follow",
		"http://localhost/":                         "does not follow",
		"http://evil.example:" + at.Port() + "/":    "does not follow",
	} {
		resp, err := client.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %s, want %s", target, resp.StatusCode, text, want)
		}
	}
}

// entrance knows one password.
type entrance struct{}

func (entrance) Visitor(_ context.Context, password string) (reading.Visitor, error) {
	if password == "broken" {
		return reading.Visitor{}, errors.New("disk on fire")
	}
	return reading.Visitor{Name: map[string]string{"secret": "phone"}[password]}, nil
}

func (entrance) FeverVisitor(context.Context, string) (reading.Visitor, error) {
	return reading.Visitor{}, nil
}

// Where others reach the proxy it wants a password, and the reader behind it gets the same.
func TestProxyPasswords(t *testing.T) {
	h := proxy.New(proxy.Config{Reader: reader{}, Feeds: follows("http://example.com/feed"), Subscribe: true,
		Pass: through(nil), Entrance: entrance{}})
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for login, code := range map[string]int{"": 407, basic("phone:wrong"): 407, basic("other:secret"): 407,
		basic(":x"): 407, basic("phone:broken"): 500, basic("phone:secret"): 200} {
		for _, target := range []string{"http://example.com/feed", "http://example.com/new-feed",
			"http://example.com/page"} {
			w := ask(h, "GET", target, "Proxy-Authorization", login, "Authorization", basic("phone:secret"))
			if w.Code != code || code == 407 && w.Header().Get("Proxy-Authenticate") == "" ||
				strings.Contains(w.Body.String(), "fire") {
				t.Errorf("%s with %q: %d %s", target, login, w.Code, w.Body)
			}
		}
	}
	if w := ask(h, "GET", "http://example.com/feed", "Proxy-Authorization",
		basic("phone:secret")); !strings.HasSuffix(w.Body.String(), basic("phone:secret")) {
		t.Errorf("the reader is asked so: %s", w.Body)
	}
}

// However many ask, and however often, an address is looked at once, and again after an hour if it was no feed.
func TestLooksAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follows()
		f.wait = make(chan struct{})
		h := proxy.New(proxy.Config{Reader: reader{}, Feeds: f, Subscribe: true})
		var all sync.WaitGroup
		many := func(target string) {
			for range 10 {
				all.Go(func() { ask(h, "GET", target) })
			}
			synctest.Wait()
		}
		many("http://example.com/feed")
		many("http://example.com/page")
		if f.looks != 2 {
			t.Fatalf("%d looks at two addresses", f.looks)
		}
		close(f.wait)
		all.Wait()
		for range 59 {
			time.Sleep(time.Minute)
			many("http://example.com/page")
			many("http://example.com/feed")
		}
		if f.looks != 2 {
			t.Errorf("%d looks within an hour, want 2", f.looks)
		}
		time.Sleep(time.Minute)
		many("http://example.com/page")
		if f.looks != 3 {
			t.Errorf("%d looks after an hour, want 3", f.looks)
		}
		for range 10 { // as its publisher says, and not because nobody answers
			many("http://example.com/gone")
			ask(h, "GET", "http://example.com/down")
		}
		if f.looks != 14 {
			t.Errorf("%d looks at what is gone and ten at what is down, want one", f.looks-13)
		}
		f.rests = errors.New("the node rests")
		for range 3 {
			ask(h, "GET", "http://example.com/feed/2")
		}
		if f.rests = nil; ask(h, "GET", "http://example.com/feed/2").Code != 200 {
			t.Error("it is not followed once the node can")
		}
		for range 10 {
			func() {
				defer func() { recover() }() // as the server does
				ask(h, "GET", "http://example.com/broken")
			}()
		}
		for i := range 3000 {
			ask(h, "GET", fmt.Sprint("http://example.com/", i))
		}
		f.wait = make(chan struct{})
		for i := range 8 {
			all.Go(func() { ask(h, "GET", fmt.Sprint("http://example.com/more/", i)) })
		}
		synctest.Wait()
		if w := ask(h, "GET", "http://example.com/too-many"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("a ninth look at a time: %d", w.Code)
		}
		close(f.wait)
		all.Wait()
	})
}
