package nextcloud_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/reader/nextcloud"
	"feedex/reader/readertest"
	"feedex/reading"
	"feedex/syncapi"
)

func handler(l *readertest.Library) http.Handler {
	return nextcloud.New(syncapi.Config{Entrance: l})
}

func TestConversations(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/nextcloud-*.txt", handler)
}

const base = "/index.php/apps/news/api/v1-2"

func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	return readertest.Ask(h, method, base+path, body)
}

func TestBounds(t *testing.T) {
	h := handler(readertest.Example(t))
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"PUT", "/items/read/multiple", `{"items":[` + strings.Repeat("1,", 1<<20) + `1]}`,
			http.StatusRequestEntityTooLarge},
		{"PUT", "/items/read/multiple", `{"items":[99999999999999999999,-1,0,"2",null,[],{"feedId":-1},1.0]}`,
			http.StatusOK},
		{"PUT", "/items/star/multiple",
			`{"items":[{"feedId":9,"guidHash":"x"},{"feedId":1,"guidHash":null},{"feedId":{}}]}`, http.StatusOK},
		{"PUT", "/items/99999999999999999999/read", "", http.StatusNotFound},
		{"PUT", "/items/-1/read", "", http.StatusNotFound},
		{"PUT", "/items/x/y/star", "", http.StatusNotFound},
		{"PUT", "/items/1/x/seen", "", http.StatusNotFound},
		{"PUT", "/items/seen/multiple", "{}", http.StatusNotFound},
		{"PUT", "/feeds/1/read?newestItemId=-99999999999999999999", "", http.StatusOK},
		{"GET", "/items?batchSize=-99999999999999999999&offset=99999999999999999999&type=9&id=x", "", http.StatusOK},
		{"GET", "/items?type=0&id=-7", "", http.StatusOK},
		{"POST", "/folders", `{"name":"Twin"}`, http.StatusOK},
		{"PUT", "/folders/1", `{"name":" Twin "}`, http.StatusConflict},
		{"PUT", "/folders/1", `{"name":"Other"}`, http.StatusOK},
		{"PUT", "/folders/1", `{"name":"Other"}`, http.StatusOK},
	} {
		if w := ask(h, c.method, c.path, c.body); w.Code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, w.Code, c.code, w.Body)
		}
	}
	if w := ask(h, "GET", "/items?getRead=false&type=0&id=1", ""); strings.Contains(w.Body.String(), `"id":1,`) ||
		strings.Contains(w.Body.String(), `"id":2,`) {
		t.Errorf("what can be read of a list was not marked: %s", w.Body)
	}
}

// A reader that does not say up to which item it marks, or which item or feed, marks none.
func TestMarksThatCannotBe(t *testing.T) {
	h := handler(readertest.Example(t))
	unread := func() string { return ask(h, "GET", "/items?getRead=false", "").Body.String() }
	before := unread()
	for _, c := range []struct{ path, body string }{
		{"/items/read", ""}, {"/items/read", `{"newestItemId":null}`}, {"/items/read?newestItemId=undefined", ""},
		{"/items//read", ""}, {"/items/x/read", ""}, {"/feeds/1/read", `{"newestItemId":[]}`}, {"/feeds//read", ""},
		{"/feeds/x/read?newestItemId=9", ""}, {"/feeds/0/read?newestItemId=9", ""}, {"/folders/1/read", "{}"},
		{"/folders/x/read?newestItemId=9", ""}, {"/items/read/multiple", `{"items":[0,"x",null]}`},
	} {
		if ask(h, "PUT", c.path, c.body); unread() != before {
			t.Fatalf("%s %s: unread are %s", c.path, c.body, unread())
		}
	}
}

// A reader that marks up to an item leaves those that came later, and marks of no feed but the one named.
func TestGUIDs(t *testing.T) {
	h := handler(readertest.Example(t))
	if w := ask(h, "PUT", "/items/2/feedex:1/star", "{}"); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if w := ask(h, "PUT", "/items/1/feedex:2/star", "{}"); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	starred := ask(h, "GET", "/items?type=2", "").Body.String()
	if strings.Contains(starred, `"id":1,`) || !strings.Contains(starred, `"id":2,`) {
		t.Errorf("starred are %s", starred)
	}
}

