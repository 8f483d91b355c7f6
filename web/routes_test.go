package web_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/discover"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/web"
)

// What a route is: everybody's, a reader's, or the owner's alone. Who adds one says here, too, whose it is.
const (
	everybodys = "everybody's"
	readers    = "a reader's"
	owners     = "the owner's"
)

func decided() map[string]string {
	list := make(map[string]string)
	for who, patterns := range map[string][]string{
		everybodys: {"GET /login", "POST /login", "POST /logout", "GET /offline", "GET /worker.js",
			"GET /assets/app.webmanifest", "GET /assets/{name}", "GET /icons/{word}"},
		readers: {"GET /{$}", "GET /entries", "GET /entries/{id}", "GET /entries/{id}/open", "GET /feeds",
			"GET /feeds/{number}", "GET /feeds.opml", "GET /search", "GET /settings", "GET /live",
			"GET /pictures/{feed}/{code}/{address}", "POST /mark", "POST /label", "POST /read", "POST /undo",
			"POST /unfollowed", "POST /pictures",
			"POST /fulltext", "POST /look", "POST /sharing", "POST /adjust", "POST /follow", "POST /unfollow",
			"POST /refresh", "POST /import", "GET /imported/{number}", "GET /passwords/{word}", "POST /passwords",
			"POST /passwords/remove", "POST /saving", "POST /save", "/"},
		owners: {"GET /recommended", "GET /starred", "GET /neighbors", "GET /join", "GET /search/network",
			"GET /filters", "GET /notifications", "GET /people/{number}",
			"POST /people", "POST /people/remove", "POST /filters",
			"POST /filters/change", "POST /notifications", "POST /notifications/try", "POST /notifications/remove",
			"POST /decline", "POST /share", "POST /join", "POST /sources", "POST /sources/remove", "POST /dht"},
	} {
		for _, p := range patterns {
			list[p] = who
		}
	}
	return list
}

