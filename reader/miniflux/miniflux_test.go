package miniflux_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader/miniflux"
	"feedex/reader/readertest"
	"feedex/reading"
	"feedex/syncapi"
)

func handler(l *readertest.Library) http.Handler {
	return miniflux.New(syncapi.Config{Entrance: l, Version: "test"})
}

func TestConversations(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/miniflux-*.txt", handler)
}

// Entries that one neighbor alone tells of are tagged so, and nothing else is.
func TestUnconfirmed(t *testing.T) {
	l := readertest.Example(t)
	l.Bring(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: "hearsay",
		Title: "Hearsay", Categories: []string{"a"}})
	var got struct {
		Entries []struct {
			Title string
			Tags  []string
		}
	}
	w := readertest.Ask(handler(l), "GET", "/v1/entries?limit=100", "")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Entries) == 0 {
		t.Fatal(err, w.Body)
	}
	for _, e := range got.Entries {
		if tagged := slices.Contains(e.Tags, "unconfirmed"); tagged != (e.Title == "Hearsay") {
			t.Errorf("%q has the tags %q", e.Title, e.Tags)
		}
	}
}

// Readers that page by offset and those that page by id see every entry once, in either direction, however many streams
// are behind it; and the total is that of what is left.
func TestPages(t *testing.T) {
	l := readertest.Example(t)
	for i := range 250 {
		l.Arrive(t, readertest.Noon, feed.Entry{Feed: []feed.URL{readertest.News, readertest.Comic}[i%2],
			ID: fmt.Sprint("more ", i)})
	}
	h := handler(l)
	page := func(query string) (total int, ids []int) {
		var got struct {
			Total   int
			Entries []struct{ ID int }
		}
		w := readertest.Ask(h, "GET", "/v1/entries?"+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v, %s", query, err, w.Body)
		}
		for _, e := range got.Entries {
			ids = append(ids, e.ID)
		}
		return got.Total, ids
	}
	want := func(all []int, n int, desc bool) {
		t.Helper()
		if desc {
			slices.Reverse(all)
		}
		if len(all) != n || !slices.IsSorted(all) || len(slices.Compact(all)) != n {
			t.Errorf("%d entries, want %d: %v", len(all), n, all)
		}
	}
	for _, c := range []struct {
		filter string
		n      int
	}{{"", 255}, {"&category_id=1", 254}, {"&category_id=2147483647", 1}, {"&status=read", 1},
		{"&status=unread&status=read", 255}} {
		for _, direction := range []string{"asc", "desc"} {
			var byOffset, byID []int
			for {
				total, ids := page(fmt.Sprintf("direction=%s&limit=100&offset=%d%s", direction,
					len(byOffset), c.filter))
				if byOffset = append(byOffset, ids...); len(ids) < 100 || len(byOffset) > c.n {
					if total != c.n {
						t.Errorf("total %d, want %d", total, c.n)
					}
					break
				}
			}
			want(byOffset, c.n, direction == "desc")
			for last := 0; ; {
				bound := map[string]string{"asc": "after_entry_id", "desc": "before_entry_id"}[direction]
				total, ids := page(fmt.Sprintf("direction=%s&limit=100&%s=%d%s", direction, bound, last, c.filter))
				if total != c.n-len(byID) {
					t.Errorf("total %d, want %d", total, c.n-len(byID))
				}
				if byID = append(byID, ids...); len(ids) < 100 || len(byID) > c.n {
					break
				}
				last = ids[len(ids)-1]
			}
			want(byID, c.n, direction == "desc")
		}
	}
	if _, ids := page("limit=0"); len(ids) != 255 {
		t.Errorf("limit=0 gives %d entries, want all", len(ids))
	}
	if _, ids := page("limit=9223372036854775807&offset=9223372036854775807"); len(ids) != 0 {
		t.Errorf("far behind the end there are %d entries", len(ids))
	}
}