// Readers send what a person typed as it is.
func TestTypedAddress(t *testing.T) {
	h := handler(readertest.Example(t))
	if w := ask(h, "POST", "/feeds", `{"url":"example.net/typed"}`); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), `"https://example.net/typed"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestStrangersSendLittle(t *testing.T) { readertest.ReadsLittle(t, handler, base+"/feeds") }

func TestForeignPages(t *testing.T) {
	readertest.RefusesForeign(t, func(e reading.Entrance) http.Handler {
		return nextcloud.New(syncapi.Config{Entrance: e})
	}, base+"/folders", `{"name":"A"}`, http.StatusOK)
}

func open(l reading.Library) http.Handler {
	return nextcloud.New(syncapi.Config{Entrance: readertest.Door{Library: l}})
}

func TestLibraryFails(t *testing.T) {
	readertest.BreaksOff(t, open, base+"/items")
	h := open(readertest.Broken{Library: readertest.Example(t)})
	for _, path := range []string{"/items/1/read", "/items/read/multiple", "/items/1/feedex:1/star"} {
		if w := ask(h, "PUT", path, `{"items":[1]}`); w.Code != http.StatusInternalServerError {
			t.Errorf("a mark that is not kept: %d", w.Code)
		}
	}
}

// Readers that have the server poll a feed have it polled, and all that they read where they name none.
func TestRefreshes(t *testing.T) {
	l := readertest.Example(t)
	h := handler(l)
	for query, want := range map[string][]reading.FeedID{
		"": {1, 2, 3}, "?feedId=": {1, 2, 3}, "?userId=phone&feedId=0": {1, 2, 3}, "?userId=phone&feedId=2": {2},
		"?feedId=99": nil, "?feedId=-1": nil, "?feedId=x": nil,
	} {
		l.Refreshed = nil
		w := ask(h, "GET", "/feeds/update"+query, "")
		if known := w.Code == http.StatusOK; known != (want != nil) || !known && w.Code != http.StatusNotFound ||
			!slices.Equal(l.Refreshed, want) {
			t.Errorf("%q: %d, and %v are polled, want %v", query, w.Code, l.Refreshed, want)
		}
	}
	l.From = time.Unix(1_800_000_000, 0)
	w := ask(h, "GET", "/feeds/update", "")
	if got := w.Header().Get("Retry-After"); got != "Fri, 15 Jan 2027 08:00:00 GMT" || w.Code != http.StatusOK {
		t.Errorf("%d, and it may be polled at %q", w.Code, got)
	}
}

// An item is written from right to left where its title is, or its text if the title has no letter.
func TestDirection(t *testing.T) {
	l := readertest.Example(t)
	l.Arrive(t, readertest.Evening,
		feed.Entry{Feed: readertest.Plain, ID: "h", Title: "2026: \u05e9\u05dc\u05d5\u05dd, world", Content: "English"},
		feed.Entry{Feed: readertest.Plain, ID: "n", Title: "1", Content: "<p>\u0633\u0644\u0627\u0645</p>"})
	var got struct {
		Items []struct{ RTL bool }
	}
	w := ask(handler(l), "GET", "/items?type=0&id=3&oldestFirst=true", "")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Items) != 3 || got.Items[0].RTL ||
		!got.Items[1].RTL || !got.Items[2].RTL {
		t.Errorf("%v: %s", err, w.Body)
	}
}

// Readers find the picture of a feed at the node, by https where they came so, and none where it has none.
func TestIcons(t *testing.T) {
	l := readertest.Example(t)
	icon := l.Picture(t, readertest.News)
	r := httptest.NewRequest("GET", base+"/feeds", nil)
	r.SetBasicAuth(readertest.Name, readertest.Secret)
	r.Header.Set("X-Forwarded-Proto", "https")
	w := httptest.NewRecorder()
	handler(l).ServeHTTP(w, r)
	if list := w.Body.String(); !strings.Contains(list, `"faviconLink":"https://example.com`+icon.Path()+`"`) ||
		strings.Count(list, `"faviconLink":null`) != 2 {
		t.Errorf("pictures are told as %s", list)
	}
}

// A filter is a folder of what it caught, without feeds, which readers cannot change.
func TestFilters(t *testing.T) {
	l := readertest.Example(t)
	id := syncapi.FolderOf(l.Filter(t, reading.FilterWish{Name: "Storms", Words: "storm NOT brain"}))
	l.Arrive(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: "s", Title: "A storm"},
		feed.Entry{Feed: readertest.News, ID: "b", Title: "A brain storm"})
	h := handler(l)
	for _, c := range []struct {
		method, path, body string
		code               int
		has, lacks         string
	}{
		{"GET", "/folders", "", 200, fmt.Sprintf(`{"id":%d,"name":"Storms"`, id), "-"},
		{"GET", fmt.Sprintf("/items?type=1&id=%d&getRead=false", id), "", 200, `"title":"A storm"`, "brain"},
		{"PUT", fmt.Sprintf("/folders/%d", id), `{"name":"x"}`, 422, "This is a filter", "-"},
		{"PUT", fmt.Sprintf("/folders/%d/read", id), `{"newestItemId":9223372036854775807}`, 200, "", "-"},
		{"GET", fmt.Sprintf("/items?type=1&id=%d&getRead=false", id), "", 200, "", "A storm"},
	} {
		if w := ask(h, c.method, c.path, c.body); w.Code != c.code || !strings.Contains(w.Body.String(), c.has) ||
			strings.Contains(w.Body.String(), c.lacks) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.method, c.path, w.Code, w.Body, c.code, c.has)
		}
	}
}
