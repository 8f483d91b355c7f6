package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"feedex/feed"
)

func TestDeclined(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	s, err := Open(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.Decline(otherNews, true)
	s.Decline(otherNews, true)
	s.Decline(news, true)
	s.Decline(news, false)
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Config{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Declined(t.Context()); err != nil || !slices.Equal(got, []feed.URL{otherNews}) {
		t.Errorf("after a restart %v are declined, %v", got, err)
	}
}
