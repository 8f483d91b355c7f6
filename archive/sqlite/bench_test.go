package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// The benchmarks' archive: 1,000 feeds whose entries have a summary of 600 bytes, of words that are
// as unevenly common as in a language.

const benchFeeds = 1000

func benchFeed(i int) feed.URL { return feed.URL(fmt.Sprintf("https://www%d.example.org/feed", i)) }

// A corpus makes entries that are the same in every run.
type corpus struct {
	random *rand.Rand
	zipf   *rand.Zipf
	n      int
}

func newCorpus() *corpus {
	random := rand.New(rand.NewPCG(1, 2))
	return &corpus{random: random, zipf: rand.NewZipf(random, 1.2, 8, 60_000)}
}

// word is the word of a rank in the vocabulary.
func word(rank uint64) string { return fmt.Sprintf("w%05x", rank*2654435761%0xFFFFF) }

func (c *corpus) text(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(word(c.zipf.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()[:bytes]
}

func (c *corpus) records(n int) []archive.Record {
	records := make([]archive.Record, n)
	for i := range records {
		c.n++
		u := benchFeed(c.random.IntN(benchFeeds))
		seen := time.Date(2026, 1, 1, 0, 0, c.n, 0, time.UTC)
		records[i] = archive.NewRecord(feed.Entry{
			Feed:      u,
			ID:        fmt.Sprintf("%s/%d", u, c.n),
			Title:     c.text(60),
			Link:      fmt.Sprintf("%s/articles/%d", u, c.n),
			Authors:   []string{"A. Writer"},
			Published: seen.Add(-time.Hour),
			Summary:   c.text(600),
		}, seen, protocol.NodeID{})
	}
	return records
}

// filled is the path of a new archive with the first n entries of c, all indexed.
func filled(b *testing.B, c *corpus, n int) (path string, ids []feed.EntryID) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "archive.db")
	s, err := Open(b.Context(), path, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for len(ids) < n {
		records := c.records(min(1000, n-len(ids)))
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		keep(b, s, records...)
		if _, err := s.Index(1000); err != nil {
			b.Fatal(err)
		}
	}
	return path, ids
}

func BenchmarkKeep(b *testing.B) {
	for _, rows := range []int{3, 24} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			benchKeep(b, openBench(b, filepath.Join(b.TempDir(), "archive.db")), newCorpus(), rows)
		})
		b.Run(fmt.Sprintf("followed/rows=%d", rows), func(b *testing.B) {
			s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
			followBench(s)
			benchKeep(b, s, newCorpus(), rows)
		})
		b.Run(fmt.Sprintf("followed/people=5/rows=%d", rows), func(b *testing.B) {
			s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
			addBench(b, s, 5)
			followBench(s)
			benchKeep(b, s, newCorpus(), rows)
		})
	}
}

// followBench has the archive follow all feeds of a corpus, which polls have read before.
func followBench(s *Store) {
	for i := range benchFeeds {
		s.KeepFeed(archive.Feed{URL: benchFeed(i), Subscribed: true, LastSuccess: markedAt})
	}
}

// benchKeep keeps entries of c, so many in each transaction.
func benchKeep(b *testing.B, s *Store, c *corpus, rows int) {
	records := c.records(rows * b.N)
	b.ResetTimer()
	for i := range b.N {
		s.Keep(records[i*rows : (i+1)*rows])
		commit(b, s)
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkIndex(b *testing.B) {
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	s.Keep(newCorpus().records(b.N))
	commit(b, s)
	b.ResetTimer()
	for remaining := b.N; remaining > 0; {
		var err error
		if remaining, err = s.Index(300); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFilled measures what depends on how much is kept: 200,000 entries, or 20,000 with -short.
func BenchmarkFilled(b *testing.B) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	c := newCorpus()
	path, ids := filled(b, c, n)
	b.Run("Open", func(b *testing.B) {
		for range b.N {
			s, err := Open(b.Context(), path, Config{})
			if err != nil {
				b.Fatal(err)
			}
			s.LoadFeeds()
			s.LatestDIDs(1000)
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	s := openBench(b, path)
	b.Run("Known", func(b *testing.B) {
		for i := range b.N {
			s.Known(ids[i*7919%n : i*7919%n+1])
		}
	})
	b.Run("HasDID", func(b *testing.B) {
		for i := range 50_000 {
			s.KeepDID(protocol.DID(ids[i%n]))
		}
		commit(b, s)
		b.ResetTimer()
		for i := range b.N {
			s.HasDID(protocol.DID(ids[i*7919%n]))
		}
	})
	u := feed.URL("https://www7.example.org/feed")
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, search := range []struct {
		name   string
		filter func(i uint64) feed.Filter
	}{
		{"newest", func(uint64) feed.Filter { return feed.Filter{} }},
		{"common", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 20)}} }},
		{"medium", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(300 + i%300)}} }},
		{"rare", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(20_000 + i%10_000)}} }},
		{"two", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 20), word(300 + i%300)}} }},
		{"phrase", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i%20) + " " + word(i%30)}} }},
		{"prefix", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 300)[:4] + "*"}} }},
		{"short prefix", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 300)[:2] + "*"}} }},
		{"feed", func(uint64) feed.Filter { return feed.Filter{Feed: u} }},
		{"feed and common", func(i uint64) feed.Filter { return feed.Filter{Feed: u, Words: []string{word(i % 20)}} }},
		{"old day", func(uint64) feed.Filter { return feed.Filter{Since: since, Until: since.Add(time.Hour)} }},
		{"old day and common", func(i uint64) feed.Filter {
			return feed.Filter{Since: since, Until: since.Add(time.Hour), Words: []string{word(i % 20)}}
		}},
		{"shareable common", func(i uint64) feed.Filter {
			return feed.Filter{Shareable: true,
				Words: []string{word(i % 20)}}
		}},
	} {
		b.Run("Search/"+search.name, func(b *testing.B) {
			found := 0
			for i := range b.N {
				records, err := s.Search(context.Background(), search.filter(uint64(i)))
				if err != nil {
					b.Fatal(err)
				}
				found += len(records)
			}
			b.ReportMetric(float64(found)/float64(b.N), "found/op")
		})
	}
	b.Run("Keep/rows=24", func(b *testing.B) { benchKeep(b, s, c, 24) })
}

func openBench(b *testing.B, path string) *Store {
	b.Helper()
	s, err := Open(b.Context(), path, Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}
