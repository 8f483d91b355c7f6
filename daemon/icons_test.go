package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

const (
	gifIcon = "GIF89a\x01\x00\x01\x00"
	pngIcon = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
)

// A publisherOfIcons has a feed, whose picture it says or does not, and what stands at its other addresses.
type publisherOfIcons struct {
	url  feed.URL
	mu   sync.Mutex
	seen []string // what was asked for beside the feed
}

// publishIcons starts a publisher. Its feed names icon, and its other addresses hold files.
func publishIcons(t *testing.T, icon string, files map[string]http.HandlerFunc) *publisherOfIcons {
	t.Helper()
	p := new(publisherOfIcons)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/feed" || r.URL.Path == "/other" {
			fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Coast</title><icon>%s</icon>`+
				`<link href="/site/"/><entry><id>1</id><title>Harbor</title></entry></feed>`, icon)
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, r.URL.Path)
		p.mu.Unlock()
		if file := files[r.URL.Path]; file != nil {
			file(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	p.url = feed.URL(srv.URL + "/feed")
	return p
}

// asked is what was asked for beside the feed.
func (p *publisherOfIcons) asked() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.seen, " ")
}

func content(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, text)
	}
}

var shownIcon = regexp.MustCompile(`<img class="icon" src="([^"]+)"`)

// The picture of a feed is that which its document names, else that of its site, and comes to browsers from the node.
func TestIconsOfFeeds(t *testing.T) {
	stranger := httptest.NewTLSServer(http.NotFoundHandler()) // of no known certificate
	defer stranger.Close()
	for name, test := range map[string]struct {
		icon  string
		files map[string]http.HandlerFunc
		want  string // "" for none
		asked string
	}{
		"of the feed": {"/i.gif", map[string]http.HandlerFunc{"/i.gif": content("text/html", gifIcon)}, gifIcon,
			"/i.gif"},
		"of its site": {"", map[string]http.HandlerFunc{
			"/site/":      content("text/html", `<link rel=icon href=i.png><link rel=icon href=j.png>`),
			"/site/i.png": content("image/png", pngIcon)}, pngIcon, "/site/ /site/i.png"},
		"where browsers look": {"", map[string]http.HandlerFunc{"/favicon.ico": content("", pngIcon)}, pngIcon,
			"/site/ /favicon.ico"},
		"a page that is called a picture": {"/i.gif", map[string]http.HandlerFunc{
			"/i.gif": content("image/gif", "<html><script>alert(1)</script>")}, "", "/i.gif /site/ /favicon.ico"},
		"one of a gigabyte": {"/i.gif", map[string]http.HandlerFunc{
			"/i.gif": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(1<<30))
				io.WriteString(w, gifIcon)
			}, "/favicon.ico": content("image/x-icon", gifIcon)}, gifIcon, "/i.gif /site/ /favicon.ico"},
		"a drawing": {"/i.svg", map[string]http.HandlerFunc{
			"/i.svg": content("image/svg+xml", "<svg><script>alert(1)</script></svg>")},
			"<svg><script>alert(1)</script></svg>", "/i.svg"},
		"at a host that is not there": {stranger.URL + "/i.gif", map[string]http.HandlerFunc{
			"/favicon.ico": content("image/x-icon", gifIcon)}, gifIcon, "/site/ /favicon.ico"},
	} {
		t.Run(name, func(t *testing.T) {
			p := publishIcons(t, test.icon, test.files)
			looked := make(chan feed.URL, 10)
			n := startNode(t, Config{Subscribe: []feed.URL{p.url}, iconPause: time.Millisecond,
				iconLooked: func(u feed.URL) { looked <- u }})
			select {
			case <-looked:
			case <-time.After(patience):
				t.Fatal("nobody looked for the picture")
			}
			v := newVisitor(t, n)
			shown := shownIcon.FindStringSubmatch(v.page("/entries"))
			switch {
			case shown == nil && test.want != "":
				t.Errorf("no picture is shown:\n%s", v.page("/entries"))
			case shown != nil && (test.want == "" || v.page(shown[1]) != test.want):
				t.Errorf("the picture at %s is not that which is wanted", shown[1])
			}
			if got := p.asked(); got != test.asked {
				t.Errorf("asked for %q, want %q", got, test.asked)
			}
		})
	}
}

// Feeds of one site share its page and its picture, which are asked for once, also where the feed calls the page its
// picture.
func TestIconsOfOneSiteAreAskedForOnce(t *testing.T) {
	for icon, asked := range map[string]string{"": "/site/ /favicon.ico", "/site/": "/site/ /site/ /favicon.ico"} {
		p := publishIcons(t, icon, map[string]http.HandlerFunc{"/favicon.ico": content("", pngIcon)})
		looked := make(chan feed.URL, 10)
		other := feed.URL(strings.Replace(string(p.url), "/feed", "/other", 1))
		startNode(t, Config{Subscribe: []feed.URL{p.url, other}, iconPause: time.Millisecond,
			iconLooked: func(u feed.URL) { looked <- u }})
		for range 2 {
			select {
			case <-looked:
			case <-time.After(patience):
				t.Fatal("nobody looked for the picture")
			}
		}
		if got := p.asked(); got != asked {
			t.Errorf("asked for %q, want %q", got, asked)
		}
	}
}

// Of a feed that others are not to know of, no other host learns.
func TestIconsOfPrivateFeedsStayAtTheirSite(t *testing.T) {
	private := archive.Feed{URL: "https://blog.example/feed", Private: true}
	for _, f := range []archive.Feed{private, {URL: private.URL, Withheld: true}, {URL: private.URL, Discreet: true},
		{URL: "https://blog.example/feed?token=hunter2hunter2"}} {
		for u, want := range map[feed.URL]bool{"https://blog.example/i.png": true, "https://www.blog.example/": true,
			"https://cdn.example/i.png": false, "https://other.blog.example/": false} {
			if got := mayAsk(&f, u); got != want {
				t.Errorf("for %s %s may be asked for: %v", f.URL, u, got)
			}
		}
	}
	if !mayAsk(&archive.Feed{URL: private.URL}, "https://cdn.example/i.png") {
		t.Error("for others it may be")
	}
}
