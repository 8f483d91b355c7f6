package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A person whom the owner added logs in where the owner reads, reads, marks and stars what is theirs, and leaves
// nothing of it to who reads there next, as they found nothing.
func TestBrowserOfAPerson(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"))
	n.feedex(t, "subscribe", p.publish("/kitchen.xml", "Kitchen Notes", "A stubborn sourdough"))
	o := n.observer(t)
	eventually(t, func() string {
		if len(o.entries(t)) < 3 {
			return "not all has come yet"
		}
		return ""
	})
	n.feedex(t, "person", "add", "Ann")
	secret := n.passwordFor(t, "ann-laptop", "--person", "Ann")

	b := openBrowser(t, n)
	keeps := func(what, not string) {
		t.Helper()
		eventually(t, func() string {
			have := b.evaluate(t, kept)
			if !strings.Contains(have, what) || not != "" && strings.Contains(have, not) {
				return "the browser keeps " + have
			}
			return ""
		})
	}
	b.visit(t, "/entries")
	b.evaluate(t, "navigator.serviceWorker.ready.then(() => 'ready')")
	b.visit(t, "/entries?show=all")
	keeps("Home", "")
	b.visit(t, "/login?next=/entries")
	b.inspect(t, "login-open")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), secret))
	b.click(t, `form[action="/login"] button`)
	b.says(t, "Low tide", "High tide", "A stubborn sourdough", "Unread (3)")
	b.inspect(t, "person-entries")
	keeps("Unread (3)", `href="/neighbors"`)

	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	b.says(t, "What there is to say of", "Mark unread")
	b.inspect(t, "person-entry")
	b.keys(t, "s")
	b.says(t, "★ Unstar")
	b.keys(t, "ge")
	b.says(t, "Unread (2)")
	b.keys(t, "A")
	b.says(t, "Everything is read.", "Marked 2 entries read.")
	b.click(t, `form[action="/undo"] button`)
	b.says(t, "Unread (2)")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "sourdough"))
	b.click(t, `form[action="/entries"] button`)
	b.says(t, "A stubborn sourdough")

	b.keys(t, "gf")
	b.says(t, "2 feeds.", "Harbor News", "Kitchen Notes")
	b.inspect(t, "person-feeds")
	b.click(t, `tbody tr:first-child th a`)
	b.do(t, chromedp.Click(chromedp.CSS("details summary")), chromedp.SendKeys(chromedp.CSS("#name"), "The harbor"),
		chromedp.SendKeys(chromedp.CSS("#folders"), "Sea"))
	b.inspect(t, "person-feed")
	b.click(t, `form[action="/adjust"] button`)
	b.says(t, "Saved.", "The harbor")
	b.click(t, `form[action="/unfollow"] button`)
	b.says(t, "You read The harbor no more.", "1 feed.")
	b.inspect(t, "person-left")
	b.click(t, `form[action="/undo"] button`)
	b.says(t, "The harbor", "High tide")
	for path, says := range map[string]string{"/settings": "How these pages look", "/search?q=tide": "High tide",
		"/": "Entries"} {
		b.visit(t, path)
		b.says(t, says)
		b.inspect(t, "person"+strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(path))
	}
	o.expect(t, map[string]string{"Low tide": "unread", "High tide": "unread", "A stubborn sourdough": "unread"})

	b.visit(t, "/entries?show=starred")
	keeps("/entries?show=starred ", "")
	b.click(t, `form[action="/logout"] button`)
	b.says(t, "Log in")
	keeps("nothing", "")
	b.visit(t, "/entries")
	b.says(t, "Unread (3)")
	// The page is left once the call has its answer.
	b.do(t, chromedp.Evaluate[chromedp.Void]("setTimeout(() => history.go(-2))"))
	eventually(t, func() string {
		where := b.evaluate(t, "location.search + document.querySelector('main')?.innerText")
		if !strings.HasPrefix(where, "?show=starred") || !strings.Contains(where, "Nothing is starred.") {
			return "going back leads to " + where
		}
		return ""
	})
}

