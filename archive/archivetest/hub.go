package archivetest

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/reading"
)

func testHubSubscriptions(t *testing.T, kept reading.Database) {
	want := func(want ...archive.HubSubscription) {
		t.Helper()
		Commit(t, kept)
		if got, err := kept.HubSubscriptions(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("stored are %+v, %v, want %+v", got, err, want)
		}
	}
	want()
	a := archive.HubSubscription{Callback: "http://127.0.0.1/a", Topic: "t", From: netip.MustParseAddr("192.168.1.2"),
		Secret: "x", Expires: time.UnixMilli(5).UTC(), ETag: `"1"`}
	b := archive.HubSubscription{Callback: "http://127.0.0.1/a", Topic: "u", Expires: time.UnixMilli(7).UTC(),
		ETag: `"1"`, Failures: 3, Next: time.UnixMilli(6).UTC()}
	kept.KeepHubSubscription(b)
	kept.KeepHubSubscription(a)
	want(a, b)
	a.Secret, a.ETag = "", `"2"`
	kept.KeepHubSubscription(a)
	want(a, b)
	kept.DropHubSubscription(b.Callback, b.Topic)
	kept.DropHubSubscription("x", "y")
	want(a)
}
