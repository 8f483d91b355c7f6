package daemon

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/polling"
	"feedex/reading"
)

// A visitor is a person's browser at a node's pages.
type visitor struct {
	t    *testing.T
	base string
	http.Client
}

func newVisitor(t *testing.T, n *testNode) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, base: "http://" + n.at.Reader, Client: http.Client{Jar: jar, Transport: &http.Transport{}}}
	t.Cleanup(v.CloseIdleConnections)
	return v
}

// page is the body of a page.
func (v *visitor) page(path string) string {
	v.t.Helper()
	resp, err := v.Get(v.base + path)
	return v.read(path, resp, err)
}

func (v *visitor) read(path string, resp *http.Response, err error) string {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %s, %v\n%s", path, resp.Status, err, text)
	}
	return html.UnescapeString(string(text))
}

var formToken = regexp.MustCompile(`name="token" value="([0-9a-f]+)"`)

// send sends a form that is on a page, and returns the page that it leads to.
func (v *visitor) send(page, path string, form url.Values) string {
	v.t.Helper()
	found := formToken.FindStringSubmatch(v.page(page))
	if found == nil {
		v.t.Fatalf("%s has no form", page)
	}
	form.Set("token", found[1])
	resp, err := v.PostForm(v.base+path, form)
	return v.read(path, resp, err)
}

// want fails unless the page shows all of these.
func (v *visitor) want(path string, texts ...string) {
	v.t.Helper()
	page := v.page(path)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			v.t.Errorf("%s lacks %q:\n%s", path, text, page)
		}
	}
}

