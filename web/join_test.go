package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

const link = "feedex://192.0.2.8:7790/?key=ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

// The page of neighbors has the node's own invitation, or says why there is none and takes an address for one.
func TestOwnInvitation(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	const found, key = "192.0.2.1:7790", "/?key=ed25519:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	for _, c := range []struct {
		key       protocol.NodeKey
		found     string
		undialled bool
		said      string
		want      string
	}{
		{protocol.NodeKey{}, found, false, "home.example:7790", "the node has no key in this run"},
		{protocol.NodeKey{1}, found, true, "", "leads nowhere: have your friend invite you, or see"},
		{protocol.NodeKey{1}, "", false, "", "does not know its address yet"},
		{protocol.NodeKey{1}, "", false, "<home>", "&#34;&lt;home&gt;&#34; is no place of a node: want host:port"},
		{protocol.NodeKey{1}, found, false, "", "feedex://192.0.2.1:7790" + key},
		{protocol.NodeKey{1}, found, true, " home.example:7791 ", "feedex://home.example:7791" + key},
	} {
		n.status.Key, n.status.At, n.status.Undialled = c.key, c.found, c.undialled
		w := get(h, "/neighbors?"+url.Values{"address": {c.said}}.Encode())
		page, code := w.Body.String(), strings.HasPrefix(c.want, "feedex:")
		if !strings.Contains(page, c.want) || strings.Contains(page, `shape-rendering="crispEdges"`) != code ||
			strings.Contains(page, `name="address"`) == c.key.IsZero() {
			t.Errorf("%+v: the page lacks %q, has a code: %v, or the form:\n%s", c, c.want, !code, page)
		}
		wantSound(t, "/neighbors", w)
	}
}

// The first page of a node without neighbors asks for somebody, and says what became of the trackers that it has.
func TestAlone(t *testing.T) {
	n := newNode(t)
	n.status.Neighbors = 0
	n.status.Sources = []node.SourceStatus{{Tracker: true, Name: "http://tracker.example/", Problem: "no <answer>"}}
	page := get(newHandler(t, n), "/").Body.String()
	for _, want := range []string{"No neighbors yet.", `action="/join"`,
		"Tracker http://tracker.example/: no &lt;answer&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("without neighbors the page lacks %q:\n%s", want, page)
		}
	}
	n.neighbors = nil
	page = get(newHandler(t, n), "/neighbors").Body.String()
	if strings.Count(page, "friend") != 2 { // who comes by one's invitation, and who is invited
		t.Errorf("the page Neighbors asks for somebody more than once:\n%s", page)
	}
	n.status.Neighbors = 1
	if page := get(newHandler(t, n), "/").Body.String(); strings.Contains(page, "No neighbors yet") ||
		strings.Contains(page, `action="/join"`) {
		t.Errorf("with a neighbor:\n%s", page)
	}
}

