package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/web"
)

// A wire is an answer that is read while it is written.
type wire struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseRecorder.Write(p)
}

func (w *wire) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Body.String()
}

// An open page hears within seconds that something changed, now and then that the connection stands, and lets go when
// the server ends.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ending := newNode(t), make(chan struct{})
		h, err := web.New(web.Config{Source: n, Ending: ending})
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(t, h)
		w, done := &wire{ResponseRecorder: httptest.NewRecorder()}, make(chan struct{})
		go func() {
			defer close(done)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", nil)
			r.Header.Set("Cookie", b.cookie)
			h.ServeHTTP(w, r)
		}()
		time.Sleep(10 * time.Second)
		if strings.Contains(w.text(), "changed") {
			t.Errorf("nothing changed, yet: %q", w.text())
		}
		n.version.Add(3)
		time.Sleep(3 * time.Second)
		if strings.Count(w.text(), "event: changed") != 1 {
			t.Errorf("after a change: %q", w.text())
		}
		time.Sleep(time.Minute)
		if !strings.Contains(w.text(), ": still here") {
			t.Errorf("after a minute: %q", w.text())
		}
		close(ending)
		<-done
	})
}

// Results from the network come as events, and in the page for browsers that run no script. Another site cannot begin
// that.
func TestNetworkSearch(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	w := get(b.h, "/search/network?q=ferry", "Cookie", b.cookie)
	stream := w.Body.String()
	for _, want := range []string{"event: found", "Far", "2 nodes have it", "event: end", "Asked 2 neighbors",
		"1 entry that this node does not have"} {
		if !strings.Contains(stream, want) {
			t.Errorf("the stream lacks %q:\n%s", want, stream)
		}
	}
	for _, bad := range []string{"<script", "javascript:", "Here too"} {
		if strings.Contains(stream, bad) {
			t.Errorf("the stream holds %q:\n%s", bad, stream)
		}
	}
	if len(n.asked) != 1 || n.asked[0].Limit == 0 {
		t.Errorf("asked %+v", n.asked)
	}
	page := get(b.h, "/search?q=ferry&network=1", "Cookie", b.cookie)
	for _, want := range []string{`data-network="/search/network?q=ferry"`,
		`/search?q=ferry&amp;network=1&amp;wait=1`} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page lacks %q: %s", want, page.Body)
		}
	}
	page = get(b.h, "/search?q=ferry&network=1&wait=1", "Cookie", b.cookie)
	if !strings.Contains(page.Body.String(), "Asked 2 neighbors") ||
		strings.Contains(page.Body.String(), "data-network") {
		t.Errorf("the page: %s", page.Body)
	}
	wantSound(t, "the search", page)

	n.asked = nil
	for _, target := range []string{"/search/network?q=ferry", "/search?q=ferry&network=1&wait=1",
		"/search?q=ferry&network=1"} {
		for _, header := range [][]string{nil, {"Cookie", linkCookies(b)},
			{"Cookie", b.cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest",
				"document"},
			{"Cookie", b.cookie, "Sec-Fetch-Site", "same-site"}} {
			w := get(b.h, target, header...)
			if len(n.asked) > 0 || strings.Contains(w.Body.String(), "data-network") {
				t.Errorf("%s with %q: %d, asked %d: %s", target, header, w.Code, len(n.asked), w.Body)
			}
		}
	}
}
