package fetch

import (
	"net/http"
	"testing"
)

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