// What an invitation holds is shown first, and feeds are followed that were chosen.
func TestJoin(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	look := func(text string, header ...string) (int, string) {
		w := get(b.h, "/join?"+url.Values{"link": {text}}.Encode(), append(header, "Cookie", b.cookie)...)
		page := w.Body.String()
		wantSound(t, text, w)
		return w.Code, page
	}
	full := link + "&feed=https%3A%2F%2Fexample.com%2Fa&feed=https%3A%2F%2Fexample.com%2Fb"
	for text, want := range map[string]string{
		full:                     `value="https://example.com/b"`,
		link:                     "the node at 192.0.2.8:7790",
		" Example.ORG ":          `value="https://example.com/&lt;shared&gt;"`,
		"https://example.org/me": "The site example.org",
		"192.0.2.8:7790":         "the node at 192.0.2.8:7790, whichever",
		"http://example.org/<x>": "http://example.org/%3Cx%3E is taken for a tracker",
	} {
		if code, page := look(text); code != 200 || !strings.Contains(page, want) ||
			strings.Contains(page, "<shared>") || strings.Contains(page, "checked") {
			t.Errorf("%q: %d, without %q or with what should not be there:\n%s", text, code, want, page)
		}
	}
	for text, want := range map[string]string{"": "not an invitation",
		"http://me@example.org/": "a tracker by a URL such as",
		"feedex://192.0.2.8/":    "it names no key", "silent.example": "it names no node",
		"https://silent.example/":   "it names no node; if that is the URL of a tracker, name it on the settings page",
		"<script>alert(1)</script>": "not an invitation"} {
		if code, page := look(text); code != http.StatusBadRequest || !strings.Contains(page, want) {
			t.Errorf("%q: %d, %s", text, code, page)
		}
	}
	before := len(n.sites)
	if code, _ := look("example.org", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest",
		"document"); code != http.StatusForbidden || len(n.sites) != before {
		t.Errorf("a link of another site: %d, asked %v", code, n.sites)
	}
	w := b.post("/join", url.Values{"token": {b.token}, "link": {full}, "feed": {"https://example.com/b"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/neighbors" || len(n.joined) != 1 ||
		n.joined[0].Host != "192.0.2.8:7790" || n.joined[0].Key.IsZero() ||
		!slices.Equal(n.joined[0].Feeds, []feed.URL{"https://example.com/b"}) {
		t.Errorf("%d to %q, joined %+v", w.Code, w.Header().Get("Location"), n.joined)
	}
	w = b.post("/join", url.Values{"token": {b.token}, "link": {"example.org"}})
	if w.Code != http.StatusSeeOther || len(n.joined) != 2 || n.joined[1].Host != "example.org" {
		t.Errorf("%d, joined %+v", w.Code, n.joined)
	}
	w = b.post("/join", url.Values{"token": {b.token}, "link": {" 192.0.2.8:7790"}})
	if w.Code != http.StatusSeeOther || len(n.joined) != 3 || n.joined[2].Host != "192.0.2.8:7790" ||
		!n.joined[2].Key.IsZero() {
		t.Errorf("%d, joined %+v", w.Code, n.joined)
	}
	// A tracker is asked from now on, and the page that is shown then says so, and takes it back.
	w = b.post("/join", url.Values{"token": {b.token}, "link": {" http://example.org/ "}})
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/settings?undo=") ||
		!slices.Equal(n.status.Named, []string{"http://example.org/"}) || len(n.joined) != 3 {
		t.Errorf("a tracker: %d to %q, named %q, joined %+v", w.Code, to, n.status.Named, n.joined)
	}
	if page := b.page(w.Header().Get("Location")).Body.String(); !strings.Contains(page,
		"http://example.org/ was taken for a tracker, and is of no use so far: &lt;nobody&gt; answers. "+
			"It is asked from now on, and after each start, until it is removed below. "+
			"If it is a site that names nodes, name it as example.org alone.") ||
		!strings.Contains(page, `name="name" value="http://example.org/"`) {
		t.Errorf("the settings lack the tracker:\n%s", page)
	}
	if w := b.post("/join", url.Values{"link": {"http://example.net/"}}); w.Code != http.StatusForbidden ||
		len(n.status.Named) != 1 {
		t.Errorf("a tracker without a token: %d, named %q", w.Code, n.status.Named)
	}
	// Who comes from the page of a site is told what became of the link, and not that it may be a tracker.
	w = b.post("/join", url.Values{"token": {b.token}, "link": {"https://silent.example/"}})
	if page := w.Body.String(); w.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(page, "There is no link: no node answers there.") {
		t.Errorf("%d,\n%s", w.Code, page)
	}
	for _, form := range []url.Values{{"link": {"x y"}}, {"link": {"http://me@example.org/"}},
		{"link": {link}, "feed": {"ftp://example.com/"}},
		{"link": {link}, "feed": slices.Repeat([]string{"https://example.com/"}, 101)},
		{"link": {strings.Replace(link, "2.8", "2.9", 1)}}} {
		form.Set("token", b.token)
		if w := b.post("/join", form); w.Code/100 != 4 || len(n.joined) != 3 || len(n.status.Named) != 1 {
			t.Errorf("%v: %d, joined %+v", form, w.Code, n.joined)
		}
	}
}
