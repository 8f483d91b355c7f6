package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// BenchmarkOneFeed searches one feed of 100,000 entries by their time, and reports the median. They came in an order of
// which their dates say nothing, as when a past is filled in.
func BenchmarkOneFeed(b *testing.B) {
	const n = 100_000
	u := benchFeed(7)
	begun := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	for part := range n / 1000 {
		records := make([]archive.Record, 1000)
		for i := range records {
			k := (part*1000 + i) * 7919 % n
			at := begun.Add(time.Duration(k) * time.Hour)
			e := feed.Entry{Feed: u, ID: fmt.Sprint(k), Title: fmt.Sprint("Entry ", k), Published: at, Summary: "words"}
			records[i] = archive.NewRecord(e, begun.AddDate(12, 0, 0), protocol.NodeID{})
		}
		keep(b, s, records...)
	}
	middle := begun.Add(n / 2 * time.Hour)
	for name, f := range map[string]feed.Filter{
		"latest by time":        {Dated: true},
		"before a time":         {Dated: true, Until: middle},
		"a day by time":         {Dated: true, Since: middle, Until: middle.Add(24 * time.Hour)},
		"a day by arrival":      {Since: middle, Until: middle.Add(24 * time.Hour)},
		"since then by arrival": {Since: middle},
	} {
		f.Feed = u
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				before := time.Now()
				if found, err := s.Search(context.Background(), f); err != nil || len(found) == 0 {
					b.Fatalf("%d found, %v", len(found), err)
				}
				took = append(took, time.Since(before))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
		})
	}
}
