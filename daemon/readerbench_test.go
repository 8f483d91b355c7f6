package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reader"
	"feedex/reading"
)

// BenchmarkReader asks for one of a thousand feeds with a hundred entries each, as feed readers do: with the version
// that they have, with one that lacks ten entries, and without any.
func BenchmarkReader(b *testing.B) {
	store := ondisk.MustOpen(b, filepath.Join(b.TempDir(), databaseName))
	defer store.Close()
	url := func(i int) feed.URL { return feed.URL(fmt.Sprintf("https://example.com/%d", i)) }
	grow := func(from, to int) {
		for i := range 1000 {
			var records []archive.Record
			for n := from; n < to; n++ {
				e := feed.Entry{Feed: url(i), ID: fmt.Sprint(n), Title: "Title", Link: "https://example.com/",
					Content: strings.Repeat("<p>Some words.</p>", 60)}
				records = append(records, archive.NewRecord(e, time.Unix(int64(1e9+n), 0), protocol.NodeID{}))
			}
			store.Keep(records)
		}
		if err := store.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 1000 {
		store.KeepFeed(archive.Feed{URL: url(i), Title: "Feed", Subscribed: true})
	}
	h := reader.New(reader.Config{Source: ownersArchive{store, store.Shelf(reading.Owner)}})
	ask := func(target string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	grow(0, 90)
	for _, target := range []string{"/feed/https://example.com/500", "/all.atom"} {
		old := ask(target).Header().Get("ETag")
		if strings.HasPrefix(target, "/feed") {
			grow(90, 100)
		}
		now := ask(target).Header().Get("ETag")
		for _, c := range []struct {
			name    string
			code    int
			headers []string
		}{{"same", 304, []string{"If-None-Match", now}}, {"delta", 226, []string{"If-None-Match", old, "A-IM", "feed"}},
			{"whole", 200, nil}} {
			if old == now && c.code == 226 {
				continue
			}
			b.Run(target+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					if w := ask(target, c.headers...); w.Code != c.code {
						b.Fatalf("status %d", w.Code)
					}
				}
			})
		}
	}
}
