package archive

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
)

// Whatever dates an entry bears, it does not stand at the top for longer than one of now would: none counts that is
// more than an hour later than its arrival.
func TestNoDateOfTheFutureCounts(t *testing.T) {
	seen := time.Date(2025, 6, 15, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		date := func(name string) time.Time {
			off := time.Duration(rapid.IntRange(-180, 180).Draw(t, name+" minutes")) * time.Minute
			switch rapid.IntRange(0, 4).Draw(t, name+" is") {
			case 0:
				return time.Time{}
			case 1:
				return seen.AddDate(rapid.IntRange(1, 900).Draw(t, name+" years"), 0, 0)
			case 2:
				return seen.Add(time.Hour + time.Duration(rapid.IntRange(-1, 1).Draw(t, name+" seconds"))*time.Second)
			}
			return seen.Add(off)
		}
		e := feed.Entry{Feed: "https://example.com/feed", ID: "x", Published: date("published"),
			Updated: date("updated")}
		r := NewRecord(e, seen, protocol.NodeID{})
		credible := func(t time.Time) bool { return !t.IsZero() && t.Sub(seen) <= time.Hour && t.Year() < 2100 }
		want := seen
		switch {
		case credible(e.Published):
			want = e.Published
		case credible(e.Updated):
			want = e.Updated
		}
		if got := r.Time(); !got.Equal(want) {
			t.Errorf("published %v, updated %v: it counts as of %v, want %v", e.Published, e.Updated, got, want)
		}
	})
}
