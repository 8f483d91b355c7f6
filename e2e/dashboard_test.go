package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// missingPage is an address at which there is nothing.
const missingPage = "/nothing-here"

// A person starts a node, opens it, drops the list of their feeds, adds one, and reads.
func TestBrowserFirstStart(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	b := openBrowser(t, n)
	b.visit(t, "/")
	b.says(t, "Read feeds together")
	b.inspect(t, "start")

	list := filepath.Join(t.TempDir(), "feeds.opml")
	text := fmt.Sprintf(`<opml version="2.0"><head/><body><outline text="Sea"><outline type="rss" text="Harbor" xmlUrl="%s"/></outline>
		<outline type="rss" text="Kitchen" xmlUrl="%s"/><outline type="rss" text="Nothing" xmlUrl="gopher:"/></body></opml>`,
		p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"),
		p.publish("/kitchen.xml", "Kitchen Notes", "A stubborn sourdough"))
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.SetUploadFiles(chromedp.CSS("#list"), []string{list}))
	b.click(t, `form[action="/import"] button`)
	b.says(t, "Feeds imported", "2 feeds are followed now", "gopher:")
	b.inspect(t, "imported")

	b.visit(t, "/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#url"), p.publish("/trains.xml", "Night Trains", "The last sleeper")))
	b.click(t, `form[action="/follow"] button`)
	eventually(t, func() string {
		b.visit(t, "/entries")
		for _, title := range []string{"Low tide", "High tide", "A stubborn sourdough", "The last sleeper"} {
			if shown := b.text(t); !strings.Contains(shown, title) {
				return "no " + title + " in:\n" + shown
			}
		}
		return ""
	})

	b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "sourdough"))
	b.click(t, `form[action="/entries"] button`)
	b.says(t, "A stubborn sourdough")
	if strings.Contains(b.text(t), "Low tide") {
		t.Error("the search finds what does not fit")
	}
	b.do(t, chromedp.KeyEvent("j"))
	b.keys(t, "p")
	b.says(t, "A stubborn sourdough", "What there is to say of", "Kitchen")

	o := n.observer(t)
	o.expect(t, map[string]string{"A stubborn sourdough": "read", "Low tide": "unread"})
	b.click(t, `form.marks button[value="unread"]`)
	o.expect(t, map[string]string{"A stubborn sourdough": "unread", "Low tide": "unread"})
	b.click(t, `form.marks button[value="read"]`)
	o.expect(t, map[string]string{"A stubborn sourdough": "read", "Low tide": "unread"})
	b.click(t, `form.marks button[value="starred"]`)
	o.expect(t, map[string]string{"A stubborn sourdough": "read starred"})
	o.mark(t, "A stubborn sourdough", "unread")
	b.visit(t, "/entries?show=unread")
	b.says(t, "A stubborn sourdough")

	// Keys do what buttons and links do.
	b.do(t, chromedp.KeyEvent("?"))
	b.says(t, "next, previous")
	b.do(t, chromedp.KeyEvent(" ")) // which closes the help and turns nothing off
	b.do(t, chromedp.KeyEvent("?"))
	// Who has no use for them turns them off, and on again by what the mouse finds, too.
	const help, open = "body > footer button[type=button]", "String(document.querySelector('dialog').open)"
	b.do(t, chromedp.Click(chromedp.CSS("dialog input")), chromedp.Click(chromedp.CSS("dialog button")))
	b.do(t, chromedp.Reload(), chromedp.Click(chromedp.CSS(help)), chromedp.Click(chromedp.CSS("dialog button")),
		chromedp.KeyEvent("?"))
	if got := b.evaluate(t, open); got != "false" {
		t.Error("a key is heard that was turned off")
	}
	b.do(t, chromedp.Click(chromedp.CSS(help)), chromedp.Click(chromedp.CSS("dialog input")),
		chromedp.Click(chromedp.CSS("dialog button")), chromedp.KeyEvent("?"))
	if got := b.evaluate(t, open); got != "true" {
		t.Error("a key that was turned on again is not heard")
	}
	b.do(t, chromedp.Click(chromedp.CSS("dialog button")))
	b.do(t, chromedp.KeyEvent("j"))
	for _, step := range []struct{ keys, says string }{
		{"p", "Mark unread"}, {"m", "Mark read"}, {"j", "Mark unread"}, {"ge", "Mark all read"},
		{"r", "may be polled again"},
	} {
		b.keys(t, step.keys)
		b.says(t, step.says)
	}
	b.do(t, chromedp.SendKeys(chromedp.CSS("#q"), "gf?"))
	b.says(t, "Mark all read")

	// And gives a reader a password, which it can use.
	b.visit(t, "/login")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#password"), o.password))
	b.click(t, `form[action="/login"] button`)
	b.visit(t, "/settings")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#name"), "phone"))
	b.click(t, `form[action="/passwords"] button`)
	b.says(t, "A new password", "phone")
	b.inspect(t, "password")
	if list := n.feedex(t, "password", "list"); !strings.Contains(list, "phone") {
		t.Errorf("feedex password list: %s", list)
	}
}