func TestBounds(t *testing.T) {
	h := handler(readertest.Example(t))
	for _, c := range []struct {
		method, target, body string
		code                 int
	}{
		{"PUT", "/v1/entries", `{"status":"read","entry_ids":[` + strings.Repeat("1,", 1<<20) + `1]}`,
			http.StatusBadRequest},
		{"PUT", "/v1/entries", `{"status":"read","entry_ids":[99999999999999999999]}`, http.StatusBadRequest},
		{"PUT", "/v1/entries", `{"status":"read","entry_ids":[-1,0,9223372036854775807]}`, http.StatusNoContent},
		{"GET", "/v1/entries/99999999999999999999", "", http.StatusNotFound},
		{"GET", "/v1/entries/-1", "", http.StatusNotFound},
		{"GET", "/v1/entries?limit=-1", "", http.StatusBadRequest},
		{"GET", "/v1/entries?status=seen", "", http.StatusBadRequest},
		{"GET", "/v1/entries?starred=perhaps", "", http.StatusBadRequest},
		{"GET", "/v1/entries?category_id=x", "", http.StatusBadRequest},
		{"GET", "/v1/feeds/1/entries?category_id=-1", "", http.StatusBadRequest},
		{"PUT", "/v1/users/undefined/mark-all-as-read", "", http.StatusNotFound},
		{"PUT", "/v1/feeds/1", `{"category_id":77}`, http.StatusNotFound},
		{"PUT", "/v1/feeds/1", `{"disabled":true}`, http.StatusBadRequest},
		{"PUT", "/v1/feeds/1", `{"feed_url":"https://example.com/other"}`, http.StatusBadRequest},
		{"PUT", "/v1/feeds/1", `{"feed_url":" http://www.example.com/feed.xml/"}`, http.StatusCreated},
		{"PUT", "/v1/feeds/1", `{"feed_url":"https://example.com/feed.xml","disabled":false}`, http.StatusCreated},
		{"POST", "/v1/categories", `{"title":"Twin"}`, http.StatusCreated},
		{"PUT", "/v1/categories/1", `{"title":" Twin "}`, http.StatusBadRequest},
		{"PUT", "/v1/categories/1", `{"title":"Other"}`, http.StatusCreated},
		{"PUT", "/v1/categories/1", `{"title":"Other"}`, http.StatusCreated},
		{"POST", "/v1/feeds", `{"feed_url":"https://example.com/x","category_id":77}`, http.StatusNotFound},
	} {
		w := readertest.Ask(h, c.method, c.target, c.body)
		if w.Code != c.code || w.Code >= 400 && !strings.Contains(w.Body.String(), "error_message") {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.target, w.Code, c.code, w.Body)
		}
	}
}

// Of more entries than are listed at a time a reader gets those that come first in its order, from the bound on.
func TestLongLists(t *testing.T) {
	h := open(readertest.Short{Library: readertest.Example(t), Most: 2})
	for query, want := range map[string]string{
		"direction=desc&before_entry_id=5": "[4 3]", "direction=desc&before_entry_id=4&after_entry_id=1": "[3 2]",
		"direction=desc&after_entry_id=1": "[5 4]", "direction=asc&after_entry_id=1": "[2 3]",
		"direction=asc&before_entry_id=5": "[1 2]", "direction=desc&category_id=1&limit=2": "[5 3]",
		"direction=asc&category_id=1&limit=2": "[1 2]",
	} {
		var got struct{ Entries []struct{ ID int } }
		w := readertest.Ask(h, "GET", "/v1/entries?"+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v, %s", query, err, w.Body)
		}
		ids := []int{}
		for _, e := range got.Entries {
			ids = append(ids, e.ID)
		}
		if fmt.Sprint(ids) != want {
			t.Errorf("%s: %v, want %s", query, ids, want)
		}
	}
}

// slow is a library in which every search takes too long.
type slow struct{ *readertest.Library }

func (slow) Find(context.Context, feed.Match, []reading.FeedID, int) ([]reading.ItemID, error) {
	return nil, fmt.Errorf("search: %w", archive.ErrSlow)
}

