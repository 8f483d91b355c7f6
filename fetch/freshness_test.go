package fetch

import (
	"net/http"
	"testing"
	"time"

	"feedex/courtesy"
	"feedex/internal/httptime"
)

func TestFreshness(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	fresh := func(lifetime, age time.Duration) courtesy.Freshness {
		return courtesy.Freshness{Stated: true, Lifetime: lifetime, Age: age}
	}
	for _, test := range []struct {
		name   string
		header http.Header
		want   courtesy.Freshness
	}{
		{"nothing", http.Header{}, courtesy.Freshness{}},
		{"other directives", http.Header{"Cache-Control": {"public, must-revalidate"}}, courtesy.Freshness{}},
		{"max-age", http.Header{"Cache-Control": {"public, MAX-AGE=300"}}, fresh(5*time.Minute, 0)},
		{"quoted", http.Header{"Cache-Control": {`max-age="300"`}}, fresh(5*time.Minute, 0)},
		{"blanks", http.Header{"Cache-Control": {" max-age = 300 ,"}}, fresh(5*time.Minute, 0)},
		{"on a second line", http.Header{"Cache-Control": {"public", "max-age=300"}}, fresh(5*time.Minute, 0)},
		{"of several the first", http.Header{"Cache-Control": {"max-age=300, max-age=600"}}, fresh(5*time.Minute, 0)},
		{"not within quotes", http.Header{"Cache-Control": {`ext="a, max-age=600", max-age=300`}},
			fresh(5*time.Minute, 0)},
		{"caches for many do not count", http.Header{"Cache-Control": {"s-maxage=900, max-age=300"}},
			fresh(5*time.Minute, 0)},
		{"years", http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, fresh(httptime.Longest, 0)},
		{"no number", http.Header{"Cache-Control": {"max-age=soon"}}, fresh(0, 0)},
		{"below zero", http.Header{"Cache-Control": {"max-age=-1"}}, fresh(0, 0)},
		{"no-cache", http.Header{"Cache-Control": {"max-age=300, no-cache"}}, fresh(0, 0)},
		{"no-cache for a field", http.Header{"Cache-Control": {`no-cache="set-cookie", max-age=300`}},
			fresh(5*time.Minute, 0)},
		{"no-store", http.Header{"Cache-Control": {"no-store"}}, fresh(0, 0)},
		{"age", http.Header{"Cache-Control": {"max-age=300"}, "Age": {"100"}}, fresh(5*time.Minute, 100*time.Second)},
		{"age that is no number", http.Header{"Cache-Control": {"max-age=300"}, "Age": {"-7"}},
			fresh(5*time.Minute, 0)},
		{"expires", http.Header{"Expires": {at(time.Hour)}}, fresh(time.Hour, 0)},
		{"expires by their clock", http.Header{"Expires": {at(time.Hour)}, "Date": {at(45 * time.Minute)}},
			fresh(15*time.Minute, 0)},
		{"expires with age", http.Header{"Expires": {at(time.Hour)}, "Age": {"60"}}, fresh(time.Hour, time.Minute)},
		{"expired", http.Header{"Expires": {at(-time.Hour)}}, fresh(0, 0)},
		{"expires at once", http.Header{"Expires": {"0"}}, fresh(0, 0)},
		{"max-age goes first", http.Header{"Expires": {at(time.Hour)}, "Cache-Control": {"max-age=60"}},
			fresh(time.Minute, 0)},
	} {
		if got := freshness(test.header, now); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestUnchanged(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, test := range []struct {
		name, lastModified, date string
		want                     time.Duration
	}{
		{"says nothing", "", "", 0},
		{"no date", "yesterday", "", 0},
		{"three days", at(-72 * time.Hour), "", 72 * time.Hour},
		{"by their clock", at(-72 * time.Hour), at(-time.Hour), 71 * time.Hour},
		{"of tomorrow", at(24 * time.Hour), "", 0},
		{"of a century ago", "Mon, 01 Jan 1900 00:00:00 GMT", "", httptime.Longest},
	} {
		if got := unchanged(test.lastModified, http.Header{"Date": {test.date}}, now); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Whatever a header holds: nothing is below zero, and nothing is said where nothing was.
func FuzzFreshness(f *testing.F) {
	f.Add("max-age=300, no-cache", "Sun, 01 Mar 2026 12:00:00 GMT", "60")
	f.Add(`ext="a,b", max-age="5`, "0", "-1")
	f.Add("no-store, im,,=;", "", "99999999999999999999")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, control, expires, age string) {
		h := http.Header{"Cache-Control": {control}, "Expires": {expires}, "Age": {age}, "X-Robots-Tag": {control}}
		got := freshness(h, now)
		if got.Lifetime < 0 || got.Lifetime > httptime.Longest || got.Age < 0 || got.Age > httptime.Longest {
			t.Errorf("%+v", got)
		}
		if !got.Stated && got != (courtesy.Freshness{}) || got.Stated && control == "" && expires == "" {
			t.Errorf("%+v", got)
		}
		optsOut(h)
	})
}
