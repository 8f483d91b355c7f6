package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"feedex/reading"
)

// A button has the page of an entry shown in place of the feed's text, as safe as that, and another leads back.
func TestFullText(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	path := n.path(t, "Harbor")
	form := url.Values{"token": {b.token}, "entry": {strings.TrimPrefix(path, "/entries/")}, "next": {path}}
	press := func(as string, want, not []string) {
		t.Helper()
		form.Set("as", as)
		w := b.post("/fulltext", form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
			t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
		}
		page := b.page(path).Body.String()
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("as %s the page lacks %q:\n%s", as, text, page)
			}
		}
		for _, text := range not {
			if strings.Contains(page, text) {
				t.Errorf("as %s the page has %q:\n%s", as, text, page)
			}
		}
	}
	press("page", []string{"<p>All of it.</p>", "This is the full text", "Show the feed’s own"},
		[]string{"ferry", "alert(1)"})
	press("feed", []string{"ferry", ">Full text</button>"}, []string{"All of it"})
	n.paywall = true
	press("page", []string{"ferry", "could not be had", "HTTP 402: &lt;b&gt;pay&lt;/b&gt;"}, []string{"All of it"})

	form.Set("entry", strings.TrimPrefix(n.path(t, "Confidential"), "/entries/"))
	n.full = nil
	if w := b.post("/fulltext", form); w.Code != http.StatusNotFound || n.full != nil {
		t.Errorf("of an entry that it may not see a browser fetches: %d, %v", w.Code, n.full)
	}
}

// The form of a feed says whether the full texts of its entries are fetched.
func TestFullTextOfAFeed(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	said := func(on ...string) *bool {
		t.Helper()
		form := url.Values{"token": {b.token}, "feed": {"1"}, "weight": {"1"}, "fulltext-shown": {"off"},
			"fulltext": on}
		if w := b.post("/adjust", form); w.Code != http.StatusSeeOther || len(n.arranged) == 0 {
			t.Fatalf("%d:\n%s", w.Code, w.Body)
		}
		return n.arranged[len(n.arranged)-1].FullText
	}
	if on := said("1"); on == nil || !*on {
		t.Error("the box does nothing")
	}
	if on := said(); on != nil {
		t.Error("a box that nobody touched does something")
	}
	k := n.known[1]
	k.Look = reading.FeedLook{FullText: true}
	n.known[1] = k
	if page := b.page("/feeds/1").Body.String(); !strings.Contains(page, `name="fulltext" value="1" checked`) {
		t.Errorf("the form does not say that it is so:\n%s", page)
	}
}
