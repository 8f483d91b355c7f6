package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"feedex/discover"
	"feedex/feed"
	"feedex/node"
)

// namedURLs are the addresses of the feeds that a page names.
func namedURLs(got node.Fetched) (list []string) {
	for _, f := range discover.Read(got.Names) {
		list = append(list, string(f.URL))
	}
	return list
}

// A page names feeds by its elements and its header, relative to where it came from in the end.
func TestPageNamesFeeds(t *testing.T) {
	server, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Location", "/blog/")
			w.WriteHeader(http.StatusFound)
		case "/blog/":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Link", `</all>; rel="alternate"; type="application/atom+xml"`)
			io.WriteString(w, `<title>A page without a doctype</title><link rel=alternate type=application/rss+xml `+
				`href=feed.xml>`)
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Link", `</all>; rel=alternate; type="application/atom+xml"`)
			io.WriteString(w, "%PDF-1.7")
		case "/none":
			io.WriteString(w, "<!doctype html><p>Hello</p>")
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, `<!doctype html><link rel=alternate type=application/rss+xml href=feed.xml>`)
		}
	})
	for path, test := range map[string]struct {
		want  []string
		text  string
		page  bool
		asked int32
	}{
		"/":        {[]string{server + "/blog/feed.xml", server + "/all"}, "a web page, not a feed", true, 2},
		"/pdf":     {[]string{server + "/all"}, "a web page, not a feed", true, 1},
		"/none":    {nil, "and it names none", true, 1},
		"/refused": {nil, "403", false, 1},
	} {
		before := requests.Load()
		got := local(t, server+path)
		if !slices.Equal(namedURLs(got), test.want) || (got.Names != "") != test.page || got.Err == nil ||
			!strings.Contains(got.Err.Error(), test.text) {
			t.Errorf("%s names %q, a page %v, %v; want %q", path, namedURLs(got), got.Names != "", got.Err, test.want)
		}
		if test.page != errors.Is(got.Err, ErrNotFeed) || requests.Load()-before != test.asked {
			t.Errorf("%s: %v, in %d requests", path, got.Err, requests.Load()-before)
		}
	}
	// A document of a feed's archive leads to no other feed.
	got := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server + "/x"),
		Page: feed.URL(server + "/blog/")})
	if got.Names != "" || got.Instead != "" || !errors.Is(got.Err, ErrNotFeed) {
		t.Errorf("a page of the archive names %q, %v", namedURLs(got), got.Err)
	}
}

// The owner's leave for a private host was not for a stranger's page, which must not lead there.
func TestPagesDoNotLeadToPrivateHosts(t *testing.T) {
	page := `<!doctype html><base href="http://nas.example/">`
	for _, href := range []string{"http://nas.example/a", "relative", "http://192.168.1.1/b", "http://localhost:8080/c",
		"http://router/d", "http://[::1]/e", "http://public.example/f"} {
		page += `<link rel=alternate type=application/rss+xml href="` + href + `">`
	}
	public, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page) })
	c := New(Config{Resolver: nameServer(t, inetAton), PrivateHosts: []string{"nas.example", "127.0.0.1"}})
	pretend(c, public)
	if got := c.Fetch(t.Context(), node.Fetch{Feed: "http://public.example/"}); !slices.Equal(namedURLs(got),
		[]string{"http://public.example/f"}) || got.Names == "" {
		t.Errorf("a public page names %q, %v", namedURLs(got), got.Err)
	}
	c.CloseIdle()
	// Nor does one at such a host, to which a stranger's address leads while it is at a public address.
	through, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "public.example" {
			http.Redirect(w, r, "http://nas.example/", http.StatusFound)
			return
		}
		io.WriteString(w, page)
	})
	c.guarded.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(through, "http://"))
	}
	if got := c.Fetch(t.Context(), node.Fetch{Feed: "http://public.example/"}); !slices.Equal(namedURLs(got),
		[]string{"http://public.example/f"}) {
		t.Errorf("a page to which a public one leads names %q, %v", namedURLs(got), got.Err)
	}
	c.CloseIdle()
	// A page on such a host may name its own.
	got := fetchWith(t, Config{PrivateHosts: []string{"127.0.0.1", "nas.example"}}, node.Fetch{Feed: feed.URL(public)})
	if !slices.Contains(namedURLs(got), "http://nas.example/a") {
		t.Errorf("a page of the owner's names %q, %v", namedURLs(got), got.Err)
	}
}

// What a page was asked for with is not in what it names.
func TestPagePasswords(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `<!doctype html><link rel=alternate type=application/rss+xml href="f">`)
	})
	got := local(t, strings.Replace(server, "//", "//ann:secret@", 1))
	if !slices.Equal(namedURLs(got), []string{server + "/f"}) {
		t.Errorf("names %q, %v", namedURLs(got), got.Err)
	}
	// But the feed that it stands for, at its own origin, is asked for as the page was.
	if want := strings.Replace(server, "//", "//ann:secret@", 1) + "/f"; string(got.Instead) != want {
		t.Errorf("stands for %q, want %q", got.Instead, want)
	}
}
