package daemon

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"feedex/reader"
	"feedex/reading"
)

// What a reader marks, by whichever API, is on the disk when it has its answer; without a password nothing is.
func TestEachAPIMarks(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	l.arrive(exampleFeed, 6)
	secret, err := l.host.AddPassword(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
	login, basic := "GoogleLogin auth="+secret, "Basic "+base64.StdEncoding.EncodeToString([]byte("phone:"+secret))
	key := reading.FeverKey("phone", secret)
	for i, c := range []struct{ method, target, authorization, body string }{
		{"POST", "/reader/api/0/edit-tag", login, "i=1&a=user/-/state/com.google/read"},
		{"POST", "/api/greader.php/reader/api/0/edit-tag", login, "i=2&a=user/-/state/com.google/read"},
		{"POST", "/fever/?api", "", "mark=item&as=read&id=3&api_key=" + key},
		{"PUT", "//v1/entries", basic, `{"entry_ids":[4],"status":"read"}`},
		{"PUT", "/index.php/apps/news/api/v1-2/items/5/read", basic, `{}`},
	} {
		ask := func(authorization, body string) *httptest.ResponseRecorder {
			h := reader.New(reader.Config{Source: l.View, Sync: l.host.syncAPIs(l.View)})
			r := httptest.NewRequest(c.method, "http://127.0.0.1:7791"+c.target, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Authorization", authorization)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		ask("", strings.ReplaceAll(c.body, key, "x"))
		l.wantSize(c.target+" of nobody", unread, 6-i)
		if w := ask(c.authorization, c.body); w.Code != http.StatusOK && w.Code != http.StatusNoContent {
			t.Errorf("%s: %d, %s", c.target, w.Code, w.Body)
		}
		l = l.reopen()
		l.wantSize(c.target, unread, 5-i)
	}
}
