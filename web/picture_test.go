package web_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/reading"
	"feedex/web"
)

// Feeds have their pictures wherever they are named, and these come from the node, whoever asks: of what they hold
// nothing runs.
func TestIcons(t *testing.T) {
	n := newNode(t)
	for i := range n.feeds { // those in trouble as well
		n.feeds[i].Icon = n.feeds[0].Icon
	}
	h := newHandler(t, n)
	for _, page := range []string{"/feeds", "/feeds/1", "/entries", "/entries?feed=1", n.path(t, "Harbor"),
		"/", "/settings", "/entries?q=harbor", "/search?q=harbor"} {
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

var pictureAt = regexp.MustCompile(`(?:src|poster)="(/pictures/1/[0-9a-f]{32}/[A-Za-z0-9_-]+)"`)

// Pictures of entries come by way of the node, and nobody has it fetch what no entry holds. A link of another site, as
// the publisher's, shows none: who follows it would tell that they read it.
func TestPictures(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	b := newBrowser(t, h)
	shown := n.path(t, "Lighthouse") + "?images=1"
	page := get(h, shown, "Cookie", b.cookie).Body.String()
	found := pictureAt.FindAllStringSubmatch(page, -1)
	if len(found) == 0 {
		t.Fatalf("no pictures:\n%s", page)
	}
	for i, want := range map[int]int{0: http.StatusOK, 1: http.StatusBadGateway} {
		w := get(h, found[i][1])
		if w.Code != want || strings.Contains(w.Body.String(), "<b>") && w.Header().Get("Content-Type") == "text/html" {
			t.Errorf("%s: %d %s", found[i][1], w.Code, w.Body)
		}
		if want == http.StatusOK {
			wantInert(t, w)
			if w.Body.String() != picture || w.Header().Get("Content-Type") != "image/gif" {
				t.Errorf("the picture is %q, %v", w.Body, w.Header())
			}
		}
	}
	if want := "1 https://tracker.example/p.gif"; !slices.Contains(n.pictures, want) {
		t.Errorf("asked for %q, want %s", n.pictures, want)
	}
	n.pictures = nil
	own := found[0][1]
	code, _, _ := strings.Cut(strings.TrimPrefix(own, "/pictures/1/"), "/")
	other := base64.RawURLEncoding.EncodeToString([]byte("http://127.0.0.1:7791/unfollow"))
	for name, target := range map[string]string{
		"another address":       "/pictures/1/" + code + "/" + other,
		"without a code":        "/pictures/1/" + strings.Repeat("0", 32) + "/" + other,
		"of another feed":       strings.Replace(own, "/1/", "/2/", 1),
		"of no feed":            strings.Replace(own, "/1/", "/x/", 1),
		"an address cut off":    own[:len(own)-2],
		"no base64":             own + "%3D",
		"a code in other signs": strings.Replace(own, code, strings.ToUpper(code), 1),
	} {
		if w := get(h, target); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for _, header := range [][]string{nil, {"Cookie", linkCookies(b)}, {"Cookie", b.cookie, "Sec-Fetch-Site",
		"cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}} {
		if w := get(h, shown, header...); w.Code != http.StatusOK || pictureAt.MatchString(w.Body.String()) {
			t.Errorf("a link of another site, with %q, shows pictures: %d %s", header, w.Code, w.Body)
		}
	}
	if w := get(h, own, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"); w.Code != http.StatusForbidden {
		t.Errorf("within a page of another site: %d", w.Code)
	}
	if len(n.pictures) != 0 {
		t.Errorf("the node was asked for %q", n.pictures)
	}
	// A code of before the restart of a node is none.
	if w := get(newHandler(t, n), own); w.Code != http.StatusForbidden {
		t.Errorf("at another node: %d", w.Code)
	}
}

// Who says so once is not asked again whether to show the pictures of a feed.
func TestPicturesOfAFeed(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	entry := n.path(t, "Lighthouse")
	shown := func(want bool, text string) {
		t.Helper()
		w := b.page(entry)
		if page := w.Body.String(); pictureAt.MatchString(page) != want || !strings.Contains(page, text) {
			t.Errorf("the page lacks %q, or is not that with pictures, %v:\n%s", text, want, page)
		}
		wantSound(t, entry, w)
	}
	shown(false, "2 pictures are not loaded")
	for as, want := range map[string]bool{"shown": true, "asked": false} {
		w := b.post("/pictures", url.Values{"token": {b.token}, "feed": {"1"}, "as": {as}, "next": {entry}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != entry || n.known[1].Look.Pictures != want {
			t.Errorf("%s: %d to %q, %v", as, w.Code, w.Header().Get("Location"), n.known[1].Look)
		}
		shown(want, map[bool]string{true: "always shown", false: "Always for this feed"}[want])
	}
	// The form of the feed has it too. A page that was loaded before that changed says nothing of it.
	page := func(checked bool) {
		t.Helper()
		box := `<input type="checkbox" name="pictures" value="1"`
		if checked {
			box += " checked"
		}
		if text := b.page("/feeds/1").Body.String(); !strings.Contains(text, box+" aria-describedby") {
			t.Errorf("the page of the feed lacks %s:\n%s", box, text)
		}
	}
	for _, step := range []struct {
		on, stood string
		want      bool
	}{{"1", "off", true}, {"", "off", true}, {"", "", true}, {"", "on", false}, {"1", "on", false}} {
		page(n.known[1].Look.Pictures)
		b.post("/adjust", feedFormOf(b, url.Values{"pictures": {step.on}, "pictures-shown": {step.stood}}))
		if n.known[1].Look.Pictures != step.want {
			t.Errorf("%+v: %v", step, n.known[1].Look)
		}
	}
	if w := b.post("/pictures", url.Values{"feed": {"1"}, "as": {"shown"}}); w.Code != http.StatusForbidden {
		t.Errorf("without a token: %d", w.Code)
	}
}

// Files that can be played have players, which load nothing before somebody plays them, from where the publisher has
// them.
func TestPlayers(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	files := []feed.Enclosure{
		{URL: "https://cdn.example/talk.mp3?x=1&y=<b>", Type: "audio/mpeg", Length: 12_300_000},
		{URL: "https://cdn.example/film.MP4"}, {URL: "https://cdn.example/notes.pdf", Type: "application/pdf"},
		{URL: "javascript:alert(1)", Type: "audio/mpeg"}, {URL: "https://cdn.example/x.mp3", Type: "text/html"},
	}
	n.entries[0].Entry.Enclosures = files
	w := get(h, n.path(t, "Harbor"))
	page := w.Body.String()
	for _, want := range []string{
		`<audio controls preload="none" src="https://cdn.example/talk.mp3?x=1&amp;y=%3cb%3e" aria-label="talk.mp3">`,
		`<video controls preload="none" src="https://cdn.example/film.MP4"`, "12.3\u00a0MB. Played from cdn.example,",
		"notes.pdf</bdi></a>", `/assets/player-`, `data-entry="`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Count(page, "<audio") != 1 || strings.Count(page, "<video") != 1 ||
		strings.Contains(page, "javascript:") {
		t.Errorf("other files are played:\n%s", page)
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(csp, "; media-src https: http:") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	wantSound(t, "an entry with sound", w)

	n.entries[0].Entry.Enclosures = slices.Repeat(files[:1], 30)
	if got := strings.Count(get(h, n.path(t, "Harbor")).Body.String(), "<audio"); got != 4 {
		t.Errorf("%d players", got)
	}
	n.entries[0].Entry.Enclosures = nil
	w = get(h, n.path(t, "Harbor"))
	if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "http") ||
		strings.Contains(w.Body.String(), "player") {
		t.Errorf("an entry without any: Content-Security-Policy %q\n%s", csp, w.Body)
	}
}
