//go:build unix

package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"feedex/feed"
)

// millionVar names the folder of the archive of BenchmarkMillion, which is made there the first time.
const millionVar = "FEEDEX_BENCH_ARCHIVE"

// millionArchive is the path of an archive with a million entries of the corpus, all indexed.
func millionArchive(b *testing.B) string {
	folder := os.Getenv(millionVar)
	if folder == "" {
		b.Skip(millionVar + " names no folder for an archive of two gigabytes")
	}
	path := filepath.Join(folder, "feedex.db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	s, err := Open(b.Context(), path+".part", Config{WriterCache: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	c := newCorpus()
	for range 200 {
		s.Keep(c.records(5000))
		commit(b, s)
		if _, err := s.Index(5000); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		b.Fatal(err)
	}
	return path
}

// cpuTime is how long the process has kept processors busy: what a busy machine does not change much.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMillion measures searches, look-ups and exports in an archive of a million entries. Of searches it
// reports the median and the 99th percentile.
func BenchmarkMillion(b *testing.B) {
	path := millionArchive(b)
	s := openBench(b, path)
	c := newCorpus()
	anyWord := func(i uint64) string { return word(c.zipf.Uint64()) }
	match := func(format string, args ...any) feed.Filter {
		m, err := feed.ParseMatch(fmt.Sprintf(format, args...))
		if err != nil {
			b.Fatal(err)
		}
		return feed.Filter{Match: m}
	}
	for _, search := range []struct {
		name   string
		filter func(i uint64) feed.Filter
	}{
		{"word of a text", func(i uint64) feed.Filter { return feed.Filter{Words: []string{anyWord(i)}} }},
		{"word of the vocabulary",
			func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i * 7919 % 60_000)}} }},
		{"commonest words", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 10)}} }},
		{"two words", func(i uint64) feed.Filter { return feed.Filter{Words: []string{anyWord(i), anyWord(i)}} }},
		{"or, not", func(i uint64) feed.Filter {
			return match("(%s OR %s) NOT %s", anyWord(i), anyWord(i),
				anyWord(i))
		}},
		{"not", func(i uint64) feed.Filter { return match("NOT %s", anyWord(i)) }},
		{"ranked word of a text",
			func(i uint64) feed.Filter { return feed.Filter{Words: []string{anyWord(i)}, Relevance: true} }},
		{"ranked commonest words",
			func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i % 10)}, Relevance: true} }},
		{"prefix of 3", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i)[:3] + "*"}} }},
		{"prefix of 4", func(i uint64) feed.Filter { return feed.Filter{Words: []string{word(i)[:4] + "*"}} }},
	} {
		b.Run("Search/"+search.name, func(b *testing.B) {
			var took []time.Duration
			before := cpuTime(b)
			for i := range b.N {
				begun := time.Now()
				if _, err := s.Search(context.Background(), search.filter(uint64(i))); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "ms-p99")
		})
	}
	var ids []feed.EntryID
	for x, err := range s.Export(b.Context(), "") {
		if err != nil {
			b.Fatal(err)
		}
		if ids = append(ids, x.ID); len(ids) == 100_000 {
			break
		}
	}
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("Known/ids=%d", n), func(b *testing.B) {
			before := cpuTime(b)
			for i := range b.N {
				at := i * 7919 * n % (len(ids) - n)
				s.Known(ids[at : at+n])
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "ids/s")
			b.ReportMetric(float64(n*b.N)/(cpuTime(b)-before).Seconds(), "ids/cpu-s")
		})
	}
}
