package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"feedex/archive"
	"feedex/filter/filtertest"
	"feedex/protocol"
	"feedex/reading"
)

// BenchmarkArrival measures what an entry costs that arrives, with its transaction, where so many filters look at it:
// of words joined by AND, none of them among the 29 commonest, as in Cobra (Rose and others, NSDI 2007, §4).
func BenchmarkArrival(b *testing.B) {
	for _, filters := range []int{0, 32_000, 1_000_000} {
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
			VALUES (1, ?1, ?2, ?3, ?1, ?4, 0, 0)`, n, filtertest.CobraFilter(r), string(reading.RuleNone), []byte(fmt.Sprint(n)))
	}
	commit(b, s)
	s.catchers = nil // as where the node starts
	s.catch()
	seen := time.Unix(1_700_000_000, 0)
	n := 0
	for b.Loop() {
		e := filtertest.Entry(r, words)
		e.Feed, e.ID, e.Published = benchFeed(n%benchFeeds), fmt.Sprint(n), seen
		s.Keep([]archive.Record{archive.NewRecord(*e, seen, protocol.NodeID{})})
		commit(b, s)
		n++
	}
	var caught int
	s.row(`SELECT count(*) FROM caught`, nil, &caught)
	b.ReportMetric(float64(caught)/float64(n), "caught")
}
