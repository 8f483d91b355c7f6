package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Who begins has no neighbors and is told so, names a tracker there, is told of an address that is no feed and follows
// it anyway, chooses how much of a list is unread, and has all of it polled now.
func TestBrowserFirstMinute(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	b := openBrowser(t, n)
	b.visit(t, "/")
	b.says(t, "No neighbors yet")

	b.visit(t, "/settings")
	gone := p.server.URL + missingPage
	b.do(t, chromedp.SendKeys(chromedp.CSS("#url"), gone))
	b.answered(t, `form[action="/follow"] button`, http.StatusUnprocessableEntity)
	b.says(t, "404", "Follow it anyway")
	b.inspect(t, "no-feed")
	b.click(t, `button[name="anyway"]`)
	if list := n.feedex(t, "feeds"); !strings.Contains(list, missingPage) {
		t.Errorf("feedex feeds: %s", list)
	}

	b.visit(t, "/")
	tracker := startTracker(t)
	b.do(t, chromedp.SendKeys(chromedp.CSS("#join"), tracker))
	b.click(t, `form[action="/join"] button`)
	b.visit(t, "/settings")
	b.says(t, strings.Trim(strings.TrimPrefix(tracker, "http://"), "/"))

	var titles []string
	for i := range 8 {
		titles = append(titles, fmt.Sprint("Tide ", i))
	}
	list := filepath.Join(t.TempDir(), "feeds.opml")
	text := `<opml version="2.0"><body><outline type="rss" text="Harbor" xmlUrl="` +
		p.publish("/harbor.xml", "Harbor News", titles...) + `"/></body></opml>`
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.SetUploadFiles(chromedp.CSS("#list"), []string{list}),
		chromedp.Evaluate[chromedp.Void](`document.getElementById('list-unread').value = '5'`))
	b.click(t, `form[action="/import"] button`)
	b.says(t, "Feeds imported", "1 feed is followed now")
	eventually(t, func() string {
		b.visit(t, "/entries")
		if shown := b.text(t); !strings.Contains(shown, "Unread (5)") {
			return shown
		}
		return ""
	})
	b.says(t, "Tide 7", "Tide 3")

	b.visit(t, "/feeds") // all of which were polled a moment ago
	b.click(t, `form[action="/refresh"] button`)
	b.says(t, "may be polled again") // at least the one that is not being polled in that second
	eventually(t, func() string {
		if said := n.feedex(t, "refresh"); !strings.Contains(said, "/harbor.xml may be polled again in") {
			return "feedex refresh: " + said
		}
		return ""
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, n.url("/v1/feeds/refresh"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Auth-Token", n.passwordFor(t, "phone"))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a reader that has all polled is told %s, %v", answer.Status, answer.Header)
	}
}

// A node that may ask nobody in its own network says by which setting it may, of a tracker and of a feed there.
func TestBrowserNamesTheSettingThatRefuses(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startNode(t, t.TempDir())
	b := openBrowser(t, n)
	b.press(t, []pressing{
		{page: "/", fields: map[string]string{"#join": startTracker(t)}, press: submit("/join"), says: "allow_private"},
		{page: "/settings", fields: map[string]string{"#url": p.publish("/harbor.xml", "Harbor News", "Low tide")},
			press: submit("/follow"), says: "private_host", status: http.StatusUnprocessableEntity},
	})
}

// Words of scripts without blanks are found where they stand, what runs from right to left is shown so, and a list goes
// by arrival or by publication.
func TestBrowserShowsAllScripts(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/world.xml", "World", "今日は東京の天気がいい", "שלום עולם", "วันนี้อากาศดี", "Zebra"))
	o := n.observer(t)
	o.expect(t, map[string]string{"Zebra": "unread"})
	b := openBrowser(t, n)
	b.look(t, 1280, "light")
	for words, title := range map[string]string{"天気": "今日は東京の天気がいい", "อากาศ": "วันนี้อากาศดี", "עולם": "שלום עולם"} {
		b.visit(t, "/entries")
		b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), words))
		b.click(t, `form[action="/entries"] button`)
		b.says(t, title)
		if strings.Contains(b.text(t), "Zebra") {
			t.Errorf("%s finds what does not fit", words)
		}
	}
	b.visit(t, "/entries")
	b.bounded(t, func(ctx context.Context) error {
		directions, err := chromedp.Run(ctx, chromedp.Evaluate[string]("[...document.querySelectorAll("+
			"'.rows h2 a')].map(a => a.textContent + ' ' + getComputedStyle(a).direction).sort().join()"))
		if want := "Zebra ltr,שלום עולם rtl,วันนี้อากาศดี ltr,今日は東京の天気がいい ltr"; err == nil && directions != want {
			t.Errorf("titles run %s, want %s", directions, want)
		}
		return err
	})
	b.click(t, `a[href*="sort=published"]`)
	b.bounded(t, func(ctx context.Context) error {
		titles, err := chromedp.Run(ctx, chromedp.Evaluate[string]("[...document.querySelectorAll('.rows h2 a')].map("+
			"a => a.textContent).join()"))
		if want := "Zebra,วันนี้อากาศดี,שלום עולם,今日は東京の天気がいい"; err == nil && titles != want {
			t.Errorf("by publication there are %s, want %s", titles, want)
		}
		return err
	})
	b.inspect(t, "scripts")

	b.visit(t, "/settings")
	b.do(t, chromedp.Evaluate[chromedp.Void](`document.getElementById('theme').value = 'dark'`))
	b.click(t, `form[action="/look"] button`)
	b.bounded(t, func(ctx context.Context) error {
		theme, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.documentElement.dataset.theme || ''"))
		if err == nil && theme != "dark" {
			t.Errorf("the theme is %q", theme)
		}
		return err
	})
}
