package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/recommend"
	"feedex/web"
)

// The page says why a feed is suggested, shows what is known of it, and takes one click to follow it or to decline it.
func TestRecommended(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	w := get(b.h, "/recommended", "Cookie", b.cookie)
	text := w.Body.String()
	wantSound(t, "/recommended", w)
	if !strings.Contains(text, "There is nothing to suggest") {
		t.Errorf("without suggestions the page says\n%s", text)
	}
	n.recommended = []web.RecommendedFeed{
		{Suggestion: recommend.Suggestion{Feed: "https://like.example.com/feed", Followers: 3, Of: 8, Shared: 12},
			Title: "Likes <b>", Number: 1},
		{Suggestion: recommend.Suggestion{Feed: "https://unknown.example.com/", Followers: 2, Of: 8, Shared: 1}},
	}
	w = get(b.h, "/recommended", "Cookie", b.cookie)
	text = w.Body.String()
	wantSound(t, "/recommended", w)
	for _, want := range []string{
		"Likes &lt;b&gt;",
		"3 of your 8 like-minded neighbors follow it; they share 12 feeds with you.",
		"they share 1 feed with you.", `value="https://unknown.example.com/"`, `action="/follow"`,
		`action="/decline"`, `href="/entries/`, `Follow<span class="hidden"> Likes &lt;b&gt;</span></button>`,
		`Not for me<span class="hidden">: Likes &lt;b&gt;</span></button>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<img") {
		t.Error("the page has pictures of feeds that are not followed")
	}
	form := url.Values{"token": {b.token}, "url": {"https://unknown.example.com/"}}
	if w := b.post("/decline", form); w.Code != http.StatusSeeOther {
		t.Errorf("declining: %d", w.Code)
	}
	if want := []feed.URL{"https://unknown.example.com/"}; !slices.Equal(n.declined, want) {
		t.Errorf("declined are %v", n.declined)
	}
	undo := func(to string) {
		t.Helper()
		page := get(b.h, to, "Cookie", b.cookie).Body.String()
		key := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(page)
		if key == nil || !strings.HasPrefix(to, "/recommended?") {
			t.Fatalf("%s offers no undo:\n%s", to, page)
		}
		b.post("/undo", url.Values{"token": {b.token}, "undo": {key[1]}})
	}
	undo(b.post("/decline", form).Header().Get("Location"))
	if len(n.declined) != 0 {
		t.Errorf("after an undo %v are declined", n.declined)
	}
	followed := url.Values{"token": {b.token}, "url": {"https://unknown.example.com/"}, "next": {"/recommended"}}
	undo(b.post("/follow", followed).Header().Get("Location"))
	if len(n.followed) != 1 || len(n.unfollows) != 1 {
		t.Errorf("followed are %v, and after an undo unfollowed %v", n.followed, n.unfollows)
	}
	b.post("/decline", form)
	form.Set("token", "guessed")
	if w := b.post("/decline", form); w.Code != http.StatusForbidden || len(n.declined) != 1 {
		t.Errorf("with a guessed token: %d", w.Code)
	}
	form = url.Values{"token": {b.token}, "url": {"javascript:alert(1)"}}
	if w := b.post("/decline", form); w.Code != http.StatusBadRequest || len(n.declined) != 1 {
		t.Errorf("what is no feed: %d", w.Code)
	}
}
