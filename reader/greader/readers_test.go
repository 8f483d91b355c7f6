package greader_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedex/reader/greader"
	"feedex/reader/readertest"
	"feedex/reading"
	"feedex/syncapi"
)

func open(l *readertest.Library) http.Handler {
	return greader.New(syncapi.Config{Entrance: l, Now: func() time.Time { return readertest.Noon.Add(time.Hour) }})
}

// Each reader gets what it understands.
func TestReaders(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/greader-*.txt", open)
}

func TestStrangersSendLittle(t *testing.T) {
	for _, path := range []string{"/accounts/ClientLogin", api + "edit-tag", api + "subscription/import",
		"/reader/atom/"} {
		readertest.ReadsLittle(t, open, path)
	}
	// Who has to log in anew learns so, however long the request is.
	r, w := httptest.NewRequest("POST", api+"edit-tag", strings.NewReader(strings.Repeat("i=2&", 30_000))),
		httptest.NewRecorder()
	if open(readertest.Example(t)).ServeHTTP(w, r); w.Code != http.StatusUnauthorized ||
		w.Header().Get("X-Reader-Google-Bad-Token") != "true" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestForeignPages(t *testing.T) {
	readertest.RefusesForeign(t, func(e reading.Entrance) http.Handler {
		return greader.New(syncapi.Config{Entrance: e})
	}, "/accounts/ClientLogin", "Email="+readertest.Name+"&Passwd="+readertest.Secret, http.StatusOK)
}