// newHome is a node at which Ann reads too, by the password "hers", and by "all hers", which opens all that is hers,
// and Ben, by "his". What Ann has begins with "Her". The owner has "secret" for all, and "mine" for a reader.
func newHome(t *testing.T, login bool) (n, ann *aNode, h *web.Handler) {
	t.Helper()
	n, ann = newNode(t), newNode(t)
	ann.entries, ann.items = nil, make(map[int64]reading.ItemState)
	ann.add(newsURL, "Her harbor", "<p>The ferry is hers.</p>", noon.Add(-time.Hour), protocol.NodeID{})
	delete(ann.known, 2)
	ann.feeds = ann.feeds[:1]
	n.others = map[reading.PersonID]*aNode{2: ann, 3: newNode(t)}
	n.people = []reading.Person{{ID: 2, Name: "Ann"}, {ID: 3, Name: "Ben"}}
	n.passwords = []reading.Password{reading.NewPassword("ann", "hers", 2, reading.ReaderScope, noon),
		reading.NewPassword("ben", "his", 3, reading.ReaderScope, noon),
		reading.NewPassword("laptop", "secret", reading.Owner, reading.OwnerScope, noon),
		reading.NewPassword("phone", "mine", reading.Owner, reading.ReaderScope, noon),
		reading.NewPassword("desk", "all hers", 2, reading.OwnerScope, noon)}
	h, err := web.New(web.Config{Source: n, Login: func(*http.Request) bool { return login },
		Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return n, ann, h
}

// ask is an answer to what a pattern stands for, sent by a browser with every field that forms have.
func (b *browser) ask(pattern string) *httptest.ResponseRecorder {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		method, path = http.MethodGet, pattern+"elsewhere"
	}
	path = strings.NewReplacer("{$}", "", "{number}", "2", "{id}", strings.Repeat("0", 40), "{word}", "drawn", "{name}",
		"none", "{feed}", "2", "{code}", "x", "{address}", "aHR0cHM6Ly9leGFtcGxlLm9yZy8").Replace(path)
	form := url.Values{"token": {b.token}, "name": {"Ann"}, "feed": {"2"}, "person": {"owner"}, "scope": {"owner"},
		"id": {"1"}, "do": {"remove"}, "use": {"on"}, "as": {"shared"}, "link": {"192.0.2.7:7790"},
		"kind": {"linkding"}, "address": {"https://links.example/"}, "key": {"x"}, "words": {"ferry"},
		"url": {"https://example.net/feed"}, "password": {"guess"}, "user": {"1"}, "Person": {"1"}}
	gone, cancel := context.WithCancel(context.Background()) // a browser that is let in to a stream does not stay
	cancel()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	} else {
		path += "?network=1&wait=1&q=ferry&person=1&user=1"
	}
	r := httptest.NewRequestWithContext(gone, method, path, body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", b.cookie)
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	return w
}

// Each route is open to whom it was decided to be, and a route about which nothing was is a mistake. What is the
// owner's neither shows nor does anything for who logs in by a reader's password, be it another's or the owner's own,
// where a login is required and where it is not.
func TestRoutesAreForWhomTheyAreNamed(t *testing.T) {
	_, _, h := newHome(t, true)
	patterns := h.Patterns()
	if want := slices.Sorted(maps.Keys(decided())); !slices.Equal(slices.Sorted(slices.Values(patterns)), want) {
		t.Errorf("the routes are\n%q\nand it was decided about\n%q", slices.Sorted(slices.Values(patterns)), want)
	}
	for _, login := range []bool{true, false} {
		for _, password := range []string{"hers", "all hers", "mine"} {
			n, ann, h := newHome(t, login)
			b := enterBy(t, h, password)
			items, service := maps.Clone(n.items), n.service
			for _, pattern := range patterns {
				if pattern == "POST /logout" || pattern == "POST /login" {
					continue
				}
				switch w, who := b.ask(pattern), decided()[pattern]; {
				case who == owners && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(),
					"<h1>This is the owner’s</h1>")):
					t.Errorf("%s by %q: %d %s", pattern, password, w.Code, w.Body)
				case who == readers && strings.Contains(w.Body.String(), "This is the owner’s"):
					t.Errorf("%s by %q: %d, though it is a reader's", pattern, password, w.Code)
				}
			}
			if len(n.asked)+len(n.adjusted)+len(n.kept)+len(n.joined)+len(n.sites)+len(n.saved) > 0 ||
				len(n.passwords) != 5 || password != "all hers" && ann.passwords != nil ||
				len(n.people) != 2 || n.status.DHT != (web.DHT{}) ||
				!reflect.DeepEqual(n.service, service) || len(n.status.Sources) > 0 || n.declined != nil {
				t.Errorf("by %q the node was changed", password)
			}
			if changes := len(n.arranged) + len(n.refreshed) + len(n.streams) + len(n.followed) +
				len(n.unfollows); password != "mine" && (changes > 0 || !maps.Equal(n.items, items)) {
				t.Error("what is the owner's was changed by Ann")
			}
			if password != "mine" && len(ann.arranged)+len(ann.refreshed) == 0 {
				t.Error("Ann changed nothing at all: the forms were not sent")
			}
		}
	}
	for _, pattern := range patterns { // and nobody's where a login is required
		b := newBrowserAt(t, h, "/login")
		w := b.ask(pattern)
		if who := decided()[pattern]; who != everybodys && w.Code != http.StatusUnauthorized &&
			(w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/login?")) {
			t.Errorf("%s by nobody: %d to %q", pattern, w.Code, w.Header().Get("Location"))
		}
	}
}

// newBrowserAt is a browser that has opened a page.
func newBrowserAt(t *testing.T, h http.Handler, path string) *browser {
	t.Helper()
	page := get(h, path)
	var cookies []string
	for _, c := range page.Result().Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	found := tokenOf.FindStringSubmatch(page.Body.String())
	if len(cookies) != 2 || found == nil {
		t.Fatalf("cookies %q, token %q", cookies, found)
	}
	return &browser{h, strings.Join(cookies, "; "), found[1]}
}

