package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"feedex/feed"
	"feedex/guard"
	"feedex/internal/dnstest"
	"feedex/invitation"
	"feedex/protocol"
)

// nameServer is a resolver by which names have those records; where there are none, there is no such name.
func nameServer(t *testing.T, records map[string][]dnsmessage.ResourceBody) *net.Resolver {
	return dnstest.Resolver(t, func(name string, of dnsmessage.Type) (list []dnsmessage.ResourceBody, ok bool) {
		known, ok := records[name]
		for _, body := range known {
			_, isSRV := body.(*dnsmessage.SRVResource)
			if isSRV == (of == dnsmessage.TypeSRV) && of != dnsmessage.TypeAAAA {
				list = append(list, body)
			}
		}
		return list, ok
	})
}

func srv(priority uint16, target string, port uint16) dnsmessage.ResourceBody {
	return &dnsmessage.SRVResource{Priority: priority, Weight: 1, Port: port,
		Target: dnsmessage.MustNewName(target + ".")}
}

// at has the finder reach every site at a web server of the test, whose certificate is for example.com and its
// subdomains.
func (f *Finder) at(t *testing.T, serve http.HandlerFunc) {
	t.Helper()
	server := httptest.NewTLSServer(serve)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	f.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	f.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !strings.HasSuffix(addr, ":443") {
			return nil, fmt.Errorf("it dials %s", addr)
		}
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

func invited(n byte) invitation.Invitation {
	return invitation.Invitation{Host: fmt.Sprintf("192.0.2.%d:7790", n), Key: protocol.NodeKey{n},
		Feeds: []feed.URL{feed.URL(fmt.Sprintf("https://example.com/%d", n))}}
}

// A site's document names nodes with their keys, and is asked for once an hour.
func TestDocuments(t *testing.T) {
	f := New(Config{Resolver: nameServer(t, nil), UserAgent: "feedex/1"})
	var asked atomic.Int32
	f.at(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.Host == "example.com": // as many sites do
			http.Redirect(w, r, "https://www.example.com/nodes.json", http.StatusMovedPermanently)
		case r.Host == "www.example.com" && r.URL.Path == "/nodes.json" && r.UserAgent() == "feedex/1":
			w.Write(invitation.Document(invited(1), invited(2)))
		default:
			t.Errorf("asked for %s%s", r.Host, r.URL.Path)
		}
	})
	for range 3 {
		got, err := f.Known(t.Context(), "example.com")
		if err != nil || len(got) != 2 || got[1].Host != "192.0.2.2:7790" || got[1].Key != (protocol.NodeKey{2}) {
			t.Errorf("found %+v, %v", got, err)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("it made %d requests, want the one and its redirect", asked.Load())
	}
	if _, err := f.Find(t.Context(), "example.com"); err != nil || asked.Load() != 4 {
		t.Errorf("%v after %d requests: nothing new was asked for", err, asked.Load())
	}
}

// A document that is none says why, and the name server is asked then. A document within the bounds is not needed.
func TestBadDocuments(t *testing.T) {
	f := New(Config{Resolver: nameServer(t, nil)})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it went elsewhere")
	}))
	defer elsewhere.Close()
	var asked atomic.Int32
	var serve http.HandlerFunc
	f.at(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		serve(w, r)
	})
	to := func(where string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, http.StatusFound) }
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
	}
	many := make([]invitation.Invitation, 10_000)
	for n := range many {
		many[n] = invited(byte(n))
	}
	for want, h := range map[string]http.HandlerFunc{
		"HTTP 404 Not Found": http.NotFound,
		"HTTP 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
		},
		"it leads to another site: \"http:":                    to(elsewhere.URL),
		"it leads to another site: \"https://evil.example.com": to("https://evil.example.com/"),
		"redirected more than 3 times":                         to("https://example.com/again"),
		"it is not the JSON of":                                says("<!doctype html>"),
		"want feedex://host:port/":                             says(`{"nodes":["192.0.2.1:7790"]}`),
		"more than 65536 bytes":                                says(string(invitation.Document(many...))),
		"17 nodes, want 1 to 16":                               says(string(invitation.Document(many[:17]...))),
		"0 nodes, want 1 to 16":                                says(`{"key":"x"}`),
	} {
		serve = h
		before := asked.Load()
		_, err := f.Find(t.Context(), "example.com")
		if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "there is no SRV record _feedex._tcp.example.com") {
			t.Errorf("want %q, got %v", want, err)
		}
		said := asked.Load()
		if f.Known(t.Context(), "example.com"); (asked.Load() == said) == strings.Contains(want, "503") {
			t.Errorf("%s: asked %d times and then %d", want, said-before, asked.Load()-said)
		}
		clear(f.kept)
	}
}

