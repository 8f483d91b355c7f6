package fever_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader/fever"
	"feedex/reader/readertest"
	"feedex/reading"
	"feedex/syncapi"
)

func handler(l *readertest.Library) http.Handler { return fever.New(syncapi.Config{Entrance: l}) }

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
		for _, part := range strings.Split(ask(h, "POST", query, "").Body.String(), `{"id":`)[1:] {
			id, _, _ := strings.Cut(part, ",")
			got = append(got, id)
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
	w := ask(fever.New(syncapi.Config{Entrance: door}), "POST", "api&unread_item_ids", "")
	if !strings.Contains(w.Body.String(), `"unread_item_ids":"3,4"`) {
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
	if ask(h, "POST", "api&mark=group&as=read&id=0", ""); !strings.Contains(unread(), `"unread_item_ids":""`) {
		t.Errorf("group 0 is read, and unread are %s", unread())
	}
}

// A part of the items is not told as all of them.
func TestBreaksOff(t *testing.T) {
	readertest.BreaksOff(t, func(l reading.Library) http.Handler {
		return fever.New(syncapi.Config{Entrance: readertest.Door{Library: l}})
	}, "/fever/?api&items")
}

// A flowing library notes, of each item that is asked for, how much of the answer has gone out before.
type flowing struct {
	reading.Library
	answer *httptest.ResponseRecorder
	sent   []int
}

func (f *flowing) Items(ctx context.Context, ids []reading.ItemID) iter.Seq2[reading.Item, error] {
	return func(yield func(reading.Item, error) bool) {
		for i, err := range f.Library.Items(ctx, ids) {
			if f.sent = append(f.sent, f.answer.Body.Len()); !yield(i, err) {
				return
			}
		}
	}
}

// One item is held in memory at a time, however long they are, and each comes: a page is as full as ever.
func TestItemsFlow(t *testing.T) {
	l := readertest.New(t)
	l.Follow(t, archive.Feed{URL: readertest.News, Since: readertest.Noon})
	const long, many = 20_000, 60
	for i := range many {
		l.Arrive(t, readertest.Noon, feed.Entry{Feed: readertest.News, ID: fmt.Sprint(i),
			Content: strings.Repeat("'", long)})
	}
	for _, query := range []string{"max_id=99", "since_id=0", "with_ids=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18," +
		"19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50"} {
		w := httptest.NewRecorder()
		f := &flowing{Library: l, answer: w}
		fever.New(syncapi.Config{Entrance: readertest.Door{Library: f}}).ServeHTTP(w,
			httptest.NewRequest("GET", "/fever/?api&items&"+query, nil))
		for i, sent := range f.sent {
			if sent < i*long {
				t.Fatalf("%s: %d bytes went out before item %d was read", query, sent, i)
			}
		}
		var got struct{ Items []struct{ HTML string } }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Items) != 50 ||
			len(got.Items[49].HTML) < long {
			t.Errorf("%s: %d items, %v", query, len(got.Items), err)
		}
	}
}

func TestStrangersSendLittle(t *testing.T) { readertest.ReadsLittle(t, handler, "/fever/?api") }

func TestForeignPages(t *testing.T) {
	at := func(e reading.Entrance) http.Handler { return fever.New(syncapi.Config{Entrance: e}) }
	readertest.RefusesForeign(t, at, "/fever/?api", "api_key="+reading.FeverKey(readertest.Name, readertest.Secret),
		http.StatusOK)
}

// A broken library is not told as an empty one, nor as a wrong password.
func TestLibraryFails(t *testing.T) {
	for _, query := range []string{"api", "api&items", "api&mark=item&as=read&id=1"} {
		l := readertest.Example(t)
		door := readertest.Door{Library: readertest.Broken{Library: l}}
		h := fever.New(syncapi.Config{Entrance: broken{door, query == "api"}})
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
	if strings.Count(got, `"data":"image/gif;base64,R0lGODlhAQABAA=="`) != 1 ||
		strings.Count(got, fmt.Sprintf(`"favicon_id":%d,`, id)) != 2 || strings.Count(got, `"favicon_id":0,`) != 1 {
		t.Errorf("pictures are told as %s", got)
	}
}
