package sqlite

import (
	"testing"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/feed"
)

// Which URLs are secrets is judged anew with each poll: an archive may be older than what is known of them.
func TestSecretsAreFoundLate(t *testing.T) {
	s := newStore(t)
	const secret = feed.URL("https://example.net/?token=abc")
	s.KeepFeed(archive.Feed{URL: secret, Subscribed: true})
	s.write(`UPDATE feeds SET secret = 0`)
	s.KeepFeed(archive.Feed{URL: secret, Subscribed: true})
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Following(t.Context(), false); err != nil || len(f.Titles) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A block that was named once has the same entries for ever.
func TestPagesAreStableAndComplete(t *testing.T) {
	alone(t)
	archivetest.RunBlocks(t, openDatabase)
}