// A site whose document comes too slowly gave none.
func TestASiteThatDrips(t *testing.T) {
	f := New(Config{Resolver: nameServer(t, nil)})
	ctx, cancel := context.WithCancel(t.Context())
	f.at(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"nodes":`)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})
	if _, said, err := f.document(ctx, "example.com"); said || !errors.Is(err, errIncomplete) {
		t.Errorf("it ended with %v, %v", said, err)
	}
}

// Where a site has no document its name server names nodes, the preferred ones first, and no more than a few.
func TestRecords(t *testing.T) {
	many := make([]dnsmessage.ResourceBody, 20)
	for n := range many {
		many[n] = srv(1, fmt.Sprintf("n%d.example.com", n), 7790)
	}
	f := New(Config{Resolver: nameServer(t, map[string][]dnsmessage.ResourceBody{
		"_feedex._tcp.example.com": {srv(20, "b.example.com", 8000), srv(10, "a.example.com", 7790),
			srv(5, "mail.example.com", 25)},
		"_feedex._tcp.many.example": many,
		"_feedex._tcp.none.example": {srv(0, "", 0)},
		"_feedex._tcp.mail.example": {srv(0, "mail.example", 25)},
	})})
	f.at(t, http.NotFound)
	got, err := f.Find(t.Context(), "example.com")
	if err != nil || len(got) != 2 || got[0].Host != "a.example.com:7790" || got[1].Host != "b.example.com:8000" ||
		!got[0].Key.IsZero() {
		t.Errorf("found %+v, %v", got, err)
	}
	if got, err := f.Find(t.Context(), "many.example"); err != nil || len(got) != invitation.MaxNodes {
		t.Errorf("found %d, %v", len(got), err)
	}
	for _, name := range []string{"none.example", "mail.example"} {
		if got, err := f.Find(t.Context(), name); err == nil ||
			!strings.Contains(err.Error(), "leads to a host at a port from 1024 on") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A name that leads into a private network is not asked, unless the owner allows for it.
func TestPrivateSites(t *testing.T) {
	a := func(addr string) []dnsmessage.ResourceBody {
		return []dnsmessage.ResourceBody{&dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()}}
	}
	resolver := nameServer(t, map[string][]dnsmessage.ResourceBody{"loop.example": a("127.0.0.1"),
		"nas.example": a("192.168.1.9"), "cloud.example": a("169.254.169.254")})
	for _, name := range []string{"loop.example", "nas.example", "cloud.example"} {
		_, err := New(Config{Resolver: resolver}).Find(t.Context(), name)
		if !errors.Is(err, guard.ErrForbidden) || !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Config{Resolver: resolver, AllowLocal: true}).Find(t.Context(), "loop.example"); err == nil ||
		errors.Is(err, guard.ErrForbidden) {
		t.Errorf("where it is allowed: %v", err)
	}
	if _, err := New(Config{Resolver: resolver}).Find(t.Context(), "nobody.example"); err == nil ||
		!strings.Contains(err.Error(), "/.well-known/feedex: there is no host of this name; and") {
		t.Errorf("without a host: %v", err)
	}
}

// What is kept of sites is bounded.
func TestKept(t *testing.T) {
	f := New(Config{})
	for n := range 1000 {
		f.keep(fmt.Sprint(n), saying{})
	}
	if len(f.kept) > maxKept {
		t.Errorf("%d answers are kept", len(f.kept))
	}
}
