package httptime_test

import (
	"net/http"
	"testing"
	"time"

	"feedex/internal/httptime"
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
		{"99999999999999999999999", "", httptime.LongestAway},
		{"9223372036854775807", "", httptime.LongestAway},
		{"-5", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{at(time.Hour), "", time.Hour},
		{at(-time.Hour), "", 0},
		{at(100 * 24 * time.Hour), "", httptime.LongestAway},
		{at(time.Hour), at(30 * time.Minute), 30 * time.Minute}, // their clock is ahead of ours
		{at(time.Hour), "nonsense", time.Hour},
		{"Sunday, 01-Mar-26 12:00:30 GMT", "", 30 * time.Second}, // RFC 850
		{"Sun Mar  1 12:00:30 2026", "", 30 * time.Second},       // asctime
	} {
		h := http.Header{"Retry-After": {test.value}, "Date": {test.date}}
		if got := httptime.RetryAfter(h, now); got != test.want {
			t.Errorf("Retry-After %q, Date %q: %v, want %v", test.value, test.date, got, test.want)
		}
	}
	if got := httptime.RetryAfter(http.Header{}, now); got != 0 {
		t.Errorf("without the header: %v", got)
	}
}
