package filter

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
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
	matchAll(b, x, articles)
}

// matchAll has the expressions looked for in these articles, one after the other.
func matchAll(b *testing.B, x *Index, articles []*feed.Entry) {
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
	b.ReportMetric(took[len(took)*9/10].Seconds()*1000, "p90-ms")
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

// BenchmarkCorpus looks for a million expressions of words that are asked for as often as they are written in entries
// as they are, of each as many words as it has (Cobra, §4.2).
func BenchmarkCorpus(b *testing.B) {
	a := corpusArticles(b)
	var all []string
	times := make(map[string]int)
	for _, e := range a.entries {
		f := archive.FoldFields(e)
		for _, word := range strings.Fields(f.Title + f.Text) {
			if _, err := feed.ParseMatch(word); err == nil { // no break between fields, and no NOT
				all = append(all, word)
				times[word]++
			}
		}
	}
	commonest := slices.SortedFunc(maps.Keys(times), func(v, w string) int {
		return cmp.Or(cmp.Compare(times[w], times[v]), cmp.Compare(v, w))
	})[:filtertest.Unasked]
	all = slices.DeleteFunc(all, func(word string) bool { return slices.Contains(commonest, word) })
	x, mb := fill(b, 1_000_000, func(r *rand.Rand) string {
		return filtertest.CobraFilterOf(r, func() string { return all[r.IntN(len(all))] })
	})
	entries := a.entries
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(entries), func(i, j int) {
		entries[i], entries[j] = entries[j], entries[i]
	})
	b.Run(fmt.Sprintf("entries=%d", len(entries)), func(b *testing.B) {
		matchAll(b, x, entries)
		b.ReportMetric(mb, "MB")
	})
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
