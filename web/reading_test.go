package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// page is the page at an address as the browser has it.
func (b *browser) page(target string, header ...string) *httptest.ResponseRecorder {
	return get(b.h, target, append(header, "Cookie", b.cookie)...)
}

// newReader is a node with four entries in a row, of which the second is read, and a browser.
func newReader(t *testing.T) (*aNode, *browser) {
	n := newNode(t)
	for _, title := range []string{"Pier", "Quay", "Wharf"} {
		n.add(newsURL, title, "<p>About it.</p>", noon, protocol.NodeID{})
	}
	n.items[5] = reading.ItemState{ID: 5, Read: true}
	return n, newBrowser(t, newHandler(t, n))
}

// opens is the link by which a page opens an entry.
func opens(t *testing.T, n *aNode, page, title string) string {
	t.Helper()
	link := regexp.MustCompile(`href="(` + n.path(t, title) + `/open\?[^"]*)"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("no link opens %q:\n%s", title, page)
	}
	return strings.ReplaceAll(link[1], "&amp;", "&")
}

// Who opens an entry from a list has read it, and goes on to the next of that list.
func TestOpen(t *testing.T) {
	n, b := newReader(t)
	list := b.page("/entries").Body.String()
	if strings.Contains(list, "Quay") || !strings.Contains(list, "Unread: </span>") ||
		!strings.Contains(list, `data-live="ask"`) {
		t.Errorf("the list is not that of what is unread:\n%s", list)
	}
	w := b.page(opens(t, n, list, "Wharf"))
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || to != n.path(t, "Wharf")+"?show=unread" || !n.items[6].Read {
		t.Fatalf("%d to %q, item %+v", w.Code, to, n.items[6])
	}
	page := b.page(to).Body.String()
	if strings.Contains(page, `rel="prev"`) {
		t.Errorf("something is before the first:\n%s", page)
	}
	page = b.page(b.page(opens(t, n, page, "Pier")).Header().Get("Location")).Body.String()
	opens(t, n, page, "Harbor")
	if strings.Contains(page, `rel="prev"`) {
		t.Errorf("what has been read since is in the list:\n%s", page)
	}
	page = b.page(n.path(t, "Quay") + "?show=all&feed=1").Body.String()
	opens(t, n, page, "Wharf")
	opens(t, n, page, "Pier")
	if !strings.Contains(page, `href="/entries?show=all&amp;feed=1"`) {
		t.Errorf("no way back to the list:\n%s", page)
	}
}

// Lists go by arrival or by publication, and show the time that they go by, page by page and from entry to entry.
func TestOrders(t *testing.T) {
	n, b := newReader(t)
	for i := range 50 {
		n.add(newsURL, fmt.Sprintf("Past %02d", i), "", noon.Add(-time.Duration(i+2)*24*time.Hour), protocol.NodeID{})
		n.entries[len(n.entries)-1].Seen = noon
	}
	page := b.page("/entries").Body.String()
	if first := titlesOf(page); first[0] != "Past 49" || !strings.Contains(page, "<strong>arrival</strong>") ||
		!strings.Contains(page, "published <time") || strings.Contains(page, "arrived <time") {
		t.Errorf("by arrival the first are %q:\n%s", first[:3], page)
	}
	var titles []string
	for target := "/entries?sort=published"; target != ""; {
		page = b.page(target).Body.String()
		if !strings.Contains(page, "<strong>publication</strong>") || !strings.Contains(page, "arrived <time") {
			t.Fatalf("not by publication:\n%s", page)
		}
		titles, target = append(titles, titlesOf(page)...), ""
		if older := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(page); older != nil {
			target = "/entries" + strings.ReplaceAll(older[1], "&amp;", "&")
			n.add(newsURL, "Meanwhile", "", noon, protocol.NodeID{})
		}
	}
	if len(titles) != 53 || titles[0] != "Wharf" || titles[3] != "Past 00" || titles[52] != "Past 49" {
		t.Errorf("by publication there are %d: %q", len(titles), titles)
	}
	page = b.page(n.path(t, "Past 20") + "?show=all&sort=published").Body.String()
	for _, title := range []string{"Past 19", "Past 21"} {
		if link := opens(t, n, page, title); !strings.Contains(link, "sort=published") {
			t.Errorf("the order is lost in %s", link)
		}
	}
	for target, want := range map[string]string{
		"/entries?q=ferry":                "?show=unread&amp;sort=relevance&amp;q=ferry\">relevance</a>",
		"/entries?q=ferry&sort=relevance": "<strong>relevance</strong>",
		"/search?q=ferry&sort=relevance":  "value=\"relevance\" checked",
		"/search?q=ferry":                 "value=\"relevance\">",
	} {
		if page := b.page(target).Body.String(); !strings.Contains(page, want) ||
			n.searched.Relevance != strings.Contains(target, "relevance") {
			t.Errorf("%s: %+v, lacks %s in\n%s", target, n.searched, want, page)
		}
	}
}

// What a search finds is marked where it is listed, and opened as from any list, but has nothing before or after it.
func TestWhatIsFoundIsMarked(t *testing.T) {
	n, b := newReader(t)
	n.add(newsURL, "Ferry of old", "", noon.Add(-time.Hour), protocol.NodeID{})
	delete(n.items, int64(len(n.entries))) // kept of a feed that nobody followed
	const search = "/entries?feed=1&q=ferry"
	row := func(title string) string {
		t.Helper()
		page := b.page(search).Body.String()
		m := regexp.MustCompile(`(?s)<li id="e` + strings.TrimPrefix(n.path(t, title), "/entries/") + `".*?</li>`)
		return m.FindString(page)
	}
	for _, want := range []string{`class="new"`, `value="read">Mark read`, `value="starred">`,
		`name="next" value="/entries?feed=1&amp;q=ferry#e`} {
		if text := row("Harbor"); !strings.Contains(text, want) {
			t.Errorf("what is found lacks %q:\n%s", want, text)
		}
	}
	if text := row("Ferry of old"); text == "" || strings.Contains(text, `class="new"`) ||
		strings.Contains(text, `action="/mark"`) || strings.Contains(text, "/open?") {
		t.Errorf("what is no item can be marked, or is not found:\n%s", text)
	}
	w := b.page(opens(t, n, b.page(search).Body.String(), "Harbor"))
	to := n.path(t, "Harbor") + "?show=unread&feed=1&q=ferry"
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != to || !n.items[1].Read {
		t.Errorf("%d to %q, item %+v", w.Code, w.Header().Get("Location"), n.items[1])
	}
	page := b.page(to).Body.String()
	if !strings.Contains(page, `<a href="/entries?show=unread&amp;feed=1&amp;q=ferry">Back to the list</a>`) ||
		strings.Contains(page, `rel="next"`) || strings.Contains(page, `rel="prev"`) {
		t.Errorf("the entry does not lead back to the search, or to what it did not find:\n%s", page)
	}
	if text := row("Harbor"); !strings.Contains(text, `class="read"`) || !strings.Contains(text, "Mark unread") {
		t.Errorf("what was opened is not read:\n%s", text)
	}
}

