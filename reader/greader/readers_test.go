package greader_test

import (
	"net/http"
	"testing"
	"time"

	"feedex/reader/greader"
	"feedex/reader/readertest"
	"feedex/reading"
)

func open(l *readertest.Library) http.Handler {
	return greader.New(greader.Config{Entrance: l, Now: func() time.Time { return readertest.Noon.Add(time.Hour) }})
}

// Each reader gets what it understands.
func TestReaders(t *testing.T) {
	readertest.Converse(t, "../../testdata/readers/greader-*.txt", open)
}

func TestForeignPages(t *testing.T) {
	readertest.RefusesForeign(t, func(e reading.Entrance) http.Handler {
		return greader.New(greader.Config{Entrance: e})
	}, "/accounts/ClientLogin", "Email="+readertest.Name+"&Passwd="+readertest.Secret, http.StatusOK)
}
