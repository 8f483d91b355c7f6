package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// BenchmarkScripts measures searches for two letters in entries of 300 letters of Chinese, by Zipf's law of 3,000: the
// twentieth and the hundredth most frequent, and two rare ones; and how large the index is.
func BenchmarkScripts(b *testing.B) {
	const entries, letters = 20_000, 300
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	rng := rand.New(rand.NewPCG(1, 2))
	letter := rand.NewZipf(rng, 1.1, 3, 2999)
	var records []archive.Record
	for i := range entries {
		text := make([]rune, letters)
		for j := range text {
			text[j] = 0x4E00 + rune(letter.Uint64())
		}
		e := feed.Entry{Feed: benchFeed(0), ID: fmt.Sprint(i), Content: string(text)}
		records = append(records, archive.NewRecord(e, time.Unix(1, 0), protocol.NodeID{}))
	}
	keep(b, s, records...)
	for left := 1; left > 0; {
		var err error
		if left, err = s.Index(300); err != nil {
			b.Fatal(err)
		}
	}
	var index int64
	row := s.Reader.db.QueryRowContext(b.Context(), `SELECT sum(length(block)) FROM words_data`)
	if err := scan(row, &index); err != nil {
		b.Fatal(err)
	}
	for name, word := range map[string]string{"frequent": string([]rune{0x4E00 + 20, 0x4E00 + 100}),
		"rare": string([]rune{0x4E00 + 2000, 0x4E00 + 2500})} {
		b.Run(name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				list, err := s.Search(b.Context(), feed.Filter{Words: []string{word}, Limit: 50})
				if err != nil {
					b.Fatal(err)
				}
				found = len(list)
			}
			b.ReportMetric(float64(found), "found")
			b.ReportMetric(float64(index)/(entries*letters), "index-B/letter")
		})
	}
}
