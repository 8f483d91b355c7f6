package fever_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/reader/fever"
	"feedex/reader/readertest"
	"feedex/reading"
)

func handler(l *readertest.Library) http.Handler { return fever.New(fever.Config{Entrance: l}) }

func TestConversations(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/fever-*.txt", handler)
}

// ask asks with the key of the example's password.
func ask(h http.Handler, method, query, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "/fever/?"+query+"&api_key="+reading.FeverKey(readertest.Name, readertest.Secret),
		strings.NewReader(body))
	h.ServeHTTP(w, r)
	return w
}

// A page has 50 items, whichever way it goes, and no more are given by their ids.
func TestPages(t *testing.T) {
	l := readertest.Example(t)
	var ids []string
	for i := range 120 {
		l.Arrive(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: fmt.Sprint("more ", i)})
		ids = append(ids, fmt.Sprint(i+8))
	}
	h := handler(l)
	for query, want := range map[string][2]int{ // the first id and the last
		"items":              {1, 52}, // 6 and 7 are not listed
		"items&since_id=52":  {53, 102},
		"items&since_id=102": {103, 127},
		"items&max_id=":      {127, 78},
		"items&max_id=78":    {77, 28},
		"items&with_ids=" + strings.Join(ids, ","): {8, 57},
	} {
		var got []string
		for line := range strings.Lines(ask(h, "POST", query, "").Body.String()) {
			if id, found := strings.CutPrefix(strings.TrimSpace(line), `"id": `); found {
				got = append(got, strings.TrimSuffix(id, ","))
			}
		}
		if len(got) == 0 || got[0] != fmt.Sprint(want[0]) || got[len(got)-1] != fmt.Sprint(want[1]) || len(got) > 50 {
			t.Errorf("%s: %d items, %s", query, len(got), got)
		}
	}
}

func TestRefuses(t *testing.T) {
	h := handler(readertest.Example(t))
	for _, c := range []struct {
		method, query, body string
		code                int
	}{
		{"PUT", "api", "", http.StatusMethodNotAllowed},
		{"POST", "api", strings.Repeat("a", 70<<10), http.StatusBadRequest},
		{"POST", "api&items&since_id=99999999999999999999", "", http.StatusOK},
		{"POST", "api&items&since_id=x&with_ids=,,-1,x", "%zz;", http.StatusOK},
	} {
		if w := ask(h, c.method, c.query, c.body); w.Code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.query, w.Code, c.code, w.Body)
		}
	}
}

// Of more unread items than are listed at a time a reader is told the newest, which it would take for read.
func TestLongLists(t *testing.T) {
	door := readertest.Door{Library: readertest.Short{Library: readertest.Example(t), Most: 2}}
	w := ask(fever.New(fever.Config{Entrance: door}), "POST", "api&unread_item_ids", "")
	if !strings.Contains(w.Body.String(), `"unread_item_ids": "3,4"`) {
		t.Errorf("of 1 to 4 are unread: %s", w.Body)
	}
}

// A mark whose feed, group, item or time is no number marks nothing, and neither does one of feed 0.
func TestMarksThatCannotBe(t *testing.T) {
	h := handler(readertest.Example(t))
	unread := func() string { return ask(h, "POST", "api&unread_item_ids", "").Body.String() }
	before := unread()
	for _, query := range []string{
		"mark=feed&as=read&id=x", "mark=feed&as=read&id=undefined", "mark=feed&as=read&id=feed/12",
		"mark=feed&as=read&id=1,2", "mark=feed&as=read&id=%20", "mark=feed&as=read&id=",
		"mark=feed&as=read&id=x&before=9999999999", "mark=feed&as=read&id=0", "mark=feed&as=read",
		"mark=feed&as=read&id=1&before=NaN", "mark=group&as=read&id=x", "mark=group&as=read&id=1&before=1772400000.5",
		"mark=group&as=read&id=-99999999999999999999", "mark=group&as=read&id=99999999999999999999",
		"mark=item&as=read&id=x", "mark=item&as=read&id=-99999999999999999999&before=x", "mark=all&as=read&id=0",
	} {
		if w := ask(h, "POST", "api&"+query, ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d, %s", query, w.Code, w.Body)
		}
		if got := unread(); got != before {
			t.Fatalf("%s: unread are %s, want %s", query, got, before)
		}
	}
	if ask(h, "POST", "api&mark=group&as=read&id=0", ""); !strings.Contains(unread(), `"unread_item_ids": ""`) {
		t.Errorf("group 0 is read, and unread are %s", unread())
	}
}

// A broken library is not told as an empty one, nor as a wrong password.
func TestLibraryFails(t *testing.T) {
	for _, query := range []string{"api", "api&items", "api&mark=item&as=read&id=1"} {
		l := readertest.Example(t)
		door := readertest.Door{Library: readertest.Broken{Library: l}}
		h := fever.New(fever.Config{Entrance: broken{door, query == "api"}})
		if w := ask(h, "POST", query, ""); w.Code != http.StatusInternalServerError {
			t.Errorf("%s: %d, %s", query, w.Code, w.Body)
		}
	}
}

// A broken library reads and writes nothing, and knows no passwords either where those are gone.
type broken struct {
	readertest.Door
	passwords bool
}

func (b broken) FeverVisitor(ctx context.Context, key string) (reading.Visitor, error) {
	if b.passwords {
		return reading.Visitor{}, readertest.ErrDisk
	}
	return b.Door.FeverVisitor(ctx, key)
}

// Each picture is told once, whichever feeds have it.
func TestIcons(t *testing.T) {
	l := readertest.Example(t)
	id := l.Picture(t, readertest.News).ID
	l.Picture(t, readertest.Plain)
	got := ask(handler(l), "POST", "api&feeds&favicons", "").Body.String()
	if strings.Count(got, `"data": "image/gif;base64,R0lGODlhAQABAA=="`) != 1 ||
		strings.Count(got, fmt.Sprintf(`"favicon_id": %d,`, id)) != 2 || strings.Count(got, `"favicon_id": 0,`) != 1 {
		t.Errorf("pictures are told as %s", got)
	}
}
