package fetch

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, test := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"120", "", 2 * time.Minute},
		{" 120 ", "", 2 * time.Minute},
		{"86400", "", 24 * time.Hour},
		{"99999999999999999999999", "", maxRetryAfter},
		{"9223372036854775807", "", maxRetryAfter},
		{"-5", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{at(time.Hour), "", time.Hour},
		{at(-time.Hour), "", 0},
		{at(100 * 24 * time.Hour), "", maxRetryAfter},
		{at(time.Hour), at(30 * time.Minute), 30 * time.Minute}, // their clock is ahead of ours
		{at(time.Hour), "nonsense", time.Hour},
		{"Sunday, 01-Mar-26 12:00:30 GMT", "", 30 * time.Second}, // RFC 850
		{"Sun Mar  1 12:00:30 2026", "", 30 * time.Second},       // asctime
	} {
		h := http.Header{"Retry-After": {test.value}, "Date": {test.date}}
		if got := retryAfter(h, now); got != test.want {
			t.Errorf("Retry-After %q, Date %q: %v, want %v", test.value, test.date, got, test.want)
		}
	}
	if got := retryAfter(http.Header{}, now); got != 0 {
		t.Errorf("without the header: %v", got)
	}
}

func TestOptsOut(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []string
		want   bool
	}{
		{"X-Robots-Tag", []string{"noarchive"}, true},
		{"X-Robots-Tag", []string{"NoIndex, nofollow"}, true},
		{"X-Robots-Tag", []string{"nofollow , none"}, true},
		{"X-Robots-Tag", []string{"nofollow"}, false},
		{"X-Robots-Tag", []string{"all"}, false},
		{"X-Robots-Tag", []string{"noarchiver"}, false},
		{"X-Robots-Tag", []string{"nofollow", "noindex"}, true},
		{"X-Robots-Tag", []string{"otherbot: noindex, nofollow"}, false},
		{"X-Robots-Tag", []string{"feedex: noindex"}, true},
		{"X-Robots-Tag", []string{"*: noarchive"}, true},
		{"X-Robots-Tag", []string{"otherbot: nofollow, feedex: nofollow, noarchive"}, true},
		{"X-Robots-Tag", []string{"noindex, otherbot: nofollow"}, true},
		{"X-Robots-Tag", []string{"max-snippet: 20, noindex"}, true},
		{"X-Robots-Tag", []string{"unavailable_after: 25 Jun 2026 15:00:00 PST, nofollow"}, false},
		{"X-Robots-Tag", []string{"unavailable_after: Thu, 25 Jun 2026 15:00:00 GMT, noarchive"}, true},
		{"X-Robots-Tag", []string{"otherbot: unavailable_after: Thu, 25 Jun 2026 15:00:00 GMT, noarchive"}, false},
		{"Cache-Control", []string{"no-store"}, true},
		{"Cache-Control", []string{"max-age=0, Private"}, true},
		{"Cache-Control", []string{`private="set-cookie"`}, true},
		{"Cache-Control", []string{"no-cache, max-age=0, must-revalidate"}, false},
		{"Cache-Control", []string{"public, max-age=300"}, false},
		{"Cache-Control", []string{"max-age=60", "no-store"}, true},
		{"Cache-Control", []string{""}, false},
		{"Cache-Control", []string{"no-store, im, max-age=60"}, false}, // RFC 3229
		{"Cache-Control", []string{"im, private"}, true},
	} {
		if got := optsOut(http.Header{test.name: test.values}); got != test.want {
			t.Errorf("%s: %q: %v, want %v", test.name, test.values, got, test.want)
		}
	}
}
