package web_test

import (
	"strings"
	"testing"
	"time"

	"feedex/feed"
)

// What a publisher says of an episode is on its page before anything of it was loaded: how long it takes, which one it
// is, and where chapters and transcripts are. Its picture comes by way of the node, and when the reader asks.
func TestEpisode(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	e := &n.entries[0].Entry
	e.Enclosures = []feed.Enclosure{{URL: "https://cdn.example/talk.mp3", Type: "audio/mpeg", Length: 12_300_000},
		{URL: "https://cdn.example/talk.ogg", Type: "audio/ogg"}}
	e.Extras = feed.Extras{Duration: 3723 * time.Second, Image: "https://tracker.example/p.gif", Language: "de-CH",
		Season: 2, Episode: 17,
		Chapters: feed.Companion{URL: "https://cdn.example/chapters?a=1&b=2", Type: "application/json+chapters"},
		Transcripts: []feed.Companion{{URL: "https://cdn.example/talk.vtt", Type: "text/vtt", Language: "en"},
			{URL: "https://cdn.example/talk.txt", Type: "text/plain"}, {URL: "https://cdn.example/talk"}}}
	contains := func(page string, all ...string) {
		t.Helper()
		for _, want := range all {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
	}
	w := get(h, n.path(t, "Harbor"))
	page := w.Body.String()
	contains(page, "talk.mp3</bdi>, 1:02:03, 12.3\u00a0MB. Played", "<span>Season 2, episode 17</span>",
		`?chapters=1">Chapters</a>`, ">Transcript (en, vtt)<",
		">Transcript (text, plain)<", `talk" rel="noreferrer">Transcript</a>`, `dir="auto" lang="de-CH">`,
		`<h1 dir="auto" lang="de-CH">`,
		"A picture is not loaded")
	if strings.Count(page, "1:02:03") != 1 || strings.Contains(page, "tracker.example/p.gif") ||
		pictureAt.MatchString(page) {
		t.Errorf("the page says it twice, or loads the picture unasked:\n%s", page)
	}
	wantSound(t, "an episode", w)
	cookie := newBrowser(t, h).cookie
	page = get(h, n.path(t, "Harbor")+"?images=1", "Cookie", cookie).Body.String()
	contains(page, `<img class="cover" src="/pictures/1/`)

	// Without a file the time stands by itself, and the picture above the text, unless that has some.
	e.Enclosures = nil
	page = get(h, n.path(t, "Harbor")+"?images=1", "Cookie", cookie).Body.String()
	contains(page, "<span>takes 1:02:03</span>", `<p><img src="/pictures/1/`)
	e.Content = `<p><img src="https://cdn.example/own.png"></p>`
	page = get(h, n.path(t, "Harbor")+"?images=1", "Cookie", cookie).Body.String()
	if len(pictureAt.FindAllString(page, -1)) != 1 {
		t.Errorf("beside a picture of the text another is shown:\n%s", page)
	}
}

// Extras that anybody made up, as a neighbor may, do nothing on a page.
func TestHostileExtras(t *testing.T) {
	n := newNode(t)
	h := newHandler(t, n)
	x := feed.Extras{Duration: -time.Hour, Image: "javascript:alert(1)", Language: `"><script>alert(1)</script>`,
		Season: -1, Chapters: feed.Companion{URL: "data:text/html,<script>alert(1)</script>"},
		Transcripts: []feed.Companion{{URL: "javascript:alert(1)", Type: "<b>", Language: "<b>"}}}
	if x.Clean(); !x.IsZero() {
		t.Fatalf("left are %+v", x)
	}
	n.entries[0].Entry.Extras = feed.Extras{Image: "https://x.example/'\"><script>alert(1)</script>",
		Transcripts: []feed.Companion{{URL: "https://x.example/\"><script>alert(1)</script>", Type: "a/<script>"}}}
	page := get(h, n.path(t, "Harbor")+"?images=1", "Cookie", newBrowser(t, h).cookie).Body.String()
	if strings.Contains(page, "<script>alert") {
		t.Errorf("the page runs something:\n%s", page)
	}
}

// Chapters come by way of the node, when their reader asks for them: what plays is sought there, by a program or
// without. No page of another site has the node fetch them, and what is wrong is said.
func TestChapters(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	e := &n.entries[0].Entry
	e.Enclosures = []feed.Enclosure{{URL: "https://cdn.example/talk.mp3#x", Type: "audio/mpeg"}}
	e.Extras.Chapters.URL = "https://cdn.example/chapters.json"
	path := n.path(t, "Harbor") + "?chapters=1"
	for _, header := range [][]string{nil, {"Cookie", b.cookie, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
		"navigate", "Sec-Fetch-Dest", "document"}} {
		page := get(b.h, path, header...).Body.String()
		if !strings.Contains(page, ">Chapters</a>") || strings.Contains(page, "Intro") || len(n.pictures) != 0 {
			t.Errorf("%v: the chapters were asked for, or the page lacks their link:\n%s", header, page)
		}
	}
	page := get(b.h, path, "Cookie", b.cookie).Body.String()
	for _, want := range []string{
		`0:00</span> <a href="https://cdn.example/talk.mp3#t=0" data-at="0" rel="noreferrer" dir="auto">Intro</a>`,
		`1:01:01</span> <a href="https://cdn.example/talk.mp3#t=3661" data-at="3661"`, "Tides &lt;script&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	e.Enclosures = nil
	if page = get(b.h, path, "Cookie", b.cookie).Body.String(); !strings.Contains(page, "<bdi>Intro</bdi>") {
		t.Errorf("where nothing plays the page is\n%s", page)
	}
	e.Extras.Chapters.URL = "https://cdn.example/chapters"
	if page = get(b.h, path, "Cookie", b.cookie).Body.String(); !strings.Contains(page,
		"The chapters could not be had: HTTP 404 &lt;b&gt;.") {
		t.Errorf("where there are none the page is\n%s", page)
	}
}
