package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/node"
)

// Every request of a poll is noted, redirects included, with what was sent and what came back.
func TestRequestsAreNoted(t *testing.T) {
	long := `"` + strings.Repeat("x", 100) + `"`
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/busy":
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Header()["ETag"], w.Header()["Last-Modified"] = []string{long}, []string{strings.Repeat("y", 2000)}
			serveRSS(w, r)
		}
	})
	begun := time.Now()
	secret := strings.Replace(server, "//", "//secretive:secret@", 1)
	first := fetchWith(t, Config{PrivateHosts: []string{"127.0.0.1"}},
		node.Fetch{Feed: feed.URL(secret + "/feed?token=secret")})
	wantEntry(t, first)
	if len(first.Requests) != 2 {
		t.Fatalf("%d requests are noted, want 2: %+v", len(first.Requests), first.Requests)
	}
	a, b := first.Requests[0], first.Requests[1]
	if !strings.HasPrefix(a.URL, server+"/feed?sha1=") || a.Feed != "" || a.Status != 302 || !a.Private ||
		a.Sent != (grade.Validators{}) || a.At.Before(begun) {
		t.Errorf("the redirect is %+v", a)
	}
	if strings.Contains(a.URL+b.Feed, "secret") {
		t.Errorf("the log holds a name, a password or a key: %s", a.URL)
	}
	if !strings.HasPrefix(b.URL, server+"/there?sha1=") || b.Feed != a.URL || b.Status != 200 ||
		b.Got.LastModified != "" || len(b.Got.ETag) > 64 {
		t.Errorf("the document is %+v", b)
	}

	again := fetchWith(t, Config{AllowLocal: true}, node.Fetch{Feed: feed.URL(server + "/there"),
		ETag: first.ETag, LastModified: "yesterday"})
	if r := again.Requests; len(r) != 1 ||
		r[0].Sent != (grade.Validators{ETag: b.Got.ETag, LastModified: "yesterday"}) || !r[0].Private {
		t.Errorf("the second poll is %+v, want the validator of the first: %q", r, b.Got.ETag)
	}
	busy := local(t, server+"/busy")
	if r := busy.Requests; len(r) != 1 || r[0].Status != 429 || r[0].RetryAfter != 90*time.Second {
		t.Errorf("the refused poll is %+v", r)
	}
	nobody := local(t, "http://127.0.0.1:1/feed")
	if r := nobody.Requests; len(r) != 1 || r[0].Status != 0 {
		t.Errorf("the poll that nobody answered is %+v", r)
	}
}
