package daemon

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/reading"
)

// What a node counts is at /metrics in the form and by the names that Prometheus wants, for whoever sees its pages.
// Nothing there names a feed or a neighbor.
func TestNodeShowsItsMetrics(t *testing.T) {
	f := startFeed(t, "Harbor", "Lighthouse")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	n.waitArrival(f.url)
	resp, err := http.Get("http://" + n.at.Reader + "/metrics")
	_, metrics := statusOf(t, resp, err)
	for _, want := range []string{"\nfeedex_feeds 1\n", "\nfeedex_archive_entries 2\n", "\nfeedex_polls_total 1\n",
		"\nfeedex_keeping 1\n", "\nfeedex_hosting_bytes_total 0\n",
		"\nfeedex_calls_made_total 0\n", "\nfeedex_calls_bytes_total 0\n",
		"# TYPE feedex_neighbors gauge\n",
		"# TYPE feedex_entries_polled_total counter\n"} {
		if resp.StatusCode != http.StatusOK || !strings.Contains(metrics, want) {
			t.Errorf("metrics are answered %s without %q\n%s", resp.Status, want, metrics)
		}
	}
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if err != nil || len(problems) != 0 {
		t.Errorf("metrics: %v, %v", problems, err)
	}
	if strings.ContainsAny(metrics, "{}") {
		t.Errorf("metrics have labels:\n%s", metrics)
	}
}

// Of a node that rests it is not known what it follows and counts: those metrics are left out, and are not 0.
func TestMetricsOfANodeThatRests(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		for _, full := range []error{nil, errDiskFull} {
			l.disk.set(diskState{commit: full})
			l.knock()
			w := httptest.NewRecorder()
			l.metrics(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			for name, known := range map[string]bool{"feeds": full == nil, "polls_total": full == nil,
				"keeping": true, "archive_entries": true, "calls_made_total": true} {
				if strings.Contains(w.Body.String(), "\nfeedex_"+name+" ") != known {
					t.Errorf("%v: of %s it is said:\n%s", full, name, w.Body)
				}
			}
		}
	})
}

// Whatever a node counts is a metric, each of it another one.
func TestEveryCounterIsAMetric(t *testing.T) {
	r := control.Report{Status: new(node.Status)}
	fields := reflect.ValueOf(&r.Counters).Elem()
	if n := len(counters(&r)) - len(counters(new(control.Report))); n != fields.NumField() {
		t.Errorf("there are %d counters and %d metrics of them", fields.NumField(), n)
	}
	for i := range fields.NumField() {
		r.Counters = node.Counters{}
		if fields.Field(i).CanInt() {
			fields.Field(i).SetInt(7)
		} else {
			fields.Field(i).SetFloat(7)
		}
		shown := 0
		for _, m := range counters(&r) {
			if m.value == 7 {
				shown++
			}
		}
		if shown != 1 {
			t.Errorf("%s is shown by %d metrics", fields.Type().Field(i).Name, shown)
		}
	}
}

// Whoever watches over a node learns without a password whether it works, and no more than that. Metrics are for those
// who have one where clients may be anywhere.
func TestHealthNeedsNoPassword(t *testing.T) {
	n := startNode(t, Config{})
	secret := n.password("prometheus", "", reading.ReaderScope)
	ask := func(path, password string) (*http.Response, string) {
		r, err := http.NewRequest(http.MethodGet, "http://"+n.at.Reader+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "192.0.2.1") // by a web server: the client may be anywhere
		if password != "" {
			r.SetBasicAuth("prometheus", password)
		}
		resp, err := http.DefaultClient.Do(r)
		_, text := statusOf(t, resp, err)
		return resp, text
	}
	if resp, text := ask("/healthz", ""); resp.StatusCode != http.StatusOK || text != "ok\n" {
		t.Errorf("health is answered %s %q", resp.Status, text)
	}
	for password, want := range map[string]int{"": 401, "wrong": 401, secret: 200} {
		if resp, text := ask("/metrics", password); resp.StatusCode != want ||
			strings.Contains(text, "feedex_feeds") != (want == 200) {
			t.Errorf("with the password %q metrics are answered %s %s", password, resp.Status, text)
		}
	}
}

// A node of which nothing is kept is not well, nor is one whose loop hangs; those who ask all the time cost a look
// each second.
func TestHealth(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		want := func(code int, text string) {
			t.Helper()
			w := httptest.NewRecorder()
			l.healthz(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
			if w.Code != code || w.Body.String() != text+"\n" {
				t.Errorf("health is answered %d %q, want %d %q", w.Code, w.Body, code, text)
			}
		}
		want(200, "ok")
		l.disk.set(diskState{commit: errors.New("disk is full")})
		if l.Subscribe(t.Context(), following(exampleFeed)) == nil {
			t.Fatal("a full disk takes something")
		}
		want(200, "ok") // it was asked this very second
		l.pass(healthTime)
		want(503, "nothing is kept")
		l.disk.set(diskState{})
		l.pass(time.Hour)
		want(200, "ok")

		over := make(chan bool)
		go chore(t.Context(), l.host.loop, func() (bool, error) { return <-over, nil })
		l.pass(healthTime)
		want(503, "the loop hangs")
		close(over)
		l.pass(healthTime)
		want(200, "ok")
	})
}
