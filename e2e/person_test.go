package e2e

import (
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
	b.click(t, `form[action="/read"] button`)
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
	b.do(t, chromedp.Evaluate[chromedp.Void]("history.go(-2)"))
	eventually(t, func() string {
		where := b.evaluate(t, "location.search + document.querySelector('main')?.innerText")
		if !strings.HasPrefix(where, "?show=starred") || !strings.Contains(where, "Nothing is starred.") {
			return "going back leads to " + where
		}
		return ""
	})
}
