package reader_test

import (
	"net/http"
	"testing"
	"time"

	"feedex/archive"
	"feedex/reader"
)

func TestConditionalRequests(t *testing.T) {
	h := reader.New(reader.Config{Source: exampleLibrary()})
	target := "/feed/" + string(exampleURL)
	first := get(t, h, target)
	etag, modified := first.Header().Get("ETag"), first.Header().Get("Last-Modified")
	if len(etag) < 3 || etag[0] != '"' {
		t.Fatalf("ETag %q, want a strong one", etag)
	}
	if want := day(6).Format(http.TimeFormat); modified != want {
		t.Fatalf("Last-Modified %q, want %q", modified, want)
	}
	before := day(5).Format(http.TimeFormat)
	after := day(7).Format(http.TimeFormat)
	for _, test := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"none", nil, 200},
		{"same tag", []string{"If-None-Match", etag}, 304},
		{"weak form of the tag", []string{"If-None-Match", "W/" + etag}, 304},
		{"other tag", []string{"If-None-Match", `"other"`}, 200},
		{"tag without quotes", []string{"If-None-Match", etag[1 : len(etag)-1]}, 200},
		{"tag in a list", []string{"If-None-Match", `"a,b", W/"c" ,` + etag}, 304},
		{"tag on a second line", []string{"If-None-Match", `"a"`, "If-None-Match", etag}, 304},
		{"list without the tag", []string{"If-None-Match", `"a", "b"`}, 200},
		{"any", []string{"If-None-Match", "*"}, 304},
		{"garbage", []string{"If-None-Match", `"`}, 200},
		{"same date", []string{"If-Modified-Since", modified}, 304},
		{"later date", []string{"If-Modified-Since", after}, 304},
		{"earlier date", []string{"If-Modified-Since", before}, 200},
		{"no date", []string{"If-Modified-Since", "yesterday"}, 200},
		{"other tag goes before same date", []string{"If-None-Match", `"other"`, "If-Modified-Since", modified}, 200},
		{"same tag goes before earlier date", []string{"If-None-Match", etag, "If-Modified-Since", before}, 304},
		{"must match and does", []string{"If-Match", etag}, 200},
		{"must match and does not", []string{"If-Match", `"other"`}, 412},
		{"must match, weak", []string{"If-Match", "W/" + etag}, 412},
		{"must match any", []string{"If-Match", "*"}, 200},
		{"unmodified since earlier", []string{"If-Unmodified-Since", before}, 412},
		{"unmodified since later", []string{"If-Unmodified-Since", after}, 200},
		{"must match goes before unmodified", []string{"If-Match", etag, "If-Unmodified-Since", before}, 200},
		{"both steps", []string{"If-Match", etag, "If-None-Match", etag}, 304},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				w := do(t, h, method, target, test.headers...)
				if w.Code != test.want {
					t.Errorf("%s: status %d, want %d", method, w.Code, test.want)
				}
				if w.Code == http.StatusNotModified && (w.Body.Len() > 0 || w.Header().Get("ETag") != etag ||
					w.Header().Get("Content-Type") != "") {
					t.Errorf("%s: 304 with body %q, headers %v", method, w.Body, w.Header())
				}
			}
		})
	}
}

// A reader's copy is stale when, and only when, the bytes would differ.
func TestETagFollowsTheContent(t *testing.T) {
	target := "/feed/" + string(exampleURL)
	seen := make(map[string]string)
	for name, change := range map[string]func(*library, *reader.Config){
		"nothing": func(*library, *reader.Config) {},
		"entries": func(l *library, _ *reader.Config) {
			l.versions[exampleURL] = archive.FeedVersion{Arrived: 1005, At: day(6)}
		},
		"edit": func(l *library, _ *reader.Config) {
			l.versions[exampleURL] = archive.FeedVersion{Arrived: 1004, Changed: 1, At: day(6)}
		},
		"title":     func(l *library, _ *reader.Config) { l.feeds[0].Title = "Other" },
		"site":      func(l *library, _ *reader.Config) { l.feeds[0].Link = "https://example.com/x" },
		"generator": func(_ *library, c *reader.Config) { c.Version = "2" },
	} {
		l := exampleLibrary()
		cfg := reader.Config{Source: l, Version: "1"}
		change(l, &cfg)
		etag := get(t, reader.New(cfg), target).Header().Get("ETag")
		if other, ok := seen[etag]; ok {
			t.Errorf("%q and %q changed: same ETag %s", name, other, etag)
		}
		seen[etag] = name
	}
	l := exampleLibrary()
	h := reader.New(reader.Config{Source: l})
	a := get(t, h, target).Header().Get("ETag")
	l.feeds[0].LastPoll, l.feeds[0].LastSuccess, l.feeds[0].Errors = day(8), day(8), 3
	if b := get(t, h, target).Header().Get("ETag"); a != b {
		t.Errorf("a poll that brought nothing changed the ETag from %s to %s", a, b)
	}
}

// Within the second of the last change there may be another, which a date could not tell.
func TestNoLastModifiedWithinTheSecond(t *testing.T) {
	l := exampleLibrary()
	now := time.Now().Truncate(time.Second).Add(time.Hour)
	l.versions[exampleURL] = archive.FeedVersion{Arrived: 9, At: now}
	w := get(t, reader.New(reader.Config{Source: l}), "/feed/"+string(exampleURL), "If-Modified-Since",
		now.Format(http.TimeFormat))
	if w.Code != http.StatusOK || w.Header().Get("Last-Modified") != "" {
		t.Errorf("status %d, Last-Modified %q, want 200 without", w.Code, w.Header().Get("Last-Modified"))
	}
}