// Who reads in the list opens entries there: by keys and by clicks, without leaving it.
func TestBrowserUnfoldsEntries(t *testing.T) {
	needBrowser(t)
	links := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"bookmark": null, "id": 1}`)
	}))
	t.Cleanup(links.Close)
	data := t.TempDir()
	service := fmt.Sprintf(`{"kind": "linkding", "address": %q, "token": "secret"}`, links.URL)
	if err := os.WriteFile(filepath.Join(data, "saving.json"), []byte(service), 0o600); err != nil {
		t.Fatal(err)
	}
	p, n := startPublisher(t), startNode(t, data, "--allow-private", "--poll", "1s")
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide", "High tide"))
	o := n.observer(t)
	b := openBrowser(t, n)
	b.visit(t, "/entries?show=all")
	shows := func(want string) {
		t.Helper()
		const state = `[...document.querySelectorAll('.rows > li')].map(li => li.querySelector('h2 a').textContent + ' ' +
			(li.className || 'as it was') + ' ' + li.querySelector('h2 a').ariaExpanded +
			(li.querySelector('.unfolded .prose')?.textContent.includes('What there is to say of') ? ' with its text' : '') +
			(document.activeElement === li.querySelector('h2 a') ? ' focused' : '') +
			(li.querySelector('button[value=plain]') ? ' starred' : '')).join('; ') + ' at ' + location.search`
		eventually(t, func() (amiss string) {
			b.bounded(t, func(ctx context.Context) error {
				text, err := chromedp.Run(ctx, chromedp.Evaluate[string](state))
				if text != want {
					amiss = text
				}
				return err
			})
			return amiss
		})
	}
	press := func(keys string) {
		t.Helper()
		b.do(t, chromedp.KeyEvent(keys))
	}
	const first, second = "High tide", "Low tide"
	shows(first + " new false; " + second + " new false at ?show=all")
	counts := func(want string) {
		t.Helper()
		eventually(t, func() string {
			if got := b.evaluate(t, `[...document.querySelectorAll('.tabs a, .rail nav a .num')].map(a =>
				a.firstChild.textContent).join()`); got != want {
				return "there are " + got
			}
			return ""
		})
	}
	counts("2,2,Unread (2),All,Starred")
	press("jo")
	shows(first + " read true with its text focused; " + second + " new false at ?show=all")
	counts("1,1,Unread (1),All,Starred")
	o.expect(t, map[string]string{first: "read", second: "unread"})
	b.inspect(t, "unfolded")
	press("m")
	shows(first + " new true with its text focused; " + second + " new false at ?show=all")
	o.expect(t, map[string]string{first: "unread", second: "unread"})
	press("s")
	shows(first + " new true with its text focused starred; " + second + " new false at ?show=all")
	o.expect(t, map[string]string{first: "unread starred", second: "unread"})
	press("o")
	shows(first + " new false focused starred; " + second + " new false at ?show=all")
	press("\r") // Enter
	shows(first + " read true with its text focused starred; " + second + " new false at ?show=all")
	b.do(t, chromedp.Click(chromedp.CSS(".rows li:last-child h2 a")))
	shows(first + " read false starred; " + second + " read true with its text focused at ?show=all")
	o.expect(t, map[string]string{first: "read starred", second: "read"})
	counts("Unread (0),All,Starred")
	// A click that moves no focus, as those of Safari, has the link have it all the same.
	click := func(row string) { b.evaluate(t, "document.querySelector('.rows li:"+row+"-child h2 a').click() ?? ''") }
	click("first")
	shows(first + " read true with its text focused starred; " + second + " read false at ?show=all")
	press("m")
	shows(first + " new true with its text focused starred; " + second + " read false at ?show=all")
	press("m")
	click("last")
	shows(first + " read false starred; " + second + " read true with its text focused at ?show=all")
	// Keys are for the entry that has the focus, whichever way that came there, and what they did is said.
	b.evaluate(t, "document.querySelector('.rows li:first-child h2 a').focus() ?? ''")
	press("m")
	shows(first + " new false focused starred; " + second + " read true with its text at ?show=all")
	said := func(want string) {
		t.Helper()
		if got := b.evaluate(t, "document.querySelector('[role=status].hidden')?.textContent ?? ''"); got != want {
			t.Errorf("what is read out is %q, want %q", got, want)
		}
	}
	said("Marked unread: " + first)
	press("s")
	shows(first + " new false focused; " + second + " read true with its text at ?show=all")
	said("Unstarred: " + first)
	press("sm")
	shows(first + " read false focused starred; " + second + " read true with its text at ?show=all")
	b.evaluate(t, "document.querySelector('.unfolded a').focus() ?? ''")
	press("o") // which takes away what has the focus
	shows(first + " read false starred; " + second + " read false focused at ?show=all")
	press("o")
	shows(first + " read false starred; " + second + " read true with its text focused at ?show=all")
	b.click(t, ".unfolded a[href^='/entries/']")
	b.says(t, "Back to the list")
	b.visit(t, "/entries?show=all")
	press("jo")
	shows(first + " read true with its text focused starred; " + second + " read false at ?show=all")
	b.click(t, ".unfolded form[action='/save'] button")
	b.says(t, "Saved to linkding")
}

// The page of a feed shows when a neighbor polled it, and how often somebody does.
func TestBrowserShowsWhoPolls(t *testing.T) {
	needBrowser(t)
	harbor := startPublisher(t).publish("/harbor.xml", "Harbor News", "Low tide")
	n := startNode(t, t.TempDir(), "--allow-private", "--poll", "1h", "--subscribe", harbor)
	startNode(t, t.TempDir(), "--allow-private", "--poll", "1s", "--subscribe", harbor, "--peer", n.listen)
	b := openBrowser(t, n)
	const shown = `document.querySelectorAll('.drawing line.heard').length + ' drawn. ' +
		document.querySelector('#timeline-text').textContent`
	eventually(t, func() (amiss string) {
		b.visit(t, "/feeds/1")
		b.bounded(t, func(ctx context.Context) error {
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string](shown))
			if !strings.Contains(text, "1 drawn") || !strings.Contains(text, "It heard of 1 poll by other nodes.") {
				amiss = text
			}
			return err
		})
		return amiss
	})
	b.says(t, "among 2 nodes somebody looks about every 30")
	b.inspect(t, "polled-by-others")
}

// Every page of a node that has run for a week, among neighbors, can be looked at.
func TestBrowserOpensEveryPage(t *testing.T) {
	needBrowser(t)
	n := startNeighborhood(t)
	b := openBrowser(t, n)
	eventually(t, func() string {
		b.visit(t, "/")
		if shown := b.text(t); !strings.Contains(shown, fmt.Sprintf("%d neighbors", neighbors)) {
			return "not all neighbors are there yet:\n" + shown
		}
		return ""
	})
	b.visit(t, "/?period=week")
	b.look(t, 1280, "light")
	if size := b.screenshot(t, figure, 100, viewport); size > figureBytes {
		t.Errorf("%s has %d bytes, want at most %d", figure, size, figureBytes)
	}

	b.visit(t, "/entries")
	var entry string
	b.bounded(t, func(ctx context.Context) (err error) {
		entry, err = chromedp.Run(ctx,
			chromedp.Evaluate[string]("document.querySelector('.list h2 a').getAttribute('href')"))
		return err
	})
	for _, page := range []struct{ name, path, says string }{
		{"home", "/", "What feedex did for you"},
		{"day", "/?period=day", "Entries by hour"},
		{"month", "/?period=month", "Entries by day"},
		{"feeds", "/feeds", sampleFeeds[0]},
		{"feed", "/feeds/1", sampleFeeds[0]},
		{"throttled", "/feeds/4", sampleFeeds[3]},
		{"entries", "/entries", "Entries"},
		{"entry", entry, sampleLead},
		{"neighbors", "/neighbors", "Neighbors"},
		{"search", "/search", "Archive"},
		{"found", "/search?q=harbor&network=1", "From the network"},
		{"settings", "/settings", "Passwords"},
		{"login", "/login", "Log in"},
		{"missing", missingPage, "Nothing here"},
	} {
		b.visit(t, page.path)
		b.says(t, page.says)
		b.inspect(t, page.name)
		for _, scheme := range schemes {
			b.look(t, 1280, scheme)
			if signs := b.evaluate(t, "document.querySelector('.legend') ? "+faint+" : ''"); signs != "" {
				t.Errorf("%s, %s: hardly to be seen: %s", page.name, scheme, signs)
			}
		}
	}

	b.visit(t, "/entries")
	for _, screen := range []struct {
		width, height int64
		text          string
	}{{390, 844, ""}, {1280, 800, ""}, {320, 0, ""}, {320, 0, "larger"}} { // a phone, a window, and one at 400 percent
		b.look(t, screen.width, "light")
		b.evaluate(t, "document.documentElement.dataset.text = '"+screen.text+"'")
		at := fmt.Sprintf("%d pixels with text that is %q", screen.width, screen.text)
		if tenth := b.evaluate(t, fmt.Sprintf("document.querySelectorAll('.rows > li')[9].getBoundingClientRect()."+
			"bottom > %d ? 'is below' : ''", screen.height)); screen.height > 0 && tenth != "" {
			t.Errorf("of a screen of %s the tenth entry %s", at, tenth)
		}
		if cut := b.evaluate(t, "[...document.querySelectorAll('.rows .meta')].filter(m => "+
			"m.scrollWidth > m.clientWidth).map(m => m.innerText).join('; ')"); cut != "" {
			t.Errorf("of a screen of %s these lines are cut off: %s", at, cut)
		}
	}
	b.look(t, 1280, "light")
	b.emulate(t, "forced-colors", "active")
	b.evaluate(t, "document.documentElement.dataset.text = ''")
	if same := b.evaluate(t, indistinct); same != "" {
		t.Errorf("in the colors of the system nothing sets these apart: %s", same)
	}
}

// faint names the signs of a drawing, as its legend has them, that have a contrast of less than 3 to 1 (WCAG 1.4.11).
const faint = `(() => {
	const parts = color => color.match(/[\d.]+/g).map(Number).slice(0, 3);
	const light = color => color.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).
		reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], .05);
	const ground = parts(getComputedStyle(document.querySelector('.card')).backgroundColor);
	return [...document.querySelectorAll('.legend .drawing > *')].filter(e => {
		const style = getComputedStyle(e), solid = Number(style.opacity);
		const seen = parts(style.stroke === 'none' ? style.fill : style.stroke).
			map((v, i) => v * solid + ground[i] * (1 - solid));
		return Math.max(light(seen) / light(ground), light(ground) / light(seen)) < 3;
	}).map(e => e.closest('li').innerText).join('; ');
})()`

// indistinct names what is chosen and looks as what is not where the system gives the colors, and the dots of what is
// unread and of states where those are not to be seen.
const indistinct = `(() => {
	const plain = (e, part) => ['rgba(0, 0, 0, 0)', getComputedStyle(document.body).backgroundColor].includes(
		getComputedStyle(e, part).backgroundColor);
	return [...document.querySelectorAll('a[aria-current]')].filter(a => plain(a)).map(a => a.innerText).
		concat(plain(document.querySelector('.rows > .new'), '::before') ? 'unread' : []).
		concat(['state', 'state warn', 'state bad', 'state idle'].filter(className => {
			const state = document.body.appendChild(Object.assign(document.createElement('span'), {className}));
			return [plain(state, '::before'), state.remove()][0];
		})).join('; ');
})()`

// What comes of a poll is put in its place on an open page where that moves nothing; where it would, as the line that
// says why a feed failed, the page stays as it is, and offers it.
func TestBrowserMovesNothing(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	for _, name := range []string{"Harbor", "Kitchen", "Ferries"} {
		n.feedex(t, "subscribe", p.publish("/"+name+".xml", name+" News", "About the "+name))
	}
	b := openBrowser(t, n)
	b.look(t, 1280, "light")
	b.visit(t, "/feeds")
	const places = `[...document.querySelectorAll('th, h1, main p:not(.came)')].map(e => e.textContent.trim() + ' at ' +
		Math.round(e.getBoundingClientRect().top)).join('; ')`
	before := b.evaluate(t, places)
	if got := b.evaluate(t, "document.querySelector('.came + output')?.textContent ?? 'nothing'"); got != "" {
		t.Errorf("before anything came the place of what is told has %s", got)
	}
	p.mu.Lock()
	p.refuse = "feedex"
	p.mu.Unlock()
	eventually(t, func() string {
		if after := b.evaluate(t, places); after != before {
			t.Fatalf("things moved:\n%s\n%s", before, after)
		}
		if got := b.evaluate(t, `[...document.querySelectorAll('.came, .came + output')].map(e =>
			e.textContent).join()`); got != "Show what changed,Show what changed" {
			return "there is offered " + got
		}
		return ""
	})
	b.click(t, ".came a")
	b.says(t, "403 Forbidden")
}
