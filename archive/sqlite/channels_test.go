package sqlite

import (
	"path/filepath"
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
	commit(t, s)
	if f, err := s.Following(t.Context(), false); err != nil || len(f.Titles) != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A block that was named once has the same entries for ever.
func TestPagesAreStableAndComplete(t *testing.T) {
	alone(t)
	archivetest.RunBlocks(t, openDatabase)
}

// Who asks for an address gets what it became, unless that is a secret: nobody learns of one who does not say it.
func TestChannelOfWhatAnAddressBecame(t *testing.T) {
	const site, key feed.URL = "https://example.com/", "https://example.com/feed?token=abc"
	const open feed.URL = "https://example.com/feed"
	s := openFile(t, filepath.Join(t.TempDir(), "archive.db"))
	for _, c := range []struct{ became, want feed.URL }{{open, open}, {key, ""}} {
		s.KeepFeed(archive.Feed{URL: c.became, Subscribed: true, Page: site})
		s.KeepFeed(archive.Feed{URL: site, Became: c.became})
		commit(t, s)
		if got, err := s.Channel(t.Context(), site); err != nil || got.URL != c.want {
			t.Errorf("what became %s is shown as %q, %v", c.became, got.URL, err)
		}
		if got, err := s.Channel(t.Context(), c.became); err != nil || got.URL != c.became {
			t.Errorf("%s is shown as %q, %v", c.became, got.URL, err)
		}
	}
}
