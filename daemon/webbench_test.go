//go:build unix

package daemon

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/grade"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reading"
)

// BenchmarkDashboard makes pages of a running node that follows a thousand feeds for five people and keeps 100,000
// entries of them, which came within a month and are unread, and whose log of requests is full. It reports the median,
// and the processor time of the whole node.
func BenchmarkDashboard(b *testing.B) {
	store := ondisk.MustOpen(b, filepath.Join(b.TempDir(), databaseName))
	defer store.Close()
	now := time.Now()
	fillDashboard(b, store, now)

	ctx, cancel := context.WithCancel(b.Context())
	h := newHost(Config{Node: node.Config{Secret: make([]byte, 32),
		Policy: polling.Fixed{Every: 24 * time.Hour}}}.withDefaults(), store, nil, nil, nil)
	var err error
	if h.teller, err = newTeller(h); err != nil {
		b.Fatal(err)
	}
	if err := h.revive(); err != nil {
		b.Fatal(err)
	}
	var loop sync.WaitGroup
	loop.Go(func() { h.loop.run(ctx) })
	defer loop.Wait()
	defer cancel()
	pages, err := newDashboard(ctx, h, nil)
	if err != nil {
		b.Fatal(err)
	}
	get := func(target, session string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, target, nil), httptest.NewRecorder()
		r.Header.Set("Cookie", session)
		pages.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatalf("%s: status %d: %s", target, w.Code, w.Body)
		}
		return w
	}
	entry := regexp.MustCompile(`/entries/[0-9a-f]{40}`).FindString(get("/entries", "").Body.String())
	readers := []string{"/feeds", "/feeds/500", "/entries", "/entries?feed=500", "/entries?sort=published",
		"/entries?sort=published&show=all", "/entries?sort=published&feed=500", "/entries?folder=1",
		"/entries?sort=published&folder=1", "/entries?show=starred", "/entries?q=article",
		"/entries?q=article&sort=relevance", entry, "/search", "/search?q=article",
		"/search?q=article&sort=relevance", "/settings"}
	owners := append([]string{"/", "/?period=month", "/neighbors", "/recommended", "/filters", "/starred",
		"/notifications"}, readers...)
	session := sessionOf(b, pages, store)
	others := slices.DeleteFunc(slices.Clone(readers), func(s string) bool { return strings.Contains(s, "folder=1") })
	for _, who := range []struct {
		name, cookie string
		targets      []string
	}{{"owner", "", owners}, {"other", session, others}} {
		for _, target := range who.targets {
			b.Run(who.name+strings.Replace(target, entry, "/entries/ID", 1), func(b *testing.B) {
				var took []time.Duration
				before := busy(b)
				for b.Loop() {
					begun := time.Now()
					get(target, who.cookie)
					took = append(took, time.Since(begun))
				}
				b.ReportMetric(float64(busy(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
			})
		}
	}
}

// sessionOf is the cookie of somebody beside the owner who has logged in.
func sessionOf(b *testing.B, pages http.Handler, store reading.Database) string {
	b.Helper()
	people, err := store.People(b.Context())
	if err != nil || len(people) < 2 {
		b.Fatal(people, err)
	}
	password := reading.NewPassword("reader", "00ff", people[1].ID, reading.ReaderScope, time.Now())
	if err := cmp.Or(store.KeepPassword(password), store.Commit()); err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/login", nil))
	form := url.Values{"password": {"00ff"}, "token": {formToken.FindStringSubmatch(w.Body.String())[1]}}
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", strings.Split(w.Header().Get("Set-Cookie"), ";")[0])
	w = httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if c.Name == "feedex_session" {
			return c.Name + "=" + c.Value
		}
	}
	b.Fatalf("the login answers %d: %s", w.Code, w.Body)
	return ""
}

// fillDashboard fills an archive with what a node did within a month.
func fillDashboard(b *testing.B, store reading.Database, now time.Time) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	neighbor, err := protocol.ParseNodeID("192.0.2.7:7790")
	if err != nil {
		b.Fatal(err)
	}
	address := func(i int) feed.URL { return feed.URL(fmt.Sprintf("https://www%d.example.com/feed.xml", i)) }
	for i := range 1000 {
		f := archive.Feed{URL: address(i), Title: fmt.Sprint("Feed ", i), Link: "https://example.com/",
			Subscribed: true, Since: now.Add(-60 * 24 * time.Hour),
			Interval: 2 * time.Hour, LastPoll: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour),
			NextPoll: now.Add(12 * time.Hour)}
		if i%20 == 0 {
			f.Errors, f.LastError, f.LastSuccess = 3, "get example.com: 429 Too Many Requests", now.Add(-48*time.Hour)
		}
		store.KeepFeed(f)
	}
	for i := range 4 {
		if _, err := store.AddPerson(now.Add(-60*24*time.Hour), fmt.Sprint("Reader ", i)); err != nil {
			b.Fatal(err)
		}
	}
	folder := []string{"A folder"}
	store.Pen(reading.Owner).Arrange([]reading.Arrangement{{URL: address(7), Into: folder},
		{URL: address(8), Into: folder}})
	const entries = 100_000
	text := strings.Repeat("<p>Some words of an article.</p>", 20)
	var records []archive.Record
	for i := range entries {
		at := now.Add(-30 * 24 * time.Hour * time.Duration(entries-i) / entries)
		source := neighbor
		if random.IntN(3) == 0 {
			source = protocol.NodeID{}
		}
		e := feed.Entry{Feed: address(random.IntN(1000)), ID: fmt.Sprint(i), Title: "The title of an entry",
			Link: "https://example.com/", Content: text, Published: at}
		records = append(records, archive.NewRecord(e, at, source))
		if len(records) == 200 {
			store.Keep(records)
			store.MarkPolled(at.Add(time.Hour), []feed.EntryID{records[0].ID, records[1].ID})
			records = records[:0]
		}
	}
	var requests []grade.Request
	for i := range archive.KeptRequests {
		at := now.Add(-40 * time.Hour * time.Duration(archive.KeptRequests-i) / archive.KeptRequests)
		requests = append(requests, grade.Request{At: at, URL: string(address(random.IntN(1000))),
			Status: http.StatusNotModified})
	}
	store.KeepRequests(requests)
	if err := store.Commit(); err != nil {
		b.Fatal(err)
	}
	for {
		remaining, err := store.Index(5000)
		if err != nil {
			b.Fatal(err)
		}
		if remaining == 0 {
			return
		}
	}
}
