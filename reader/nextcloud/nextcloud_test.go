package nextcloud_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/reader/nextcloud"
	"feedex/reader/readertest"
	"feedex/reading"
)

func handler(l *readertest.Library) http.Handler {
	return nextcloud.New(nextcloud.Config{Library: l})
}

func TestConversations(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/nextcloud-*.txt", handler)
}

const base = "/index.php/apps/news/api/v1-2"

func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, base+path, strings.NewReader(body))
	r.SetBasicAuth(readertest.Name, readertest.Secret)
	h.ServeHTTP(w, r)
	return w
}

func TestBounds(t *testing.T) {
	h := handler(readertest.Example(t))
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"PUT", "/items/read/multiple", `{"items":[` + strings.Repeat("1,", 1<<20) + `1]}`, http.StatusRequestEntityTooLarge},
		{"PUT", "/items/read/multiple", `{"items":[99999999999999999999,-1,0,"2",null,[],{"feedId":-1},1.0]}`, http.StatusOK},
		{"PUT", "/items/star/multiple", `{"items":[{"feedId":9,"guidHash":"x"},{"feedId":1,"guidHash":null},{"feedId":{}}]}`, http.StatusOK},
		{"PUT", "/items/99999999999999999999/read", "", http.StatusNotFound},
		{"PUT", "/items/-1/read", "", http.StatusNotFound},
		{"PUT", "/items/x/y/star", "", http.StatusNotFound},
		{"PUT", "/items/1/x/seen", "", http.StatusNotFound},
		{"PUT", "/items/seen/multiple", "{}", http.StatusNotFound},
		{"PUT", "/feeds/1/read?newestItemId=-99999999999999999999", "", http.StatusOK},
		{"GET", "/items?batchSize=-99999999999999999999&offset=99999999999999999999&type=9&id=x", "", http.StatusOK},
		{"GET", "/items?type=0&id=-7", "", http.StatusOK},
	} {
		if w := ask(h, c.method, c.path, c.body); w.Code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, w.Code, c.code, w.Body)
		}
	}
	if w := ask(h, "GET", "/items?getRead=false&type=0&id=1", ""); strings.Contains(w.Body.String(), `"id":1,`) || strings.Contains(w.Body.String(), `"id":2,`) {
		t.Errorf("what can be read of a list was not marked: %s", w.Body)
	}
}

// What a reader marks up to an item leaves those that came later, and marks of no feed but the one named.
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

// A page of another site can have a web browser post with the password that it keeps, but not what it wants.
func TestForeignPages(t *testing.T) {
	h := handler(readertest.Example(t))
	for origin, want := range map[string]int{
		"": http.StatusOK, "http://127.0.0.1:7791": http.StatusOK, "null": http.StatusForbidden, "https://evil.example": http.StatusForbidden,
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1:7791"+base+"/folders", strings.NewReader(`{"name":"A"}`))
		r.SetBasicAuth(readertest.Name, readertest.Secret)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("from %q: %d, want %d", origin, w.Code, want)
		}
	}
}

// A library that breaks is told as such, in the middle of an answer by breaking it off.
func TestLibraryFails(t *testing.T) {
	l := readertest.Example(t)
	for at, want := range map[int]string{0: "500", 1: "broken off"} {
		got := func() (got string) {
			defer func() {
				if recover() == http.ErrAbortHandler {
					got = "broken off"
				}
			}()
			return fmt.Sprint(ask(nextcloud.New(nextcloud.Config{Library: broken{l, at}}), "GET", "/items", "").Code)
		}()
		if got != want {
			t.Errorf("after %d items: %s, want %s", at, got, want)
		}
	}
	h := nextcloud.New(nextcloud.Config{Library: broken{l, 9}})
	for _, path := range []string{"/items/1/read", "/items/read/multiple", "/items/1/feedex:1/star"} {
		if w := ask(h, "PUT", path, `{"items":[1]}`); w.Code != http.StatusInternalServerError {
			t.Errorf("a mark that is not kept: %d", w.Code)
		}
	}
}

// A broken library gives so many items and marks none.
type broken struct {
	reading.Library
	items int
}

var errDisk = errors.New("disk on fire")

func (b broken) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for i, err := range b.Library.Items(ctx, ids[:min(b.items, len(ids))]) {
			if !yield(i, err) {
				return
			}
		}
		yield(reading.Item{}, errDisk)
	}
}

func (broken) Mark(context.Context, []reading.ItemID, reading.Mark) error { return errDisk }