// Who logs in has their own entries, marks and feeds on every page, whatever the address says, and no address of the
// node's that is a secret.
func TestAPersonHasTheirOwnPages(t *testing.T) {
	n, ann, h := newHome(t, true)
	b := enterBy(t, h, "hers")
	page := func(target string) string { return get(h, target, "Cookie", b.cookie).Body.String() }
	for _, target := range []string{"/entries", "/entries?show=all&person=1", "/search?q=ferry&user=1&network=1",
		"/feeds", "/feeds/1", "/settings", "/", "/feeds.opml", ann.path(t, "Her harbor")} {
		text := page(target)
		for _, not := range []string{"Confidential", "hunter2", "Lighthouse", ">Harbor<", "Mine", "192.0.2.7",
			"/neighbors", "/filters", `action="/save"`, "network", "/passwords", "DHT", "Ben"} {
			if strings.Contains(text, not) {
				t.Errorf("%s shows %q:\n%s", target, not, text)
			}
		}
	}
	names := []discover.SiteFeed{{URL: "https://site.example/a"}}
	ann.feeds = append(ann.feeds, web.FeedSummary{Number: 9, FeedStatus: node.FeedStatus{URL: siteURL, Errors: 1,
		Names: names}})
	ann.known[9] = web.FeedDetail{KnownFeed: web.KnownFeed{Number: 9, Reads: true,
		Feed: archive.Feed{URL: siteURL, Subscribed: true, Errors: 1, Names: discover.Text(names)}}}
	for target, want := range map[string]string{"/feeds": "choose a feed", "/feeds/9": "Which of its feeds"} {
		if text := page(target); !strings.Contains(text, want) || strings.Contains(text, "failed 1") {
			t.Errorf("of a web page that names feeds %s says that it failed, or lacks %q:\n%s", target, want, text)
		}
	}
	ann.feeds = ann.feeds[:1]
	if text := page("/entries"); !strings.Contains(text, "Her harbor") || !strings.Contains(text, "Unread (1)") {
		t.Errorf("Ann does not find what is hers:\n%s", text)
	}
	if w := get(h, "/", "Cookie", b.cookie); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/entries" {
		t.Errorf("/: %d to %q", w.Code, w.Header().Get("Location"))
	}
	for _, others := range []string{n.path(t, "Harbor"), n.path(t, "Confidential"), "/feeds/2", "/entries?feed=2",
		"/search?feed=2"} {
		if w := get(h, others, "Cookie", b.cookie); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", others, w.Code)
		}
	}
	id := strings.TrimPrefix(ann.path(t, "Her harbor"), "/entries/")
	owner := reflect.ValueOf(maps.Clone(n.items)).Interface()
	for _, as := range []string{"read", "starred"} {
		if w := b.post("/mark?person=1", url.Values{"token": {b.token}, "entry": {id}, "as": {as},
			"person": {"1"}}); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", as, w.Code)
		}
	}
	for _, others := range []string{"Harbor", "Confidential"} {
		entry := strings.TrimPrefix(n.path(t, others), "/entries/")
		for _, path := range []string{"/mark", "/fulltext"} {
			if w := b.post(path, url.Values{"token": {b.token}, "entry": {entry}, "as": {"read"}}); w.Code !=
				http.StatusNotFound {
				t.Errorf("%s of %s: %d", path, others, w.Code)
			}
		}
	}
	if want := (reading.ItemState{ID: 1, Read: true, Starred: true}); ann.items[1] != want ||
		!reflect.DeepEqual(n.items, owner) {
		t.Errorf("Ann has %+v, the owner %+v", ann.items, n.items)
	}
}

// A person titles, files, polls and leaves out feeds as they have them, and follows some.
func TestAPersonKeepsTheirFeeds(t *testing.T) {
	n, ann, h := newHome(t, true)
	b := enterBy(t, h, "hers")
	post := func(path, next string, fields ...string) {
		t.Helper()
		w := b.post(path, b.form(fields...))
		if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(at, next) {
			t.Errorf("%s %q: %d to %q: %s", path, fields, w.Code, at, w.Body)
		}
	}
	post("/adjust", "/feeds/1?done=saved", "feed", "1", "name", "Hers", "folders", "Sea\n", "fulltext", "1",
		"fulltext-shown", "off", "pictures", "1", "pictures-shown", "off", "weight", "9", "private", "1",
		"private-shown", "off", "policy", "fixed", "value", "1s")
	want := reading.Arrangement{Feed: 1, Name: new("Hers"), Into: []string{"Sea"}, Pictures: new(true)}
	if len(ann.arranged) != 1 || !reflect.DeepEqual(ann.arranged[0], want) {
		t.Errorf("arranged %+v, want %+v", ann.arranged, want)
	}
	post("/refresh", "/feeds/1?done=refreshed", "feed", "1", "next", "/feeds/1")
	post("/follow", "/settings?undo=", "url", "example.net/feed", "unread", "all")
	post("/unfollow", "/feeds?undo=", "feed", "1")
	if !slices.Equal(ann.refreshed, []int64{1}) || !slices.Equal(ann.unfollows, []int64{1}) ||
		!slices.Equal(ann.followed, []feed.URL{"https://example.net/feed"}) || ann.backlog != archive.WholeBacklog {
		t.Errorf("polled %v, left %v, followed %q with %s", ann.refreshed, ann.unfollows, ann.followed, ann.backlog)
	}
	if len(n.adjusted)+len(n.kept)+len(n.unfollows)+len(n.followed)+len(n.arranged) > 0 {
		t.Error("what is the owner's was changed")
	}
	for path, form := range map[string]url.Values{"/adjust": {"feed": {"2"}}, "/unfollow": {"feed": {"2"}},
		"/follow": {"feed": {"2"}}} {
		form.Set("token", b.token)
		if w := b.post(path, form); w.Code != http.StatusNotFound {
			t.Errorf("%s of a secret: %d", path, w.Code)
		}
	}
	text := get(h, "/feeds/1", "Cookie", b.cookie).Body.String()
	for _, not := range []string{"weight", "private", "discreet", "policy", "80", "fulltext"} {
		if strings.Contains(text, `name="`+not) || strings.Contains(text, "Neighbors bring") {
			t.Errorf("the page of a feed offers %q:\n%s", not, text)
		}
	}
}

