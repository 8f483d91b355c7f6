package e2e

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// A gallery is a publisher whose site has an icon, and whose entries have pictures in their texts.
type gallery struct {
	url, port string
	picture   []byte
	mu        sync.Mutex
	asked     map[string][]http.Header // what came with requests, by path
}

func startGallery(t *testing.T) *gallery {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	g := &gallery{picture: picture.Bytes(), asked: make(map[string][]http.Header)}
	srv := httptest.NewServer(g)
	t.Cleanup(srv.Close)
	g.url = srv.URL + "/feed"
	g.port = srv.URL[strings.LastIndex(srv.URL, ":"):]
	return g
}

// ServeHTTP serves the site.
func (g *gallery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked[r.URL.Path] = append(g.asked[r.URL.Path], r.Header)
	switch {
	case r.URL.Path == "/feed":
		fmt.Fprintf(w, `<rss version="2.0"><channel><title>Quay</title><link>http://127.0.0.1%s/</link>`, g.port)
		for name, sources := range map[string][]string{"Ferry": {"/ferry.png"}, "Trap": {"http://10.1.2.3/a.png",
			"http://169.254.169.254/b.png", "http://localhost" + g.port + "/c.png"}} {
			text := "<p>Seen from the quay.</p>"
			for _, s := range sources {
				text += `<p><img src="` + s + `" alt="A ship"></p>`
			}
			fmt.Fprintf(w, `<item><guid>%s</guid><title>%[1]s</title><description>%s</description></item>`, name,
				html.EscapeString(text))
		}
		fmt.Fprint(w, `</channel></rss>`)
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Quay</title><link rel="icon" sizes="64x64" href="/icon.png">`)
	case strings.HasSuffix(r.URL.Path, ".png"):
		w.Write(g.picture)
	default:
		http.NotFound(w, r)
	}
}

// requests are what came with the requests for a path.
func (g *gallery) requests(path string) []http.Header {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked[path])
}

// A picture is shown to who asks for it, or has those of a feed always shown. It comes by way of the node, which asks
// its publisher once and says nothing of who reads, and leads nowhere that is not public, as a text names it.
func TestBrowserShowsPictures(t *testing.T) {
	needBrowser(t)
	g, n := startGallery(t), startPollingNode(t)
	n.feedex(t, "subscribe", g.url)
	n.observer(t).expect(t, map[string]string{"Ferry": "unread", "Trap": "unread"})
	b := openBrowser(t, n)
	b.excused = []string{"a status of 502"} // of what the node does not ask for
	open := func(title string) {
		t.Helper()
		b.visit(t, "/entries?show=all&q="+title)
		b.do(t, chromedp.KeyEvent("j"))
		b.keys(t, "p")
	}
	sources := func(shown string) (list []string) {
		t.Helper()
		const state = `JSON.stringify([...document.querySelectorAll('.prose img')].map(i => {
			i.scrollIntoView(); return i.complete ? i.naturalWidth : 'waits'; }))`
		eventually(t, func() string {
			if got := b.evaluate(t, state); got != shown {
				return "of the pictures are as wide: " + got
			}
			return ""
		})
		return strings.Fields(b.evaluate(t, "[...document.querySelectorAll('.prose img')].map(i => i.src).join(' ')"))
	}

	open("Ferry")
	b.says(t, "A picture is not loaded")
	if got := g.requests("/ferry.png"); len(got) != 0 {
		t.Errorf("without being asked for the picture is fetched: %v", got)
	}
	b.click(t, ".notice a[href*=images]")
	list := sources("[64]")
	if len(list) != 1 || !strings.HasPrefix(list[0], n.url("/pictures/")) {
		t.Fatalf("the pictures are at %q", list)
	}
	open("Ferry")
	b.says(t, "A picture is not loaded")
	b.click(t, `form[action="/pictures"] button[value=shown]`)
	b.says(t, "Pictures of this feed are always shown")
	sources("[64]")
	b.inspect(t, "pictures")
	if status, body := ask(t, http.MethodGet, list[0], ""); status != http.StatusOK || body != string(g.picture) {
		t.Errorf("the node answers %d with %d bytes", status, len(body))
	}
	asked := g.requests("/ferry.png")
	if len(asked) != 1 {
		t.Fatalf("the publisher was asked %d times: %v", len(asked), asked)
	}
	for _, name := range []string{"Cookie", "Referer", "Accept-Language", "X-Forwarded-For"} {
		if got := asked[0].Get(name); got != "" {
			t.Errorf("the publisher was told the %s %q", name, got)
		}
	}
	if agent := asked[0].Get("User-Agent"); !strings.HasPrefix(agent, "feedex/") {
		t.Errorf("%q asked the publisher", agent)
	}

	open("Trap")
	b.says(t, "Pictures of this feed are always shown")
	for _, at := range sources("[0,0,0]") {
		status, why := ask(t, http.MethodGet, at, "")
		if status != http.StatusBadGateway ||
			!strings.Contains(why, "private_host permits it where it names both 127.0.0.1 and") {
			t.Errorf("%s: %d %s", at, status, why)
		}
	}
	if got := g.requests("/c.png"); len(got) != 0 {
		t.Errorf("a text has the node ask this machine: %v", got)
	}
	b.click(t, `form[action="/pictures"] button[value=asked]`)
	b.says(t, "3 pictures are not loaded")
}

// The icon of a site is fetched once, and is with its feed on the pages and in what readers are told by each API.
func TestIconsAreShown(t *testing.T) {
	needBrowser(t)
	g, n := startGallery(t), startNode(t, t.TempDir(), "--allow-private", "--poll", "1h")
	n.feedex(t, "subscribe", g.url)
	t.Parallel() // a node looks for icons a minute after its start, while others are tested
	b := openBrowser(t, n)
	for path, icon := range map[string]string{"/feeds": "th .icon", "/entries": ".rows .icon",
		"/feeds/1": ".titled .icon", "/entries?q=quay": ".rows .icon", "/search?q=quay": ".list .icon",
		"/settings": "th .icon"} {
		eventually(t, func() string {
			b.visit(t, path)
			width := `new Promise(done => { const i = document.querySelector('` + icon + `'); if (!i) return done('none');
				i.scrollIntoView(); // what is below the window is not loaded
				i.decode().then(() => done('' + i.naturalWidth), problem => done('' + problem)); })`
			if got := b.evaluate(t, width); got != "64" {
				return path + " has an icon that is as wide: " + got
			}
			return ""
		})
	}

	o := n.observer(t)
	data := "image/png;base64," + base64.StdEncoding.EncodeToString(g.picture)
	var miniflux struct {
		Type string `json:"mime_type"`
		Data string
	}
	o.call(t, http.MethodGet, "/v1/feeds/1/icon", nil, &miniflux)
	if miniflux.Type != "image/png" || miniflux.Data != data {
		t.Errorf("Miniflux's API has %+v", miniflux)
	}
	var fever struct {
		Feeds []struct {
			Icon int `json:"favicon_id"`
		}
		Favicons []struct {
			ID   int
			Data string
		}
	}
	key := fmt.Sprintf("api_key=%x", md5.Sum([]byte("observer:"+o.password)))
	_, text := ask(t, http.MethodPost, n.url("/fever/?api&feeds&favicons"), key, "Content-Type",
		"application/x-www-form-urlencoded")
	if err := json.Unmarshal([]byte(text), &fever); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(fever.Favicons) != 1 || len(fever.Feeds) != 1 || fever.Feeds[0].Icon != fever.Favicons[0].ID ||
		fever.Favicons[0].Data != data {
		t.Errorf("Fever's API has %+v", fever)
	}
	var nextcloud struct {
		Feeds []struct{ FaviconLink string }
	}
	o.call(t, http.MethodGet, "/index.php/apps/news/api/v1-2/feeds", nil, &nextcloud)
	var google struct {
		Subscriptions []struct{ IconURL string }
	}
	_, text = ask(t, http.MethodGet, n.url("/reader/api/0/subscription/list?output=json"), "", "Authorization",
		"GoogleLogin auth="+o.password)
	if err := json.Unmarshal([]byte(text), &google); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for api, at := range map[string]string{"Google Reader's": google.Subscriptions[0].IconURL,
		"Nextcloud's": nextcloud.Feeds[0].FaviconLink} {
		path, ours := strings.CutPrefix(at, n.url(""))
		if !ours || n.get(t, path) != string(g.picture) {
			t.Errorf("%s API has %q", api, at)
		}
	}
	if got := g.requests("/icon.png"); len(got) != 1 {
		t.Errorf("the icon was asked for %d times", len(got))
	}
}
