package web_test

import (
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

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
		{"nonsense", reading.ItemState{ID: 1}},
	} {
		w := b.post("/mark", url.Values{"token": {b.token}, "entry": {id}, "as": {test.as},
			"next": {"/entries?show=unread#e1"}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/entries?show=unread#e1" ||
			n.items[1] != test.want {
			t.Errorf("as %s: %d to %q, item %+v", test.as, w.Code, w.Header().Get("Location"), n.items[1])
		}
	}
	secret := strings.TrimPrefix(n.path(t, "Confidential"), "/entries/")
	for _, entry := range []string{secret, "x", strings.Repeat("0", 40)} {
		if w := b.post("/mark", url.Values{"token": {b.token}, "entry": {entry},
			"as": {"read"}}); w.Code != http.StatusNotFound || n.items[2].Read {
			t.Errorf("%s: %d", entry, w.Code)
		}
	}

	until := noon.Unix()
	w := b.post("/read", url.Values{"token": {b.token}, "feed": {"1"}, "until": {strconv.FormatInt(until, 10)},
		"next": {"//evil.example"}})
	want := reading.Stream{Feed: 1, Read: reading.No, Until: time.Unix(until+1, 0), Among: []reading.ItemID{1}}
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/?undo=") ||
		len(n.streams) != 1 ||
		!reflect.DeepEqual(n.streams[0], want) {
		t.Errorf("%d to %q, streams %+v", w.Code, w.Header().Get("Location"), n.streams)
	}
}
