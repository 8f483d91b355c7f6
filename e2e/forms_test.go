package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A pressing presses one thing of a page.
type pressing struct {
	page   string            // which is opened before, "" for that which is open
	look   string            // what the page is kept as that is looked at before, "" for none
	fields map[string]string // what is put into fields before
	press  chromedp.CSS
	says   string // what the next page says
	status int64  // 0 for 200
}

// press presses one after the other.
func (b *browser) press(t *testing.T, list []pressing) {
	t.Helper()
	for _, p := range list {
		if p.page != "" {
			b.visit(t, p.page)
		}
		if p.look != "" {
			b.inspect(t, p.look)
		}
		t.Logf("press %s", p.press)
		b.fill(t, p.fields)
		b.answered(t, p.press, max(p.status, http.StatusOK))
		b.says(t, p.says)
	}
}

// submit is the button of the form of that address.
func submit(action string) chromedp.CSS { return chromedp.CSS(`form[action="` + action + `"] button`) }

// The owner presses what the pages have: how a feed is followed, filters, people, passwords, receivers, trackers and
// searches, and what takes back each that can be taken back.
func TestBrowserPressesWhatTheOwnerHas(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	harbor := p.publish("/harbor.xml", "Harbor News", "A storm at sea", "Low tide", "High tide, high tide")
	n.feedex(t, "subscribe", harbor)
	n.feedex(t, "subscribe", p.publish("/kitchen.xml", "Kitchen Notes", "A stubborn sourdough")+"?key=0123456789abcdef")
	o := n.observer(t)
	o.expect(t, map[string]string{"A storm at sea": "unread", "Low tide": "unread", "High tide, high tide": "unread"})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Two feeds</title>`)
		for _, name := range []string{"news", "notes"} {
			fmt.Fprintf(w, `<link rel="alternate" type="application/rss+xml" title="The %s" href="%s">`, name,
				p.publish("/"+name+".xml", "The "+name))
		}
	}))
	t.Cleanup(site.Close)
	b := openBrowser(t, n)
	b.visit(t, "/login")
	b.fill(t, map[string]string{"#password": o.password})
	b.click(t, submit("/login"))

	const keep, giveLabel = `form[action="/filters"] p > button:not([name])`, `form.row[action="/label"] button`
	how := map[string]string{"#name": "The harbor", "#folders": "News\nSea", "#weight": "5", "#policy": "fixed",
		"#value": "2h", "#age": "30", "#count": "100", "#size": "1.5", "#how [name=pictures]": "on",
		"#how [name=fulltext]": "", "#how [name=discreet]": "on", "#sharing": "stars", "#how [name=private]": ""}
	b.press(t, []pressing{
		{page: "/feeds/1", fields: how, press: "#how > p > button", says: "no: it is followed discreetly"},
		{fields: map[string]string{"#value": "soon"}, press: "#how > p > button", says: "Nothing was changed",
			status: http.StatusUnprocessableEntity},
	})
	b.inspect(t, "feed-wrong")
	b.visit(t, "/feeds/1")
	const holds = `(() => { const f = document.querySelector('%s');
		return f.type === 'checkbox' ? f.checked ? 'on' : '' : f.value.split('\n').sort().join('\n'); })()`
	for field, want := range how {
		if got := b.evaluate(t, fmt.Sprintf(holds, field)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	b.press(t, []pressing{
		{fields: map[string]string{"#how [name=discreet]": "", "#how [name=private]": "on", "#sharing": "labels"},
			press: "#how > p > button", says: "Saved."},
		{page: "/entries?feed=1", press: `button[formaction="/refresh"]`, says: "may be polled again from"},
		{page: "/feeds/1", press: submit("/unfollow"), says: "Unfollowed The harbor. Its entries stay."},
		{press: submit("/undo"), says: "The harbor"},
		{page: "/settings", press: `form[action="/unfollow"]:has([value="1"]) button`, says: "Unfollowed The harbor"},
		{press: submit("/undo"), says: "The harbor"},
		{page: "/feeds/2", look: "undecided", press: `form[action="/share"] button[value=private]`, says: "no:"},
		{fields: map[string]string{"#how [name=private]": ""}, press: "#how > p > button", says: "Saved."},
		{page: "/feeds", fields: map[string]string{"#q": "kitchen", "#order": "next"},
			press: `form[action="/feeds"] button`, says: "Kitchen Notes"},
		{page: "/settings", fields: map[string]string{"#url": site.URL, "#url-unread": "all"}, press: submit("/follow"),
			says: "is followed"},
		{page: "/feeds/3", look: "choose",
			press: `form[action="/follow"]:has([value$="/notes.xml"]) button`, says: "The notes"},

		{page: "/filters", fields: map[string]string{"#words": "storm", "#name": "Storms", "#rule": "star"},
			press: keep, says: "Storms is kept"},
		{fields: map[string]string{"#words": "tide", "#name": "Tides", "#folder": "Sea"},
			press: keep, says: "tide"},
		{fields: map[string]string{"#words": "walrus"}, press: `form[action="/filters"] button[name=try]`,
			says: "Nothing that fits was published"},
		{page: "/filters", press: `form[action="/filters/change"] button[value=up]`, says: "Tides"},
		{press: "button[value=act]", says: "The rule of Storms acted on what it has caught."},
		{press: "button[value=back]", says: "What the rule of Storms did is taken back."},
		{press: `a[href^="/filters?edit=1"]`, says: "Change a filter"},
		{fields: map[string]string{"#name": "Gales"}, press: keep,
			says: "Gales"},
		{press: `form:has([name=id][value="1"]) button[value=remove]`, says: "Gales is removed."},
		{press: submit("/undo"), says: "Gales"},

		{page: "/filters", fields: map[string]string{"#words": "walrus", "#name": "Morses", "#rule": "label",
			"#label": "at sea"}, press: keep, says: "label at sea"},
		{look: "filters-label", press: `a[href^="/filters?edit="]`, says: "Change a filter"},
		{page: "/search?q=low", press: ".list h3 a", says: "Label it"},
		{fields: map[string]string{"#label": "Gales"}, press: giveLabel, says: "choose another name",
			status: http.StatusBadRequest},
		{page: "/search?q=low", press: ".list h3 a", says: "Label it"},
		{fields: map[string]string{"#label": "recipes"}, press: giveLabel, says: "Take away"},
		{fields: map[string]string{"#label": "a name of a label that is so long that no telephone shows all of it"},
			press: giveLabel, says: "Take away"},
		{look: "entry-labelled", press: "a.tag[href*='label=2']", says: "Low tide"},
		{look: "labelled", press: ".rail a[href*='label=3']", says: "Low tide"},
		{page: "/entries?show=all", look: "entries-labelled", press: ".rows a.tag", says: "Low tide"},
		{page: "/search?q=low", press: ".list h3 a", says: "Label it"},
		{press: "form.meta[action='/label'] button", says: "recipes"},
		{press: "form.meta[action='/label'] button", says: "Label it"},

		{page: "/settings", fields: map[string]string{"#someone": "Ann"}, press: submit("/people"),
			says: "Ann reads here now."},
		{fields: map[string]string{"#name": "ann-phone", "#person": "Ann"}, press: submit("/passwords"),
			says: "It is for\nAnn"},
		{page: "/settings", press: `form[action="/passwords/remove"]:has([value=ann-phone]) button`,
			says: "The password ann-phone is removed."},
		{press: submit("/undo"), look: "removed", says: "ann-phone"},
		{press: `form[action="/people/2"] button`, says: "Remove Ann?"},
		{press: submit("/people/remove"), says: "Ann is removed, and all that was theirs."},
		{look: "person-removed", press: submit("/undo"), says: "Ann"},
		{page: "/neighbors", fields: map[string]string{"#address": "home.example:7790"},
			press: `form[action="/neighbors#own"] button`, look: "address", says: "feedex://home.example:7790/?key="},
		{page: "/", press: `form[action="/dht"] button[value=off]`, says: "The node does not find neighbors by"},
		{page: "/settings", fields: map[string]string{"#source": site.URL + "/"}, press: submit("/sources"),
			says: site.URL + "/ was taken for a tracker"},
		{page: "/settings", press: submit("/sources/remove"), says: "is asked no more."},
		{press: submit("/undo"), says: site.Listener.Addr().String()},
		{page: "/settings", fields: map[string]string{"#text": "larger"}, press: submit("/look"),
			says: "How these pages look"},

		{page: "/notifications", fields: map[string]string{"#name": "hook", "#kind": "webhook", "#address": site.URL,
			"[name=local]": "on"}, press: `form[action="/notifications"] p > button`, says: "hook is added."},
		{press: submit("/notifications/try"), says: "hook has taken the message."},
		{press: submit("/notifications/remove"), says: "hook is removed."},
		{press: submit("/undo"), says: "hook"},

		{page: "/search", fields: map[string]string{"#q": "tide", "#since": "2020-01-01", "[name=sort]": "on"},
			press: `form[action="/search"] button`, says: "High tide"},
		{fields: map[string]string{"#until": "2021-01-01"}, press: `form[action="/search"] button`,
			says: "nothing that fits"},
		{fields: map[string]string{"[name=network]": "on"}, press: `form[action="/search"] button`,
			says: "From the network"},
		{page: "/search?q=tide", press: "a.button[href^='/filters']", says: "Keep a search"},
		{page: "/entries?show=all&q=tide", press: "a[href*='sort=relevance']", says: "High tide"},
		{page: "/entries", press: submit("/read"), says: "Marked 4 entries read."},
		{look: "all-read", press: submit("/undo"), says: "Unread (4)"},
	})
	if got := b.evaluate(t, "document.documentElement.dataset.text"); got != "larger" {
		t.Errorf("the text is %q", got)
	}
	if got := n.feedex(t, "feeds"); !strings.Contains(got, harbor) || !strings.Contains(got, "/notes.xml") ||
		strings.Contains(got, site.URL) {
		t.Errorf("feedex feeds:\n%s", got)
	}

	// On a phone folders and feeds are in a drawer; keys go on from an entry to the next, and to the pages.
	b.look(t, 390, "light")
	b.visit(t, "/entries?show=all")
	const broken = `[...document.querySelectorAll('header nav a, main .tabs a')].filter(a => {
		const text = document.createRange();
		text.selectNodeContents(a);
		const right = e => Math.round(e.getBoundingClientRect().right);
		return text.getClientRects().length > 1 || right(a) > right(a.closest('ul'));
	}).map(a => a.textContent).join()`
	if got := b.evaluate(t, broken); got != "" {
		t.Errorf("with large text %s are broken, or cut off", got)
	}
	const drawer = "String(document.querySelector('.rail nav').checkVisibility())"
	if b.evaluate(t, drawer) != "false" {
		t.Error("the drawer is open")
	}
	b.do(t, chromedp.Click(chromedp.CSS(".rail summary")))
	if b.evaluate(t, drawer) != "true" {
		t.Error("the drawer does not open")
	}
	b.click(t, `.rail a[href*="feed=1"]`)
	b.says(t, "About this feed")
	b.do(t, chromedp.KeyEvent("j"))
	for _, step := range []struct{ keys, says string }{{"p", "High tide, high tide"}, {"j", "Low tide"},
		{"k", "High tide, high tide"}, {"gh", "What feedex did for you"}, {"gn", "Neighbors"}, {"gf", "Feeds"},
		{"ge", "Entries"}} {
		b.keys(t, step.keys)
		b.says(t, step.says)
	}
}

// A feed reader's password, shown at the pages, opens what there is to read and says in words what it does not open.
func TestBrowserWithAReadersPassword(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	n.feedex(t, "subscribe", p.publish("/harbor.xml", "Harbor News", "Low tide"))
	o := n.observer(t)
	o.expect(t, map[string]string{"Low tide": "unread"})
	b := openBrowser(t, n)
	b.visit(t, "/login")
	b.fill(t, map[string]string{"#password": n.passwordFor(t, "phone")})
	b.click(t, submit("/login"))
	b.do(t, chromedp.Click(chromedp.CSS(`.rows form[action="/mark"] button[value=read]`)))
	o.expect(t, map[string]string{"Low tide": "read"})
	for _, path := range []string{"/neighbors", "/filters", "/notifications", "/join", "/people/1"} {
		b.excused = append(b.excused, "a status of 403")
		b.visit(t, path)
		b.says(t, "This is the owner’s", "It is open to whoever logs in with an owner’s password.")
	}
	b.inspect(t, "owners")
	b.visit(t, "/settings")
	b.says(t, "What the node does, and who reads here, its owner settles.")
	for _, never := range []string{"Make a password", "DHT", "Add a person"} {
		if strings.Contains(b.text(t), never) {
			t.Errorf("with a reader's password there is %q", never)
		}
	}
}

// What a phone's reader unfollows is said on the page of feeds, of the owner and of another person, and followed again.
func TestBrowserShowsWhatReadersUnfollowed(t *testing.T) {
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	for _, name := range []string{"Harbor", "Kitchen", "Ferries"} {
		n.feedex(t, "subscribe", p.publish("/"+name+".xml", name+" News", "About the "+name))
	}
	n.feedex(t, "person", "add", "Ann")
	for _, c := range []struct{ phone, opens, look string }{
		{n.passwordFor(t, "ann-phone", "--person", "Ann"), n.passwordFor(t, "ann", "--person", "Ann", "--owner"),
			"anns"},
		{n.passwordFor(t, "phone"), n.passwordFor(t, "laptop", "--owner"), "owners"},
	} {
		for _, id := range []string{"1", "2"} {
			if status, text := ask(t, "DELETE", n.url("/v1/feeds/"+id), "", "X-Auth-Token", c.phone); status != 204 {
				t.Fatalf("%d %s", status, text)
			}
		}
		if status, text := ask(t, "GET", n.url("/v1/feeds"), "", "X-Auth-Token", c.phone); status != 200 ||
			strings.Contains(text, "Harbor") || !strings.Contains(text, "Ferries") {
			t.Errorf("%d %s", status, text)
		}
		b := openBrowser(t, n)
		b.visit(t, "/login?next=/feeds")
		b.press(t, []pressing{
			{fields: map[string]string{"#password": c.opens}, press: submit("/login"),
				says: "phone unfollowed 2 feeds"},
			{look: c.look + "-unfollowed", press: submit("/unfollowed"), says: "You follow 2 feeds again."},
		})
		b.says(t, "Harbor News", "Kitchen News", "Ferries News")
	}
}

// What two neighbors follow, who read what the owner reads, is suggested, declined and followed, each until it is taken
// back.
func TestBrowserIsSuggestedFeeds(t *testing.T) {
	needBrowser(t)
	p := startPublisher(t)
	harbor, ferries := p.publish("/harbor.xml", "Harbor News", "Low tide"), p.publish("/ferries.xml", "Ferries", "Late")
	n := startNode(t, t.TempDir(), "--allow-private", "--poll", "1s", "--subscribe", harbor)
	for range 2 {
		startNode(t, t.TempDir(), "--allow-private", "--poll", "1s", "--subscribe", harbor, "--subscribe", ferries,
			"--peer", n.listen)
	}
	b := openBrowser(t, n)
	eventually(t, func() string {
		b.visit(t, "/recommended")
		if shown := b.text(t); !strings.Contains(shown, ferries) && !strings.Contains(shown, "Ferries") {
			return shown
		}
		return ""
	})
	b.inspect(t, "suggested")
	b.press(t, []pressing{
		{press: submit("/decline"), says: "is suggested no more."},
		{press: submit("/undo"), says: "Not for me"},
		{press: submit("/follow"), says: "is followed."},
		{press: submit("/undo"), says: "There is nothing to suggest"}, // as of whatever was followed once
	})
	if got := n.feedex(t, "feeds"); strings.Contains(got, ferries) {
		t.Errorf("feedex feeds:\n%s", got)
	}
}

// No form of the pages is left that no test presses.
func TestEveryFormIsPressed(t *testing.T) {
	forms := regexp.MustCompile(`action="(/[a-z/]*)`)
	names := func(pattern string) (text string) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			part, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text += string(part)
		}
		return text
	}
	tests := names("*_test.go")
	var seen []string
	for _, m := range forms.FindAllStringSubmatch(names("../web/templates/*.html"), -1) {
		if slices.Contains(seen, m[1]) {
			continue
		}
		seen = append(seen, m[1])
		if !strings.Contains(tests, `action="`+m[1]) && !strings.Contains(tests, `submit("`+m[1]+`")`) {
			t.Errorf("no test presses the form of %s", m[1])
		}
	}
}
