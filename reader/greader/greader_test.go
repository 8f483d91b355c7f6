package greader_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/opml"
	"feedex/reader/greader"
	"feedex/reader/readertest"
	"feedex/reading"
	"feedex/syncapi"
)

// ask sends a request of a reader that is let in.
func ask(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "GoogleLogin auth="+readertest.Secret)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// state is the API's account of the items that are read and starred, and of the feeds that are followed and filed.
func state(h http.Handler) (all string) {
	for _, path := range []string{"stream/items/ids?xt=" + isRead, "stream/items/ids?s=user/-/state/com.google/starred",
		"subscription/list", "tag/list"} {
		all += ask(h, "GET", api+path, "").Body.String()
	}
	return all
}

const (
	api    = "/reader/api/0/"
	all    = "user/-/state/com.google/reading-list"
	isRead = "user/-/state/com.google/read"
)

// Nobody comes in without a password, by whatever way it is shown, and a login says no more than that.
func TestEnter(t *testing.T) {
	h := open(readertest.Example(t))
	const secret = readertest.Secret
	for _, c := range []struct {
		name, method, header, body string
		in                         bool
	}{
		{"header", "GET", "GoogleLogin auth=" + secret, "", true},
		{"header in other letters", "GET", "googlelogin Auth=" + secret, "", true},
		{"T", "POST", "", "T=" + secret, true},
		{"T with a newline", "POST", "", "T=" + secret + "%0A", true},
		{"T and a wrong header", "POST", "GoogleLogin auth=no", "T=" + secret, true},
		{"a wrong T and the header", "POST", "GoogleLogin auth=" + secret, "T=no", true},
		{"nothing", "POST", "", "", false},
		{"no token", "GET", "GoogleLogin auth=", "", false},
		{"another scheme", "GET", "Bearer " + secret, "", false},
		{"another name", "GET", "GoogleLogin token=" + secret, "", false},
		{"wrong", "POST", "GoogleLogin auth=no", "T=no", false},
		{"the fourth T", "POST", "", "T=&T=1&T=2&T=" + secret, false},
		{"the user", "POST", "GoogleLogin auth=" + readertest.Name, "", false},
	} {
		r := httptest.NewRequest(c.method, api+"user-info", strings.NewReader(c.body))
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if in := w.Code == http.StatusOK; in != c.in || !in &&
			(w.Code != http.StatusUnauthorized || w.Header().Get("X-Reader-Google-Bad-Token") != "true") {
			t.Errorf("%s: %d %v", c.name, w.Code, w.Header())
		}
	}
	// T in the query of a GET would stand in logs and histories.
	if w := httptest.NewRecorder(); true {
		h.ServeHTTP(w, httptest.NewRequest("GET", api+"user-info?T="+secret, nil))
		if w.Code != http.StatusUnauthorized {
			t.Errorf("T with GET: %d", w.Code)
		}
	}
	for body, code := range map[string]int{
		"Email=PHONE&Passwd=" + secret: 200, "Email=bo&Passwd=" + secret: 401, "Email=phone&Passwd=x": 401,
		"Email=phone": 401, "": 401,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/accounts/ClientLogin/", strings.NewReader(body)))
		if w.Code != code || code == 401 && w.Body.String() != "Error=BadAuthentication\n" {
			t.Errorf("login with %q: %d %s", body, w.Code, w.Body)
		}
	}
}

