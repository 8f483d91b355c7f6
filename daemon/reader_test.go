package daemon

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/opml"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reader"
	"feedex/reading"
)

// A testLibrary is that of a host of which only the loop runs, with an archive on disk.
type testLibrary struct {
	*library
	door  entrance
	t     *testing.T
	store reading.Database
	path  string
	end   func()
}

// openLibrary opens the library in the file at path until the test ends. There is a feed at exampleFeed.
func openLibrary(t *testing.T, path string) *testLibrary {
	t.Helper()
	store := ondisk.MustOpen(t, path)
	c := Config{Data: filepath.Dir(path),
		Node: node.Config{AllowLocal: true, Policy: polling.Fixed{Every: time.Hour}}}
	c.Node.Secret = make([]byte, 32)
	keeping, err := store.Housekeeper()
	if err != nil {
		t.Fatal(err)
	}
	s := newSites()
	s.feeds[exampleFeed] = true
	h := newHost(c.withDefaults(), store, keeping, peers(friendly), s)
	if err := h.revive(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { h.loop.run(ctx) })
	end := sync.OnceFunc(func() {
		cancel()
		running.Wait()
		h.workers.Wait()
		if err := errors.Join(keeping.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return &testLibrary{h.libraryOf(reading.Owner), entrance{h}, t, store, path, end}
}

func newLibrary(t *testing.T) *testLibrary {
	return openLibrary(t, filepath.Join(t.TempDir(), "feedex.db"))
}

// reopen is the library of the same archive after the end of this one.
func (l *testLibrary) reopen() *testLibrary {
	l.end()
	return openLibrary(l.t, l.path)
}

// arrive has n entries of a feed arrive.
func (l *testLibrary) arrive(u feed.URL, n int) {
	l.t.Helper()
	_, err := chore(l.t.Context(), l.host.loop, func() (bool, error) {
		for i := range n {
			e := feed.Entry{Feed: u, ID: fmt.Sprint(i), Title: fmt.Sprint("title ", i)}
			l.store.Keep([]archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), protocol.NodeID{})})
		}
		return true, l.store.Commit()
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *testLibrary) wantSize(what string, s reading.Stream, want int) {
	l.t.Helper()
	if n, err := l.Size(l.t.Context(), s); err != nil || n != want {
		l.t.Errorf("%s: %d items, %v; want %d", what, n, err, want)
	}
}

var (
	unread  = reading.Stream{Read: reading.No}
	starred = reading.Stream{Starred: reading.Yes}
)

// Changes that a program makes are there when it has its answer, and after a restart.
func TestLibrary(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	id, err := l.Subscribe(ctx, exampleFeed)
	if err != nil || id == 0 {
		t.Fatalf("Subscribe = %d, %v", id, err)
	}
	if again, err := l.Subscribe(ctx, exampleFeed); again != id || err != nil {
		t.Errorf("Subscribe again = %d, %v", again, err)
	}
	const n = 2*markStep + 10
	l.arrive(exampleFeed, n)
	l.wantSize("unread", unread, n)
	title := " My\n title "
	for what, err := range map[string]error{
		"Mark": l.Mark(ctx, []reading.ItemID{1, 2, 3, 1 << 40}, reading.Mark{Starred: reading.Yes}),
		"MarkStream": l.MarkStream(ctx, reading.Stream{}.Before(time.Unix(n-11, 0)),
			reading.Mark{Read: reading.Yes}),
		"Arrange":         l.Arrange(ctx, reading.Arrangement{Feed: id, Name: &title, Into: []string{" A \n b"}}),
		"Arrange nothing": l.Arrange(ctx),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	folder, err := l.AddFolder(ctx, "A b")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.RenameFolder(ctx, folder, "C"); err != nil {
		t.Fatal(err)
	}
	secret, err := l.host.AddPassword(ctx, control.PasswordRequest{Name: "phone", Scope: reading.ReaderScope})
	if err != nil || len(secret) != 2*reading.SecretBytes {
		t.Fatalf("password %q, %v", secret, err)
	}

	l = l.reopen()
	l.wantSize("starred", starred, 3)
	l.wantSize("unread", unread, 10)
	list, err := l.Subscriptions(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "My title" ||
		!slices.Equal(list[0].Folders, []reading.Folder{{ID: folder, Name: "C"}}) {
		t.Errorf("Subscriptions = %+v, %v", list, err)
	}
	if err := l.host.write(ctx, func(d reading.Database) error { // by a clock that was ahead
		d.UsePassword("phone", time.Now().AddDate(10, 0, 0))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		password, fever, want string
	}{{secret, reading.FeverKey("phone", secret), "phone"}, {"", "", ""}, {"x", "x", ""}} {
		user, err1 := l.door.Visitor(ctx, c.password)
		fever, err2 := l.door.FeverVisitor(ctx, c.fever)
		if user.Name != c.want || fever.Name != c.want || err1 != nil || err2 != nil {
			t.Errorf("%q lets in %q and %q, %v, %v", c.password, user.Name, fever.Name, err1, err2)
		}
	}
	if known, err := l.store.Passwords(ctx); err != nil || len(known) != 1 || known[0].Used.Before(known[0].Created) ||
		known[0].Used.After(time.Now()) {
		t.Errorf("passwords are %+v, %v", known, err)
	}
	if err := errors.Join(l.RemoveFolder(ctx, folder), l.Unsubscribe(ctx, id), l.Unsubscribe(ctx, 99),
		l.host.RemovePassword(ctx, "phone")); err != nil {
		t.Error(err)
	}
	l.wantSize("after nothing is followed", reading.Stream{}, 0)
	if v, err := l.door.Visitor(ctx, secret); v.Name != "" || err != nil {
		t.Errorf("the password that was removed lets in %q, %v", v.Name, err)
	}
}

// A list is followed as it is titled and filed; once the publisher has named a feed so, that is no title of the
// owner's.
func TestLibraryImport(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	list := []opml.Outline{
		{URL: exampleFeed, Title: "Its own", Folder: []string{"A", " "}},
		{URL: "http://example.com/other", Title: "Another", Folder: []string{"A", "B"}},
		{URL: exampleFeed, Folder: []string{"C"}},
		{URL: "http://example.com/third"},
	}
	if err := l.Import(ctx, list); err != nil {
		t.Fatal(err)
	}
	list[1].Title, list[1].Folder = "changed", []string{"D"}
	if err := l.Import(ctx, list[1:2]); err != nil {
		t.Fatal(err)
	}
	_, err := chore(ctx, l.host.loop, func() (bool, error) {
		l.store.KeepFeed(archive.Feed{URL: exampleFeed, Title: "Its own", Subscribed: true})
		return true, l.store.Commit()
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	subscriptions, err := l.Subscriptions(ctx)
	for _, s := range subscriptions {
		var names []string
		for _, f := range s.Folders {
			names = append(names, f.Name)
		}
		got = append(got, fmt.Sprintf("%s %q %q", s.URL, s.Name, names))
	}
	want := []string{
		`http://example.com/feed "" ["A" "C"]`, `http://example.com/other "Another" ["A › B" "D"]`,
		`http://example.com/third "" []`,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("subscriptions are %q, %v; want %q", got, err, want)
	}
}

// Impossible requests are refused with a reason, and nothing of them is done.
func TestLibraryRefuses(t *testing.T) {
	l := newLibrary(t)
	ctx := t.Context()
	id, err := l.Subscribe(ctx, exampleFeed)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Arrange(ctx, reading.Arrangement{Feed: id, Into: []string{"A", " \n"}}); !errors.Is(err,
		reading.ErrName) {
		t.Errorf("a folder without a name: %v", err)
	}
	if _, err := l.AddFolder(ctx, ""); !errors.Is(err, reading.ErrName) {
		t.Errorf("a folder without a name: %v", err)
	}
	if folders, err := l.Folders(ctx); err != nil || len(folders) > 0 {
		t.Errorf("folders are %v, %v", folders, err)
	}
	var many []string
	for i := range reading.MaxFolders + 1 {
		many = append(many, fmt.Sprint(i))
	}
	if err := l.Arrange(ctx, reading.Arrangement{Feed: id, Into: many}); !errors.Is(err, reading.ErrFolders) {
		t.Errorf("too many folders: %v", err)
	}
	for _, name := range []string{"", "a b", "a:b", "ä", "a/b"} {
		if _, err := l.host.AddPassword(ctx, control.PasswordRequest{Name: name,
			Scope: reading.ReaderScope}); !errors.Is(err, reading.ErrName) {
			t.Errorf("a password named %q: %v", name, err)
		}
	}
	if err := l.host.RemovePassword(ctx, "phone"); !errors.Is(err, control.ErrNoPassword) {
		t.Errorf("a password that there is not: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.Mark(gone, []reading.ItemID{1}, reading.Mark{Read: reading.Yes}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that went away: %v", err)
	}
	if folder, err := l.AddFolder(ctx, "A"); err != nil || folder == 0 {
		t.Errorf("afterwards: %d, %v", folder, err)
	}
}

// A syncReader is a feed reader that keeps what is read at a node.
type syncReader struct {
	t      *testing.T
	node   *testNode
	secret string
}

// ask posts a form, or gets where there is none, and returns the answer.
func (r *syncReader) ask(path string, form url.Values) (status int, body string) {
	r.t.Helper()
	method, content := http.MethodGet, ""
	if form != nil {
		method, content = http.MethodPost, form.Encode()
	}
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.node.at.Reader+path,
		strings.NewReader(content))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "GoogleLogin auth="+r.secret)
	resp, err := http.DefaultClient.Do(request)
	return statusOf(r.t, resp, err)
}

func (r *syncReader) want(path string, form url.Values, want string) {
	r.t.Helper()
	if status, body := r.ask(path, form); status != http.StatusOK || !strings.Contains(body, want) {
		r.t.Errorf("%s: %d %s, want %s", path, status, body, want)
	}
}

// A reader logs in at a node, reads what arrived, marks, files and adds, and all of that is there after a restart. A
// program of another name at the same address is turned away.
func TestReaderSyncs(t *testing.T) {
	f := startFeed(t, "Storm over the bay", "Harbor reopens")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	n.waitArrival(f.url)
	secret := n.password("phone", "", reading.ReaderScope)
	const api, state = "/api/greader.php/reader/api/0/", "user/-/state/com.google/"
	r := &syncReader{t, n, "nobody's"}
	if status, _ := r.ask(api+"subscription/list", nil); status != http.StatusUnauthorized {
		t.Errorf("without a password: %d", status)
	}
	r.want("/accounts/ClientLogin", url.Values{"Email": {"phone"}, "Passwd": {secret}}, "\nAuth="+secret+"\n")
	r.secret = secret
	r.want(api+"stream/items/ids?s="+state+"reading-list&xt="+state+"read", nil, `{"itemRefs":[{"id":"2"},{"id":"1"}]}`)
	r.want(api+"stream/contents/feed/"+string(f.url), nil, `"title":"Harbor reopens"`)
	r.want(api+"edit-tag", url.Values{"i": {"1"}, "a": {state + "read", state + "starred"}}, "OK")
	r.want(api+"subscription/edit", url.Values{"ac": {"edit"}, "s": {"feed/" + string(f.url)},
		"t": {"The harbor"}, "a": {"user/-/label/Near"}}, "OK")
	other := startFeed(t, "Another")
	r.want(api+"subscription/quickadd", url.Values{"quickadd": {string(other.url)}}, `"numResults":1`)
	n.waitArrival(other.url)
	r.want(api+"mark-all-as-read", url.Values{"s": {"feed/" + string(other.url)}}, "OK")

	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	r.node = startNode(t, Config{Data: n.data})
	r.want(api+"stream/items/ids?s="+state+"reading-list&xt="+state+"read", nil, `{"itemRefs":[{"id":"2"}]}`)
	r.want(api+"stream/items/ids?s="+state+"starred", nil, `{"itemRefs":[{"id":"1"}]}`)
	r.want(api+"subscription/list", nil,
		`"title":"The harbor","categories":[{"id":"user/-/label/Near","label":"Near","type":"folder"}]`)
	r.want(api+"subscription/edit", url.Values{"ac": {"unsubscribe"}, "s": {"feed/" + string(other.url)}}, "OK")
	if feeds, err := r.node.client.Feeds(t.Context()); err != nil || len(feeds) != 2 ||
		feeds[0].Unfollowed == feeds[1].Unfollowed {
		t.Errorf("the node follows %+v, %v", feeds, err)
	}
	if err := r.node.client.RemovePassword(t.Context(), "phone"); err != nil {
		t.Fatal(err)
	}
	if status, _ := r.ask(api+"token", nil); status != http.StatusUnauthorized {
		t.Errorf("after the password was removed: %d", status)
	}
}

// A web page that gave itself a name for this machine learns nothing at the addresses of readers either.
func TestSyncUnderForeignName(t *testing.T) {
	n := startNode(t, Config{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://"+n.at.Reader+"/accounts/ClientLogin", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example.com"
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// While nothing can be stored marks are refused, and what is there is read.
func TestSyncWhileNothingCanBeStored(t *testing.T) {
	f := startFeed(t, "Storm over the bay")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	n.waitArrival(f.url)
	secret := n.password("phone", "", reading.ReaderScope)
	mend := ondisk.Break(t, DatabasePath(n.data))
	r := &syncReader{t, n, secret}
	const read = "user/-/state/com.google/read"
	mark := url.Values{"i": {"1"}, "a": {read}}
	if status, _ := r.ask("/reader/api/0/edit-tag", mark); status != http.StatusServiceUnavailable {
		t.Errorf("a mark that cannot be stored: %d", status)
	}
	r.want("/reader/api/0/stream/items/ids?xt="+read, nil, `{"itemRefs":[{"id":"1"}]}`)
	mend()
	r.want("/reader/api/0/edit-tag", mark, "OK")
	r.want("/reader/api/0/stream/items/ids?xt="+read, nil, `{"itemRefs":[]}`)
}

// Acknowledged marks are in the file, whatever becomes of the process.
func TestMarksAreDurableWhenAcknowledged(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	l.arrive(exampleFeed, 3)
	if err := l.Mark(t.Context(), []reading.ItemID{2}, reading.Mark{Starred: reading.Yes}); err != nil {
		t.Fatal(err)
	}
	other := ondisk.View(t, l.path) // as another process sees it
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n, err := other.Shelf(reading.Owner).Size(ctx, starred); err != nil || n != 1 {
		t.Errorf("%d items are starred, %v", n, err)
	}
}

// Marks of a reader, by whichever API, are on the disk when it has its answer; without a password none is.
func TestEachAPIMarks(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	l.arrive(exampleFeed, 6)
	secret, err := l.host.AddPassword(t.Context(), control.PasswordRequest{Name: "phone", Scope: reading.ReaderScope})
	if err != nil {
		t.Fatal(err)
	}
	login, basic := "GoogleLogin auth="+secret, "Basic "+base64.StdEncoding.EncodeToString([]byte("phone:"+secret))
	key := reading.FeverKey("phone", secret)
	for i, c := range []struct{ method, target, authorization, body string }{
		{"POST", "/reader/api/0/edit-tag", login, "i=1&a=user/-/state/com.google/read"},
		{"POST", "/api/greader.php/reader/api/0/edit-tag", login, "i=2&a=user/-/state/com.google/read"},
		{"POST", "/fever/?api", "", "mark=item&as=read&id=3&api_key=" + key},
		{"PUT", "//v1/entries", basic, `{"entry_ids":[4],"status":"read"}`},
		{"PUT", "/index.php/apps/news/api/v1-2/items/5/read", basic, `{}`},
	} {
		ask := func(authorization, body string) *httptest.ResponseRecorder {
			h := reader.New(reader.Config{Source: ownersArchive{l.store, l.Shelf}, Sync: l.host.syncAPIs()})
			r := httptest.NewRequest(c.method, "http://127.0.0.1:7791"+c.target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Authorization", authorization)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		ask("", strings.ReplaceAll(c.body, key, "x"))
		l.wantSize(c.target+" of nobody", unread, 6-i)
		if w := ask(c.authorization, c.body); w.Code != http.StatusOK && w.Code != http.StatusNoContent {
			t.Errorf("%s: %d, %s", c.target, w.Code, w.Body)
		}
		l = l.reopen()
		l.wantSize(c.target, unread, 5-i)
	}
}

type listenerAt struct {
	net.Listener
	ip string
}

func (l listenerAt) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip)} }

// Readers need no password where only this machine can connect, and one everywhere else.
func TestEntrance(t *testing.T) {
	for ip, open := range map[string]bool{"127.0.0.1": true, "127.0.0.53": true, "::1": true, "0.0.0.0": false,
		"::": false, "192.168.1.2": false, "": false} {
		if got := openAt(listenerAt{ip: ip})(new(http.Request)); got != open {
			t.Errorf("%q: everybody is let in: %v, want %v", ip, got, open)
		}
	}
}

// A client that comes by a web server in front of the loopback address may be anywhere, and needs a password.
func TestEntranceBehindAServer(t *testing.T) {
	n := startNode(t, Config{})
	v := newVisitor(t, n)
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{"/all.atom", "/opml", "/archive?q=a", "/", "/feeds", "/settings"} {
		for _, header := range []string{"", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
			"X-Real-Ip"} {
			r, err := http.NewRequest(http.MethodGet, v.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				// the visitor sent one that is empty, to which the server added its own
				r.Header[header] = []string{"", "192.0.2.1"}
			}
			resp, err := v.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			in := resp.StatusCode == http.StatusOK
			toLogin := resp.StatusCode == http.StatusUnauthorized ||
				strings.HasPrefix(resp.Header.Get("Location"), "/login?")
			if in != (header == "") || toLogin != (header != "") {
				t.Errorf("%s with %q: %s to %q", path, header, resp.Status, resp.Header.Get("Location"))
			}
		}
	}
}

// Nor is the proxy for those: some web servers pass requests in absolute form on as they are.
func TestProxyBehindAServer(t *testing.T) {
	f, g := startFeed(t, "First"), startFeed(t, "Second")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Proxy: ProxyFeeds, ProxySubscribe: true})
	n.waitArrival(f.url)
	secret := n.password("phone", "", reading.ReaderScope)
	at, err := url.Parse("http://" + n.at.Reader)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return at, nil }}}
	defer client.CloseIdleConnections()
	for _, u := range []feed.URL{f.url, g.url} {
		for _, want := range []int{http.StatusProxyAuthRequired, http.StatusOK} {
			r, err := http.NewRequest(http.MethodGet, string(u), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Forwarded-For", "192.0.2.1")
			if want == http.StatusOK {
				r.SetBasicAuth("phone", secret)
				r.Header["Proxy-Authorization"] = r.Header["Authorization"]
			}
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %s, want %d", u, resp.Status, want)
			}
		}
	}
}

// clientAt is a client at an address of this machine.
func clientAt(t *testing.T, addr string) *http.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// waysIn are the ways in which a program shows a name and a password: each makes a request.
func waysIn(t *testing.T, base string, f feed.URL) map[string]func(c *http.Client, name,
	password string) *http.Request {
	request := func(method, target string, form url.Values) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r
	}
	basic := func(path string) func(*http.Client, string, string) *http.Request {
		return func(_ *http.Client, name, password string) *http.Request {
			r := request("GET", base+path, nil)
			r.SetBasicAuth(name, password)
			return r
		}
	}
	return map[string]func(c *http.Client, name, password string) *http.Request{
		"a feed": basic("/feed/" + string(f)),
		"the proxy": func(_ *http.Client, name, password string) *http.Request {
			r := request("GET", base+"/feed/", nil)
			r.URL.Opaque = string(f)
			r.SetBasicAuth(name, password)
			r.Header["Proxy-Authorization"] = r.Header["Authorization"]
			r.Header.Del("Authorization")
			r.Header.Set("X-Forwarded-Proto", "http")
			return r
		},
		"Google Reader's login": func(_ *http.Client, name, password string) *http.Request {
			return request("POST", base+"/accounts/ClientLogin", url.Values{"Email": {name}, "Passwd": {password}})
		},
		"Google Reader's token": func(_ *http.Client, _, password string) *http.Request {
			r := request("GET", base+"/api/greader.php/reader/api/0/user-info", nil)
			r.Header.Set("Authorization", "GoogleLogin auth="+password)
			return r
		},
		"Fever": func(_ *http.Client, name, password string) *http.Request {
			return request("POST", base+"/fever/?api", url.Values{"api_key": {reading.FeverKey(name, password)}})
		},
		"Miniflux's key": func(_ *http.Client, _, password string) *http.Request {
			r := request("GET", base+"/v1/me", nil)
			r.Header.Set("X-Auth-Token", password)
			return r
		},
		"Miniflux": basic("/v1/me"), "Nextcloud": basic("/index.php/apps/news/api/v1-3/user"),
		"the page": func(c *http.Client, _, password string) *http.Request {
			resp, err := c.Get(base + "/login")
			_, text := statusOf(t, resp, err)
			token := ""
			if m := formToken.FindStringSubmatch(text); m != nil {
				token = m[1]
			}
			return request("POST", base+"/login", url.Values{"token": {token}, "password": {password}})
		},
	}
}

// An attacker who guesses at passwords is slowed down, however they are shown, and nobody else is: not the owner
// elsewhere, nor the owner's program at the same address. What a page of another site has the owner's browser send is
// no guess.
func TestGuessesAreSlowed(t *testing.T) {
	f := startFeed(t, "First")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Proxy: ProxyFeeds})
	n.waitArrival(f.url)
	secret := n.password("phone", "", reading.OwnerScope)
	at := 0
	for name, ask := range waysIn(t, "http://"+n.at.Reader, f.url) {
		t.Run(name, func(t *testing.T) {
			at++
			guesser, owner := clientAt(t, fmt.Sprintf("127.0.%d.1", at)), clientAt(t, fmt.Sprintf("127.0.%d.2", at))
			do := func(c *http.Client, password string) (*http.Response, string) {
				resp, err := c.Do(ask(c, "phone", password))
				_, text := statusOf(t, resp, err)
				return resp, text
			}
			in := func(c *http.Client, password string) bool {
				resp, text := do(c, password)
				return resp.StatusCode == http.StatusOK && !strings.Contains(text, `"auth":0`) ||
					resp.StatusCode == http.StatusSeeOther && resp.Header.Get("Location") == "/"
			}
			if !in(guesser, secret) {
				t.Fatal("the password does not let in")
			}
			looked := 0
			for i := range 100 {
				if in(guesser, fmt.Sprintf("%032d", i)) {
					t.Fatal("a guess lets in")
				}
				resp, text := do(guesser, fmt.Sprintf("%032x", i))
				if resp.StatusCode != http.StatusTooManyRequests {
					looked++
				} else if resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "too many wrong passwords") {
					t.Fatalf("they are told to wait by %v %s", resp.Header, text)
				}
			}
			if looked > 10 {
				t.Errorf("%d guesses of 100 were looked at", looked)
			}
			if !in(guesser, secret) {
				t.Error("a program that came in by a password there before is locked out")
			}
			if !in(owner, secret) {
				t.Error("the owner is locked out elsewhere")
			}
			if name == "a feed" || name == "the proxy" {
				return
			}
			browser := clientAt(t, fmt.Sprintf("127.0.%d.3", at))
			for i := range 20 {
				r := ask(browser, "phone", fmt.Sprintf("%032d", i))
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Set("Sec-Fetch-Site", "cross-site")
				resp, err := browser.Do(r)
				if code, _ := statusOf(t, resp, err); code != http.StatusForbidden {
					t.Fatalf("a page of another site is answered with %d", code)
				}
			}
			if !in(browser, secret) {
				t.Error("a page of another site locks the owner out")
			}
		})
	}
}