// A person opens a new node's address, follows a feed there and sees everything about it on the pages.
func TestDashboard(t *testing.T) {
	f := startFeed(t, "Harbor", "Lighthouse")
	n := startNode(t, Config{})
	v := newVisitor(t, n)
	v.want("/", "Read feeds together")
	if page := v.send("/", "/follow", url.Values{"url": {string(f.url)}}); !strings.Contains(page, " is followed.") {
		t.Errorf("following leads to\n%s", page)
	}
	a := n.waitArrival(f.url)
	v.want("/", "2</strong> unread", "nothing new came of the feed that you follow", "by own polls", "2 entries")
	v.want("/?period=day", "nothing new came")
	found := regexp.MustCompile(`href="/feeds/([0-9]+)"`).FindStringSubmatch(v.page("/feeds"))
	if found == nil {
		t.Fatalf("the feed is not listed:\n%s", v.page("/feeds"))
	}
	number := found[1]
	v.want("/feeds", string(f.url)[len("http://"):])
	v.want("/feeds/"+number, "An own poll brought “<bdi>Harbor</bdi>”", "a document of", "Lighthouse",
		"polled about every 1\u00a0h")
	v.want("/entries", "Harbor", "Lighthouse")
	v.want("/entries?q=harbor", "Harbor")
	v.want("/entries/"+a.Records[0].ID.String(), a.Records[0].Entry.Title, "An own poll brought it")
	v.want("/neighbors", "no neighbors at present")
	v.want("/search?q=harbor", "Harbor")
	v.want("/search?q=nothing&network=1&wait=1", "This node has nothing that fits.", "Nobody was asked")
	v.want("/settings", "feedex password add --owner NAME")

	secret := n.password("laptop", "", reading.OwnerScope)
	if page := v.send("/login", "/login",
		url.Values{"password": {secret}, "next": {"/settings"}}); !strings.Contains(page, "Log out laptop") {
		t.Errorf("logging in leads to\n%s", page)
	}
	page := v.send("/settings", "/passwords", url.Values{"name": {"phone"}})
	if found := regexp.MustCompile(`<code>([0-9a-f]{32})</code>`).FindStringSubmatch(page); found == nil {
		t.Errorf("a new password is not shown:\n%s", page)
	}
	resp, err := v.PostForm(v.base+"/passwords", url.Values{"name": {"phone"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("without a token: %s", resp.Status)
	}
	token := formToken.FindStringSubmatch(v.page("/settings"))[1]
	if resp, err = v.PostForm(v.base+"/passwords/remove", url.Values{"name": {"none"}, "token": {token}}); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("removing a password that there is not: %s", resp.Status)
	}
	v.send("/feeds/"+number, "/adjust", url.Values{"feed": {number}, "name": {"My harbor"}, "folders": {"Coast"},
		"weight": {"7"}, "policy": {"fixed"}, "value": {"1d"}, "count": {"50"}})
	adjusted := []string{`value="My harbor"`, "Coast</textarea>", `value="7"`, `value="1d"`, `name="count" value="50"`}
	v.want("/feeds/"+number, adjusted...)

	page = v.send("/settings", "/unfollow", url.Values{"feed": {number}})
	undo := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(page)
	if undo == nil || !strings.Contains(page, "Unfollowed My harbor") {
		t.Fatalf("unfollowing leads to\n%s", page)
	}
	v.want("/feeds/"+number, "no longer followed")
	v.want("/entries?show=all&feed="+number, "Lighthouse")
	if page := v.page("/entries?show=all"); strings.Contains(page, "Lighthouse") {
		t.Errorf("what was unfollowed is listed:\n%s", page)
	}
	v.send("/settings", "/undo", url.Values{"undo": {undo[1]}})
	v.want("/feeds/"+number, adjusted...)
}

// Who follows feeds on the pages chooses how much of what their first polls bring is unread.
func TestBacklogIsChosen(t *testing.T) {
	var titles []string
	for i := range archive.FirstUnread + 5 {
		titles = append(titles, fmt.Sprint("Title ", i))
	}
	usual, some, whole := startFeed(t, titles...), startFeed(t, titles...), startFeed(t, titles...)
	n := startNode(t, Config{})
	v := newVisitor(t, n)
	if page := v.page("/settings"); strings.Count(page,
		fmt.Sprintf(`name="unread" list="backlogs" value="%d"`, archive.FirstUnread)) != 2 {
		t.Errorf("a form has no field for it:\n%s", page)
	}
	v.send("/settings", "/follow", url.Values{"url": {string(usual.url)}})
	v.send("/settings", "/follow", url.Values{"url": {string(whole.url)}, "unread": {"all"}})
	list := []opml.Outline{{URL: some.url}}
	if _, err := Follow(t.Context(), n.client, list, 3, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if err := n.client.FirstPolls(t.Context(), []feed.URL{some.url}, func(int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	v.want("/", fmt.Sprint(archive.FirstUnread+3+len(titles), "</strong> unread"))
}

// The page of a feed shows that a neighbor polled it.
func TestThePageOfAFeedShowsPollsByOthers(t *testing.T) {
	f := startFeed(t, "Harbor")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	n.waitArrival(f.url)
	startNode(t, Config{Subscribe: []feed.URL{f.url}, Node: node.Config{Peers: []string{n.at.Listen},
		Policy: polling.Fixed{Every: time.Second}}})
	v := newVisitor(t, n)
	var page string
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		if page = v.page("/feeds/1"); strings.Contains(page, "It heard of 1 poll by other nodes.") {
			v.want("/feeds/1", "Another node polled it", "among 2 nodes somebody looks about every")
			return
		}
	}
	t.Errorf("nobody's poll is shown:\n%s", page)
}

// An attacker with a copy of a session's cookies has nothing of them after the logout, nor when the node was restarted
// since.
func TestALogoutEndsCopiesOfItsCookies(t *testing.T) {
	data := t.TempDir()
	n := startNode(t, Config{Data: data})
	secret := n.password("laptop", "", reading.OwnerScope)
	v, thief := newVisitor(t, n), newVisitor(t, n)
	v.send("/login", "/login", url.Values{"password": {secret}})
	at, err := url.Parse(v.base)
	if err != nil {
		t.Fatal(err)
	}
	stolen := v.Jar.Cookies(at)
	thief.Jar.SetCookies(at, stolen)
	thief.want("/settings", "Log out laptop")
	v.send("/settings", "/logout", url.Values{})
	for _, when := range []string{"after the logout", "after a restart"} {
		for _, who := range []*visitor{v, thief} {
			if page := who.page("/settings"); strings.Contains(page, "Log out") {
				t.Errorf("%s somebody is logged in still:\n%s", when, page)
			}
		}
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
		n = startNode(t, Config{Data: data})
		thief.base, v.base = "http://"+n.at.Reader, "http://"+n.at.Reader // cookies do not tell ports apart
		thief.Jar.SetCookies(at, stolen)
	}
}
