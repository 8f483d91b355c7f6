package daemon

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/reading"
)

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
	secret, err := n.client.AddPassword(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
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
	if feeds, err := r.node.client.Feeds(t.Context()); err != nil || len(feeds) != 1 {
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
	secret, err := n.client.AddPassword(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
	mend := ondisk.Break(t, DatabasePath(n.data))
	r := &syncReader{t, n, secret}
	const read = "user/-/state/com.google/read"
	mark := url.Values{"i": {"1"}, "a": {read}}
	if status, _ := r.ask("/reader/api/0/edit-tag", mark); status != http.StatusInternalServerError {
		t.Errorf("a mark that cannot be stored: %d", status)
	}
	r.want("/reader/api/0/stream/items/ids?xt="+read, nil, `{"itemRefs":[{"id":"1"}]}`)
	mend()
	r.want("/reader/api/0/edit-tag", mark, "OK")
	r.want("/reader/api/0/stream/items/ids?xt="+read, nil, `{"itemRefs":[]}`)
}

// What was acknowledged is in the file, whatever becomes of the process.
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
	if n, err := other.Size(ctx, starred); err != nil || n != 1 {
		t.Errorf("%d items are starred, %v", n, err)
	}
}
