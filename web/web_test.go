package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedex/archive"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/web"
)

// newHandler makes the pages of n at noon.
func newHandler(t testing.TB, n *aNode) http.Handler {
	t.Helper()
	h, err := web.New(web.Config{Source: n, Version: "0.0.0", Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get asks for a page; header names and values follow in turn.
func get(h http.Handler, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPages(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	for _, test := range []struct {
		target string
		code   int
		want   []string // in the page
		not    []string
	}{
		{"/", 200, []string{"5 entries", "<strong class=\"near\">3</strong>", "1\u00a0h\u00a030\u00a0min", "36",
			"12 made, for pages and pictures too; 48 without neighbors", "178\u00a0kB", "failed 3 times", "7 entries",
			`show=unread"><strong>2</strong> unread`, "of 5 new entries", `data-name="Next try"`},
			[]string{"<summary>1 feed"}},
		{"/?period=day", 200, []string{"3 entries", "2 requests made, for pages and"}, []string{"5 entries"}},
		{"/feeds", 200, []string{"News &amp; more", "Mine", "example.org (the address is a secret)", "2 feeds"},
			[]string{"<b>more", "Anybody"}},
		{"/feeds?q=mine", 200, []string{"Mine"}, []string{"News"}},
		{"/feeds?q=nothing", 200, []string{"No feed fits."}, nil},
		{"/feeds/1", 200, []string{"Neighbors bring 80", "Harbor", "/feed/https://example.com/news.xml",
			"an own poll listed it", "refused with 429 too many requests, to be asked again after 1\u00a0h"}, nil},
		{"/feeds/2", 200, []string{"Mine", "403 Forbidden"}, []string{"Confidential", "/feed/"}},
		{"/feeds/3", 404, []string{"no such page"}, nil},
		{"/feeds/x", 404, nil, nil},
		{"/settings?url=https%3A%2F%2Fexample.net%2F%3F%22%3E", 200,
			[]string{`name="url" value="https://example.net/?&#34;&gt;"`}, nil},
		{"/feeds/-1", 404, nil, nil},
		{"/entries", 200, []string{"Harbor", "The ferry is late.", "from a neighbor, not confirmed"},
			[]string{"Confidential", "<i>"}},
		{"/entries?feed=1", 200, []string{"Harbor"}, []string{"Confidential"}},
		{"/entries?feed=2", 200, []string{"Unread (0)"}, []string{"Confidential"}},
		{"/entries?feed=9", 404, nil, nil},
		{"/entries?show=unread", 200, []string{"Harbor", "Unread (1)", "Mark read"},
			[]string{"Lighthouse", "Confidential"}},
		{"/entries?show=starred", 200, []string{"Nothing is starred."}, []string{"Harbor", "Mark all"}},
		{"/entries?q=ferry", 200, []string{"Harbor"}, []string{"Lighthouse"}},
		{"/entries?q=confidential", 200, []string{"Nothing was found"}, nil},
		{"/entries?q=(", 200, []string{"That cannot be searched for"}, []string{"Nothing was found"}},
		{n.path(t, "Harbor"), 200, []string{"<p>The <i>ferry</i> is late.</p>",
			"192.0.2.7:7790 brought it", "nobody else has confirmed it"}, nil},
		{n.path(t, "Confidential"), 404, nil, []string{"Nobody else may"}},
		{"/entries/abc", 404, nil, nil},
		{"/entries/" + strings.Repeat("0", 40), 404, nil, nil},
		{"/entries/" + strings.Repeat("x", 40), 404, nil, nil},
		{"/neighbors", 200, []string{"192.0.2.7:7790", "4 of 10", "3.1\u00a0MB of 20\u00a0MB", "90 of 100",
			"1 of 3"}, nil},
		{"/search", 200, []string{"<h1>Archive</h1>"}, nil},
		{"/search?q=ferry", 200, []string{"Harbor"}, []string{"data-network", "Confidential"}},
		{"/search?q=confidential", 200, []string{"nothing that fits"}, nil},
		{"/search?q=ferry&network=1", 200, []string{"Harbor"}, []string{"From the network"}}, // no page of ours asks
		{"/search?q=ferry&since=tomorrow", 200, []string{"From: "}, []string{"Harbor"}},
		{"/search?feed=2", 404, nil, nil},
		{"/settings", 200, []string{`name="token"`, "News &amp; more"}, []string{"hunter2"}},
		{"/imported/1", 404, nil, nil},
		{"/elsewhere", 404, []string{"Nothing here"}, nil},
	} {
		w := get(h, test.target)
		page := w.Body.String()
		if w.Code != test.code {
			t.Errorf("%s: %d, want %d", test.target, w.Code, test.code)
		}
		for _, want := range test.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q", test.target, want)
			}
		}
		for _, bad := range append(test.not, "hunter2") {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", test.target, bad)
			}
		}
		wantSound(t, test.target, w)
	}
}

// A feed that was polled in vain was polled, and one without a title is named once.
func TestListOfFeeds(t *testing.T) {
	n := newNode(t)
	n.feeds = []web.FeedSummary{{Number: 3, FeedStatus: node.FeedStatus{URL: "https://example.net/untitled",
		Errors: 1, LastError: "404 Not Found", LastPoll: noon.Add(-5 * time.Minute), NextPoll: noon.Add(time.Hour)}}}
	text := get(newHandler(t, n), "/feeds").Body.String()
	if strings.Count(text, "example.net/untitled") != 1 {
		t.Errorf("it is not named once:\n%s", text)
	}
	if !strings.Contains(text, "5\u00a0min ago") || strings.Contains(text, "never") {
		t.Errorf("it does not say when it was polled:\n%s", text)
	}
}

// A day on which nothing came is not told in zeros.
func TestNothingNew(t *testing.T) {
	n := newNode(t)
	n.hours = []archive.Hour{{At: n.hours[0].At}}
	text := get(newHandler(t, n), "/").Body.String()
	if !strings.Contains(text, "nothing new came of the 2 feeds that you follow") {
		t.Errorf("it does not say so:\n%s", text)
	}
}

// A page of a node that rests tells nothing in zeros that is not known: what it follows, and with whom.
func TestHomeOfANodeThatRests(t *testing.T) {
	n := newNode(t)
	n.status, n.feeds = web.Status{Storage: "the disk is full"}, nil
	text := get(newHandler(t, n), "/").Body.String()
	if !strings.Contains(text, "of the feeds that you follow") {
		t.Errorf("it does not speak of feeds:\n%s", text)
	}
	for _, zero := range []string{"0 feeds", "0 neighbors", "No neighbors yet"} {
		if strings.Contains(text, zero) {
			t.Errorf("it says %q:\n%s", zero, text)
		}
	}
}

// Of many feeds in trouble the home page tells of three, with their next tries, and says where the others are.
func TestMuchTroubleIsALink(t *testing.T) {
	n := newNode(t)
	n.feeds = nil
	for i := range 5 {
		rest := max(0, i-3)
		text := get(newHandler(t, n), "/").Body.String()
		if tries := strings.Count(text, "in 1\u00a0h"); tries != i-rest {
			t.Errorf("of %d feeds in trouble %d say when they are next tried", i, tries)
		}
		link := `<a href="/feeds?order=trouble">1 more feed in trouble</a>`
		if more := strings.Contains(text, link); more != (rest == 1) {
			t.Errorf("of %d feeds in trouble one more: %v\n%s", i, more, text)
		}
		n.feeds = append(n.feeds, web.FeedSummary{Number: 3, FeedStatus: node.FeedStatus{
			URL: feed.URL("https://example.net/" + strconv.Itoa(i)), Errors: 1, LastError: "404 Not Found",
			NextPoll: noon.Add(time.Hour)}})
	}
}

// Who polls a feed as well is said where somebody is heard, and on no page else; what neighbors spared a node is said
// where they spared something, with what it is compared with.
func TestWhatOthersPollIsShown(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	says := func(path string, is bool, texts ...string) {
		t.Helper()
		page := strings.ReplaceAll(get(h, path).Body.String(), "\u00a0", " ")
		for _, text := range texts {
			if strings.Contains(page, text) != is {
				t.Errorf("%s says %q: %v\n%s", path, text, !is, page)
			}
		}
	}
	n.happened.Requests = nil
	shown := []struct{ path, text string }{
		{"/feeds/1", "among 7 nodes somebody looks about every 20 min"},
		{"/feeds/1", "It heard of 2 polls by other nodes."},
		{"/feeds/1", "Other nodes polled it, 2 times since " +
			noon.Add(-40*time.Minute).Local().Format("15:04")}, {"/feeds", "anybody: every 20 min"},
		{"/feeds", "<em>Anybody</em>"},
		{"/", "3 first polls left to them, since the start"}, {"/", "35\u202f% fewer requests"},
	}
	for _, s := range shown {
		says(s.path, false, s.text)
	}
	n.known[1].Status.Pollers, n.known[1].Status.Spacing = 7, 20*time.Minute
	n.feeds[0].Spacing = 20 * time.Minute
	n.happened.Heard = []time.Time{noon.Add(-40 * time.Minute), noon.Add(-20 * time.Minute)}
	n.status.Counters.PollsWaived = 3
	says("/", false, "first polls left", "fewer requests")
	n.status.Neighbors = 2
	for _, s := range shown {
		says(s.path, true, s.text)
	}
	n.status.Counters.PollsWaived = 0
	says("/", false, "first polls left", "fewer requests")
	says("/", true, "12 made, for pages and pictures too; 48 without neighbors")
	for i := range n.hours {
		n.hours[i].Spared = 0
	}
	says("/", false, "12 made,")
	says("/", true, "12 requests made")
}

// An owner who finds a page full of entries is told that there are more.
func TestMoreIsFound(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	for i := range 40 {
		n.add(newsURL, fmt.Sprint("Otter ", i), "", noon, protocol.NodeID{})
	}
	for _, target := range []string{"/search?q=otter", "/entries?q=otter"} {
		text := get(h, target).Body.String()
		if !strings.Contains(text, "Otter 0<") || strings.Contains(text, "There are more") {
			t.Errorf("%s with 40 entries:\n%s", target, text)
		}
	}
	n.add(newsURL, "Otter 40", "", noon, protocol.NodeID{})
	for _, target := range []string{"/search?q=otter", "/entries?q=otter"} {
		text := get(h, target).Body.String()
		if !strings.Contains(text, "Otter 1<") || !strings.Contains(text, "There are more") ||
			strings.Contains(text, "Otter 0<") {
			t.Errorf("%s with 41 entries:\n%s", target, text)
		}
	}
}

// An entry can run nothing and load nothing, and cannot pass for a part of the page.
func TestHostileEntry(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	w := get(h, n.path(t, "Lighthouse"))
	page := w.Body.String()
	for _, bad := range []string{"alert", `<img src="http`, `poster`, "onclick", "<iframe", "<form action", "<picture",
		"data-network", `id="main">R`, "srcset"} {
		article, _, _ := strings.Cut(page[strings.Index(page, `class="prose"`):], "</article>")
		if strings.Contains(article, bad) {
			t.Errorf("the article holds %q:\n%s", bad, article)
		}
	}
	if strings.Count(page, "</article>") != 1 || strings.Count(page, "</main>") != 1 ||
		strings.Count(page, "<b>") != strings.Count(page, "</b>") {
		t.Errorf("the entry ends what it did not begin, or begins what it does not end:\n%s", page)
	}
	head, _, _ := strings.Cut(page[strings.Index(page, `<article class="article"`):], "</header>")
	for _, bad := range []string{"<script", `href="javascript`, "<b>", "<content"} {
		if strings.Contains(head, bad) {
			t.Errorf("the head of the article holds %q:\n%s", bad, head)
		}
	}
	const license = "https://creativecommons.org/licenses/by/4.0/"
	for _, want := range []string{"Read</p>", `<span dir="auto">javascript:steal()</span>`,
		"Copied from <bdi>Towers</bdi>", "terms for machines (RSL)",
		`<a href="` + license + `">` + license + `</a>`, "Picture: A ferry",
		`<a href="https://video.example/1">Page from elsewhere: A film</a>`, "data:image/png", "?images=1",
		`<video src="https://tracker.example/v.mp4" controls="" preload="none"></video>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	policy := regexp.MustCompile(`; img-src 'self' data:; media-src https: http:$`)
	if csp := w.Header().Get("Content-Security-Policy"); !policy.MatchString(csp) {
		t.Errorf("Content-Security-Policy %q lets more in than pictures of the node, and what is played", csp)
	}
	wantSound(t, "the entry", w)

	w = get(h, n.path(t, "Lighthouse")+"?images=1", "Cookie", newBrowser(t, h).cookie)
	if page := w.Body.String(); len(pictureAt.FindAllString(page, -1)) != 3 || // with the poster
		strings.Contains(page, "<iframe") || strings.Contains(page, "alert") {
		t.Errorf("with pictures the page is\n%s", page)
	}
	if csp := w.Header().Get("Content-Security-Policy"); !policy.MatchString(csp) {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	wantSound(t, "the entry with pictures", w)
}

// A browser is the part of one that a test needs: it keeps its cookie and knows the token of the last page.
type browser struct {
	h             http.Handler
	cookie, token string
}

var tokenOf = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)

func newBrowser(t *testing.T, h http.Handler) *browser {
	t.Helper()
	return newBrowserAt(t, h, "/settings")
}

// form is a form with these fields, each with its value behind it.
func (b *browser) form(fields ...string) url.Values {
	form := url.Values{"token": {b.token}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

func (b *browser) post(path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", b.cookie)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	return w
}

// The page of a web page that names several feeds lets its owner choose, and nobody else see what is a secret.
func TestChoice(t *testing.T) {
	n := newNode(t)
	named := discover.Text([]discover.SiteFeed{{URL: "https://site.example/a", Title: "News <script>alert(1)</script>"},
		{URL: "https://site.example/b?token=hunter2"}})
	add := func(number int64, u feed.URL) {
		f := archive.Feed{URL: u, Subscribed: true, Ended: true, Names: named, LastPoll: noon}
		status := node.FeedStatus{URL: u, Ended: true, WebPage: true, Names: discover.Read(named), Errors: 1,
			LastError: "a web page"}
		n.known[number] = web.FeedDetail{Status: &status,
			KnownFeed: web.KnownFeed{Feed: f, Number: number, Reads: true}}
		n.feeds = append(n.feeds, web.FeedSummary{FeedStatus: status, Number: number})
	}
	add(3, siteURL)
	add(4, "https://ann:pw@site.example/")
	b := newBrowser(t, newHandler(t, n))
	text := get(b.h, "/feeds/3").Body.String()
	for want, is := range map[string]bool{
		"Which of its feeds do you want?": true, `name="url" value="https://site.example/a"`: true,
		`name="page" value="3"`: true,
		"choose a feed":         true, "<script>alert": false, "hunter2": false, "The last 24 hours": false,
	} {
		if strings.Contains(text, want) != is {
			t.Errorf("the page shows %q: %v\n%s", want, !is, text)
		}
	}
	if text := get(b.h, "/feeds/4").Body.String(); strings.Contains(text, "site.example/a") ||
		strings.Contains(text, "pw@") {
		t.Errorf("the page of a secret address shows what it names:\n%s", text)
	}
	if w := b.post("/follow", url.Values{"token": {b.token}, "url": {"https://site.example/a"},
		"page": {"3"}}); w.Code != http.StatusSeeOther || len(n.pages) != 1 || n.pages[0] != 3 {
		t.Errorf("%d, followed %q of %v", w.Code, n.followed, n.pages)
	}
}

func TestChanges(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	w := b.post("/follow", url.Values{"token": {b.token}, "url": {" example.net/feed "}})
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/settings?undo=") ||
		len(n.followed) != 1 || n.followed[0] != "https://example.net/feed" {
		t.Errorf("%d to %q, followed %q", w.Code, w.Header().Get("Location"), n.followed)
	}
	if w := b.page(w.Header().Get("Location")); !strings.Contains(w.Body.String(), "/news.xml, is followed.") ||
		strings.Contains(w.Body.String(), `action="/undo"`) {
		t.Errorf("the page does not say so: %s", w.Body)
	}
	if w := b.post("/follow", url.Values{"token": {b.token},
		"url": {"ftp://example.net/feed"}}); w.Code != http.StatusBadRequest || len(n.followed) != 1 ||
		strings.Count(w.Body.String(), "https://") != 1 {
		t.Errorf("%d, followed %q, and not once what an address begins with: %s", w.Code, n.followed, w.Body)
	}
	w = b.post("/follow", url.Values{"token": {b.token}, "url": {string(siteURL)}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/feeds/3" {
		t.Errorf("a page of several: %d to %q", w.Code, w.Header().Get("Location"))
	}
	w = b.post("/follow", url.Values{"token": {b.token}, "url": {"https://example.com/news.xml"}})
	if w := b.page(w.Header().Get("Location")); !strings.Contains(w.Body.String(), "is followed already.") {
		t.Errorf("the page does not say so: %s", w.Body)
	}
	if w := b.post("/follow", url.Values{"token": {b.token},
		"url": {string(silentURL)}}); w.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(w.Body.String(), "Nothing is followed.") {
		t.Errorf("a page without a feed: %d, %s", w.Code, w.Body)
	}
	gone := url.Values{"token": {b.token}, "url": {string(goneURL)}}
	if w := b.post("/follow", gone); w.Code != http.StatusUnprocessableEntity || len(n.followed) != 1 ||
		!strings.Contains(w.Body.String(), "HTTP &lt;404&gt;") || !strings.Contains(w.Body.String(), `name="anyway"`) {
		t.Errorf("an address that cannot be read: %d, followed %q: %s", w.Code, n.followed, w.Body)
	}
	if gone.Set("anyway", "1"); b.post("/follow", gone).Code != http.StatusSeeOther || len(n.followed) != 2 {
		t.Errorf("followed %q, want it anyway", n.followed)
	}
	n.followed = n.followed[:1]
	if w := b.post("/follow", url.Values{"token": {b.token}, "url": {"example.net/2"},
		"more": {strings.Repeat("x", 64<<10)}}); w.Code != http.StatusBadRequest || len(n.followed) != 1 {
		t.Errorf("a form that is too long: %d, followed %q", w.Code, n.followed)
	}
	if w := b.post("/unfollow", url.Values{"token": {b.token}, "feed": {"2"}}); w.Code != http.StatusSeeOther ||
		len(n.unfollows) != 1 || n.unfollows[0] != 2 {
		t.Errorf("%d, unfollowed %d", w.Code, n.unfollows)
	}
}

// The first page asks whether neighbors may be found by the DHT until there is an answer, which the settings show.
func TestTheFirstPageAsksOnce(t *testing.T) {
	for _, followed := range []bool{true, false} {
		n := newNode(t)
		if !followed {
			n.feeds = nil
		}
		const question, offer = "this address runs feedex", "Find neighbors by the DHT"
		n.status.DHT = web.DHT{Ask: true}
		h := newHandler(t, n)
		b := newBrowser(t, h)
		page := get(h, "/").Body.String()
		if !strings.Contains(page, question) || !strings.Contains(page, `value="on"`) {
			t.Errorf("followed %t: it does not ask: %s", followed, page)
		}
		for _, use := range []string{"on", "off", ""} {
			w := b.post("/dht", url.Values{"token": {b.token}, "use": {use}})
			if want := (web.DHT{On: use == "on"}); w.Code != http.StatusSeeOther || n.status.DHT != want {
				t.Errorf("answered %q: %d, %+v", use, w.Code, n.status.DHT)
			}
			if page := get(h, "/").Body.String(); strings.Contains(page, question) {
				t.Errorf("answered %q: it asks again", use)
			}
			if page := get(h, "/settings").Body.String(); strings.Contains(page, offer) != (use != "on") {
				t.Errorf("answered %q: the settings say %s", use, page)
			}
		}
		n.status.DHT = web.DHT{On: true, Fixed: true}
		if page := get(h, "/settings").Body.String(); strings.Contains(page, `name="use"`) {
			t.Error("the settings have it, and the page asks")
		}
	}
}

// The owner names trackers and neighbors in the settings, sees what became of them, and takes them back; what the
// settings of the node name is shown, and stays.
func TestSources(t *testing.T) {
	n := newNode(t)
	n.status.Sources = []node.SourceStatus{{Name: "node.example:7790", Asked: noon}}
	b := newBrowser(t, newHandler(t, n))
	const tracker = "http://tracker.example:7788/?<x>"
	form := url.Values{"token": {b.token}, "name": {tracker}}
	w := b.post("/sources", form)
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/settings?undo=") {
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	page := b.page(w.Header().Get("Location")).Body.String()
	for _, want := range []string{"&lt;x&gt; was taken for a tracker", "http://tracker.example:7788/?&lt;x&gt;",
		"&lt;nobody&gt; answers", "not asked yet", "by the settings", "node.example:7790"} {
		if is := strings.Contains(page, want); is != (want != "not asked yet") {
			t.Errorf("the page shows %q: %v\n%s", want, is, page)
		}
	}
	if n := strings.Count(page, `action="/sources/remove"`); n != 1 {
		t.Errorf("%d can be removed", n)
	}
	remove := func() (page string) {
		t.Helper()
		w := b.post("/sources/remove", form)
		if w.Code != http.StatusSeeOther || len(n.status.Sources) != 1 {
			t.Errorf("removed: %d, left %+v", w.Code, n.status.Sources)
		}
		return b.page(w.Header().Get("Location")).Body.String()
	}
	page = remove()
	if !strings.Contains(page, html.EscapeString(tracker)+" is asked no more.") {
		t.Errorf("what was removed is not named:\n%s", page)
	}
	b.post("/undo", url.Values{"token": {b.token}, "undo": {undoIn(t, page)}})
	if len(n.status.Sources) != 2 {
		t.Errorf("after an undo there are %+v", n.status.Sources)
	}
	remove()
	for path, name := range map[string]string{"/sources": "", "/sources/remove": "node.example:7790"} {
		w := b.post(path, url.Values{"token": {b.token}, "name": {name}})
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Nothing was") {
			t.Errorf("%s of %q: %d, %s", path, name, w.Code, w.Body)
		}
		w = b.post(path, url.Values{"name": {tracker}})
		if w.Code != http.StatusForbidden || len(n.status.Sources) != 1 {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
	}
}

// Requests that another site makes a browser send change nothing.
func TestForeignChanges(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	b, other := newBrowser(t, h), newBrowser(t, h)
	good := url.Values{"token": {b.token}, "url": {"https://example.net/feed"}, "feed": {"1"}}
	for _, path := range []string{"/sources", "/sources/remove", "/follow", "/join", "/refresh", "/unfollow", "/dht",
		"/import", "/mark", "/read", "/adjust", "/passwords", "/passwords/remove", "/login", "/logout"} {
		for name, w := range map[string]*httptest.ResponseRecorder{
			"without a token": b.post(path, url.Values{"url": good["url"], "feed": good["feed"]}),
			"with a token made up": b.post(path, url.Values{"token": {strings.Repeat("0", 64)},
				"url": good["url"], "feed": good["feed"]}),
			"of another browser": b.post(path, url.Values{"token": {other.token}, "url": good["url"],
				"feed": good["feed"]}),
			"without a cookie":  (&browser{h: h}).post(path, good),
			"from another site": b.post(path, good, "Sec-Fetch-Site", "cross-site"),
			"from another port": b.post(path, good, "Sec-Fetch-Site", "same-site"),
			"of another origin": b.post(path, good, "Origin", "https://evil.example"),
		} {
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Nothing was changed") {
				t.Errorf("%s, %s: %d %s", path, name, w.Code, w.Body)
			}
		}
		if w := get(h, path+"?"+good.Encode(), "Cookie", b.cookie); w.Code == http.StatusSeeOther {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
	if len(n.joined)+len(n.followed)+len(n.unfollows)+len(n.arranged)+len(n.streams) > 0 {
		t.Errorf("followed %q, unfollowed %d", n.followed, n.unfollows)
	}
}

// upload sends a list of feeds.
func (b *browser) upload(t *testing.T, document string) *httptest.ResponseRecorder {
	t.Helper()
	return b.uploadUnread(t, document, "")
}

// uploadUnread sends a list of feeds, and how much of them is left unread.
func (b *browser) uploadUnread(t *testing.T, document, unread string) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	_ = m.WriteField("token", b.token)
	_ = m.WriteField("unread", unread)
	file, err := m.CreateFormFile("list", "feeds.opml")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(file, document)
	m.Close()
	r := httptest.NewRequest(http.MethodPost, "/import", &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Cookie", b.cookie)
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	return w
}

// How much of what there is already is left unread goes along with the wish to follow, also where an address could not
// be read at first.
func TestBacklogs(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	const list = "<opml><body><outline type='rss' xmlUrl='https://example.net/a'/></body></opml>"
	for text, want := range map[string]archive.Backlog{"": archive.UsualBacklog, "0": archive.NoBacklog, " 7": 7,
		"all": archive.WholeBacklog} {
		for what, send := range map[string]func() *httptest.ResponseRecorder{
			"follow": func() *httptest.ResponseRecorder {
				return b.post("/follow", url.Values{"token": {b.token}, "url": {"example.net/feed"}, "unread": {text}})
			},
			"import": func() *httptest.ResponseRecorder { return b.uploadUnread(t, list, text) },
		} {
			n.backlog = -2
			if w := send(); w.Code != http.StatusSeeOther || n.backlog != want {
				t.Errorf("%s with %q: %d, backlog %d", what, text, w.Code, n.backlog)
			}
		}
	}
	before := len(n.followed)
	for _, bad := range []string{"-1", "10001", "many"} {
		if w := b.post("/follow", url.Values{"token": {b.token}, "url": {"example.net/feed"},
			"unread": {bad}}); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", bad, w.Code)
		}
		if w := b.uploadUnread(t, list, bad); w.Code != http.StatusBadRequest || len(n.followed) != before {
			t.Errorf("a list with %q: %d", bad, w.Code)
		}
	}
	gone := url.Values{"token": {b.token}, "url": {string(goneURL)}, "unread": {"all"}}
	if page := b.post("/follow", gone).Body.String(); !strings.Contains(page, `name="unread" value="all"`) {
		t.Errorf("the page that offers to follow it anyway forgets the number:\n%s", page)
	}
}

// A list is imported as far as it can be read; the rest is named.
func TestImport(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	send := func(document string) *httptest.ResponseRecorder { return b.upload(t, document) }
	w := send("<opml><body><outline text='Taken'>\n<outline type='rss' xmlUrl='https://example.net/a'/></outline>\n" +
		"<outline text='<bad>' type='rss' " +
		"xmlUrl='nonsense'/>\n<outline type='rss' xmlUrl='https://example.net/a'/>\n</body></opml>")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/imported/1" || len(n.followed) != 1 ||
		n.followed[0] != feed.URL("https://example.net/a") {
		t.Fatalf("%d to %q, followed %q", w.Code, w.Header().Get("Location"), n.followed)
	}
	page := get(b.h, "/imported/1")
	for _, want := range []string{"1 feed is followed now", "line 3",
		"line 2, &#34;Taken&#34;: its name is taken", "line 4: example.net/a is followed already"} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page lacks %q: %s", want, page.Body)
		}
	}
	if strings.Contains(page.Body.String(), "more place") {
		t.Errorf("the page tells of more problems than there are: %s", page.Body)
	}
	wantSound(t, "/imported/1", page)
	if w := send("no list"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "no list of feeds") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	many := send("<opml><body>" + strings.Repeat("<outline type='rss' xmlUrl='nonsense'/>", 300) +
		"</body></opml>").Header().Get("Location")
	if page := get(b.h, many).Body.String(); strings.Count(page, "<li>") < 200 ||
		!strings.Contains(page, "And 100 more places.") {
		t.Errorf("of 300 problems the page tells %s", page)
	}
	for i := range 8 {
		if got := send("<opml><body/></opml>").Header().Get("Location"); got != fmt.Sprintf("/imported/%d", i+3) {
			t.Errorf("to %q", got)
		}
	}
	if w := get(b.h, "/imported/1"); w.Code != http.StatusNotFound {
		t.Errorf("the oldest import is still known: %d", w.Code)
	}
}

// A node that follows nothing shows how to begin.
func TestFirstStart(t *testing.T) {
	n := newNode(t)
	n.feeds, n.entries = nil, nil
	clear(n.known)
	for _, path := range []string{"/feeds", "/entries", "/entries?show=all"} {
		w := get(newHandler(t, n), path)
		if page := w.Body.String(); !strings.Contains(page, `No feed is followed yet: <a href="/settings">`) ||
			strings.Contains(page, "Find a feed") || strings.Contains(page, "is read.") {
			t.Errorf("%s does not say how to begin:\n%s", path, page)
		}
		wantSound(t, path, w)
	}
	w := get(newHandler(t, n), "/")
	for _, want := range []string{`action="/import"`, `action="/follow"`, `action="/join"`, "Read feeds together"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	n.status.Sources = []node.SourceStatus{{Tracker: true, Name: "http://tracker.example/", Problem: "refused"}}
	for _, neighbors := range []int{0, 1} {
		n.status.Neighbors = neighbors
		page := get(newHandler(t, n), "/").Body.String()
		if strings.Contains(page, "No neighbors yet.") != (neighbors == 0) ||
			strings.Contains(page, "Become neighbors") != (neighbors == 0) ||
			strings.Contains(page, "Tracker http://tracker.example/: refused.") != (neighbors == 0) {
			t.Errorf("with %d neighbors the page says:\n%s", neighbors, page)
		}
	}
	wantSound(t, "/", w)
}

func TestAssets(t *testing.T) {
	h := newHandler(t, newNode(t))
	for _, link := range regexp.MustCompile(`/assets/[a-z]+-[0-9a-f]+\.(css|js|svg)`).FindAllString(get(h,
		"/").Body.String(), -1) {
		w := get(h, link)
		if w.Code != 200 || w.Body.Len() == 0 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %d bytes, %v", link, w.Code, w.Body.Len(), w.Header())
		}
	}
	if w := get(h, "/assets/style.css"); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

// The owner may have a feed polled from its page, and all of them from their list; until a publisher is to be asked
// again the page says when that is.
func TestRefreshing(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	b := newBrowser(t, h)
	for path, want := range map[string]string{"/feeds": "Poll all now", "/feeds/1": "Poll it now",
		"/entries": `form="listed" formaction="/refresh"`, "/entries?before=1": `form="listed" formaction="/refresh"`} {
		if page := get(h, path).Body.String(); !strings.Contains(page, want) {
			t.Errorf("%s has no %q", path, want)
		}
	}
	const said = "1 feed is polled in a moment; 2 feeds may be polled again, the first from 12:03."
	for next, form := range map[string]url.Values{
		"/feeds": {}, "/feeds/1": {"feed": {"1"}}, "/entries?folder=5&show=all": {"folder": {"5"}},
		"/entries?feed=2": {"feed": {"2"}}, "/entries?folder=9": {"folder": {"9"}},
	} {
		n.refreshed = nil
		form.Set("token", b.token)
		form.Set("next", next)
		to := b.post("/refresh", form).Header().Get("Location")
		want := []int64{1, 2}
		switch {
		case form.Has("feed"):
			number, _ := strconv.ParseInt(form.Get("feed"), 10, 64)
			want = []int64{number}
		case form.Get("folder") == "9":
			want = nil
		}
		if page := b.page(to).Body.String(); !slices.Equal(n.refreshed, want) || !strings.Contains(page, said) {
			t.Errorf("from %s polled %v, want %v, and led to %s:\n%s", next, n.refreshed, want, to, page)
		}
	}
	if w := b.post("/refresh", url.Values{"token": {b.token}, "feed": {"99"}}); w.Code != http.StatusNotFound {
		t.Errorf("a feed that nobody knows is polled: %d", w.Code)
	}
	if w := b.post("/refresh", url.Values{"token": {b.token}, "feed": {"x"}}); w.Code != http.StatusNotFound {
		t.Errorf("a feed that is none: %d", w.Code)
	}
	inTwoDays := fmt.Sprint(noon.Add(48 * time.Hour).Unix())
	// What somebody wrote into an address is numbers, or nothing.
	for query, want := range map[string]string{
		"polled=1200&ended=1":                   "1\u202f200 feeds are polled in a moment; 1 feed has ended.",
		"polled=<b>1&later=-3&from=x&ended=1e9": "There is no feed to poll.",
		"later=1&from=" + inTwoDays:             "1 feed may be polled again from 12:00 on 22 November.",
		"later=99999999999999999999&from=99999999999999999999": "2\u202f147\u202f483\u202f647 feeds may be polled " +
			"again, the first from ",
	} {
		page := get(h, "/feeds?done=refreshed&"+query).Body.String()
		if !strings.Contains(page, want) || strings.Contains(page, "<b>1") {
			t.Errorf("%q does not say %q:\n%s", query, want, page)
		}
	}
	// A mark that is made there says it no more.
	if page := b.page("/entries?done=refreshed&polled=1").Body.String(); strings.Count(page, "done=refreshed") != 0 {
		t.Errorf("forms lead back to it:\n%s", page)
	}
}