// Behind a web server that the owner trusts to name its clients, the client that guesses is slowed down; what others
// write into its header is not believed.
func TestGuessesByAServer(t *testing.T) {
	for trusted, want := range map[bool][2]bool{true: {true, false}, false: {false, false}} {
		c := Config{Subscribe: nil}
		if trusted {
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}
		n := startNode(t, c)
		secret := n.password("phone", "", reading.ReaderScope)
		ask := func(forwarded, password string) int {
			r, err := http.NewRequestWithContext(context.Background(), "GET", "http://"+n.at.Reader+"/v1/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Auth-Token", password)
			r.Header.Set("X-Forwarded-For", forwarded)
			resp, err := http.DefaultClient.Do(r)
			status, _ := statusOf(t, resp, err)
			return status
		}
		for i := range 50 {
			ask(fmt.Sprintf("192.0.2.%d, 198.51.100.7", i), "wrong")
		}
		if in := ask("198.51.100.8", secret) == http.StatusOK; in != want[0] {
			t.Errorf("trusted %v: the owner comes in: %v", trusted, in)
		}
		if in := ask("198.51.100.7", secret) == http.StatusOK; in != want[1] {
			t.Errorf("trusted %v: a guess of the client that guesses is looked at: %v", trusted, in)
		}
	}
}