// titlesOf are the titles of a list, in order.
func titlesOf(page string) (titles []string) {
	for _, m := range regexp.MustCompile(`(?s)<h2>.*?dir="auto">([^<]*)</a></h2>`).FindAllStringSubmatch(page, -1) {
		titles = append(titles, m[1])
	}
	return titles
}

// A link that is not of the browser's own page marks nothing.
func TestForeignOpen(t *testing.T) {
	n, b := newReader(t)
	link := opens(t, n, b.page("/entries").Body.String(), "Wharf")
	bare, _, _ := strings.Cut(link, "with=")
	other := newBrowser(t, b.h)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a guess":         b.page(bare + "with=0123456789abcdef"),
		"without a token": b.page(bare),
		"another browser": other.page(link),
		"no cookie":       get(b.h, link),
		"of another one":  b.page(strings.Replace(link, n.path(t, "Wharf"), n.path(t, "Pier"), 1)),
		"in advance":      b.page(link, "Sec-Purpose", "prefetch"),
	} {
		if w.Code != http.StatusSeeOther || n.items[6].Read || n.items[4].Read {
			t.Errorf("%s: %d, items %+v", name, w.Code, n.items)
		}
	}
	if w := b.page("/entries/abc/open"); w.Code != http.StatusNotFound {
		t.Errorf("no entry: %d", w.Code)
	}
}

// The rail leads to folders and feeds with what is unread in each, and tells nobody of feeds that are a secret.
func TestRail(t *testing.T) {
	_, b := newReader(t)
	page := b.page("/entries?show=all&folder=5").Body.String()
	for _, want := range []string{`<a href="/entries?show=all&amp;folder=5" aria-current="true"><bdi>Coast</bdi> ` +
		`<span class="num">3<`, `<a href="/entries?show=all&amp;feed=1"><img class="icon" src="/icons/` +
		pictureWord + `"`,
		"Unread (3)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "feed=2") || strings.Contains(page, "Desert") {
		t.Errorf("the page tells of a secret, or of a folder without a feed:\n%s", page)
	}
}

