package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The owner logs in and goes through what is theirs to set, with all that is folded away unfolded: each page can be
// looked at and used by everybody, and an entry is saved where they say.
func TestBrowserOpensWhatTheOwnerSets(t *testing.T) {
	needBrowser(t)
	links := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"bookmark": null, "id": 1}`)
	}))
	t.Cleanup(links.Close)
	terse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<rss version="2.0"><channel>
			<title>A feed whose name is so long that it reaches under the whole of each title of its entries</title><item><guid>1</guid><title>A title alone</title>
			<link>https://example.org/1</link></item><item><guid>2</guid><title>Another title alone</title>
			<enclosure url="https://example.org/2.mp3" type="audio/mpeg" length="1"/></item></channel></rss>`)
	}))
	t.Cleanup(terse.Close)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "A storm at sea", "Low tide"))
	n.feedex(t, "subscribe", terse.URL)
	n.feedex(t, "person", "add", "Ann")
	n.feedex(t, "filter", "add", "--folder", "Weather", "Storms", "storm")
	n.feedex(t, "filter", "add", "--rule", "star", "Tides", "tide")
	password := n.password(t, "laptop")

	b := openBrowser(t, n)
	inspect := func(name string) {
		t.Helper()
		b.evaluate(t, "document.querySelectorAll('details').forEach(d => d.open = true), ''")
		b.inspect(t, name)
	}
	b.visit(t, "/login")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), password))
	b.click(t, `form[action="/login"] button`)
	eventually(t, func() string {
		b.visit(t, "/entries")
		if shown := b.text(t); !strings.Contains(shown, "A title alone") || !strings.Contains(shown, "A storm at sea") {
			return shown
		}
		return ""
	})
	inspect("entries-terse")
	for _, page := range []struct{ name, path, says string }{
		{"settings-open", "/settings", "Wallabag"},
		{"filters-open", "/filters?words=tide&rule=star", "it would catch"},
		{"filters-wrong", "/filters?words=(tide", "(tide"},
		{"filters-nothing", "/filters?words=walrus", "Nothing that fits was published in the last month."},
		{"notifications-open", "/notifications", "Of what these catch"},
		{"starred-by-neighbors", "/starred", "What your neighbors starred"},
		{"recommended", "/recommended", "Feeds that others like you read"},
		{"invited", "/join?link=node.invalid:7790", "An invitation"},
		{"person-remove", "/people/2", "Remove Ann"},
	} {
		b.visit(t, page.path)
		b.says(t, page.says)
		inspect(page.name)
	}

	b.visit(t, "/settings")
	b.evaluate(t, "document.querySelectorAll('details').forEach(d => d.open = true), ''")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#linkding"), links.URL),
		chromedp.SendKeys(chromedp.CSS("#linkding-key"), "secret"))
	b.click(t, `form:has(#linkding) button`)
	b.says(t, "linkding at")
	inspect("settings-saving")
	b.visit(t, "/entries?show=all")
	b.click(t, ".rows .meta a[href^='/feeds/']")
	inspect("feed-open")
	b.visit(t, "/entries?show=all")
	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	inspect("entry-to-save")
	b.click(t, "form[action='/save'] button")
	b.says(t, "Saved to linkding")
	inspect("entry-saved")

	// Ann, who may have passwords for her readers, makes one, and finds nothing of the owner's.
	own := n.passwordFor(t, "ann", "--person", "Ann", "--owner")
	b.click(t, `form[action="/logout"] button`)
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), own))
	b.click(t, `form[action="/login"] button`)
	b.visit(t, "/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#name"), "ann-phone"))
	b.click(t, `form[action="/passwords"] button`)
	b.says(t, "A new password", "ann-phone")
	b.visit(t, "/settings")
	b.says(t, "ann-phone")
	if strings.Contains(b.text(t), "laptop") {
		t.Error("Ann sees the owner's passwords")
	}
	inspect("person-passwords")
}
