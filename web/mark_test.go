package web_test

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// Entries are marked by buttons, which lead back to where they stood.
func TestMark(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	id := strings.TrimPrefix(n.path(t, "Harbor"), "/entries/")
	for _, test := range []struct {
		as   string
		want reading.ItemState
	}{
		{"read", reading.ItemState{ID: 1, Read: true}},
		{"starred", reading.ItemState{ID: 1, Read: true, Starred: true}},
		{"unread", reading.ItemState{ID: 1, Starred: true}},
		{"plain", reading.ItemState{ID: 1}},
	} {
		w := b.post("/mark", url.Values{"token": {b.token}, "entry": {id}, "as": {test.as},
			"next": {"/entries?show=unread#e1"}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/entries?show=unread#e1" ||
			n.items[1] != test.want {
			t.Errorf("as %s: %d to %q, item %+v", test.as, w.Code, w.Header().Get("Location"), n.items[1])
		}
	}
	for _, as := range []string{"", "nonsense"} {
		w := b.post("/mark", url.Values{"token": {b.token}, "entry": {id}, "as": {as}})
		if w.Code != http.StatusBadRequest || n.items[1] != (reading.ItemState{ID: 1}) {
			t.Errorf("as %q: %d, item %+v", as, w.Code, n.items[1])
		}
	}
	secret := strings.TrimPrefix(n.path(t, "Confidential"), "/entries/")
	for _, entry := range []string{secret, "x", strings.Repeat("0", 40)} {
		if w := b.post("/mark", url.Values{"token": {b.token}, "entry": {entry},
			"as": {"read"}}); w.Code != http.StatusNotFound || n.items[2].Read {
			t.Errorf("%s: %d", entry, w.Code)
		}
	}

	w := b.post("/read", url.Values{"token": {b.token}, "feed": {"1"}, "newest": {"2"}, "next": {"//evil.example"}})
	want := reading.Stream{Feed: 1, Read: reading.No, NoSecrets: true}
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/?undo=") ||
		len(n.streams) != 1 || !reflect.DeepEqual(n.streams[0], want) || !n.items[1].Read || n.items[2].Read {
		t.Errorf("%d to %q, streams %+v, items %+v", w.Code, w.Header().Get("Location"), n.streams, n.items)
	}
}

// What comes once a list was made was not in it, however soon, and stays unread as the list is marked.
func TestWhatWasNotListedStaysUnread(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	page := b.page("/entries").Body.String()
	newest := regexp.MustCompile(`name="newest" value="([0-9]+)"`).FindStringSubmatch(page)
	if newest == nil || !strings.Contains(page, "Harbor") {
		t.Fatalf("the list says nothing of what is the newest:\n%s", page)
	}
	n.add(newsURL, "Just now", "", noon, protocol.NodeID{})
	late := n.entries[len(n.entries)-1].Seq
	form := url.Values{"token": {b.token}, "feed": {"0"}, "newest": newest[1:], "next": {"/entries"}}
	if w := b.post("/read", form); w.Code != http.StatusSeeOther || !n.items[1].Read || n.items[late].Read {
		t.Errorf("%d, items %+v", w.Code, n.items)
	}
	form.Set("newest", "soon")
	if w := b.post("/read", form); w.Code != http.StatusNotFound || n.items[late].Read {
		t.Errorf("%d, items %+v", w.Code, n.items)
	}
}

// What is read of a folder at one stroke is named, and unread again when that is taken back.
func TestAFolderIsMarkedRead(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	if page := b.page("/entries?folder=5").Body.String(); !strings.Contains(page, `name="folder" value="5"`) {
		t.Fatalf("the list of a folder has no such button:\n%s", page)
	}
	before := maps.Clone(n.items)
	form := url.Values{"token": {b.token}, "feed": {"0"}, "folder": {"5"},
		"newest": {"9"}, "next": {"/entries?folder=5"}}
	to := b.post("/read", form).Header().Get("Location")
	page := b.page(to).Body.String()
	if len(n.streams) != 1 || n.streams[0].Folder != 5 || maps.Equal(n.items, before) ||
		!strings.Contains(page, "in Coast read.") {
		t.Fatalf("%s, streams %+v:\n%s", to, n.streams, page)
	}
	w := b.post("/undo", url.Values{"token": {b.token}, "undo": {undoIn(t, page)}})
	if w.Header().Get("Location") != "/entries?folder=5" || !maps.Equal(n.items, before) {
		t.Errorf("%d to %q, items %+v, want %+v", w.Code, w.Header().Get("Location"), n.items, before)
	}
	form.Set("folder", "6")
	if w := b.post("/read", form); w.Code != http.StatusNotFound || len(n.streams) != 1 {
		t.Errorf("a folder that there is not: %d, streams %+v", w.Code, n.streams)
	}
}

// However much is marked read at one stroke, all of it is unread again when that is taken back, and nothing else.
func TestAnyNumberIsMarkedRead(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	for i := range reading.MaxPage + 500 {
		seq := int64(10 + 3*i)
		n.items[seq] = reading.ItemState{ID: reading.ItemID(seq), Read: i%1000 == 0}
		n.entries = append(n.entries, archive.Record{Seq: seq, Entry: feed.Entry{Feed: newsURL}})
	}
	before := maps.Clone(n.items)
	to := b.post("/read", url.Values{"token": {b.token}, "feed": {"0"}, "newest": {strconv.Itoa(math.MaxInt32)},
		"next": {"/neighbors"}}).Header().Get("Location")
	for seq, item := range n.items {
		if !item.Read {
			t.Fatalf("item %d is unread", seq)
		}
	}
	key := to[strings.Index(to, "undo=")+len("undo="):]
	if w := b.post("/undo", url.Values{"token": {b.token}, "undo": {key}}); w.Code != http.StatusSeeOther ||
		!maps.Equal(n.items, before) {
		t.Errorf("%s: %d, and not all is as before", to, w.Code)
	}
}

// undoIn is the key of the undo that a page offers.
func undoIn(t *testing.T, page string) string {
	t.Helper()
	key := regexp.MustCompile(`name="undo" value="([^"]+)"`).FindStringSubmatch(page)
	if key == nil {
		t.Fatalf("no undo is offered:\n%s", page)
	}
	return key[1]
}

// Who unfollows a feed reads which, and may take it back; nobody else may. A password is not removed by one click.
func TestUnfollowCanBeUndone(t *testing.T) {
	n := newNode(t)
	b := newBrowser(t, newHandler(t, n))
	to := b.post("/unfollow", url.Values{"token": {b.token}, "feed": {"1"}}).Header().Get("Location")
	page := b.page(to).Body.String()
	if !strings.Contains(page, "Unfollowed News &amp; more. Its entries stay.") {
		t.Errorf("%s does not say what was done:\n%s", to, page)
	}
	form := url.Values{"token": {b.token}, "undo": {undoIn(t, page)}}
	other := newBrowser(t, b.h)
	other.post("/undo", url.Values{"token": {other.token}, "undo": form["undo"]})
	if len(n.again) != 0 {
		t.Error("another browser has undone it")
	}
	if w := b.post("/undo", form); w.Header().Get("Location") != "/feeds/1" || !slices.Equal(n.again, []int64{1}) {
		t.Errorf("%d to %q, followed %d", w.Code, w.Header().Get("Location"), n.again)
	}
	b.post("/undo", form)
	if len(n.again) != 1 {
		t.Errorf("it was undone twice: %d", n.again)
	}

	n.passwords = []reading.Password{reading.NewPassword("phone", "secret", reading.Owner, reading.OwnerScope, noon)}
	b.login("secret", "/")
	if page := b.page("/settings").Body.String(); !regexp.MustCompile(
		`<summary>Remove[^\n]*</summary><form method="post" action="/passwords/remove">`).MatchString(page) {
		t.Errorf("nothing asks before a password is removed:\n%s", page)
	}
}
