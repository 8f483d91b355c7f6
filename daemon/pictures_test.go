package daemon

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/node"
)

// A gallery is a publisher of one entry with pictures.
type gallery struct {
	url   feed.URL
	mu    sync.Mutex
	asked map[string]int // how often, by path
}

func openGallery(t *testing.T, pictures map[string]http.HandlerFunc) *gallery {
	t.Helper()
	g := &gallery{asked: make(map[string]int)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked[r.URL.Path]++
		g.mu.Unlock()
		if show := pictures[r.URL.Path]; show != nil {
			show(w, r)
			return
		}
		var text string
		for path := range pictures {
			text += `<img src="` + path + `" alt="picture ` + path[1:] + `">`
		}
		fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Coast</title><entry><id>1</id>`+
			`<title>Harbor</title><content type="html">%s</content></entry></feed>`, html.EscapeString(text))
	}))
	t.Cleanup(srv.Close)
	g.url = feed.URL(srv.URL + "/feed")
	return g
}

func (g *gallery) count(path string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[path]
}

var entryPicture = regexp.MustCompile(`<img alt="picture ([a-z]+)" src="(/pictures/[^"]+)"`)

// pictures are where a page has the pictures of the entry, by their names.
func (v *visitor) pictures(n *testNode, of feed.URL) map[string]string {
	v.t.Helper()
	a := n.waitArrival(of)
	at := make(map[string]string)
	page := "/entries/" + a.Records[0].ID.String()
	v.page(page) // whose button then shows them
	for _, found := range entryPicture.FindAllStringSubmatch(v.page(page+"?images=1"), -1) {
		at[found[1]] = found[2]
	}
	return at
}

// status is what the node answers at a path, and the text of that.
func (v *visitor) status(path string) (int, string) {
	v.t.Helper()
	resp, err := v.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Pictures of entries come by way of the node, each once, and what is no picture does not come at all.
func TestPicturesOfEntries(t *testing.T) {
	held := make(chan struct{})
	g := openGallery(t, map[string]http.HandlerFunc{
		"/sea":  content("text/html", gifIcon),
		"/held": func(w http.ResponseWriter, _ *http.Request) { <-held; io.WriteString(w, pngIcon) },
		"/moved": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/sea", http.StatusFound)
		},
		"/page": content("image/gif", "<html><script>alert(1)</script>"),
		"/huge": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(1<<30))
			io.WriteString(w, gifIcon)
		},
		"/gone": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"/film": content("image/png", "\x00\x00\x00\x1cftypisom"),
	})
	n := startNode(t, Config{Subscribe: []feed.URL{g.url}})
	v := newVisitor(t, n)
	at := v.pictures(n, g.url)
	if len(at) != 7 {
		t.Fatalf("the page has the pictures %v", at)
	}
	for name := range at {
		if g.count("/"+name) != 0 {
			t.Errorf("%s was fetched before anybody looked", name)
		}
	}
	var looking sync.WaitGroup
	for range 3 { // browsers at once
		looking.Go(func() {
			if code, text := newVisitor(t, n).status(at["held"]); code != http.StatusOK || text != pngIcon {
				t.Errorf("held: %d %q", code, text)
			}
		})
	}
	close(held)
	looking.Wait()
	for range 2 {
		for name, want := range map[string]int{"sea": 200, "moved": 200, "held": 200, "page": 502, "huge": 502,
			"gone": 502, "film": 502} {
			code, text := v.status(at[name])
			if code != want || strings.Contains(text, "<script") {
				t.Errorf("%s: %d %q, want %d", name, code, text, want)
			}
		}
	}
	for name, most := range map[string]int{"/sea": 2, "/moved": 1, "/held": 1, "/page": 1, "/huge": 1, "/gone": 1,
		"/film": 1} {
		if got := g.count(name); got != most {
			t.Errorf("%s was fetched %d times, want %d", name, got, most)
		}
	}
	files, err := os.ReadDir(filepath.Join(n.data, picturesName))
	if err != nil || len(files) != 3 {
		t.Errorf("kept are %v, %v", files, err)
	}
}

// A picture that is refused is not asked for again for as long as its host says.
func TestPicturesHeedRefusals(t *testing.T) {
	g := openGallery(t, map[string]http.HandlerFunc{
		"/first": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		},
	})
	n := startNode(t, Config{Subscribe: []feed.URL{g.url}})
	v := newVisitor(t, n)
	at := v.pictures(n, g.url)
	for range 2 {
		if code, _ := v.status(at["first"]); code != http.StatusBadGateway {
			t.Errorf("refused: %d", code)
		}
	}
	if got := g.count("/first"); got != 1 {
		t.Errorf("asked %d times", got)
	}
}

// A worker that was refused ends also where the loop has ended before it.
func TestARefusalOutlivesTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		err := h.heed(t.Context(), "https://example.com/first", &node.Fetched{RetryAfter: time.Hour})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("heeded: %v", err)
		}
	})
}

// Chapters are fetched when somebody asks for them, once, and what has another form is none.
func TestChaptersOfAnEpisode(t *testing.T) {
	var mu sync.Mutex
	asked, header := make(map[string]int), http.Header(nil)
	count := func(path string) int {
		mu.Lock()
		defer mu.Unlock()
		return asked[path]
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/feed":
			fmt.Fprint(w, `<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>`)
			for _, name := range []string{"good", "page", "huge", "gone"} {
				fmt.Fprintf(w, `<item><guid>%s</guid><title>%[1]s</title>`+
					`<enclosure url="/%[1]s.mp3" type="audio/mpeg"/>`+
					`<podcast:chapters url="/%[1]s" type="application/json+chapters"/></item>`, name)
			}
			fmt.Fprint(w, `</channel></rss>`)
		case "/good":
			header = r.Header.Clone()
			fmt.Fprint(w, `{"chapters": [{"startTime": 0, "title": "Low"}, {"startTime": 61.5, "title": "High"}]}`)
		case "/page":
			fmt.Fprint(w, "<!doctype html><p>Log in")
		case "/huge":
			io.WriteString(w, `{"chapters": [{"startTime": 0, "title": "x"}], "x": "`+strings.Repeat("x", 1<<20)+`"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	u := feed.URL(srv.URL + "/feed")
	n := startNode(t, Config{Subscribe: []feed.URL{u}})
	v := newVisitor(t, n)
	n.waitArrival(u)
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: u, Limit: 100})
	if err != nil || len(records) != 4 {
		t.Fatal(records, err)
	}
	for _, r := range records {
		path, name := "/entries/"+r.ID.String(), "/"+r.Entry.Title
		if page := v.page(path); !strings.Contains(page, ">Chapters</a>") || count(name) != 0 {
			t.Errorf("%s: asked for unasked, or the page lacks the link:\n%s", name, page)
		}
		want := map[string]string{"/good": `data-at="61"`, "/page": "are no chapters of a form that is known.",
			"/huge": "too large", "/gone": "HTTP 404"}[name]
		for range 2 {
			if page := v.page(path + "?chapters=1"); !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q:\n%s", name, want, page)
			}
		}
		if got := count(name); got != 1 {
			t.Errorf("%s was asked for %d times", name, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if header.Get("Cookie") != "" || header.Get("Referer") != "" ||
		!strings.Contains(header.Get("Accept"), "application/json+chapters") {
		t.Errorf("asked with %v", header)
	}
}
