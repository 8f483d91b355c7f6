package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// What is declined, followed in whatever way or once was is not suggested, also after a restart.
func TestUnsuggested(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	s, err := Open(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.Decline(otherNews, true)
	s.Decline(otherNews, true)
	s.Decline(news, true)
	s.Decline(news, false)
	commit(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, Config{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Unsuggested(t.Context()); err != nil || !slices.Equal(got, []feed.URL{otherNews}) {
		t.Errorf("after a restart %v are not to be suggested, %v", got, err)
	}
	for i, f := range []archive.Feed{{Title: "relayed"}, {Subscribed: true}, {Since: time.Unix(1, 0)}, {Private: true},
		{Withheld: true}, {Discreet: true}, {Leads: true}} {
		f.URL = feed.URL(fmt.Sprint("https://example.net/", i))
		s.KeepFeed(f)
	}
	commit(t, s)
	got, err := s.Unsuggested(t.Context())
	slices.Sort(got)
	want := []feed.URL{otherNews}
	for i := range 6 {
		want = append(want, feed.URL(fmt.Sprint("https://example.net/", i+1)))
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v are not to be suggested, want %v, %v", got, want, err)
	}
}
