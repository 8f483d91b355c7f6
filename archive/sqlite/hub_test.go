package sqlite

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/archive"
)

func TestHubSubscriptions(t *testing.T) {
	s := newStore(t)
	want := func(want ...archive.HubSubscription) {
		t.Helper()
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.HubSubscriptions(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("stored are %+v, %v, want %+v", got, err, want)
		}
	}
	want()
	a := archive.HubSubscription{Callback: "http://127.0.0.1/a", Topic: "t", From: netip.MustParseAddr("192.168.1.2"),
		Secret: "x", Expires: time.UnixMilli(5).UTC(), ETag: `"1"`}
	b := archive.HubSubscription{Callback: "http://127.0.0.1/a", Topic: "u", Expires: time.UnixMilli(7).UTC(),
		ETag: `"1"`, Failures: 3, Next: time.UnixMilli(6).UTC()}
	s.KeepHubSubscription(b)
	s.KeepHubSubscription(a)
	want(a, b)
	a.Secret, a.ETag = "", `"2"`
	s.KeepHubSubscription(a)
	want(a, b)
	s.DropHubSubscription(b.Callback, b.Topic)
	s.DropHubSubscription("x", "y")
	want(a)
}
