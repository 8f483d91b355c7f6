package daemon

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/fetch"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
)

// article is a page with more text than a feed has of it.
const article = `<!doctype html><title>Ferry</title><nav><a href="/">Home</a></nav><article><p>The ferry to the island was
late again, for the third time in a week, and nobody could say for how long, as zeppelins were on the radar.</p><p>Its
captain, who has sailed the route for thirty years, said that the engine had been repaired twice, and that a third time,
in her words, would be one too many.</p><script>alert(1)</script></article>`

// A press is a publisher whose feed has an opening of each page.
type press struct {
	url   feed.URL
	mu    sync.Mutex
	asked map[string]int // how often, by path
	agent string
}

// startPress starts one. Its pages were published just now, or long ago where they are called "old".
func startPress(t *testing.T, pages map[string]http.HandlerFunc) *press {
	t.Helper()
	p := &press{asked: make(map[string]int)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked[r.URL.Path]++
		p.agent = r.UserAgent()
		p.mu.Unlock()
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		if r.URL.Path != "/feed" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Coast</title>`)
		for path := range pages {
			at := time.Now().Add(-time.Minute)
			if path == "/old" {
				at = at.Add(-100 * time.Hour)
			}
			fmt.Fprintf(w, `<entry><id>%s</id><title>%[1]s</title><link href="%[1]s"/><published>%s</published>`+
				`<summary>An opening of %[1]s.</summary></entry>`, path, at.Format(time.RFC3339))
		}
		fmt.Fprint(w, `</feed>`)
	}))
	t.Cleanup(srv.Close)
	p.url = feed.URL(srv.URL + "/feed")
	return p
}

func (p *press) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// ids are those of the entries that a node has of the press, by the paths of their pages.
func (p *press) ids(n *testNode) map[string]feed.EntryID {
	n.t.Helper()
	n.waitArrival(p.url)
	records, err := n.client.Search(n.t.Context(), feed.Filter{Feed: p.url, Limit: 100})
	if err != nil {
		n.t.Fatal(err)
	}
	ids := make(map[string]feed.EntryID)
	for _, r := range records {
		ids[r.Entry.Title] = r.ID
	}
	return ids
}

// press presses the button that has the full text of an entry shown, or the feed's own.
func (v *visitor) press(id feed.EntryID, as string) string {
	v.t.Helper()
	path := "/entries/" + id.String()
	return v.send(path, "/fulltext", url.Values{"entry": {id.String()}, "next": {path}, "as": {as}})
}

// At a button a page is asked for, once; the article is read wherever people read, and nobody else has any of it.
func TestFullTextOnRequest(t *testing.T) {
	p := startPress(t, map[string]http.HandlerFunc{"/ferry": content("text/html", article)})
	n := startNode(t, Config{Subscribe: []feed.URL{p.url}})
	v := newVisitor(t, n)
	id := p.ids(n)["/ferry"]
	document := "/feed/" + string(p.url)
	before := v.page(document)
	if page := v.press(id, "page"); !strings.Contains(page, "on the radar") ||
		!strings.Contains(page, "This is the full text") || strings.Contains(page, "alert(1)") {
		t.Fatalf("the page is\n%s", page)
	}
	if after := v.page(document); strings.Contains(before, "radar") || !strings.Contains(after, "on the radar") {
		t.Errorf("the document for readers is\n%s", after)
	}
	if page := v.press(id, "feed"); !strings.Contains(page, "An opening") || strings.Contains(page, "radar") {
		t.Errorf("the feed's own text is\n%s", page)
	}
	v.press(id, "page")
	if got := p.count("/ferry"); got != 1 {
		t.Errorf("the page was asked for %d times", got)
	}

	// Others are given the entry as its feed has it, and find nothing by words that the page alone has.
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: p.url})
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	b := n.given(protocol.GetEntries{Wanted: []protocol.Wanted{{ID: id, Digest: records[0].Digest}}})
	if len(b.Entries) != 1 || b.Entries[0].Entry.Content != "" ||
		b.Entries[0].Entry.Summary != "An opening of /ferry." {
		t.Errorf("a stranger was given %+v", b)
	}
	for word, want := range map[string]int{"zeppelins": 0, "opening": 1} {
		found, err := n.client.Search(t.Context(), feed.Filter{Words: []string{word}})
		if err != nil || len(found) != want {
			t.Errorf("%q finds %d, %v", word, len(found), err)
		}
	}
}

// What was had is not lost when its page is gone: it is shown again without a request, and stays where it is asked for.
func TestFullTextOfAPageThatIsGone(t *testing.T) {
	var gone atomic.Bool
	p := startPress(t, map[string]http.HandlerFunc{"/ferry": func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			http.NotFound(w, r)
			return
		}
		content("text/html", article)(w, r)
	}})
	n := startNode(t, Config{Subscribe: []feed.URL{p.url}, textHolds: time.Nanosecond})
	v := newVisitor(t, n)
	id := p.ids(n)["/ferry"]
	v.press(id, "page")
	gone.Store(true)
	v.press(id, "feed")
	for _, want := range []int{1, 2, 2} { // it is there to be shown; it is asked for anew, and not again soon
		if page := v.press(id, "page"); !strings.Contains(page, "on the radar") || p.count("/ferry") != want {
			t.Errorf("asked for %d times, want %d; the page is\n%s", p.count("/ferry"), want, page)
		}
	}

	// What a clock says that was ahead does not keep it from being asked for.
	for _, text := range []reading.FullText{{Again: time.Now().AddDate(10, 0, 0)}, {At: time.Now().AddDate(10, 0, 0)}} {
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
		text.Item, text.HTML, text.Shown = 1, "<p>on the radar", true
		d := ondisk.MustOpen(t, DatabasePath(n.data))
		d.KeepFullText(text)
		if err := errors.Join(d.Commit(), d.Close()); err != nil {
			t.Fatal(err)
		}
		n = startNode(t, Config{Data: n.data, textHolds: time.Hour})
		before := p.count("/ferry")
		if newVisitor(t, n).press(id, "page"); p.count("/ferry") != before+1 {
			t.Errorf("with %+v it is asked for %d times", text, p.count("/ferry")-before)
		}
	}
}

// Where there is no full text the page says why, and shows what the feed has.
func TestFullTextThatCannotBeHad(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	inside := 0
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has no second loopback address, run it on Linux: %v", err)
	}
	private.Listener.Close()
	private.Listener = ln
	private.Start()
	t.Cleanup(private.Close)

	tests := map[string]struct {
		page http.HandlerFunc
		want string
	}{
		"/gone": {http.NotFound, "HTTP 404: the page is not there"},
		"/paywall": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPaymentRequired)
		}, "HTTP 402: the page is for who has an account there"},
		"/teaser":  {content("text/html", "<p>Log in, all."), "no more text than the feed"},
		"/picture": {content("image/png", pngIcon), "what is there is no web page"},
		"/deep":    {content("text/html", strings.Repeat("<div>", 100_000)), "the page is too large"},
		"/large": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			for range 50 {
				if _, err := w.Write(bytes.Repeat([]byte("text "), 200_000)); err != nil {
					return
				}
			}
		}, "too large"},
		"/bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, "too large"},
		"/inside": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, private.URL+"/secret", http.StatusFound)
		}, "private_host permits it where it names both 127.0.0.1 and 127.0.0.2"},
	}
	pages := make(map[string]http.HandlerFunc)
	for path, test := range tests {
		pages[path] = test.page
	}
	p := startPress(t, pages)
	n := startNodeAt(t, Config{Subscribe: []feed.URL{p.url}, Listen: ListenNone, Reader: "127.0.0.1:0",
		Node: node.Config{PrivateHosts: []string{"127.0.0.1"}}})
	v := newVisitor(t, n)
	for path, id := range p.ids(n) {
		page := v.press(id, "page")
		asked := p.count(path)
		if again := v.press(id, "page"); !strings.Contains(again, tests[path].want) || p.count(path) != asked {
			t.Errorf("%s: a second press asks again, or shows\n%s", path, again)
		}
		if !strings.Contains(page, tests[path].want) || !strings.Contains(page, "An opening of "+path) {
			t.Errorf("%s: want %q in\n%s", path, tests[path].want, page)
		}
	}
	if inside != 0 {
		t.Error("a page led into a private network")
	}
}

// Of a feed whose owner wants that the full text of what is new is fetched, of nothing else, and each once.
func TestFullTextsOfAFeed(t *testing.T) {
	p := startPress(t, map[string]http.HandlerFunc{"/a": content("text/html", article),
		"/b": content("text/html", article), "/gone": http.NotFound, "/old": content("text/html", article)})
	n := startNode(t, Config{Subscribe: []feed.URL{p.url}, textPause: time.Millisecond})
	v := newVisitor(t, n)
	ids := p.ids(n)
	if got := p.count("/a"); got != 0 {
		t.Errorf("nobody wants it, and %d asked", got)
	}
	if err := n.client.Arrange(t.Context(), []reading.Arrangement{{URL: p.url, FullText: new(true)}}); err != nil {
		t.Fatal(err)
	}
	if feeds, err := n.client.Feeds(t.Context()); err != nil || len(feeds) != 1 || !feeds[0].FullText {
		t.Errorf("the list of feeds is %+v, %v", feeds, err)
	}
	shown := func(path, text string) bool {
		return strings.Contains(v.page("/entries/"+ids[path].String()), text)
	}
	for end := time.Now().Add(patience); !shown("/a", "on the radar") || !shown("/b", "on the radar") ||
		!shown("/gone", "not there"); breathe() {
		if time.Now().After(end) {
			t.Fatalf("the full texts do not come: asked %v", p.asked)
		}
	}
	for path, want := range map[string]int{"/a": 1, "/b": 1, "/gone": 1, "/old": 0} {
		if got := p.count(path); got != want {
			t.Errorf("%s was asked for %d times, want %d", path, got, want)
		}
	}
	if !strings.HasPrefix(p.agent, "feedex") {
		t.Errorf("it calls itself %q", p.agent)
	}
}

// A rule has the full text fetched of what its filter catches, and of nothing else of the feed.
func TestFullTextsByRule(t *testing.T) {
	p := startPress(t, map[string]http.HandlerFunc{"/ferry": content("text/html", article),
		"/calm": content("text/html", article)})
	n := startNode(t, Config{textPause: time.Millisecond})
	n.keep(t, reading.FilterWish{Name: "Ferries", Words: "title:ferry", Rule: reading.RuleFull})
	if err := n.client.Subscribe(t.Context(), following(p.url)); err != nil {
		t.Fatal(err)
	}
	v, ids := newVisitor(t, n), p.ids(n)
	shown := func(path string) bool {
		return strings.Contains(v.page("/entries/"+ids[path].String()), "on the radar")
	}
	for end := time.Now().Add(patience); !shown("/ferry"); breathe() {
		if time.Now().After(end) {
			t.Fatalf("the full text does not come: asked %v", p.asked)
		}
	}
	if shown("/calm") || p.count("/calm") != 0 || p.count("/ferry") != 1 {
		t.Errorf("asked for are %v", p.asked)
	}
}

// A server in trouble is left alone, with all pages of the feed.
func TestFullTextsWaitForAServerInTrouble(t *testing.T) {
	trouble := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	p := startPress(t, map[string]http.HandlerFunc{"/a": trouble, "/b": trouble})
	n := startNode(t, Config{Subscribe: []feed.URL{p.url}, textPause: time.Millisecond})
	v, ids := newVisitor(t, n), p.ids(n)
	if err := n.client.Arrange(t.Context(), []reading.Arrangement{{URL: p.url, FullText: new(true)}}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); p.count("/a")+p.count("/b") == 0; breathe() {
		if time.Now().After(end) {
			t.Fatal("nobody asks")
		}
	}
	for range 20 {
		breathe()
	}
	if got := p.count("/a") + p.count("/b"); got != 1 {
		t.Errorf("asked %d times", got)
	}
	said := func() (n int) {
		for _, id := range ids {
			n += strings.Count(v.page("/entries/"+id.String()), "HTTP 503: the publisher")
		}
		return n
	}
	for end := time.Now().Add(patience); said() != 1; breathe() {
		if time.Now().After(end) {
			t.Fatalf("%d entries say that", said())
		}
	}
}

// Who waits for another page to be read is not said to be slow, and its own time begins then.
func TestFullTextsAreReadInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		texts := newFullTexts(t.Context(), &host{loop: new(loop)})
		page := &fetch.Resource{URL: "https://example.com/ferry", Type: "text/html", Body: []byte(article)}
		texts.parsing <- struct{}{}
		go func() {
			time.Sleep(parsingWait - time.Second)
			leavePlace(texts.parsing)
		}()
		if html, err := texts.article(page); err != nil || !strings.Contains(html, "radar") {
			t.Errorf("%v, %s", err, html)
		}
		texts.parsing <- struct{}{}
		if _, err := texts.article(page); !errors.Is(err, errBusy) {
			t.Errorf("behind one that never ends: %v", err)
		}
	})
}

// A host that takes its time holds up no full text of another feed.
func TestFullTextsOfASlowHost(t *testing.T) {
	held := make(chan struct{})
	defer close(held)
	hold := func(http.ResponseWriter, *http.Request) { <-held }
	slow := startPress(t, map[string]http.HandlerFunc{"/a": hold, "/b": hold})
	quick := startPress(t, map[string]http.HandlerFunc{"/a": content("text/html", article)})
	quick.url = feed.URL(strings.Replace(string(quick.url), "127.0.0.1", "localhost", 1))
	n := startNode(t, Config{Subscribe: []feed.URL{slow.url}, textPause: time.Millisecond})
	n.waitArrival(slow.url)
	wanted := func(u feed.URL) {
		t.Helper()
		if err := n.client.Arrange(t.Context(), []reading.Arrangement{{URL: u, FullText: new(true)}}); err != nil {
			t.Fatal(err)
		}
	}
	wanted(slow.url)
	wait := func(p *press) {
		t.Helper()
		for end := time.Now().Add(patience); p.count("/a")+p.count("/b") == 0; breathe() {
			if time.Now().After(end) {
				t.Fatalf("%s is asked for no page", p.url)
			}
		}
	}
	wait(slow)
	if err := n.client.Subscribe(t.Context(), node.Subscribe{Feeds: []feed.URL{quick.url}}); err != nil {
		t.Fatal(err)
	}
	n.waitArrival(quick.url)
	wanted(quick.url)
	wait(quick)
	if got := slow.count("/a") + slow.count("/b"); got != 1 {
		t.Errorf("meanwhile the slow host was asked for %d pages", got)
	}
}

// Of a feed that neighbors are not to know of no person but its owner has another site learn.
func TestFullTextsOfAPrivateFeed(t *testing.T) {
	asked := make(chan string, 9)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		content("text/html", article)(w, r)
	}))
	t.Cleanup(elsewhere.Close)
	away := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	p := startPress(t, map[string]http.HandlerFunc{"/here": content("text/html", article), away + "/away": nil,
		"/led": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, away+"/led", http.StatusFound) }})
	n := startNodeAt(t, Config{Subscribe: []feed.URL{p.url}, Listen: ListenNone, Reader: "127.0.0.1:0",
		Node: node.Config{PrivateHosts: []string{"127.0.0.1", "localhost"}}})
	wish := node.Subscribe{Feeds: []feed.URL{p.url}, Private: new(true)}
	if err := n.client.Subscribe(t.Context(), wish); err != nil {
		t.Fatal(err)
	}
	p.ids(n)
	secrets := make(map[string]string)
	if err := n.client.AddPerson(t.Context(), "Ann"); err != nil {
		t.Fatal(err)
	}
	for _, person := range []string{"", "Ann"} {
		secret := n.password("of"+person, person, reading.ReaderScope)
		secrets[person] = secret
	}
	call := func(person, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.at.Reader+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("of"+person, secrets[person])
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	_, list := call("", "/v1/entries?limit=9")
	var entries struct {
		Entries []struct {
			ID    int64
			Title string
		}
	}
	if err := json.Unmarshal([]byte(list), &entries); err != nil || len(entries.Entries) != 3 {
		t.Fatal(list, err)
	}
	for _, e := range entries.Entries {
		for _, person := range []string{"Ann", ""} {
			code, text := call(person, fmt.Sprintf("/v1/entries/%d/fetch-content", e.ID))
			may := person == "" || e.Title == "/here"
			if (code == http.StatusOK) != may || strings.Contains(text, "radar") != may ||
				strings.Contains(text, "on another site") == may {
				t.Errorf("%q asks for the page of %s: %d %s", person, e.Title, code, text)
			}
			if person == "Ann" && len(asked) > 0 {
				t.Errorf("another site was asked for %s", <-asked)
			}
		}
		for len(asked) > 0 {
			<-asked
		}
	}
}
