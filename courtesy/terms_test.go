package courtesy

import (
	"testing"
	"time"

	"feedex/feed"
)

const (
	h   = time.Hour
	day = 24 * h
)

// When a feed may be asked again after a document, and after what comes next.
func TestFreshDocumentsAreNotAskedFor(t *testing.T) {
	type answer struct {
		status     int
		doc        *feed.Document
		fresh      Freshness
		retryAfter time.Duration
	}
	fresh := func(d, age time.Duration) Freshness { return Freshness{Stated: true, Lifetime: d, Age: age} }
	said := func(f Freshness) answer { return answer{status: 200, doc: &feed.Document{}, fresh: f} }
	paced := func(every time.Duration) answer {
		return answer{status: 200, doc: &feed.Document{Pace: feed.PollingHints{Every: every}}}
	}
	same := answer{status: 304}
	for _, test := range []struct {
		name    string
		answers []answer
		want    time.Duration // after the last of them
	}{
		{"says nothing", []answer{said(Freshness{})}, 0},
		{"stale at once", []answer{said(fresh(0, 0))}, 0},
		{"two hours", []answer{said(fresh(2*h, 0))}, 2 * h},
		{"two hours, half an hour old", []answer{said(fresh(2*h, h/2))}, 90 * time.Minute},
		{"older than fresh", []answer{said(fresh(2*h, 3*h))}, 0},
		{"a year", []answer{said(fresh(365*day, 0))}, day},
		{"a 304 that does not say renews it", []answer{said(fresh(2*h, 0)), same}, 2 * h},
		{"a 304 changes it", []answer{said(fresh(2*h, 0)), {status: 304, fresh: fresh(h, 0)}}, h},
		{"a document that does not say ends it", []answer{said(fresh(5*h, 0)), said(Freshness{})}, 0},
		{"so does one that is the same", []answer{said(fresh(5*h, 0)), {status: 200}}, 0},
		{"ttl", []answer{paced(3 * h)}, 3 * h},
		{"ttl of a month", []answer{paced(30 * day)}, day},
		{"ttl holds on", []answer{paced(3 * h), same}, 3 * h},
		{"the longer of both",
			[]answer{{status: 200, doc: &feed.Document{Pace: feed.PollingHints{Every: 3 * h}}, fresh: fresh(4*h, 0)}},
			4 * h},
		{"Retry-After", []answer{{status: 304, retryAfter: 5 * h}}, 5 * h},
		{"Retry-After of days", []answer{{status: 304, retryAfter: 5 * day}}, 5 * day},
		{"Retry-After of a moment", []answer{said(fresh(2*h, 0)), {status: 304, retryAfter: 1}}, 2 * h},
	} {
		var terms Terms
		for _, a := range test.answers {
			terms.Answered(epoch, a.status, a.doc, a.fresh, a.retryAfter)
		}
		if got := terms.NotBefore.Sub(epoch); got != test.want {
			t.Errorf("%s: left alone for %v, want %v", test.name, got, test.want)
		}
	}
}

// A failure says how long it lasts, and nothing about the document before.
func TestTermsAfterAFailure(t *testing.T) {
	for _, test := range []struct {
		fresh      Freshness
		retryAfter time.Duration
		want       time.Duration
	}{
		{Freshness{}, 0, 0},
		{Freshness{Stated: true, Lifetime: 2 * h, Age: h}, 0, h},
		{Freshness{Stated: true, Lifetime: 90 * day}, 0, day},
		{Freshness{Stated: true, Lifetime: h}, 30 * day, 30 * day},
	} {
		terms := Terms{Lifetime: 12 * h, Pace: feed.PollingHints{Every: 13 * h}}
		if got := terms.Failed(epoch, test.fresh, test.retryAfter); got != test.want ||
			terms.NotBefore.Sub(epoch) != got {
			t.Errorf("%+v, Retry-After %v: left alone for %v, want %v", test.fresh, test.retryAfter, got, test.want)
		}
		if terms.Lifetime != 12*h {
			t.Error("a failure changed what the document said")
		}
	}
}

// Hours that the publisher skips are waited for, but not for ever.
func TestAllowedHours(t *testing.T) {
	terms := Terms{Pace: feed.PollingHints{SkipHours: 1<<24 - 1 - 1<<15}} // all but from three to four in the afternoon
	for _, test := range []struct {
		at, last time.Duration // since noon
		want     time.Duration
	}{
		{0, -h, 3 * h},
		{3*h + 1, -h, 3*h + 1},
		{4 * h, -h, 27 * h},
		{8 * day, -h, 8*day + 3*h}, // it fell due an hour later
		{8 * day, -3 * h, 8 * day},
	} {
		if got := terms.Allowed(epoch.Add(test.at), epoch.Add(test.last), 2*h).Sub(epoch); got != test.want {
			t.Errorf("due at %v, last polled at %v: polled at %v, want %v", test.at, test.last, got, test.want)
		}
	}
	if got := terms.Allowed(epoch, time.Time{}, 0).Sub(epoch); got != 3*h {
		t.Errorf("a feed that was never polled is after %v", got)
	}
}