// A post without a title is known by its words.
func TestUntitled(t *testing.T) {
	n := newNode(t)
	n.add(newsURL, "", "<p>Saw an <b>otter</b>"+strings.Repeat(" today", 40), noon, protocol.NodeID{})
	h := newHandler(t, n)
	path := n.path(t, "")
	for _, target := range []string{"/entries?show=all", "/feeds/1", path} {
		page := get(h, target).Body.String()
		if !strings.Contains(page, ">Saw an otter today") || !strings.Contains(page, "tod…</") ||
			strings.Contains(page, "Without a title") {
			t.Errorf("%s:\n%s", target, page)
		}
	}
}

// An older archive has titles and links of any length: lists of them are pages of a size that browsers bear.
func TestLongHeadlines(t *testing.T) {
	n := newNode(t)
	long := strings.Repeat("'", 500_000)
	for range 40 {
		n.add(newsURL, long, "<p>About it.</p>", noon, protocol.NodeID{})
		n.entries[len(n.entries)-1].Entry.Link = "https://example.com/" + long
	}
	h := newHandler(t, n)
	for _, target := range []string{"/entries?show=all", "/entries?q=about", "/feeds/1"} {
		if page := get(h, target).Body; page.Len() > 1<<20 || !strings.Contains(page.String(), "&#39;…</a>") {
			t.Errorf("%s is a page of %d bytes", target, page.Len())
		}
	}
}

// What publishers wrote goes in the direction of its own script.
func TestDirection(t *testing.T) {
	n := newNode(t)
	n.entries[2].Entry.Enclosures = []feed.Enclosure{{URL: "https://example.com/song.pdf"}}
	h := newHandler(t, n)
	for target, wants := range map[string][]string{
		"/entries":              {` dir="auto">Harbor</a>`, `<p class="lead" dir="auto">`, "<bdi>News"},
		n.path(t, "Harbor"):     {`dir="auto">Harbor</h1>`, `<div class="prose" dir="auto">`, "<bdi>News"},
		n.path(t, "Lighthouse"): {"Copied from <bdi>Towers</bdi>", `<span dir="auto">© `, "<bdi>song.pdf</bdi></a>"},
		"/feeds/1":              {`<h1 dir="auto">News`},
		"/feeds":                {"<bdi>News"},
		"/":                     {"<bdi>Mine</bdi></a>"},
		"/settings":             {"<bdi>News &amp; more</bdi></a>", "<bdi>Mine</bdi></span>"},
		"/search?feed=1":        {"only in <bdi>News"},
		"/search?q=ferry":       {` dir="auto">Harbor</a>`},
		"/entries?q=ferry":      {` dir="auto">Harbor</a>`},
		"/entries?feed=1":       {`<h1 dir="auto">News`},
		"/entries?show=all&":    {"<bdi>News"},
	} {
		page := get(h, target).Body.String()
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", target, want, page)
			}
		}
	}
}

// What was marked at one stroke can be marked unread again, by the browser that did it.
func TestUndo(t *testing.T) {
	n, b := newReader(t)
	before := maps.Clone(n.items)
	w := b.post("/read", url.Values{"token": {b.token}, "feed": {"1"}, "newest": {"9"},
		"next": {"/entries?feed=1&show=all"}})
	to := w.Header().Get("Location")
	page := b.page(to).Body.String()
	key := undoIn(t, page)
	if !strings.Contains(page, "Marked 3 entries of News &amp; more read.") {
		t.Errorf("%s does not say what was done:\n%s", to, page)
	}
	if other := newBrowser(t, b.h); strings.Contains(other.page(to).Body.String(), "Undo") ||
		other.post("/undo", url.Values{"token": {other.token}, "undo": {key}}).Code != http.StatusGone {
		t.Error("another browser can undo it")
	}
	for _, code := range []int{http.StatusSeeOther, http.StatusGone} {
		if w := b.post("/undo", url.Values{"token": {b.token}, "undo": {key}}); w.Code != code {
			t.Errorf("%d, want %d", w.Code, code)
		}
	}
	if !maps.Equal(n.items, before) {
		t.Errorf("items %+v, want %+v", n.items, before)
	}
}