// In one browser nothing of one person goes over to the next who logs in there: forms and links of pages that are still
// open, what can be undone, and what a script keeps of pages.
func TestPeopleOfOneBrowserStayApart(t *testing.T) {
	n, _, h := newHome(t, false)
	b := newBrowser(t, h)
	undone := b.post("/unfollow", url.Values{"token": {b.token}, "feed": {"1"}}).Header().Get("Location")
	_, undo, ok := strings.Cut(undone, "undo=")
	if !ok {
		t.Fatalf("unfollowing leads to %q", undone)
	}
	older, whose := b.token, get(h, "/entries", "Cookie", b.cookie).Header().Get("Feedex-Reader")
	link := openingLink(t, get(h, "/entries", "Cookie", b.cookie).Body.String())
	b.login("hers", "/entries")
	page := get(h, "/entries", "Cookie", b.cookie)
	if hers := page.Header().Get("Feedex-Reader"); hers == whose || hers == "" {
		t.Errorf("pages of both are %q's", hers)
	}
	if b.token == older {
		t.Error("the forms of both bear one token")
	}
	if w := b.post("/unfollow", url.Values{"token": {older}, "feed": {"1"}}); w.Code != http.StatusForbidden {
		t.Errorf("a form that is open from before: %d", w.Code)
	}
	if w := b.post("/undo", url.Values{"token": {b.token}, "undo": {undo}}); w.Code != http.StatusGone ||
		len(n.again) > 0 {
		t.Errorf("what the owner did can be undone: %d", w.Code)
	}
	before := maps.Clone(n.items)
	get(h, link, "Cookie", b.cookie)
	if !maps.Equal(n.items, before) {
		t.Error("a link of the owner's marks for them")
	}
	out := b.post("/logout", url.Values{"token": {b.token}})
	if got := out.Header().Get("Clear-Site-Data"); out.Code != http.StatusSeeOther || got != `"cache"` {
		t.Errorf("logging out: %d, forgets %q", out.Code, got)
	}
}

// openingLink is the first link of a list that marks the entry read that it opens.
func openingLink(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `dir="auto"`)
	i := strings.Index(page, `<a href="/entries/`)
	if !ok || i < 0 || rest == "" {
		t.Fatalf("no entry is listed:\n%s", page)
	}
	link, _, _ := strings.Cut(page[i+len(`<a href="`):], `"`)
	return strings.ReplaceAll(link, "&amp;", "&")
}

