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

// A watched Entrance counts the passwords that are looked at.
type watched struct {
	reading.Entrance
	looks int
}

// Visitor implements reading.Entrance.
func (w *watched) Visitor(ctx context.Context, password string) (reading.Visitor, error) {
	w.looks++
	return w.Entrance.Visitor(ctx, password)
}

// FeverVisitor implements reading.Entrance.
func (w *watched) FeverVisitor(ctx context.Context, key string) (reading.Visitor, error) {
	w.looks++
	return w.Entrance.FeverVisitor(ctx, key)
}

// RefusesForeign checks that what is posted to path is taken, with the code taken, from programs, which do not say what
// page they are on, from those that are made of a browser, and from a page of the node; and that of no other page a
// password is looked at. Such a page can have a web browser post with the password that it keeps, or with wrong ones.
func RefusesForeign(t *testing.T, handler func(reading.Entrance) http.Handler, path, body string, taken int) {
	t.Helper()
	const evil, refused = "https://evil.example", http.StatusForbidden
	for _, c := range []struct {
		origin, site, mode string
		want               int
	}{
		{"", "", "", taken}, {"http://127.0.0.1:7791", "", "", taken},
		{"http://127.0.0.1:7791", "same-origin", "cors", taken}, {"", "none", "navigate", taken},
		{"file://", "cross-site", "cors", taken}, {"", "cross-site", "cors", taken}, // Fluent Reader
		{"capacitor://localhost", "", "", taken}, {"app://.", "cross-site", "cors", taken},
		{"null", "", "", refused}, {evil, "", "", refused}, {"http://127.0.0.1:7792", "", "", refused},
		{"null", "cross-site", "cors", refused}, {evil, "cross-site", "cors", refused},
		{evil, "cross-site", "no-cors", refused}, {evil, "cross-site", "navigate", refused},
		{"http://127.0.0.1:7792", "same-site", "cors", refused}, {"", "same-site", "no-cors", refused},
		{"", "cross-site", "no-cors", refused}, {"", "cross-site", "navigate", refused},
	} {
		door := &watched{Entrance: Example(t)}
		r := httptest.NewRequest("POST", "http://127.0.0.1:7791"+path, strings.NewReader(body))
		r.SetBasicAuth(Name, Secret)
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site,
			"Sec-Fetch-Mode": c.mode} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		handler(door).ServeHTTP(w, r)
		if w.Code != c.want || (door.looks > 0) == (c.want == refused) {
			t.Errorf("%+v: %d after %d looks at a password", c, w.Code, door.looks)
		}
	}
}

// ReadsLittle checks that of what somebody unknown sends to path no more is read than shows who it is.
func ReadsLittle(t *testing.T, handler func(*Library) http.Handler, path string) {
	t.Helper()
	const most, whole = 64 << 10, 4 << 20
	for kind, begin := range map[string]string{"": "T=x&a=", "application/json": `{"a":"`,
		"multipart/form-data; boundary=b": "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"} {
		body := strings.NewReader(begin + strings.Repeat("a", whole))
		r := httptest.NewRequest("POST", path, body)
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", "GoogleLogin auth=x")
		w, all := httptest.NewRecorder(), body.Len()
		handler(Example(t)).ServeHTTP(w, r)
		if read := all - body.Len(); read > most+1 || w.Code < 400 {
			t.Errorf("%s as %q: %d bytes are read, and answered with %d", path, kind, read, w.Code)
		}
	}
}
