package readertest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/reading"
)

// Ask is the answer to a request with the user name and the password of an Example.
func Ask(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.SetBasicAuth(Name, Secret)
	h.ServeHTTP(w, r)
	return w
}

// Door is an Entrance that lets everybody in to one library.
type Door struct{ reading.Library }

// Visitor implements reading.Entrance.
func (d Door) Visitor(context.Context, string) (reading.Visitor, error) {
	return reading.Visitor{Name: Name, Library: d.Library}, nil
}

// FeverVisitor implements reading.Entrance.
func (d Door) FeverVisitor(context.Context, string) (reading.Visitor, error) {
	return reading.Visitor{Name: Name, Library: d.Library}, nil
}

// ErrDisk is the error of a Broken library.
var ErrDisk = errors.New("disk on fire")

// A Broken library gives the first Whole items of those that it is asked for, then ErrDisk, and marks none.
type Broken struct {
	reading.Library
	Whole int
}

// Items are the first of the library's, and ErrDisk.
func (b Broken) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for i, err := range b.Library.Items(ctx, ids[:min(b.Whole, len(ids))]) {
			if !yield(i, err) {
				return
			}
		}
		yield(reading.Item{}, ErrDisk)
	}
}

// Mark is ErrDisk.
func (Broken) Mark(context.Context, []reading.ItemID, reading.Mark) error { return ErrDisk }

// A Short library gives at most Most items on a page, as every library gives reading.MaxPage.
type Short struct {
	reading.Library
	Most int
}

// IDs are those of the library's page, cut.
func (s Short) IDs(ctx context.Context, of reading.Stream, p reading.Page) ([]reading.ItemID, error) {
	p.Limit = min(p.Limit, s.Most)
	return s.Library.IDs(ctx, of, p)
}

// BreaksOff checks how the list of items at target ends when the library breaks: with an error that the reader is told
// where no item came, else by breaking off, so that no reader takes a part for the whole.
func BreaksOff(t *testing.T, handler func(reading.Library) http.Handler, target string) {
	t.Helper()
	l := Example(t)
	for whole, want := range map[int]string{0: "500", 1: "broken off"} {
		got := func() (got string) {
			defer func() {
				if recover() == http.ErrAbortHandler {
					got = "broken off"
				}
			}()
			return fmt.Sprint(Ask(handler(Broken{l, whole}), "GET", target, "").Code)
		}()
		if got != want {
			t.Errorf("%s after %d items: %s, want %s", target, whole, got, want)
		}
	}
}

// RefusesForeign checks that what is posted to path is taken, with the code taken, from where no web browser says what
// page it is on, and from a page of the node; and from no other page. Such a page can have a web browser post with the
// password that it keeps.
func RefusesForeign(t *testing.T, h http.Handler, path, body string, taken int) {
	t.Helper()
	for origin, want := range map[string]int{
		"": taken, "http://127.0.0.1:7791": taken,
		"null": http.StatusForbidden, "https://evil.example": http.StatusForbidden,
		"http://127.0.0.1:7792": http.StatusForbidden,
	} {
		r := httptest.NewRequest("POST", "http://127.0.0.1:7791"+path, strings.NewReader(body))
		r.SetBasicAuth(Name, Secret)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("from %q: %d, want %d", origin, w.Code, want)
		}
	}
}