// An owner who searches for too much is told what to do about it.
func TestASearchThatIsGivenUp(t *testing.T) {
	h := miniflux.New(syncapi.Config{Entrance: readertest.Door{Library: slow{readertest.Example(t)}}})
	w := readertest.Ask(h, "GET", "/v1/entries?search=a", "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), archive.ErrSlow.Error()) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A finder notes of which feeds something is looked for.
type finder struct {
	*readertest.Library
	of []reading.FeedID
}

func (f *finder) Find(_ context.Context, _ feed.Match, of []reading.FeedID, _ int) ([]reading.ItemID, error) {
	f.of = of
	return []reading.ItemID{}, nil
}

// An owner who searches a feed or a category is not told that nothing is there because other feeds have more than is
// looked at.
func TestASearchOfAFeed(t *testing.T) {
	f := &finder{Library: readertest.Example(t)}
	h := miniflux.New(syncapi.Config{Entrance: readertest.Door{Library: f}})
	for target, want := range map[string]string{
		"/v1/entries?search=a": "[]", "/v1/feeds/1/entries?search=a": "[1]",
		"/v1/categories/1/entries?search=a": "[1 2]",
	} {
		if w := readertest.Ask(h, "GET", target, ""); w.Code != http.StatusOK || fmt.Sprint(f.of) != want {
			t.Errorf("%s: %d %s: looked for in %v, want %s", target, w.Code, w.Body, f.of, want)
		}
	}
}

// A reader that asks what changed is told of what other readers marked, also where it came long before.
func TestWhatChanged(t *testing.T) {
	l := readertest.Example(t)
	h := handler(l)
	since := fmt.Sprintf("/v1/entries?changed_after=%d", readertest.Evening.Unix())
	if w := readertest.Ask(h, "GET", since, ""); !strings.HasPrefix(w.Body.String(), `{"total":0,`) {
		t.Fatalf("before: %s", w.Body)
	}
	if w := readertest.Ask(h, "PUT", "/v1/entries",
		`{"entry_ids":[1],"status":"read"}`); w.Code != http.StatusNoContent {
		t.Fatal(w.Body)
	}
	if text := readertest.Ask(h, "GET", since, "").Body.String(); !strings.HasPrefix(text, `{"total":1,`) ||
		!strings.Contains(text, `{"id":1,`) {
		t.Errorf("after: %s", text)
	}
}

// Readers send what a person typed as it is.
func TestTypedAddress(t *testing.T) {
	h := handler(readertest.Example(t))
	if w := readertest.Ask(h, "POST", "/v1/feeds", `{"feed_url":"example.net/typed"}`); w.Code != http.StatusCreated {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, c := range []struct{ method, target, body string }{{"GET", "/v1/feeds", ""},
		{"POST", "/v1/discover", `{"url":"example.net/typed"}`}} {
		if w := readertest.Ask(h, c.method, c.target, c.body); !strings.Contains(w.Body.String(),
			`"https://example.net/typed"`) {
			t.Errorf("%s: %d %s", c.target, w.Code, w.Body)
		}
	}
}

func TestStrangersSendLittle(t *testing.T) { readertest.ReadsLittle(t, handler, "/v1/import") }

func TestForeignPages(t *testing.T) {
	readertest.RefusesForeign(t, func(e reading.Entrance) http.Handler {
		return miniflux.New(syncapi.Config{Entrance: e})
	}, "/v1/categories", `{"title":"A"}`, http.StatusCreated)
}

func open(l reading.Library) http.Handler {
	return miniflux.New(syncapi.Config{Entrance: readertest.Door{Library: l}})
}

func TestLibraryFails(t *testing.T) {
	readertest.BreaksOff(t, open, "/v1/entries")
	h := open(readertest.Broken{Library: readertest.Example(t)})
	if w := readertest.Ask(h, "PUT", "/v1/entries",
		`{"status":"read","entry_ids":[1]}`); w.Code != http.StatusInternalServerError {
		t.Errorf("a mark that is not kept: %d", w.Code)
	}
}

// A refresh has the feeds polled that it names.
func TestRefreshes(t *testing.T) {
	l := readertest.Example(t)
	h := handler(l)
	feeds, err := l.Subscriptions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []reading.FeedID
	in := make(map[reading.FolderID][]reading.FeedID)
	for i := range feeds {
		all = append(all, feeds[i].ID)
		for _, f := range feeds[i].Folders[:min(1, len(feeds[i].Folders))] {
			in[f.ID] = append(in[f.ID], feeds[i].ID)
		}
	}
	want := map[string][]reading.FeedID{
		"/v1/feeds/refresh": all, fmt.Sprintf("/v1/feeds/%d/refresh", all[0]): all[:1], "/v1/feeds/99/refresh": nil,
		"/v1/categories/99/refresh": nil,
	}
	for id, feeds := range in {
		want[fmt.Sprintf("/v1/categories/%d/refresh", id)] = feeds
	}
	for path, feeds := range want {
		l.Refreshed = nil
		w := readertest.Ask(h, "PUT", path, "")
		if ok := w.Code == http.StatusNoContent; ok != (feeds != nil) || !slices.Equal(l.Refreshed, feeds) {
			t.Errorf("%s answers %d and has %v polled, want %v", path, w.Code, l.Refreshed, feeds)
		}
	}
	if len(in) == 0 {
		t.Error("no feed is in a folder")
	}
	if got := readertest.Ask(h, "PUT", "/v1/feeds/refresh", "").Header().Get("Retry-After"); got != "" {
		t.Errorf("what is polled now may be polled at %q", got)
	}
	l.From = time.Date(2026, 11, 20, 12, 5, 0, 0, time.FixedZone("", 3600))
	w := readertest.Ask(h, "PUT", "/v1/feeds/refresh", "")
	if got := w.Header().Get("Retry-After"); got != "Fri, 20 Nov 2026 11:05:00 GMT" || w.Code != http.StatusNoContent {
		t.Errorf("%d, and it may be polled at %q", w.Code, got)
	}
}

// Readers get the picture of a feed by the feed's number and by its own.
func TestIcons(t *testing.T) {
	l := readertest.Example(t)
	id := l.Picture(t, readertest.News).ID
	l.Picture(t, readertest.Plain) // the same
	h := handler(l)
	want := fmt.Sprintf(`{"id":%d,"mime_type":"image/gif","data":"image/gif;base64,R0lGODlhAQABAA=="}`, id)
	for path, want := range map[string]string{
		"/v1/feeds/1": fmt.Sprintf(`"icon":{"feed_id":1,"icon_id":%d}`, id), "/v1/feeds/2": `"icon":null`,
		"/v1/feeds/1/icon": want, "/v1/feeds/3/icon": want, fmt.Sprint("/v1/icons/", id): want,
		"/v1/feeds/2/icon": "Not Found", "/v1/feeds/9/icon": "Not Found", "/v1/icons/9": "Not Found",
		"/v1/icons/x": "Not Found",
	} {
		if got := readertest.Ask(h, "GET", path, "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A filter is a category of what it caught, without feeds, which readers cannot change.
func TestFilters(t *testing.T) {
	l := readertest.Example(t)
	id := syncapi.FolderOf(l.Filter(t, reading.FilterWish{Name: "Storms", Words: "storm NOT brain"}))
	l.Arrive(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: "s", Title: "A storm"},
		feed.Entry{Feed: readertest.News, ID: "b", Title: "A brain storm"})
	h := handler(l)
	for _, c := range []struct {
		method, path, body string
		code               int
		has                string
	}{
		{"GET", "/v1/categories?counts=true", "", 200, fmt.Sprintf(
			`{"id":%d,"user_id":1,"title":"Storms","hide_globally":false,"feed_count":0,"total_unread":1}`, id)},
		{"GET", fmt.Sprintf("/v1/categories/%d/entries", id), "", 200, `{"total":1,`},
		{"GET", fmt.Sprintf("/v1/entries?category_id=%d&status=unread", id), "", 200, `"title":"A storm"`},
		{"GET", fmt.Sprintf("/v1/categories/%d/feeds", id), "", 200, `[]`},
		{"PUT", fmt.Sprintf("/v1/categories/%d", id), `{"title":"x"}`, 400, "This is a filter"},
		{"DELETE", fmt.Sprintf("/v1/categories/%d", id), "", 400, "This is a filter"},
		{"PUT", fmt.Sprintf("/v1/categories/%d/mark-all-as-read", id), "", 204, ""},
		{"GET", fmt.Sprintf("/v1/entries?category_id=%d&status=unread", id), "", 200, `{"total":0,`},
		{"GET", "/v1/entries?status=unread&search=brain", "", 200, `{"total":1,`},
	} {
		w := readertest.Ask(h, c.method, c.path, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.has) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.method, c.path, w.Code, w.Body, c.code, c.has)
		}
	}
}
