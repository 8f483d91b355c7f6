package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
)

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
				s.Keep(records)
				if err := s.Commit(); err != nil {
					b.Fatal(err)
				}
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
		if err := s.Commit(); err != nil {
			b.Fatal(err)
		}
		longest = max(longest, time.Since(begun))
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
}