// A session ends with its password, and with the person.
func TestAPersonsSessionEnds(t *testing.T) {
	n, _, h := newHome(t, true)
	b := enterBy(t, h, "hers")
	inside := func() bool { return get(h, "/entries", "Cookie", b.cookie).Code == http.StatusOK }
	if !inside() || h.LoggedIn(requestWith(b.cookie)) {
		t.Error("Ann is not let in, or is taken for the owner")
	}
	hers := n.passwords[0]
	for what, p := range map[string]reading.Password{
		"of Ben's that has its name":     reading.NewPassword("ann", "other", 3, reading.ReaderScope, noon),
		"of the owner that has its name": reading.NewPassword("ann", "other", reading.Owner, reading.OwnerScope, noon),
	} {
		n.passwords[0] = p
		if text := get(h, "/entries", "Cookie", b.cookie).Body.String(); strings.Contains(text, "Her harbor") ||
			h.LoggedIn(requestWith(b.cookie)) {
			t.Errorf("the session goes on by a password %s", what)
		}
	}
	n.passwords[0] = hers
	forged := strings.Replace(b.cookie, "=ann|", "=ben|", 1)
	if w := get(h, "/entries", "Cookie", forged); w.Code == http.StatusOK {
		t.Error("Ann's session lets her in as Ben")
	}
	b.post("/logout", url.Values{"token": {b.token}})
	if inside() {
		t.Error("a copy of the cookies lets in after the logout")
	}
	if b = enterBy(t, h, "hers"); !inside() {
		t.Error("nobody can log in again")
	}
	if n.passwords = n.passwords[1:]; inside() { // as removing the password does, or Ann
		t.Error("the session outlives the password")
	}
}

// However much one person does, what another did can be undone as before.
func TestUndosAreOfEachPerson(t *testing.T) {
	n, ann, h := newHome(t, true)
	owner, hers := enterBy(t, h, "secret"), enterBy(t, h, "hers")
	leave := func(b *browser) string {
		w := b.post("/unfollow", url.Values{"token": {b.token}, "feed": {"1"}})
		_, key, _ := strings.Cut(w.Header().Get("Location"), "undo=")
		return key
	}
	key, first := leave(owner), leave(hers)
	for range 20 {
		leave(hers)
	}
	if w := owner.post("/undo", url.Values{"token": {owner.token}, "undo": {key}}); w.Code != http.StatusSeeOther ||
		!slices.Equal(n.again, []int64{1}) {
		t.Errorf("the owner's undo: %d", w.Code)
	}
	if w := hers.post("/undo", url.Values{"token": {hers.token}, "undo": {first}}); w.Code != http.StatusGone ||
		len(ann.followed) > 0 {
		t.Errorf("the first of 21: %d", w.Code)
	}
	last := leave(hers)
	for range 20 { // messages that cannot be undone take no undo's place
		hers.post("/follow", url.Values{"token": {hers.token}, "url": {string(newsURL)}})
	}
	if w := hers.post("/undo", url.Values{"token": {hers.token}, "undo": {last}}); w.Code != http.StatusSeeOther ||
		!slices.Equal(ann.followed, []feed.URL{newsURL}) {
		t.Errorf("the last: %d, follows %q", w.Code, ann.followed)
	}
}

// A person who brings a list says how much of it is unread, and hears of what in it is no feed or brought nothing new,
// on a page that nobody else sees. At an address where there is no feed they are told, and may follow it all the same.
func TestAPersonBringsFeeds(t *testing.T) {
	n, ann, h := newHome(t, true)
	b := enterBy(t, h, "hers")
	document := "<opml><body><outline type='rss' xmlUrl='https://example.net/a'/><outline type='rss' " +
		"xmlUrl='https://example.net/a'/><outline type='rss' xmlUrl='gopher://example.net/'/></body></opml>"
	next := b.uploadUnread(t, document, "7").Header().Get("Location")
	page := strings.ReplaceAll(b.page(next).Body.String(), "\u00a0", " ")
	for _, says := range []string{"1 feed is followed now that was not before, of 2 feeds in the list.", "gopher:",
		"line 1: example.net/a is followed already"} {
		if !strings.Contains(page, says) {
			t.Errorf("%s lacks %q:\n%s", next, says, page)
		}
	}
	if ann.backlog != 7 || n.backlog != archive.UsualBacklog || len(ann.followed) != 1 || len(n.followed) != 0 {
		t.Errorf("with %s unread Ann follows %q, the owner %q", ann.backlog, ann.followed, n.followed)
	}
	for _, other := range []string{"his", "secret"} {
		if w := enterBy(t, h, other).page(next); w.Code != http.StatusNotFound {
			t.Errorf("%s sees what Ann brought: %d", other, w.Code)
		}
	}

	gone := url.Values{"token": {b.token}, "url": {string(goneURL)}, "unread": {"3"}}
	w := b.post("/follow", gone)
	if text := w.Body.String(); w.Code != http.StatusUnprocessableEntity || len(ann.followed) != 1 ||
		!strings.Contains(text, "HTTP &lt;404&gt;") || !strings.Contains(text, `name="anyway"`) ||
		!strings.Contains(text, `name="unread" value="3"`) {
		t.Errorf("what cannot be read: %d, follows %q:\n%s", w.Code, ann.followed, text)
	}
	gone.Set("anyway", "1")
	w = b.post("/follow", gone)
	if page := b.page(w.Header().Get("Location")).Body.String(); len(ann.followed) != 2 || ann.backlog != 3 ||
		!strings.Contains(page, "is followed, but could not be had yet: HTTP &lt;404&gt;.") {
		t.Errorf("anyway: %d, follows %q:\n%s", w.Code, ann.followed, page)
	}
	w = b.post("/follow", url.Values{"token": {b.token}, "url": {string(silentURL)}})
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Nothing is followed.") {
		t.Errorf("a page without a feed: %d, %s", w.Code, w.Body)
	}
}

