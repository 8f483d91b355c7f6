package reader_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader"
	"feedex/reading"
)

func TestFeedAddresses(t *testing.T) {
	l := exampleLibrary()
	for _, u := range []feed.URL{
		"http://example.org/feed?x=1&y=a%20b", "https://example.net/a|b", "https://example.net/a%7Cc?q=%2F",
		"http://[2001:db8::1]:8080/", "https://example.net/",
	} {
		l.feeds = append(l.feeds, archive.Feed{URL: u})
	}
	h := reader.New(reader.Config{Source: l})
	for _, test := range []struct {
		target string
		want   feed.URL // the feed that comes, "" for none
	}{
		{"/feed/https://example.com/feed.xml", exampleURL},
		{"/feed/https:/example.com/feed.xml", exampleURL},
		{"/feed/https:///example.com/feed.xml", exampleURL},
		{"/feed/HTTPS://EXAMPLE.COM/feed.xml", exampleURL},
		{"/feed/https://example.com:443/feed.xml", exampleURL},
		{"/feed/https%3A%2F%2Fexample.com%2Ffeed.xml", exampleURL},
		{"/feed/https%3a%2f%2fexample.com%2ffeed.xml", exampleURL},
		{"/feed/https:%2F%2Fexample.com%2Ffeed.xml", exampleURL},
		{"http://127.0.0.1:7791/feed/https://example.com/feed.xml", exampleURL},
		{"/feed/http://example.org/feed?x=1&y=a%20b", "http://example.org/feed?x=1&y=a%20b"},
		{"/feed/http:/example.org/feed?x=1&y=a%20b", "http://example.org/feed?x=1&y=a%20b"},
		{"/feed/http%3A%2F%2Fexample.org%2Ffeed%3Fx%3D1%26y%3Da%2520b", "http://example.org/feed?x=1&y=a%20b"},
		{"/feed/https://example.net/a|b", "https://example.net/a|b"},
		{"/feed/https://example.net/a%7Cb", "https://example.net/a|b"},
		{"/feed/https://example.net/a%7Cc?q=%2F", "https://example.net/a%7Cc?q=%2F"},
		{"/feed/http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080/"},
		{"/feed/https://example.net", "https://example.net/"},
		{"/feed/https://example.com/feed.xml?", ""},
		{"/feed/https://example.com/other.xml", ""},
	} {
		t.Run(test.target, func(t *testing.T) {
			r := test.target
			w := httptest.NewRecorder()
			req := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7791/", nil)
			if abs, ok := strings.CutPrefix(r, "http://127.0.0.1:7791"); ok {
				req.URL.Path = abs
			}
			req.RequestURI = r
			h.ServeHTTP(w, req)
			if test.want == "" {
				if w.Code != http.StatusNotFound {
					t.Errorf("status %d, want 404", w.Code)
				}
				return
			}
			if got := string(body(t, w)); !strings.Contains(got,
				"<id>"+strings.ReplaceAll(string(test.want), "&", "&amp;")+"</id>") {
				t.Errorf("want feed %s, got %.300s", test.want, got)
			}
		})
	}
}

func TestAnswersInWords(t *testing.T) {
	h := reader.New(reader.Config{Source: exampleLibrary(), Hosts: []string{"Nas.Example.org"}})
	for _, test := range []struct {
		name, method, target, host string
		code                       int
		words                      string
	}{
		{"unknown feed", "GET", "/feed/https://example.org/it's", "localhost", 404,
			`feedex subscribe 'https://example.org/it'\''s'`},
		{"no URL", "GET", "/feed/", "localhost", 400, "http://"},
		{"not http", "GET", "/feed/ftp://example.com/", "localhost", 400, "http://"},
		{"blanks", "GET", "/feed/http://exa mple.com/", "localhost", 400, "http://"},
		{"elsewhere", "GET", "/favicon.ico", "localhost", 404, "/feed/"},
		{"feed without slash", "GET", "/feed", "localhost", 404, "/feed/"},
		{"dots", "GET", "/feed/../etc/passwd", "localhost", 400, ""},
		{"post", "POST", "/feed/https://example.com/feed.xml", "localhost", 405, "GET"},
		{"delete", "DELETE", "/", "localhost", 405, "GET"},
		{"foreign host", "GET", "/feed/https://example.com/feed.xml", "evil.example", 421, "127.0.0.1"},
		{"foreign host, index", "GET", "/opml", "evil.example:7791", 421, `reader_host = ["evil.example"]`},
		{"host that looks local", "GET", "/opml", "127.0.0.1.evil.example", 421, ""},
		{"localhost below another", "GET", "/opml", "localhost.evil.example", 421, ""},
		{"loopback", "GET", "/opml", "127.8.0.1:7791", 200, ""},
		{"loopback, IPv6", "GET", "/opml", "[::1]:7791", 200, ""},
		{"loopback, IPv6, no port", "GET", "/opml", "[::1]", 200, ""},
		{"localhost", "GET", "/opml", "LOCALHOST:7791", 200, ""},
		{"configured", "GET", "/opml", "nas.example.org:7791", 200, ""},
		{"HTTP/1.0", "GET", "/opml", "", 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := do(t, h, test.method, test.target, "Host", test.host)
			if w.Code != test.code || !strings.Contains(w.Body.String(), test.words) {
				t.Errorf("%d %q, want %d with %q", w.Code, w.Body, test.code, test.words)
			}
			if w.Code != http.StatusOK && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
				t.Errorf("Content-Type %q, want text/plain", w.Header().Get("Content-Type"))
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no nosniff")
			}
			if test.code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow %q", w.Header().Get("Allow"))
			}
		})
	}
}

