package fetch

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/guard"
	"feedex/node"
)

// A publisher that knows RFC 3229 sends what is new since the reader's version.
func TestDeltas(t *testing.T) {
	var im []string
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		im = append(im, r.Header.Get("A-IM"))
		w.Header().Set("ETag", `"2"`)
		if r.Header.Get("If-None-Match") == `"1"` && r.Header.Get("A-IM") == "feed" {
			w.Header().Set("IM", "feed")
			w.Header().Set("Cache-Control", "no-store, im")
			w.WriteHeader(http.StatusIMUsed)
		}
		io.WriteString(w, rss)
	})
	whole := local(t, server)
	delta := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server), ETag: `"1"`, Body: whole.Body})
	wantEntry(t, whole)
	wantEntry(t, delta)
	if whole.Partial || !delta.Partial || delta.Status != 226 || delta.ETag != `"2"` || delta.Body != (feed.Digest{}) ||
		delta.Private {
		t.Errorf("whole %+v\ndelta %+v", whole, delta)
	}
	if fmt.Sprint(im) != "[ feed]" {
		t.Errorf("A-IM was %q, want feed with a validator only", im)
	}
	bare, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusIMUsed)
		io.WriteString(w, rss)
	})
	if got := fetchWith(t, Config{AllowLocal: true},
		node.Fetch{Feed: feed.URL(bare), ETag: `"1"`}); got.Document == nil || got.ETag != `"1"` {
		t.Errorf("a delta without a validator: %+v, want the one that it is a delta to", got)
	}
	other, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("IM", "vcdiff")
		w.WriteHeader(http.StatusIMUsed)
	})
	var status *StatusError
	if got := fetchWith(t, Config{AllowLocal: true},
		node.Fetch{Feed: feed.URL(other), ETag: `"1"`}); !errors.As(got.Err, &status) {
		t.Errorf("a delta of another kind: %v, want a StatusError", got.Err)
	}
}

// A body that is known is as good as a 304, whatever its validators.
func TestTheSameBodyAgain(t *testing.T) {
	n := 0
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
		serveRSS(w, r)
	})
	first := local(t, server)
	wantEntry(t, first)
	if first.Body != sha1.Sum([]byte(rss)) {
		t.Errorf("Body is %v, want the SHA-1 of the document", first.Body)
	}
	again := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: first.Feed, ETag: first.ETag, Body: first.Body})
	if again.Err != nil || again.Document != nil || again.Status != 200 || again.ETag != `"2"` ||
		again.Body != first.Body {
		t.Errorf("%+v, want nothing new and the new validator", again)
	}
}

