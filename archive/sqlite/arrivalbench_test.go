package sqlite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// BenchmarkArrival measures what an entry costs that arrives, with its transaction, where so many filters look at it:
// of words joined by AND, none of them among the 29 commonest, as in Cobra (Rose and others, NSDI 2007, §4).
func BenchmarkArrival(b *testing.B) {
	for _, filters := range []int{0, 1_000_000} {
		for _, words := range []int{60, 600} {
			b.Run(fmt.Sprintf("filters=%d/words=%d", filters, words), func(b *testing.B) {
				benchArrival(b, filters, words)
			})
		}
	}
}

func benchArrival(b *testing.B, filters, words int) {
	s := openBench(b, filepath.Join(b.TempDir(), "archive.db"))
	followBench(s)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range filters {
		s.write(`INSERT INTO filters (person, name, words, rule, place, key, created, behind)
			VALUES (1, ?1, ?2, ?3, ?1, ?4, 0, 0)`, n, arrivalFilter(r), string(reading.RuleNone), []byte(fmt.Sprint(n)))
	}
	if err := s.Commit(); err != nil {
		b.Fatal(err)
	}
	s.catchers = nil // as where the node starts
	s.catch()
	seen := time.Unix(1_700_000_000, 0)
	n := 0
	for b.Loop() {
		text := make([]string, words)
		for i := range text {
			text[i] = arrivalWord(r, 0)
		}
		s.Keep([]archive.Record{archive.NewRecord(feed.Entry{Feed: benchFeed(n % benchFeeds), ID: fmt.Sprint(n),
			Title: strings.Join(text[:8], " "), Summary: strings.Join(text[8:], " "), Published: seen}, seen,
			protocol.NodeID{})})
		if err := s.Commit(); err != nil {
			b.Fatal(err)
		}
		n++
	}
	var caught int
	s.row(`SELECT count(*) FROM caught`, nil, &caught)
	b.ReportMetric(float64(caught)/float64(n), "caught")
}

// arrivalWord is one of 200,000 words by Zipf's law that is not among the first so many.
func arrivalWord(r *rand.Rand, but int) string {
	for {
		if n := int(math.Exp(r.Float64() * math.Log(200_001))); n > but {
			return fmt.Sprintf("w%x", n*2654435761%(1<<32))
		}
	}
}

// arrivalFilter has three words at the median and eight at most.
func arrivalFilter(r *rand.Rand) string {
	words, u := 1, r.Float64()
	for _, share := range []float64{.14, .28, .24, .15, .09, .05, .03} {
		if u -= share; u < 0 {
			break
		}
		words++
	}
	text := make([]string, words)
	for i := range text {
		text[i] = arrivalWord(r, 29)
	}
	return strings.Join(text, " ")
}
