package sqlite

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"feedex/archive"
)

func TestFeedsAreReadBesideTheLoop(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "feedex.db"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	kept := []archive.Feed{
		{URL: "https://a.example.com/", Title: "A", Subscribed: true, Since: at, ETag: `"1"`, Interval: time.Hour,
			NextPoll: at},
		{URL: "https://b.example.com/", Title: "B", Private: true, Errors: 2, LastError: "HTTP status 500"},
	}
	for _, f := range kept {
		s.KeepFeed(f)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if feeds, err := s.Feeds(t.Context()); err != nil || !reflect.DeepEqual(feeds, kept) {
		t.Errorf("feeds: %+v, %v", feeds, err)
	}
	if f, err := s.Feed(t.Context(), kept[1].URL); err != nil || !reflect.DeepEqual(f, kept[1]) {
		t.Errorf("feed: %+v, %v", f, err)
	}
	if f, err := s.Feed(t.Context(), "https://c.example.com/"); err != nil || f != (archive.Feed{}) {
		t.Errorf("a feed that is not known: %+v, %v", f, err)
	}
}
