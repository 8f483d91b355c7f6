package miniflux_test

import (
	"net/http"
	"strings"
	"testing"

	"feedex/reader/readertest"
)

// A reader has the full text of an entry fetched, and it is the entry's content where the reader says so.
func TestFetchContent(t *testing.T) {
	l := readertest.Example(t)
	h := handler(l)
	content := func() string { return readertest.Ask(h, "GET", "/v1/entries/2", "").Body.String() }
	const want = `{"content":"<p>All of Two.</p>","reading_time":1}`
	for _, test := range []struct {
		query string
		kept  bool
	}{{"", false}, {"?update_content=false", false}, {"?update_content=true", true}} {
		w := readertest.Ask(h, "GET", "/v1/entries/2/fetch-content"+test.query, "")
		if w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%q: %d %s, want %s", test.query, w.Code, w.Body, want)
		}
		if got := strings.Contains(content(), "All of Two"); got != test.kept {
			t.Errorf("after %q the entry has the full text: %v", test.query, got)
		}
	}
	for path, want := range map[string]int{"/v1/entries/4/fetch-content": 500, "/v1/entries/400/fetch-content": 404} {
		w := readertest.Ask(h, "GET", path, "")
		if w.Code != want || !strings.Contains(w.Body.String(), "error_message") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}

	// The feed's setting is Miniflux's "crawler".
	if w := readertest.Ask(h, "PUT", "/v1/feeds/1", `{"crawler":true}`); w.Code != http.StatusCreated ||
		!strings.Contains(w.Body.String(), `"crawler":true`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