// A person brings feeds, has them polled and saves entries as the owner does, and is told as much of what comes of it.
func TestBrowserOfAPersonWhoFollows(t *testing.T) {
	needBrowser(t)
	saved := ""
	links := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		saved = r.Header.Get("Authorization")
		fmt.Fprint(w, `{"bookmark": null, "id": 1}`)
	}))
	t.Cleanup(links.Close)
	p, n := startPublisher(t), startPollingNode(t)
	harbor := p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide")
	n.feedex(t, "subscribe", harbor)
	n.feedex(t, "person", "add", "Ann")
	secret := n.passwordFor(t, "ann-all", "--person", "Ann", "--owner")
	b := openBrowser(t, n)
	b.visit(t, "/login?next=/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), secret))
	b.click(t, `form[action="/login"] button`)
	b.says(t, "Leave unread of what is there already")
	b.inspect(t, "person-all-settings")

	list := filepath.Join(t.TempDir(), "feeds.opml")
	text := fmt.Sprintf(`<opml version="2.0"><head/><body><outline type="rss" xmlUrl="%s"/><outline type="rss" xmlUrl="%s"/>
		<outline type="rss" xmlUrl="gopher:"/></body></opml>`, harbor,
		p.publish("/kitchen.xml", "Kitchen Notes", "A stubborn sourdough", "Rye", "Oats"))
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.SetUploadFiles(chromedp.CSS("#list"), []string{list}),
		chromedp.Clear(chromedp.CSS("#list-unread")), chromedp.SendKeys(chromedp.CSS("#list-unread"), "1"))
	b.click(t, `form[action="/import"] button`)
	b.says(t, "Feeds imported", "1 feed is followed now", "gopher:", "harbor.xml is followed already")
	b.inspect(t, "person-imported")
	eventually(t, func() string {
		b.visit(t, "/entries")
		if shown := b.text(t); !strings.Contains(shown, "Unread (3)") || !strings.Contains(shown, "Oats") {
			return "of three entries of the list one is to be unread, and two of before:\n" + shown
		}
		return ""
	})

	b.visit(t, "/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#url"), p.server.URL+"/gone.xml"))
	b.answered(t, `form[action="/follow"] button`, http.StatusUnprocessableEntity)
	b.says(t, "There is no feed", "HTTP 404")
	b.inspect(t, "person-unread")
	b.click(t, `button[name="anyway"]`)
	b.says(t, "is followed, but could not be had yet")
	b.visit(t, "/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#url"), strings.TrimPrefix(harbor, "http://")))
	b.click(t, `form[action="/follow"] button`)
	b.says(t, "Harbor News", "is followed already.")

	b.visit(t, "/feeds")
	b.click(t, `form[action="/refresh"] button`)
	b.says(t, "may be polled again")
	b.inspect(t, "person-refreshed")

	b.visit(t, "/settings")
	b.do(t, chromedp.Click(chromedp.CSS("#saving ~ details summary")),
		chromedp.SendKeys(chromedp.CSS("#linkding"), links.URL),
		chromedp.SendKeys(chromedp.CSS("#linkding-key"), "hers"))
	b.click(t, `#saving ~ details form button`)
	b.says(t, "Entries are saved to linkding at")
	b.inspect(t, "person-saving")
	b.visit(t, "/entries?show=all")
	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	b.click(t, `button[value="saved"]`)
	b.says(t, "Saved to linkding.")
	if saved != "Token hers" {
		t.Errorf("the service was shown %q", saved)
	}
	b.visit(t, "/settings")
	b.click(t, `form[action="/saving"] button`)
	b.says(t, "is forgotten: entries are saved there no more.")
	b.inspect(t, "person-forgotten")
	b.click(t, `form[action="/undo"] button`)
	b.says(t, "linkding at http")
}
