package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// Purged entries are remembered for ever of feeds that are followed, and else for thirty days.
func TestForgetPurged(t *testing.T) {
	s := newStore(t)
	follow(t, s, time.Unix(1, 0), news)
	records := append(feedRecords(news, 1, 3000), feedRecords(otherNews, 1, 3000)...)
	keep(t, s, records...)
	ids := archive.IDsOf(records)
	begin := time.Unix(1_000_000, 0)
	s.Purge(begin, ids)
	commit(t, s)
	for _, test := range []struct {
		after time.Duration
		left  int
	}{{29 * 24 * time.Hour, 6000}, {31 * 24 * time.Hour, 3000}} {
		steps := 0
		for last, more := (feed.EntryID{}), true; more; steps++ {
			last, more = s.forgetPurged(begin.Add(test.after), last)
		}
		commit(t, s)
		remembered := 0
		for i, v := range s.Known(ids) {
			if v.Purged {
				remembered++
			} else if records[i].Entry.Feed == news {
				t.Fatalf("entry %d of a feed that is followed is forgotten", i)
			}
		}
		if remembered != test.left || steps < 3 {
			t.Errorf("%d entries are remembered after %v, in %d steps; want %d", remembered, test.after,
				steps, test.left)
		}
	}
}

// purgingPrefix is before the file's name where a victim is to purge it.
const purgingPrefix = "purge "

// purgingVictim purges all but one entry, a few at a time, one line for each step. Between them it tidies and gives
// back what is free.
func purgingVictim(path string) error {
	s, err := Open(context.Background(), path, Config{})
	if err != nil {
		return err
	}
	u, err := s.housekeeper()
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
		if _, err := u.Reclaim(context.Background(), 5); err != nil {
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

// BenchmarkPurge purges 16 entries in each step of an archive of 20,000 with their words indexed, durably.
func BenchmarkPurge(b *testing.B) {
	const step = 16
	var s *Store
	var longest time.Duration
	for n := 0; b.Loop(); {
		if n == 0 {
			b.StopTimer()
			s = openFile(b, filepath.Join(b.TempDir(), "archive.db"))
			for records := range slices.Chunk(newCorpus().records(20_000), 500) {
				keep(b, s, records...)
				if _, err := s.Index(500); err != nil {
					b.Fatal(err)
				}
			}
			n = 300
			b.StartTimer()
		}
		n--
		b.StopTimer()
		ids, err := s.OverLimit(b.Context(), time.Unix(1, 0), archive.Retention{All: archive.Limits{Count: 1}})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		begun := time.Now()
		s.Purge(time.Unix(1, 0), ids[:step])
		commit(b, s)
		longest = max(longest, time.Since(begun))
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
}
