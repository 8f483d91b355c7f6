package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedex/reading"
	"feedex/web"
)

// Feeds have their pictures wherever they are named, and these come from the node, whoever asks: of what they hold
// nothing runs.
func TestIcons(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	for _, page := range []string{"/feeds", "/feeds/1", "/entries", "/entries?feed=1", n.path(t, "Harbor")} {
		if got := get(h, page).Body.String(); !strings.Contains(got, `src="`+reading.IconPath+pictureWord+`" alt=""`) {
			t.Errorf("%s lacks the picture:\n%s", page, got)
		}
	}
	locked, err := web.New(web.Config{Source: n, Now: func() time.Time { return noon },
		Login: func(*http.Request) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{pictureWord: "image/gif", "drawn": "image/svg+xml"} {
		w := get(locked, reading.IconPath+word)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want {
			t.Errorf("%s: %d %v", word, w.Code, w.Header())
		}
		wantInert(t, w)
	}
	if w := get(locked, reading.IconPath+"guess"); w.Code != http.StatusNotFound {
		t.Errorf("a guess: %d", w.Code)
	}
	if w := get(locked, reading.IconPath+pictureWord, "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("within a page of another site: %d", w.Code)
	}
}

// wantInert fails unless a picture that is opened by itself can do nothing.
func wantInert(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || !strings.HasSuffix(policy, "sandbox") ||
		strings.Contains(policy, "script") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a picture under the policy %q, header %v", policy, w.Header())
	}
}