// A reader that follows the continuation gets every item once and comes to an end, whatever the size of a page; on the
// last page there is no continuation at all.
func TestContinuation(t *testing.T) {
	h := open(readertest.Example(t))
	for n := 1; n <= 7; n++ {
		for _, order := range []string{"", "&r=o", "&r=d"} {
			var got []string
			next := ""
			for range 10 {
				var page struct {
					Refs []struct{ ID string } `json:"itemRefs"`
					Next *string               `json:"continuation"`
				}
				w := ask(h, "GET", fmt.Sprintf("%sstream/items/ids?n=%d%s&c=%s", api, n, order, next), "")
				if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || len(page.Refs) > n ||
					len(page.Refs) == 0 {
					t.Fatalf("%d%s: %v\n%s", n, order, err, w.Body)
				}
				for _, ref := range page.Refs {
					got = append(got, ref.ID)
				}
				if page.Next == nil {
					break
				}
				next = *page.Next
			}
			want := []string{"5", "4", "3", "2", "1"}
			if order == "&r=o" {
				slices.Reverse(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d%s: %v, want %v", n, order, got, want)
			}
		}
	}
	for _, c := range []string{"x", "-1", "0", "99999999999999999999"} {
		if w := ask(h, "GET", api+"stream/items/ids?c="+c, ""); w.Code != http.StatusBadRequest {
			t.Errorf("c=%s: %d", c, w.Code)
		}
	}
}

// A stream may be named in many ways; one that nobody knows is empty.
func TestStreams(t *testing.T) {
	h := open(readertest.Example(t))
	label := url.QueryEscape("user/-/label/Papers")
	for query, want := range map[string]string{
		"":                        "5 4 3 2 1",
		"s=" + all:                "5 4 3 2 1",
		"s=user/phone/" + all[7:]: "5 4 3 2 1",
		"s=" + isRead:             "5",
		"s=" + isRead + "ing":     "",
		"s=feed/1":                "5 2 1",
		"s=feed/https://example.com:443/feed.xml": "5 2 1",
		"s=feed/9":                     "",
		"s=feed/-1":                    "",
		"s=feed/":                      "",
		"s=feed":                       "",
		"s=user/-/label/None":          "",
		"s=" + label:                   "5 3 2 1",
		"s=" + label + "&xt=" + isRead: "3 2 1",
		"s=user/-/label/" + url.QueryEscape("Ünsinn & Co"):     "3",
		"s=user/-/state/com.google/kept-unread":                "4 3 2 1",
		"s=user/-/state/com.google/starred":                    "7 3",
		"s=user/-/state/com.google/starred&it=" + isRead:       "7",
		"xt=" + isRead + "&xt=user/-/state/com.google/starred": "4 2 1",
		"xt=feed/1":     "5 4 3 2 1",
		"ot=1772366580": "5 4 3", "ot=1772366580000": "5 4 3", "ot=1772366580000000": "5 4 3", "ot=1772366589": "5 4 3",
		"ot=1772366592": "5 4", "ot=0": "5 4 3 2 1",
		"nt=1772366580": "3 2 1", "nt=x": "5 4 3 2 1", "n=0": "5 4 3 2 1", "n=x": "5 4 3 2 1", "n=-1": "5 4 3 2 1",
		"n=99999999": "5 4 3 2 1",
	} {
		var page struct {
			Refs []struct{ ID string } `json:"itemRefs"`
		}
		w := ask(h, "GET", api+"stream/items/ids?"+query, "")
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
			t.Errorf("%s: %d %v", query, w.Code, err)
		}
		var got []string
		for _, ref := range page.Refs {
			got = append(got, ref.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	for path, want := range map[string]int{
		"stream/contents": 5, "stream/contents/": 5, "stream/contents/feed/1": 3, "stream/contents/feed%2F1/": 3,
		"stream/contents/feed/https://example.org/comic.atom":           1,
		"stream/contents/feed%2Fhttps%3A%2F%2Fexample.org%2Fcomic.atom": 1,
		"stream/contents?s=feed/2":                                      1, "stream/contents/feed/99": 0,
	} {
		var page struct{ Items []json.RawMessage }
		w := ask(h, "GET", api+path, "")
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || len(page.Items) != want || page.Items == nil {
			t.Errorf("%s: %d items, %v, want %d\n%s", path, len(page.Items), err, want, w.Body)
		}
	}
}

// The direction of an item is that of its title.
func TestDirection(t *testing.T) {
	l := readertest.Example(t)
	l.Arrive(t, readertest.Evening, feed.Entry{Feed: readertest.Plain, ID: "h",
		Title: "\u05e9\u05dc\u05d5\u05dd, world", Content: "English"})
	h := open(l)
	for id, want := range map[string]string{"8": "rtl", "1": "ltr", "3": "ltr"} {
		w := ask(h, "POST", api+"stream/items/contents", url.Values{"i": {id}}.Encode())
		if want := `"content":{"direction":"` + want + `"`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("item %s lacks %s: %s", id, want, w.Body)
		}
	}
}

// Items are named in three ways; what is none of them does not matter.
func TestItemNames(t *testing.T) {
	h := open(readertest.Example(t))
	for name, want := range map[string]int{
		"2": 1, "0000000000000002": 1, "tag:google.com,2005:reader/item/0000000000000002": 1,
		"tag:google.com,2005:reader/item/2": 1, " 2\n": 1,
		"-2": 0, "": 0, "x": 0, "000000000000000g": 0, "tag:google.com,2005:reader/item/": 0, "ffffffffffffffff": 0,
		"1234567890123456": 0, "99": 0,
	} {
		w := ask(h, "POST", api+"stream/items/contents", url.Values{"i": {name}}.Encode())
		if got := strings.Count(w.Body.String(), `"crawlTimeMsec"`); w.Code != http.StatusOK || got != want {
			t.Errorf("%q: %d items, %d, want %d", name, got, w.Code, want)
		}
	}
}

// Errors in a request are told, and nothing is changed; parts that nobody here knows are passed over.
func TestRefusals(t *testing.T) {
	h := open(readertest.Example(t))
	before := state(h)
	for _, c := range []struct {
		method, target, body string
		code                 int
		answer               string
	}{
		{"GET", api + "edit-tag?i=2&a=" + isRead, "", 405, "Only POST works here.\n"},
		{"GET", api + "mark-all-as-read?s=" + all, "", 405, "Only POST works here.\n"},
		{"POST", api + "mark-all-as-read", "", 400, "s says which stream to mark.\n"},
		{"POST", api + "mark-all-as-read", "s=feed/99", 200, "OK"},
		{"POST", api + "mark-all-as-read", "s=" + isRead, 200, "OK"},
		{"POST", api + "mark-all-as-read", "s=" + isRead + "ing", 200, "OK"},
		{"POST", api + "edit-tag", "a=" + isRead, 200, "OK"},
		{"POST", api + "edit-tag", "i=2&a=user/-/label/" + strings.Repeat("x", 301), 400,
			"not a name for a label: \"" + strings.Repeat("x", 40) + "\": want one line of 1 to 300 bytes\n"},
		{"POST", api + "edit-tag", "i=2&r=user/-/label/x&r=user/-/state/com.google/kept-unread", 200, "OK"},
		{"POST", api + "edit-tag", "i=2&a=user/-/label/Papers", 400,
			"there is a folder named \"Papers\": choose another name\n"},
		{"POST", api + "subscription/edit", "ac=edit", 400, "s says which feed to edit.\n"},
		{"POST", api + "subscription/edit", "ac=edit&s=feed/99&t=x", 404, "This feed is not followed.\n"},
		{"POST", api + "subscription/edit", "ac=unsubscribe&s=feed/99", 200, "OK"},
		{"POST", api + "subscription/edit", "ac=eat&s=feed/1", 400, "ac is one of subscribe, unsubscribe and edit.\n"},
		{"POST", api + "subscription/edit", "ac=subscribe&s=feed/ftp://example.com/", 400,
			"not a feed URL: \"ftp://example.com/\": want http:// or https:// in front\n"},
		{"POST", api + "subscription/edit", "ac=edit&s=feed/1&a=user/-/label/%20", 200, "OK"},
		{"POST", api + "subscription/edit", "ac=edit&s=feed/1&a=user/-/label/" + strings.Repeat("x", 301), 400,
			"not a name for a folder: \"" + strings.Repeat("x", 40) + "\": want one line of 1 to 300 bytes\n"},
		{"POST", api + "subscription/quickadd", "quickadd=news", 200,
			"{\"query\":\"news\",\"numResults\":0,\"error\":\"not a feed URL: \\\"news\\\": want http:// or https:// " +
				"in front\"}\n"},
		{"POST", api + "rename-tag", "s=user/-/label/None&dest=user/-/label/Some", 200, "OK"},
		{"POST", api + "rename-tag", "s=user/-/label/None", 400, "dest is the label's new name: user/-/label/NAME.\n"},
		{"POST", api + "disable-tag", "t=None", 200, "OK"},
		{"POST", api + "subscription/import", "hello", 400, "read OPML: not an OPML document: it holds no elements\n"},
		{"GET", api + "friend/list", "", 200, "[]"},
		{"POST", api + "preference/set", "", 200, "OK"},
		{"GET", "/reader/", "", 404, "There is nothing here.\n"},
		{"GET", "/api/greader.php", "", 200,
			"This is the address for readers that speak the API of Google Reader or FreshRSS.\n"},
		{"POST", api + "edit-tag", strings.Repeat("i=2&", 10_001), 400,
			"The request cannot be read: it has more than 10000 fields\n"},
		{"GET", api + "stream/items/contents?" + strings.Repeat("i=2&", 10_001), "", 400,
			"The query cannot be read: it has more than 10000 fields\n"},
		{"POST", api + "edit-tag", strings.Repeat("x", 2<<20+1), 413, "The request is longer than 2097152 bytes.\n"},
	} {
		w := ask(h, c.method, c.target, c.body)
		if w.Code != c.code || w.Body.String() != c.answer {
			t.Errorf("%s %s %.60s: %d %q, want %d %q", c.method, c.target, c.body, w.Code, w.Body, c.code, c.answer)
		}
	}
	if after := state(h); after != before {
		t.Errorf("something was changed: %s", after)
	}
	// Every name of an item that a request may hold fits.
	long := strings.Repeat("i=tag%3Agoogle.com%2C2005%3Areader%2Fitem%2F0000000000000002&", 9_998) + "a=" + isRead
	if w := ask(h, "POST", api+"edit-tag", long); w.Code != http.StatusOK || state(h) == before {
		t.Errorf("the longest request: %d", w.Code)
	}
}

// No list of feeds is read from an unknown client: it may be long.
func TestImportOfStrangers(t *testing.T) {
	body := strings.NewReader("<opml><outline xmlUrl='http://example.com/1'/></opml>")
	r, w := httptest.NewRequest("POST", api+"subscription/import", body), httptest.NewRecorder()
	open(readertest.Example(t)).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized || body.Len() == 0 {
		t.Errorf("%d, %d bytes are not read", w.Code, body.Len())
	}
}

// An owner who types an address without a scheme means one on the web.
func TestQuickAddWithoutScheme(t *testing.T) {
	h := open(readertest.Example(t))
	if w := ask(h, "POST", api+"subscription/quickadd", "quickadd=example.net/feed"); w.Code != http.StatusOK ||
		!strings.Contains(state(h), `"https://example.net/feed"`) {
		t.Errorf("%d %s\n%s", w.Code, w.Body, state(h))
	}
}

// When the archive fails the reader is told that it is not its fault, and the log why; a part is never taken for the
// whole.
func TestFailure(t *testing.T) {
	l := readertest.Example(t)
	var log bytes.Buffer
	h := greader.New(syncapi.Config{Entrance: readertest.Door{Library: failing{l}},
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, c := range []struct{ method, path string }{
		{"GET", "subscription/list"}, {"GET", "tag/list"}, {"GET", "unread-count"}, {"GET", "stream/items/ids"},
		{"GET", "stream/contents"},
		{"GET", "subscription/export"}, {"POST", "edit-tag?i=1&a=" + isRead}, {"POST", "mark-all-as-read?s=" + all},
		{"POST", "subscription/quickadd?quickadd=example.com"},
		{"POST", "subscription/edit?s=feed/1"}, {"POST", "rename-tag?dest=user/-/label/x"}, {"POST", "disable-tag"},
		{"POST", "subscription/import"},
	} {
		log.Reset()
		body := ""
		if strings.HasSuffix(c.path, "import") {
			body = "<opml><outline xmlUrl='http://example.com/1'/></opml>"
		}
		w := ask(h, c.method, api+c.path, body)
		if w.Code != http.StatusInternalServerError || !strings.Contains(log.String(), errDisk.Error()) ||
			strings.Contains(log.String(), readertest.Secret) {
			t.Errorf("%s: %d %s, logged %q", c.path, w.Code, w.Body, log.String())
		}
	}
	empty := greader.New(syncapi.Config{Entrance: readertest.Door{Library: readertest.Broken{Library: l}}})
	if w := ask(empty, "GET", api+"stream/contents", ""); w.Code != http.StatusInternalServerError ||
		strings.Contains(w.Body.String(), "{") {
		t.Errorf("where no item can be read: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{api + "stream/contents", api + "stream/items/contents?i=1", "/reader/atom/feed/1"} {
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Errorf("%s: a part went out as the whole", target)
				}
			}()
			door := readertest.Door{Library: readertest.Broken{Library: l, Whole: 1}}
			ask(greader.New(syncapi.Config{Entrance: door}), "GET", target, "")
		}()
	}
}

var errDisk = errors.New("disk on fire")

// A failing library lets people in, and no more.
type failing struct{ *readertest.Library }

func (failing) Subscriptions(context.Context) ([]reading.FollowedFeed, error) { return nil, errDisk }
func (failing) IDs(context.Context, reading.Stream, reading.Page) ([]reading.ItemID, error) {
	return nil, errDisk
}
func (failing) MarkStream(context.Context, reading.Stream, reading.Mark) error { return errDisk }
func (failing) Folders(context.Context) ([]reading.Folder, error)              { return nil, errDisk }
func (failing) Mark(context.Context, []reading.ItemID, reading.Mark) error     { return errDisk }
func (failing) Import(context.Context, []opml.Outline) error                   { return errDisk }

// The list of feeds goes out in OPML as it came in.
func TestExport(t *testing.T) {
	first, second := open(readertest.Example(t)), open(readertest.New(t))
	w := ask(first, "GET", api+"subscription/export", "")
	if got := w.Header().Get("Content-Type"); got != "text/x-opml; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	document := w.Body.String()
	if w := ask(second, "POST", api+"subscription/import", document); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	if again := ask(second, "GET", api+"subscription/export", "").Body.String(); strings.ReplaceAll(again,
		` htmlUrl="https://example.com/"`, "") !=
		strings.NewReplacer(` htmlUrl="https://example.com/"`, "", ` htmlUrl="https://example.org/"`,
			"").Replace(document) {
		t.Errorf("%s\ncame back as\n%s", document, again)
	}
}

// The token has no newline behind it: newsboat would send that back.
func TestToken(t *testing.T) {
	if w := ask(open(readertest.Example(t)), "GET", api+"token", ""); w.Body.String() != readertest.Secret {
		t.Errorf("%q", w.Body)
	}
}

// No name of a stream or an item, and no time or continuation, makes the handler fail.
func FuzzRequest(f *testing.F) {
	f.Add("stream/contents/feed/1", "c=1&ot=1&xt="+isRead)
	f.Add("edit-tag", "i=tag:google.com,2005:reader/item/2&a="+isRead)
	f.Add("subscription/edit", "ac=subscribe&s=feed/http://example.com/&a=user//label/")
	h := open(readertest.Example(f))
	f.Fuzz(func(t *testing.T, path, form string) {
		r := httptest.NewRequest("POST", api, strings.NewReader(form))
		r.URL.Path += path
		r.Header.Set("Authorization", "GoogleLogin auth="+readertest.Secret)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// Readers find the picture of a feed at the node, and none where it has none.
func TestIcons(t *testing.T) {
	l := readertest.Example(t)
	icon := l.Picture(t, readertest.News)
	list := ask(open(l), "GET", api+"subscription/list", "").Body.String()
	if !strings.Contains(list, `"iconUrl":"http://example.com`+icon.Path()+`"`) ||
		strings.Count(list, `"iconUrl":""`) != 2 {
		t.Errorf("pictures are told as %s", list)
	}
}

// A filter is a label of what it caught, with a count of what is unread, which readers cannot change.
func TestFilters(t *testing.T) {
	l := readertest.Example(t)
	l.Filter(t, reading.FilterWish{Name: "Storms", Words: "storm NOT brain"})
	l.Arrive(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: "s", Title: "A storm"},
		feed.Entry{Feed: readertest.News, ID: "b", Title: "A brain storm"})
	h := open(l)
	const storms = "user/-/label/Storms"
	for _, c := range []struct {
		method, path, body string
		code               int
		has, lacks         string
	}{
		{"GET", "tag/list", "", 200, `{"id":"` + storms + `","type":"tag"}`, "-unread"},
		{"GET", "unread-count", "", 200, `{"id":"` + storms + `","count":1,`, "brain"},
		{"GET", "stream/contents/" + storms, "", 200, `"title":"A storm"`, "brain"},
		{"GET", "stream/contents/" + storms, "", 200, `"` + storms + `"]`, "brain"},
		{"POST", "rename-tag", "s=" + storms + "&dest=user/-/label/Hail", 400, "This is a filter", "OK"},
		{"POST", "disable-tag", "s=" + storms, 400, "This is a filter", "OK"},
		{"POST", "mark-all-as-read", "s=" + storms, 200, "OK", "brain"},
		{"GET", "stream/contents/" + storms + "?xt=" + isRead, "", 200, `"items":[]`, "storm\""},
	} {
		if w := ask(h, c.method, api+c.path, c.body); w.Code != c.code || !strings.Contains(w.Body.String(), c.has) ||
			strings.Contains(w.Body.String(), c.lacks) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.method, c.path, w.Code, w.Body, c.code, c.has)
		}
	}
}

// A label is what items were given by edit-tag, and beside folders and filters a stream with a count of what is unread.
func TestLabels(t *testing.T) {
	l := readertest.Example(t)
	h := open(l)
	const path, recipes, food = "user/-/label/", "user/-/label/Recipes", "user/-/label/Food"
	for _, c := range []struct {
		method, path, body string
		code               int
		has, lacks         string
	}{
		{"POST", "edit-tag", "i=2&i=7&a=user/phone/label/Recipes&a=" + isRead + "&a=" + path + "Work", 200, "OK", "no"},
		{"POST", "edit-tag", "i=1&a=" + recipes, 200, "OK", "no"},
		{"POST", "edit-tag", "i=2&r=" + path + "Work", 200, "OK", "no"},
		{"GET", "tag/list", "", 200, `{"id":"` + recipes + `","type":"tag"},{"id":"` + path + `Work",` +
			`"type":"tag"}`, "Food"},
		{"GET", "unread-count", "", 200, `{"id":"` + recipes + `","count":1,`, `Work`},
		{"GET", "stream/items/ids?s=" + recipes, "", 200, `[{"id":"7"},{"id":"2"},{"id":"1"}]`, "no"},
		{"GET", "stream/items/ids?n=1&s=" + recipes, "", 200, `[{"id":"7"}],"continuation":"7"`, "no"},
		{"GET", "stream/items/ids?n=1&c=7&s=" + recipes, "", 200, `[{"id":"2"}],"continuation":"2"`, "no"},
		{"GET", "stream/items/ids?xt=" + isRead + "&s=" + recipes, "", 200, `[{"id":"1"}]`, "no"},
		{"GET", "stream/contents/" + path + "Work", "", 200, `"` + recipes + `","` + path + `Work"]`, `"Two"`},
		{"GET", "../../atom/" + recipes, "", 200, `term="` + recipes + `"`, `term="` + food},
		{"POST", "mark-all-as-read", "s=" + recipes, 200, "OK", "no"},
		{"GET", "unread-count", "", 200, `"max":2`, recipes},
		{"POST", "rename-tag", "s=" + recipes + "&dest=" + path + "Papers", 400, "choose another name", "OK"},
		{"POST", "rename-tag", "s=" + recipes + "&dest=" + path + "Work", 400, "there is a label of that name", "OK"},
		{"POST", "rename-tag", "s=" + path + "Papers&dest=" + recipes, 400, "choose another name", "OK"},
		{"POST", "subscription/edit", "ac=edit&s=feed/1&a=" + recipes, 400, "choose another name", "OK"},
		{"POST", "subscription/edit", "ac=subscribe&t=More&s=feed/http://more.example/&a=" + recipes, 400,
			`there is a label named "Recipes": choose another name`, "OK"},
		{"GET", "subscription/list", "", 200, "subscriptions", "more.example"},
		{"POST", "rename-tag", "s=" + recipes + "&dest=" + food, 200, "OK", "no"},
		{"GET", "stream/items/ids?s=" + food, "", 200, `[{"id":"7"},{"id":"2"},{"id":"1"}]`, "no"},
		{"POST", "disable-tag", "s=" + food, 200, "OK", "no"},
		{"GET", "tag/list", "", 200, path + "Work", "Food"},
		{"GET", "stream/contents", "", 200, `"id":"`, "Food"},
	} {
		w := ask(h, c.method, strings.Replace(api+c.path, "api/0/../../", "", 1), c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.has) || strings.Contains(w.Body.String(), c.lacks) {
			t.Errorf("%s %s %s: %d %s, want %d with %s", c.method, c.path, c.body, w.Code, w.Body, c.code, c.has)
		}
	}
}