// A publisher without validators may say of itself that nothing changed. Since when, nobody can tell.
func TestUnaskedNotModified(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"whose?"`)
		w.WriteHeader(http.StatusNotModified)
	})
	f := node.Fetch{Feed: feed.URL(server), Body: sha1.Sum([]byte(rss))}
	if got := fetchWith(t, Config{AllowLocal: true}, f); got.Err != nil || got.Document != nil || got.ETag != "" ||
		got.Body != f.Body {
		t.Errorf("%+v, want nothing new and no validator", got)
	}
	if got := local(t, server); got.Err == nil {
		t.Errorf("%+v of a document that is not known, want an error", got)
	}
}

// A document that cannot be used is not asked for again as long as it stays the same.
func TestUnusableDocumentsHaveValidators(t *testing.T) {
	const page = "<!DOCTYPE html><html>hello</html>"
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page) })
	got := local(t, server)
	if !errors.Is(got.Err, ErrNotFeed) || !got.Unusable || got.Body != sha1.Sum([]byte(page)) {
		t.Errorf("%+v, want an unusable document", got)
	}
	again := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: got.Feed, Body: got.Body})
	if again.Err != nil || again.Document != nil {
		t.Errorf("%+v, want nothing new", again)
	}
}

// One without a validator, in place of a document that had one: that one may come back, and is asked about.
func TestABrokenDocumentLeavesTheValidatorsBefore(t *testing.T) {
	const old = "Sun, 01 Mar 2026 12:00:00 GMT"
	for _, test := range []struct {
		name, validator, body string
		sent, want            node.Fetch
		unusable              bool
	}{
		{"broken", "", "<rss", node.Fetch{ETag: `"good"`, Body: feed.Digest{1}},
			node.Fetch{ETag: `"good"`, Body: feed.Digest{1}}, false},
		{"a web page", "", "<html>hello", node.Fetch{LastModified: "then"}, node.Fetch{LastModified: "then"}, false},
		{"broken, with its own", `"bad"`, "<rss", node.Fetch{ETag: `"good"`},
			node.Fetch{ETag: `"bad"`, Body: sha1.Sum([]byte("<rss"))}, true},
		{"within its writing", "now", "<rss", node.Fetch{LastModified: "then", Body: feed.Digest{1}},
			node.Fetch{LastModified: "then", Body: feed.Digest{1}}, false},
		{"within its writing, none before", "now", "<rss", node.Fetch{},
			node.Fetch{Body: sha1.Sum([]byte("<rss"))}, true},
		{"written long ago", old, "<rss", node.Fetch{LastModified: "then"},
			node.Fetch{LastModified: old, Body: sha1.Sum([]byte("<rss"))}, true},
		{"none before", "", "<rss", node.Fetch{}, node.Fetch{Body: sha1.Sum([]byte("<rss"))}, true},
	} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			switch test.validator {
			case "":
			case "now":
				w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			case old:
				w.Header().Set("Last-Modified", old)
			default:
				w.Header().Set("ETag", test.validator)
			}
			io.WriteString(w, test.body)
		})
		test.sent.Feed = feed.URL(server)
		got := fetchWith(t, Config{AllowLocal: true}, test.sent)
		if got.Err == nil || got.Unusable != test.unusable || got.ETag != test.want.ETag ||
			got.LastModified != test.want.LastModified || got.Body != test.want.Body {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

func TestUserAgent(t *testing.T) {
	for _, test := range []struct {
		about  string
		reader bool
		want   string
	}{
		{"", false, "feedex/1.2"},
		{"https://example.com/feedex", false, "feedex/1.2 (+https://example.com/feedex)"},
		{"https://example.com/feedex", true, "feedex/1.2 (+https://example.com/feedex; 1 subscriber)"},
		{"", true, "feedex/1.2 (1 subscriber)"},
	} {
		var got string
		server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.UserAgent(); serveRSS(w, r) })
		fetchWith(t, Config{AllowLocal: true, UserAgent: "feedex/1.2", About: test.about},
			node.Fetch{Feed: feed.URL(server), Reader: test.reader})
		if got != test.want {
			t.Errorf("user agent %q, want %q", got, test.want)
		}
	}
}

// What moved for good before it was read is read as the feed that is there, links and all.
func TestMovedUnread(t *testing.T) {
	server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			http.Redirect(w, r, "/feed/", http.StatusMovedPermanently)
		case "/page", "/dated":
			http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
		case "/dated/":
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			io.WriteString(w, `<rss version="2.0"><channel><title>News</title><link>/</link>`+
				`<item><guid>urn:1</guid><title>First</title><link>first</link></item></channel></rss>`)
		case "/page/":
			io.WriteString(w, "<!doctype html><title>Parked</title>")
		default:
			io.WriteString(w, `<rss version="2.0"><channel><title>News</title><link>/</link>`+
				`<item><title>First</title><link>first</link></item></channel></rss>`)
		}
	})
	old, there := feed.URL(server+"/feed"), feed.URL(server+"/feed/")
	got := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: old, New: true})
	wantEntry(t, got)
	if e := got.Document.Entries[0]; got.Instead != there || got.Moved != "" || got.Document.Feed != there ||
		e.Feed != there || e.Link != server+"/feed/first" || requests.Load() != 2 {
		t.Errorf("%q is followed, moved %q, %+v after %d requests", got.Instead, got.Moved, e, requests.Load())
	}
	for name, c := range map[string]struct {
		Config
		node.Fetch
	}{
		"read before":       {Config{AllowLocal: true}, node.Fetch{Feed: old}},
		"on a private host": {Config{PrivateHosts: []string{"127.0.0.1"}}, node.Fetch{Feed: old, New: true}},
	} {
		got := fetchWith(t, c.Config, c.Fetch)
		wantEntry(t, got)
		if e := got.Document.Entries[0]; got.Instead != "" || got.Moved != there || e.Feed != old || got.Named {
			t.Errorf("%s: %q is followed, moved %q, %+v", name, got.Instead, got.Moved, e)
		}
	}
	// What was read is the same by its new name, if its entries do not go by links that are other ones then.
	dated := feed.URL(server + "/dated")
	for name, c := range map[string]struct {
		Config
		node.Fetch
		want bool
	}{
		"read before":       {Config{AllowLocal: true}, node.Fetch{Feed: dated}, true},
		"not changed":       {Config{AllowLocal: true}, node.Fetch{Feed: dated, ETag: `"1"`}, true},
		"on a private host": {Config{PrivateHosts: []string{"127.0.0.1"}}, node.Fetch{Feed: dated}, false},
		"not read":          {Config{AllowLocal: true}, node.Fetch{Feed: dated, New: true}, false},
	} {
		if got := fetchWith(t, c.Config, c.Fetch); got.Err != nil || got.Named != c.want {
			t.Errorf("%s: named %v, %v", name, got.Named, got.Err)
		}
	}
	got = fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server + "/page"), New: true})
	if got.Instead != "" || !errors.Is(got.Err, ErrNotFeed) {
		t.Errorf("where it moved to is no feed: %q is followed, %v", got.Instead, got.Err)
	}
}

// An address is another name of a feed where nobody on the way can have said so, and it is not one for each visitor.
func TestOtherNames(t *testing.T) {
	for _, c := range []struct {
		way  []string // the address that was said, and where each redirect for good leads
		want bool
		same bool // it is the same address, spelled otherwise
	}{
		{[]string{"http://example.com/feed", "https://example.com/feed"}, true, true},
		{[]string{"http://www.example.com/feed", "https://example.com/feed/"}, true, true},
		{[]string{"http://example.com/?feed=rss2", "https://example.com/?feed=rss2"}, true, true},
		{[]string{"http://example.com/feed", "https://example.com/feed", "https://example.net/feed"}, true, false},
		{[]string{"http://example.com/feed", "https://example.com/mallory"}, false, false},
		{[]string{"http://example.com/feed", "https://example.com:8443/feed"}, false, false},
		{[]string{"http://example.com/feed", "https://example.com/feed?of=mallory"}, false, false},
		{[]string{"http://example.com/?of=alice", "https://example.com/"}, false, false},
		{[]string{"http://example.com/feed", "https://example.net/feed"}, false, false},
		{[]string{"http://example.com/feed", "https://blog.example.com/feed"}, false, false},
		{[]string{"https://example.com/feed", "https://example.net/rss"}, true, false},
		{[]string{"https://example.com/?feed=rss2", "https://example.com/feed/"}, true, false},
		{[]string{"https://example.com/feed", "http://example.com/feed"}, false, false},
		{[]string{"https://example.com/feed", "http://example.com/feed/", "https://example.net/evil"}, false, false},
		{[]string{"https://example.com/feed", "http://example.com/feed/", "https://example.com/feed/"}, true, true},
		{[]string{"https://example.com/feed", "https://example.com/feed?visitor=7"}, false, false},
		{[]string{"https://example.com/feed", "https://example.com/private-7d3f1c9a5b2e8d4f6a0c1b3e5d7f9a2c"}, false,
			false},
		{[]string{"https://example.com/feed", "https://example.com/", "https://example.com/feed"}, false, false},
		{[]string{"https://example.com/feed"}, false, false},
	} {
		v := visit{client: New(Config{}), fetch: node.Fetch{Feed: feed.URL(c.way[0]), New: true}, forGood: true,
			out: new(node.Fetched)}
		for i, at := range c.way {
			u, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			if v.secret = v.secret || feed.URL(at).Secret(); i == 0 {
				v.origin = u
			}
			if i+1 < len(c.way) {
				resp := &http.Response{StatusCode: 301, Header: http.Header{"Location": c.way[i+1 : i+2]}}
				if _, err := v.redirected(resp, u); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := v.newName(); got != "" != c.want {
			t.Errorf("%v: another name of it is %q", c.way, got)
		}
		if got := v.newSpelling(); got != c.same {
			t.Errorf("%v: the same, spelled otherwise: %v", c.way, got)
		}
	}
}

// Where a feed has moved to: as far as its redirects are for good.
func TestMoved(t *testing.T) {
	for _, test := range []struct {
		codes []int
		want  string
	}{
		{nil, ""},
		{[]int{301}, "/1"},
		{[]int{308, 301}, "/2"},
		{[]int{301, 302}, "/1"},
		{[]int{302, 301}, ""},
		{[]int{307}, ""},
		{[]int{303, 308}, ""},
	} {
		server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			var n int
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			if n < len(test.codes) {
				http.Redirect(w, r, fmt.Sprintf("/%d", n+1), test.codes[n])
				return
			}
			serveRSS(w, r)
		})
		got := local(t, server+"/0")
		wantEntry(t, got)
		if strings.TrimPrefix(string(got.Moved), server) != test.want {
			t.Errorf("%v: moved to %q, want %q", test.codes, got.Moved, test.want)
		}
		// A node that asks there gets the entries under the feed's own name.
		if test.want != "" {
			again := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: got.Feed, Address: got.Moved})
			wantEntry(t, again)
			if again.Document.Entries[0].Feed != got.Feed || again.Moved != "" && len(test.codes) < 2 {
				t.Errorf("%v: at its new address %+v", test.codes, again)
			}
		}
	}
}

// Where nothing is said about freshness the node is told for how long the document is what it is, by a 304 as well.
func TestUnchangedReachesTheNode(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Sun, 01 Mar 2026 12:00:00 GMT")
		switch r.URL.Path {
		case "/stated":
			w.Header().Set("Cache-Control", "max-age=0")
		case "/304":
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Last-Modified", "Sat, 28 Feb 2026 12:00:00 GMT")
		serveRSS(w, r)
	})
	for path, want := range map[string]time.Duration{"/": 24 * time.Hour, "/304": 48 * time.Hour, "/stated": 0} {
		f := node.Fetch{Feed: feed.URL(server + path), LastModified: "Fri, 27 Feb 2026 12:00:00 GMT"}
		if got := fetchWith(t, Config{AllowLocal: true}, f); got.Err != nil || got.Unchanged != want {
			t.Errorf("%s: unchanged for %v, want %v; %v", path, got.Unchanged, want, got.Err)
		}
	}
}

func TestAnswersTellTheNode(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Age", "60")
		switch r.URL.Path {
		case "/304":
			w.WriteHeader(http.StatusNotModified)
		case "/404":
			w.WriteHeader(http.StatusNotFound)
		case "/511":
			w.WriteHeader(http.StatusNetworkAuthenticationRequired)
		default:
			serveRSS(w, r)
		}
	})
	login := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server + "/511")})
	if !errors.Is(login.Err, ErrLogin) || !login.Unreached || login.Status != 0 {
		t.Errorf("a network with a login counts as an answer of the publisher: %+v", login)
	}
	for path, status := range map[string]int{"/": 200, "/304": 304, "/404": 404} {
		got := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server + path), ETag: `"1"`})
		want := courtesy.Freshness{Stated: true, Lifetime: 10 * time.Minute, Age: time.Minute}
		if got.Status != status || got.Freshness != want || got.From != "127.0.0.1" || got.Unreached {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// Why nobody answered is said without system calls and name servers, and the cause can still be told.
func TestUnreachedInWords(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, test := range []struct {
		err  error
		want string
	}{
		{dial(&net.DNSError{Err: "no such host", Name: "x", Server: "10.0.0.1:53", IsNotFound: true}),
			"there is no host of this name"},
		{dial(&net.DNSError{Err: "i/o timeout", Server: "10.0.0.1:53", IsTimeout: true}),
			"the name of the host cannot be looked up now: i/o timeout"},
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "the host is there, but refuses the connection"},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "there is no way to the host"},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
			"the host broke off before it answered"},
		{dial(os.NewSyscallError("connect", syscall.ENETDOWN)), "there is no way to the host"},
		// As Windows has it.
		{dial(os.NewSyscallError("connectex", syscall.Errno(10061))), "the host is there, but refuses the connection"},
		{dial(os.NewSyscallError("connectex", syscall.Errno(10051))), "there is no way to the host"},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("wsarecv", syscall.Errno(10054))},
			"the host broke off before it answered"},
		{io.EOF, "the host broke off before it answered"},
		{io.ErrUnexpectedEOF, "the host broke off before it answered"},
		{errors.New("anything else"), "anything else"},
	} {
		if got := inWords(test.err); got.Error() != test.want || !errors.Is(got, test.err) {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}

func TestUnreached(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, test := range []struct {
		name      string
		err       error
		connected bool
		want      bool
	}{
		{"no route", dial(syscall.ENETUNREACH), false, true},
		{"network is down", dial(syscall.ENETDOWN), false, true},
		{"host does not answer", dial(syscall.ETIMEDOUT), false, true},
		{"dial takes too long", dial(context.DeadlineExceeded), false, true},
		{"all takes too long", context.DeadlineExceeded, false, true},
		{"answer takes too long", context.DeadlineExceeded, true, false},
		{"name server does not answer", dial(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), false, true},
		{"name server in trouble", dial(&net.DNSError{Err: "server misbehaving", IsTemporary: true}), false, true},
		{"no such host", dial(&net.DNSError{Err: "no such host", IsNotFound: true}), false, false},
		{"refused", dial(syscall.ECONNREFUSED), false, false},
		{"reset", dial(syscall.ECONNRESET), false, false},
		{"refused, on Windows", dial(os.NewSyscallError("connectex", syscall.Errno(10061))), false, false},
		{"no route, on Windows", dial(os.NewSyscallError("connectex", syscall.Errno(10051))), false, true},
		{"forbidden", dial(fmt.Errorf("x: %w", guard.ErrForbidden)), false, false},
		{"canceled", dial(context.Canceled), false, false},
		{"breaks off", io.ErrUnexpectedEOF, true, false},
		{"certificate", &tls.CertificateVerificationError{Err: errors.New("x509: unknown authority")}, false, true},
	} {
		if got := unreached(test.err, test.connected, "linux"); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	for _, system := range []string{"darwin", "windows"} { // where they say so of every name without a network, too
		if !unreached(dial(&net.DNSError{Err: "no such host", IsNotFound: true}), false, system) {
			t.Errorf("%s: a name that is not found was looked up", system)
		}
	}
	// As the standard library really reports it.
	l := listen(t)
	port := l.port()
	l.close(t)
	if got := local(t, "http://127.0.0.1:"+port+"/"); got.Err == nil || got.Unreached || got.Status != 0 {
		t.Errorf("a closed port: %+v", got)
	}
	broken := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, dial(syscall.ENETUNREACH)
	}}
	if got := fetchWith(t, Config{Resolver: broken}, node.Fetch{Feed: "http://feeds.example.com/"}); got.Err == nil ||
		!got.Unreached {
		t.Errorf("without a name server: %+v", got)
	}
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://feeds.example.com/", http.StatusFound)
	})
	if got := fetchWith(t, Config{AllowLocal: true, Resolver: broken},
		node.Fetch{Feed: feed.URL(server)}); got.Err == nil || got.Unreached {
		t.Errorf("redirected to nobody, by somebody: %+v", got)
	}
}
