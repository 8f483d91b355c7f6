package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A press is a publisher whose feed has an opening of each article, and whose pages have all of it.
type press struct {
	url   string
	mu    sync.Mutex
	pages []string       // their names
	asked map[string]int // how often, by path
}

func startPress(t *testing.T, pages ...string) *press {
	t.Helper()
	p := &press{pages: pages, asked: make(map[string]int)}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	p.url = srv.URL + "/feed"
	return p
}

// ServeHTTP serves the feed and the pages.
func (p *press) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[r.URL.Path]++
	if r.URL.Path == "/feed" {
		fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Coast</title>`)
		for _, name := range p.pages {
			fmt.Fprintf(w, `<entry><id>%s</id><title>%[1]s</title><link href="/%[1]s"/><published>%s</published>`+
				`<summary>An opening of %[1]s.</summary></entry>`, name, time.Now().Format(time.RFC3339))
		}
		fmt.Fprint(w, `</feed>`)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	for _, have := range p.pages {
		if name == have {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><title>%s</title><nav><a href="/">Every page</a></nav><article>
				<p>All of %[1]s: the boat was late again, for the third time in a week, and nobody could say for how
				long.</p><p>Its captain, who has sailed the route for thirty years, said that the engine had been
				repaired twice, and that a third time, in her words, would be one too many.</p></article>`, name)
			return
		}
	}
	http.NotFound(w, r)
}

// count is how often a path was asked for.
func (p *press) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// A person has the full text of one entry fetched, on its page and by a reader, and then that of all that a feed
// brings.
func TestFullTexts(t *testing.T) {
	needBrowser(t)
	p, n := startPress(t, "ferry", "harbor"), startPollingNode(t)
	n.feedex(t, "subscribe", p.url)
	o := n.observer(t)
	o.expect(t, map[string]string{"ferry": "unread", "harbor": "unread"})
	b := openBrowser(t, n)
	openEntry := func(title string) {
		t.Helper()
		b.visit(t, "/entries?show=all&q="+title)
		b.do(t, chromedp.KeyEvent("j"))
		b.keys(t, "p")
	}
	openEntry("ferry")
	b.says(t, "An opening of ferry.")
	b.click(t, `button[formaction="/fulltext"]`)
	b.says(t, "All of ferry", "one too many", "This is the full text")
	if strings.Contains(b.text(t), "Every page") {
		t.Error("the article has the menu of its page")
	}
	b.inspect(t, "fulltext")
	b.click(t, `form[action="/fulltext"] button[value=feed]`)
	b.says(t, "An opening of ferry.")

	content := func(path string) string {
		t.Helper()
		var answer struct{ Content string }
		o.call(t, http.MethodGet, path, nil, &answer)
		return answer.Content
	}
	of := fmt.Sprintf("/v1/entries/%d", o.entries(t)["harbor"].ID)
	if got := content(of + "/fetch-content"); !strings.Contains(got, "All of harbor") {
		t.Errorf("a reader is given %q", got)
	}
	if got := content(of); strings.Contains(got, "All of harbor") {
		t.Errorf("without being asked to keep it the node has %q", got)
	}
	if got := content(of + "/fetch-content?update_content=true"); !strings.Contains(got, "All of harbor") ||
		!strings.Contains(content(of), "All of harbor") {
		t.Errorf("the node does not keep %q", got)
	}
	if got := p.count("/harbor"); got != 1 {
		t.Errorf("the page was asked for %d times", got)
	}

	b.visit(t, "/feeds/1")
	b.do(t, chromedp.Click(chromedp.CSS("details:has(#how) summary")))
	b.do(t, chromedp.Click(chromedp.CSS("#how input[name=fulltext]")))
	b.click(t, "#how > p > button")
	b.says(t, "Saved.")
	p.mu.Lock()
	p.pages = append(p.pages, "tide")
	p.mu.Unlock()
	eventually(t, func() string {
		e, ok := o.entries(t)["tide"]
		if !ok {
			return "the entry has not come"
		}
		if got := content(fmt.Sprintf("/v1/entries/%d", e.ID)); !strings.Contains(got, "All of tide") {
			return "its content is " + got
		}
		return ""
	})
	openEntry("tide")
	b.says(t, "All of tide", "This is the full text")
	if got := p.count("/tide"); got != 1 {
		t.Errorf("the page was asked for %d times", got)
	}
}

