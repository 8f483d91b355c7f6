package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// purgingPrefix is before the file's name where a victim is to purge it.
const purgingPrefix = "purge "

// purgingVictim purges all but one entry, a few at a time, one line for each step. Between them it tidies and gives
// back what is free.
func purgingVictim(path string) error {
	s, err := Open(path, Config{})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		ids, err := s.OverLimit(context.Background(), time.Unix(1, 0), archive.Retention{All: archive.Limits{Count: 1}})
		if err != nil {
			return err
		}
		s.Purge(time.Unix(1, 0), ids[:min(7, len(ids))])
		if err := s.Commit(); err != nil {
			return err
		}
		fmt.Println(n)
		if _, err := s.Tidy(); err != nil {
			return err
		}
		if _, err := s.Reclaim(5); err != nil {
			return err
		}
	}
}

// A process is killed at random moments while it purges. Each entry is there as a whole or was purged, what was
// acknowledged stays purged, and the file and its index are whole.
func TestKillWhilePurging(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "archive.db")
	s := openFile(t, path)
	records := newCorpus().records(1500)
	keep(t, s, records...)
	if _, err := s.Index(1200); err != nil { // not all
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 2))
	purged := 0
	for range 6 {
		steps := runVictim(t, purgingPrefix+path, 1+random.IntN(20)) + 1
		s := openFile(t, path)
		wantWhole(t, s)
		there, gone := len(left(t, s, "")), 0
		for _, r := range records {
			if s.Known([]feed.EntryID{r.ID})[0].Purged {
				gone++
			}
		}
		// A victim that is killed late has nothing left to purge in its last steps.
		if there+gone != len(records) || gone < min(purged+7*steps, len(records)-1) {
			t.Fatalf("%d entries are there and %d are purged of %d, after %d and %d steps more", there, gone,
				len(records), purged, steps)
		}
		purged = gone
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