// A path that is no way in for feed readers is answered by the pages, with whatever method, under the same names.
func TestPages(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})
	h := reader.New(reader.Config{Source: exampleLibrary(), Web: pages})
	for _, test := range []struct {
		method, target, host string
		code                 int
	}{
		{"GET", "/", "localhost", http.StatusTeapot},
		{"POST", "/follow", "localhost", http.StatusTeapot},
		{"POST", "/follow", "evil.example", http.StatusMisdirectedRequest},
		{"GET", "/opml", "evil.example", http.StatusMisdirectedRequest},
		{"GET", "/opml", "localhost", http.StatusOK},
		{"POST", "/opml", "localhost", http.StatusMethodNotAllowed},
		{"GET", "/archive?q=a", "localhost", http.StatusOK},
		{"GET", "/feed/" + string(exampleURL), "localhost", http.StatusOK},
	} {
		if w := do(t, h, test.method, test.target, "Host", test.host); w.Code != test.code {
			t.Errorf("%s %s at %s: %d, want %d", test.method, test.target, test.host, w.Code, test.code)
		}
	}
}

// The sync APIs see to passwords themselves, and take an address with a slash too many; not another host's name.
func TestSync(t *testing.T) {
	var asked string
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		w.WriteHeader(http.StatusTeapot)
	})
	h := reader.New(reader.Config{Source: exampleLibrary(), Sync: map[string]http.Handler{"/v1/": api},
		Web: http.NotFoundHandler()})
	for _, test := range []struct {
		method, target string
		code           int
	}{
		{"GET", "http://localhost/v1/feeds?x", http.StatusTeapot},
		{"PUT", "http://localhost//v1/feeds", http.StatusTeapot},
		{"PUT", "http://evil.example/v1/feeds", http.StatusMisdirectedRequest},
		{"GET", "http://localhost/v1", http.StatusNotFound},
	} {
		asked = ""
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(test.method, test.target, nil))
		if w.Code != test.code || w.Code == http.StatusTeapot && asked != "/v1/feeds" {
			t.Errorf("%s %s: %d for %q, want %d", test.method, test.target, w.Code, asked, test.code)
		}
	}
}

// uncompressed takes answers as they are.
var uncompressed = http.Client{Transport: &http.Transport{DisableCompression: true}}

func TestHead(t *testing.T) {
	server := httptest.NewServer(reader.New(reader.Config{Source: exampleLibrary()}))
	defer server.Close()
	target := server.URL + "/feed/" + string(exampleURL)
	got, err := uncompressed.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	head, err := uncompressed.Head(target)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Body.Close()
	if b, err := io.ReadAll(head.Body); len(b) > 0 || err != nil {
		t.Errorf("HEAD has a body: %q, %v", b, err)
	}
	for _, name := range []string{"ETag", "Last-Modified", "Content-Type", "Cache-Control"} {
		if head.Header.Get(name) == "" || head.Header.Get(name) != got.Header.Get(name) {
			t.Errorf("%s: HEAD %q, GET %q", name, head.Header.Get(name), got.Header.Get(name))
		}
	}
}

func TestArchiveFails(t *testing.T) {
	broken := exampleLibrary()
	broken.err = errDisk
	h := reader.New(reader.Config{Source: broken})
	for _, target := range []string{"/opml", "/feed/" + string(exampleURL)} {
		if w := get(t, h, target); w.Code != http.StatusInternalServerError ||
			strings.Contains(w.Body.String(), "fire") {
			t.Errorf("%s: %d %q, want 500 without details", target, w.Code, w.Body)
		}
	}
	early := exampleLibrary()
	early.failAt = 2
	w := get(t, reader.New(reader.Config{Source: early}), "/feed/"+string(exampleURL))
	if w.Code != http.StatusInternalServerError || w.Header().Get("ETag") != "" {
		t.Errorf("failed before anything was sent: %d, ETag %q, want 500 without one", w.Code, w.Header().Get("ETag"))
	}
}