// silence is a sound of so many seconds.
func silence(seconds int) []byte {
	const rate = 8000 // samples of a byte each
	size := uint32(seconds * rate)
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, "\x01\x00\x08\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	return append(b, bytes.Repeat([]byte{0x80}, int(size))...)
}

// startPodcast publishes an episode of five minutes, with a cover and chapters.
func startPodcast(t *testing.T) (url string) {
	t.Helper()
	sound := silence(300)
	var cover bytes.Buffer
	if err := png.Encode(&cover, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			fmt.Fprintf(w, `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
				xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>Waves</title><item><guid>1</guid>
				<title>About tides</title><description>They come and go.</description>
				<enclosure url="/tides.wav" type="audio/wav" length="%d"/><itunes:duration>300</itunes:duration>
				<itunes:image href="/cover.png"/><podcast:chapters url="/chapters.json" type="application/json+chapters"/>
				</item></channel></rss>`, len(sound))
		case "/tides.wav":
			w.Header().Set("Content-Type", "audio/wav")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(sound))
		case "/cover.png":
			w.Write(cover.Bytes())
		case "/chapters.json":
			fmt.Fprint(w, `{"version": "1.2.0", "chapters": [{"startTime": 0, "title": "Welcome"},
				{"startTime": 120, "title": "What the moon does"}, {"startTime": 240, "title": "Good-bye"}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/feed"
}

// The page of an episode has its cover, how long and how large it is, and its chapters, by which one goes through it.
// It goes on where it was left.
func TestBrowserPlaysAPodcast(t *testing.T) {
	needBrowser(t)
	n := startPollingNode(t)
	n.feedex(t, "subscribe", startPodcast(t))
	n.observer(t).expect(t, map[string]string{"About tides": "unread"})
	b := openBrowser(t, n)
	b.visit(t, "/entries?show=all")
	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	b.says(t, "tides.wav, 5:00, 2.4\u00a0MB. Played from 127.0.0.1", "A picture is not loaded")
	b.click(t, ".notice a[href*=images]")
	b.click(t, ".meta a[href*=chapters]")
	b.says(t, "Chapters\n0:00\nWelcome\n2:00\nWhat the moon does")
	until := func(want, expression string) {
		t.Helper()
		eventually(t, func() string {
			if got := b.evaluate(t, expression); got != want {
				return expression + " is " + got
			}
			return ""
		})
	}
	until("true", "String(document.querySelector('img.cover').naturalWidth === 64)")
	b.inspect(t, "podcast")
	b.look(t, 1280, "light")
	b.do(t, chromedp.Click(chromedp.CSS("a[data-at='120']")))
	const at = "Math.floor(document.querySelector('audio').currentTime / 60)"
	until("playing at 2", "(document.querySelector('audio').paused ? 'still' : 'playing') + ' at ' + "+at)
	b.do(t, chromedp.Click(chromedp.CSS("a[data-at='240']")))
	until("4", "String("+at+")")
	b.do(t, chromedp.Evaluate[chromedp.Void]("document.querySelector('audio').pause()"))
	const speed = "document.querySelector('.player button:last-child')"
	until("Speed 1×", speed+".ariaLabel")
	b.do(t, chromedp.Evaluate[chromedp.Void](speed+".click()"))
	until("Speed 1.25×", speed+".ariaLabel")

	b.do(t, chromedp.Reload())
	b.says(t, "Goes on at 4:0")
	b.do(t, chromedp.Evaluate[chromedp.Void]("document.querySelector('audio').preload = 'metadata'"))
	until("4", "String("+at+")")
}
