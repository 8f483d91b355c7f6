package filter

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"feedex/archive"
	"feedex/feed"
	"feedex/filter/filtertest"
)

// fill makes an Index of so many expressions, and measures its heap.
func fill(tb testing.TB, filters int, draw func(*rand.Rand) string) (x *Index, mb float64) {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	before := heap()
	x = new(Index)
	for id := range filters {
		m, err := feed.ParseMatch(draw(r))
		if err == nil {
			err = x.Put(ID(id+1), m)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return x, float64(heap()-before) / 1e6
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// processorTime is how long the thread has run. What else the machine does it leaves out.
func processorTime(tb testing.TB) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// match has the expressions looked for in articles, and reports how long that takes.
func match(b *testing.B, x *Index, words int) {
	r := rand.New(rand.NewPCG(3, 4))
	articles := make([]*feed.Entry, 200)
	for i := range articles {
		articles[i] = filtertest.Entry(r, words)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	var found []ID
	hits := 0
	for b.Loop() {
		began := processorTime(b)
		found = x.Match(articles[len(took)%len(articles)], found[:0])
		took = append(took, processorTime(b)-began)
		hits += len(found)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
	b.ReportMetric(float64(hits)/float64(len(took)), "found")
}

// BenchmarkMatch looks for a million expressions in articles.
func BenchmarkMatch(b *testing.B) {
	x, mb := fill(b, 1_000_000, filtertest.Filter)
	for _, words := range []int{60, 600, 3000} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			match(b, x, words)
			b.ReportMetric(mb, "MB")
		})
	}
}

// BenchmarkCobra is Figure 10 of its paper.
func BenchmarkCobra(b *testing.B) {
	for filters := 1; filters <= 1_000_000; filters *= 10 {
		x, mb := fill(b, filters, filtertest.CobraFilter)
		for _, words := range []int{61, 2000} {
			b.Run(fmt.Sprintf("filters=%d/words=%d", filters, words), func(b *testing.B) {
				match(b, x, words)
				b.ReportMetric(mb, "MB")
			})
		}
	}
}

// BenchmarkFew looks for a few expressions, beside what it takes to fold the article for them.
func BenchmarkFew(b *testing.B) {
	for _, filters := range []int{1, 10, 1000} {
		x, _ := fill(b, filters, filtertest.Filter)
		b.Run(fmt.Sprintf("filters=%d", filters), func(b *testing.B) { match(b, x, 600) })
	}
	b.Run("folding", func(b *testing.B) {
		e := filtertest.Entry(rand.New(rand.NewPCG(3, 4)), 600)
		for b.Loop() {
			archive.FoldFields(e)
		}
	})
}