// A reader that was sent a part must not take it for the whole.
func TestArchiveFailsMidway(t *testing.T) {
	l := exampleLibrary()
	long := l.entries[exampleURL][0]
	long.Entry.Content = strings.Repeat("long ", 100_000)
	l.entries[exampleURL] = append([]archive.Record{long}, l.entries[exampleURL]...)
	l.failAt = 3
	server := httptest.NewServer(reader.New(reader.Config{Source: l}))
	defer server.Close()
	for name, client := range map[string]*http.Client{"plain": &uncompressed, "gzip": http.DefaultClient} {
		resp, err := client.Get(server.URL + "/feed/" + string(exampleURL))
		if err != nil {
			continue // nothing had been sent
		}
		defer resp.Body.Close()
		if b, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: read %d bytes without an error, want a broken connection", name, len(b))
		}
	}
}

// entrance knows one password.
type entrance struct{ err error }

func (d entrance) Visitor(_ context.Context, password string) (reading.Visitor, error) {
	if password == "secret" {
		return reading.Visitor{Name: "phone"}, d.err
	}
	return reading.Visitor{}, d.err
}

func (entrance) FeverVisitor(context.Context, string) (reading.Visitor, error) {
	return reading.Visitor{}, nil
}

// What programs ask for that watch over a node is there, under its own names; only its metrics want a password.
func TestMetricsAndHealth(t *testing.T) {
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
	}
	h := reader.New(reader.Config{Source: exampleLibrary(), Entrance: entrance{}, Web: says("a page"),
		Metrics: says("metrics"), Health: says("ok")})
	for _, test := range []struct {
		target, host, user, want string
		code                     int
	}{
		{"/healthz", "localhost", "", "ok", 200},
		{"/healthz", "evil.example", "", "reader_host", 421},
		{"/metrics", "localhost", "", "password add", 401},
		{"/metrics", "localhost", "phone:secret", "metrics", 200},
		{"/metrics", "evil.example", "phone:secret", "reader_host", 421},
		{"/metrics/1", "localhost", "", "a page", 200},
	} {
		w := get(t, h, test.target, "Host", test.host, "Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(test.user)))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%+v: %d %s", test, w.Code, w.Body)
		}
	}
}

// Where others may connect, every way in wants a password.
func TestPasswords(t *testing.T) {
	h := reader.New(reader.Config{Source: exampleLibrary(), Entrance: entrance{}})
	basic := func(user string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(user)) }
	for _, target := range []string{"/feed/" + string(exampleURL), "/feeds/1.rss", "/all.json", "/archive?q=", "/opml",
		"/archive/opensearch.xml", "/else"} {
		for _, headers := range [][]string{nil, {"Authorization", basic("phone:")},
			{"Authorization", basic("other:secret")}, {"Authorization", basic(":secret")},
			{"Authorization", "Basic x"}} {
			w := get(t, h, target, headers...)
			if w.Code != 401 || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Basic realm=") ||
				strings.Contains(w.Body.String(), "Example News") {
				t.Errorf("%s with %q: %d %s", target, headers, w.Code, w.Body)
			}
		}
		if w := get(t, h, target, "Authorization", basic("phone:secret")); w.Code != 200 && target != "/else" {
			t.Errorf("%s with a password: %d", target, w.Code)
		}
	}
	known := func(r *http.Request) bool { return r.Header.Get("Cookie") == "known" }
	h = reader.New(reader.Config{Source: exampleLibrary(), Entrance: entrance{}, Known: known})
	for cookie, want := range map[string]int{"known": 200, "other": 401} {
		if w := get(t, h, "/opml", "Cookie", cookie); w.Code != want {
			t.Errorf("a browser with the cookie %q: %d, want %d", cookie, w.Code, want)
		}
	}
	h = reader.New(reader.Config{Source: exampleLibrary(), Entrance: entrance{errDisk}})
	if w := get(t, h, "/all.atom", "Authorization", basic("phone:secret")); w.Code != 500 {
		t.Errorf("where passwords cannot be read: %d", w.Code)
	}
}

// A timed writer is a connection that keeps its deadline for reading.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (t *timed) SetReadDeadline(until time.Time) error {
	t.until = until
	return nil
}

// A client that sends a body slowly holds a connection for some minutes, and not for ever.
func TestBodiesAreReadForAWhile(t *testing.T) {
	h := reader.New(reader.Config{Source: exampleLibrary()})
	for _, test := range []struct {
		method string
		body   io.Reader
		timed  bool
	}{{http.MethodGet, nil, false}, {http.MethodPost, strings.NewReader("a"), true}} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, httptest.NewRequest(test.method, "http://localhost/all.atom", test.body))
		if w.until.IsZero() == test.timed {
			t.Errorf("%s: deadline %v, want one: %v", test.method, w.until, test.timed)
		}
	}
}
