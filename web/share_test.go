package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"feedex/feed"
)

// A page asks the owner whether neighbors may know of what looks like a secret, and says why. Every browser that may
// use the page may have it kept; only those that may see the secret may have it told.
func TestOwnersDecideWhatNeighborsHear(t *testing.T) {
	n := newLockedNode(t)
	const why = `its address holds "x7kq…" in its path, which may be a key`
	s := n.known[2].Status
	s.Private, s.Kept, s.Undecided = true, why, true
	n.feeds[1].FeedStatus, n.status.Undecided = *s, 1
	b := newBrowser(t, newHandler(t, n))
	page := func(path string) string {
		w := get(b.h, path, "Cookie", b.cookie)
		text := w.Body.String()
		wantSound(t, path, w)
		return text
	}
	for path, want := range map[string]string{
		"/":                  ">1 feed stays on this node</a> until",
		"/feeds?q=undecided": "undecided",
		"/feeds/2":           "May neighbors know of this feed?",
	} {
		if text := page(path); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", path, want, text)
		}
	}
	w := b.post("/follow", url.Values{"token": {b.token}, "url": {"https://example.net/x7kq"}})
	if text := page(w.Header().Get("Location")); !strings.Contains(text,
		"It stays on this node: it may be a key. Its page lets you say") {
		t.Errorf("who follows such a feed is not told:\n%s", text)
	}
	answer := func(number int, as string) int {
		return b.post("/share", url.Values{"token": {b.token}, "feed": {fmt.Sprint(number)}, "as": {as}}).Code
	}
	if strings.Contains(page("/feeds/2"), `value="shared"`) {
		t.Error("a browser that has not logged in may tell it")
	}
	if code := answer(2, "shared"); code != http.StatusForbidden || len(n.adjusted) != 0 {
		t.Errorf("%d without a password, said %v", code, n.adjusted)
	}
	if code := answer(2, "private"); code != http.StatusSeeOther {
		t.Errorf("%d", code)
	}
	b.login("secret", "/")
	if text := page("/feeds/2"); !strings.Contains(text, `value="shared"`) ||
		!strings.Contains(text, `value="private"`) {
		t.Errorf("a browser that has logged in cannot answer:\n%s", text)
	}
	if code := answer(2, "shared"); code != http.StatusSeeOther ||
		len(n.adjusted) != 2 || !*n.adjusted[0].Private || *n.adjusted[1].Private || n.adjusted[1].number != 2 {
		t.Errorf("%d, said %v", code, n.adjusted)
	}
	if text := page("/feeds/1"); !strings.Contains(text, "Told to neighbors</dt><dd>yes") ||
		strings.Contains(text, "May neighbors") {
		t.Errorf("a public feed:\n%s", text)
	}
}

// The page of an import names what stays on the node, without its address where that is a secret.
func TestImportsNameWhatStays(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	const calendar feed.URL = "https://calendar.example.com/private-7d3f1c9a5b2e8d4f/basic.ics"
	w := b.upload(t, `<opml><body><outline xmlUrl="`+string(calendar)+
		`"/><outline xmlUrl="https://example.net/a"/></body></opml>`)
	text := get(b.h, w.Header().Get("Location")).Body.String()
	if !strings.Contains(text, "What stays on this node") || !strings.Contains(text, "calendar.example.com") ||
		strings.Contains(text, "7d3f1c9a") ||
		strings.Contains(text, "example.net") {
		t.Errorf("the page says:\n%s", text)
	}
}
