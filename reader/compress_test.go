package reader_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/reader"
)

func TestCompressed(t *testing.T) {
	l := exampleLibrary()
	l.entries[exampleURL][0].Entry.Content = strings.Repeat("long ", 10_000)
	typed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		io.WriteString(w, strings.Repeat("0", 5_000))
	}
	h := reader.New(reader.Config{Source: l, Web: http.HandlerFunc(typed)})
	request := func(target, takes, has string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7791"+target, nil)
		r.Header.Set("Accept-Encoding", takes)
		r.Header.Set("If-None-Match", has)
		h.ServeHTTP(w, r)
		if !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: Vary %q, want Accept-Encoding in it", target, w.Header().Values("Vary"))
		}
		return w
	}
	target := "/feed/" + string(exampleURL)
	plain, coded := request(target, "", ""), request(target, "br, gzip", "")
	if coded.Header().Get("Content-Encoding") != "gzip" || coded.Body.Len() > plain.Body.Len()/5 {
		t.Fatalf("%q, %d of %d bytes: not compressed", coded.Header(), coded.Body.Len(), plain.Body.Len())
	}
	z, err := gzip.NewReader(coded.Body)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != plain.Body.String() {
		t.Errorf("%d bytes, %v: not what comes without", len(b), err)
	}
	strong, weak := plain.Header().Get("ETag"), coded.Header().Get("ETag")
	if strong[0] != '"' || weak != "W/"+strong {
		t.Errorf("ETag %s, compressed %s: want it weak", strong, weak)
	}
	for _, tag := range []string{strong, weak} {
		for _, takes := range []string{"", "gzip"} {
			if w := request(target, takes, tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
				t.Errorf("%s again, Accept-Encoding %q: %d", tag, takes, w.Code)
			}
		}
	}
	l.feeds = make([]archive.Feed, 20)
	for i := range l.feeds {
		u := fmt.Sprintf("https://example.org/%d", i)
		l.feeds[i] = archive.Feed{URL: feed.URL(u), Title: strings.Repeat("long ", 20), Subscribed: true}
	}
	if w := request("/opml", "gzip", ""); w.Header().Get("Content-Encoding") != "gzip" ||
		!strings.HasPrefix(w.Header().Get("ETag"), `W/"`) { // it names no code
		t.Errorf("a list: %v: want it weak", w.Header())
	}
	for target, takes := range map[string]string{
		"/nowhere.html?type=image/png": "gzip", "/?type=text/event-stream": "gzip", "/?type=text/html": "gzip;q=0",
		"/feeds/99.atom": "gzip", // the answer is short
	} {
		if w := request(target, takes, ""); w.Header().Get("Content-Encoding") != "" || w.Body.Len() == 0 {
			t.Errorf("%s: %d bytes, Content-Encoding %q", target, w.Body.Len(), w.Header().Get("Content-Encoding"))
		}
	}
	if w := request("/?type=text/html", "gzip", ""); w.Header().Get("Content-Encoding") != "gzip" {
		t.Error("a page is not compressed")
	}
}

// Events are there at once, and their connection has deadlines of its own, whatever coding a browser takes.
func TestEventsAreNotHeldBack(t *testing.T) {
	events := func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := io.WriteString(w, "data: x\n\n")
		if err := errors.Join(err, c.SetWriteDeadline(time.Now().Add(time.Hour)), c.Flush()); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	}
	server := httptest.NewServer(reader.New(reader.Config{Source: exampleLibrary(), Web: http.HandlerFunc(events)}))
	defer server.Close()
	for name, client := range map[string]*http.Client{"plain": &uncompressed, "gzip": http.DefaultClient} {
		resp, err := client.Get(server.URL + "/live")
		if err != nil {
			t.Fatal(err)
		}
		event := make([]byte, len("data: x\n\n"))
		if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != "data: x\n\n" {
			t.Errorf("%s: %q, %v", name, event, err)
		}
		resp.Body.Close()
	}
}