// A person has all that they read polled by one button, and nothing else.
func TestAPersonRefreshesTheirFeeds(t *testing.T) {
	n, ann, h := newHome(t, true)
	b := enterBy(t, h, "hers")
	if page := b.page("/feeds").Body.String(); !strings.Contains(page, ">Poll all now</button>") {
		t.Errorf("her feeds have no button:\n%s", page)
	}
	w := b.post("/refresh", url.Values{"token": {b.token}, "next": {"/feeds"}})
	page := strings.ReplaceAll(b.page(w.Header().Get("Location")).Body.String(), "\u00a0", " ")
	if !strings.Contains(page, "1 feed is polled in a moment; 2 feeds may be polled again") ||
		!slices.Equal(ann.refreshed, []int64{1}) || len(n.refreshed) > 0 {
		t.Errorf("polled %v, and of the owner's %v:\n%s", ann.refreshed, n.refreshed, page)
	}
}

// Who is not the owner makes and removes passwords for their own readers, with one that opens all that is theirs, and
// with no other. A new one is shown once, to who made it.
func TestPeopleMakeTheirPasswords(t *testing.T) {
	n, ann, h := newHome(t, true)
	b := enterBy(t, h, "all hers")
	page := func(b *browser, target string) string { return get(h, target, "Cookie", b.cookie).Body.String() }
	form := url.Values{"token": {b.token}, "name": {"tablet"}, "person": {"Ben"}, "scope": {"owner"}}
	made := b.post("/passwords", form).Header().Get("Location")
	if len(n.passwords) != 5 || len(ann.passwords) != 1 || ann.passwords[0].Scope != reading.ReaderScope {
		t.Errorf("there are %+v, and of Ann %+v", n.passwords, ann.passwords)
	}
	for _, other := range []string{"hers", "secret"} {
		if w := get(h, made, "Cookie", enterBy(t, h, other).cookie); w.Code != http.StatusNotFound {
			t.Errorf("%q is shown the password: %d", other, w.Code)
		}
	}
	if text := page(b, made); !strings.Contains(text, "fresh secret") || strings.Contains(text, "Ben") {
		t.Errorf("it is not shown to who made it:\n%s", text)
	}
	if text := page(b, made); strings.Contains(text, "fresh secret") {
		t.Error("it is shown twice")
	}
	if w := b.post("/passwords", form); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "No password was made") {
		t.Errorf("a name that is taken: %d %s", w.Code, w.Body)
	}
	text := page(b, "/settings")
	if !strings.Contains(text, ">tablet</th>") || strings.Contains(text, "laptop") ||
		strings.Contains(text, `id="scope"`) {
		t.Errorf("her settings do not list what is hers alone:\n%s", text)
	}
	w := b.post("/passwords/remove", form)
	if text := page(b, w.Header().Get("Location")); !strings.Contains(text, "The password tablet is removed.") ||
		len(ann.passwords) != 0 || len(n.passwords) != 5 {
		t.Errorf("removing: %d, and there are %+v", w.Code, ann.passwords)
	}
	for _, reads := range []string{"hers", "mine"} {
		b := enterBy(t, h, reads)
		if text := page(b, "/settings"); strings.Contains(text, "/passwords") {
			t.Errorf("%q is offered passwords:\n%s", reads, text)
		}
		form.Set("token", b.token)
		for _, path := range []string{"/passwords", "/passwords/remove"} {
			if w := b.post(path, form); w.Code != http.StatusForbidden {
				t.Errorf("%s with %q: %d", path, reads, w.Code)
			}
		}
	}
}
