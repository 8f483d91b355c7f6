package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"feedex/archive"
	"feedex/feed"
)

// wordsOfLanguage is how many words the texts have, by Zipf's law: the n-th is an n-th as frequent as the first.
const wordsOfLanguage = 200_000

// zipf draws a word that is not among the first so many.
func zipf(r *rand.Rand, but int) int {
	for {
		if n := int(math.Exp(r.Float64() * math.Log(wordsOfLanguage+1))); n > but {
			return n
		}
	}
}

func zipfWord(r *rand.Rand, but int) string {
	return fmt.Sprintf("w%x", zipf(r, but)*2654435761%(1<<32))
}

func zipfArticle(r *rand.Rand, words int) *feed.Entry {
	text := make([]string, words)
	for i := range text {
		text[i] = zipfWord(r, 0)
	}
	return &feed.Entry{Feed: "https://example.com/feed.xml", Title: strings.Join(text[:min(8, words)], " "),
		Summary: strings.Join(text[min(8, words):], " ")}
}

// zipfFilter is one of one to three words, a fifth of them with NOT before a further one.
func zipfFilter(r *rand.Rand) string {
	var text []string
	for range 1 + r.IntN(3) {
		text = append(text, zipfWord(r, 0))
	}
	if r.IntN(5) == 0 {
		text = append(text, "NOT", zipfWord(r, 0))
	}
	return strings.Join(text, " ")
}

// cobraFilter is one as in Cobra (Rose and others, NSDI 2007, §4): of words joined by AND, three at the median and
// eight at most, of which none is among the 29 that are the most frequent.
func cobraFilter(r *rand.Rand) string {
	words, u := 1, r.Float64()
	for _, share := range []float64{.14, .28, .24, .15, .09, .05, .03} {
		if u -= share; u < 0 {
			break
		}
		words++
	}
	text := make([]string, words)
	for i := range text {
		text[i] = zipfWord(r, 29)
	}
	return strings.Join(text, " ")
}

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
		articles[i] = zipfArticle(r, words)
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
	x, mb := fill(b, 1_000_000, zipfFilter)
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
		x, mb := fill(b, filters, cobraFilter)
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
		x, _ := fill(b, filters, zipfFilter)
		b.Run(fmt.Sprintf("filters=%d", filters), func(b *testing.B) { match(b, x, 600) })
	}
	b.Run("folding", func(b *testing.B) {
		e := zipfArticle(rand.New(rand.NewPCG(3, 4)), 600)
		for b.Loop() {
			archive.FoldFields(e)
		}
	})
}
