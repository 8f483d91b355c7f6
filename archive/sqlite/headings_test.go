package sqlite

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// Words of titles are looked for in the smaller index where it knows them, and found the same wherever they are.
func TestHeadings(t *testing.T) {
	s, m := newStore(t), archive.NewMemory()
	for i, title := range []string{"Harbor news", "News of a harbor", "日本", "本日", "Harbors", "서울 x", "x", "none"} {
		e := feed.Entry{Feed: news, ID: fmt.Sprint(i), Title: title, Summary: "harbor news x 日 本 서울"}
		r := []archive.Record{archive.NewRecord(e, time.Unix(int64(i), 0), protocol.NodeID{})}
		s.Keep(r)
		m.Keep(r)
	}
	commit(t, s)
	if _, err := s.Index(100); err != nil {
		t.Fatal(err)
	}
	but, err := feed.ParseMatch("NOT title:of")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter   feed.Filter
		headings bool
		found    int
	}{
		{feed.Filter{Title: []string{"harbor"}}, true, 2},
		{feed.Filter{Title: []string{"harbor", "NEWS"}}, true, 2},
		{feed.Filter{Title: []string{"서울"}}, false, 1},
		{feed.Filter{Title: []string{"울"}}, true, 1},
		{feed.Filter{Title: []string{"harbor news"}}, false, 1},
		{feed.Filter{Title: []string{"harbor", "harbor news"}}, false, 1},
		{feed.Filter{Title: []string{"harb*"}}, false, 3},
		{feed.Filter{Title: []string{"x"}}, false, 2},
		{feed.Filter{Title: []string{"日本"}}, false, 1},
		{feed.Filter{Title: []string{"本"}}, false, 2},
		{feed.Filter{Title: []string{"harbor"}, Words: []string{"news"}}, false, 2},
		{feed.Filter{Title: []string{"harbor"}, Match: but}, false, 1},
		{feed.Filter{Title: []string{"harbor"}, Feed: news}, false, 2},
	} {
		x := &search{filter: c.filter, Matcher: archive.NewMatcher(c.filter)}
		if c.filter.Feed != "" {
			x.feedID = 1
		}
		if _, is := x.headings(); is != c.headings {
			t.Errorf("%+v: asked of headings: %v", c.filter, is)
		}
		got, err := s.Search(t.Context(), c.filter)
		want, err2 := m.Search(t.Context(), c.filter)
		if err != nil || err2 != nil || len(got) != c.found || fmt.Sprint(titles(got)) != fmt.Sprint(titles(want)) {
			t.Errorf("%+v: found %q, %v; in memory %q, %v", c.filter, titles(got), err, titles(want), err2)
		}
	}
}

// BenchmarkHeadings measures how the headings of 100,000 entries, or 10,000 with -short, are added to an archive from
// before there were any, and how many bytes of it they take.
func BenchmarkHeadings(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	path, _ := filled(b, newCorpus(), n)
	s := openBench(b, path)
	for b.Loop() {
		b.StopTimer()
		s.write(`INSERT INTO headings (headings) VALUES ('delete-all')`)
		commit(b, s)
		b.StartTimer()
		if err := addHeadings(b.Context(), s.conn); err != nil {
			b.Fatal(err)
		}
	}
	var all, headings int64
	s.row(`SELECT sum(pgsize), sum(iif(name LIKE 'headings%', pgsize, 0)) FROM dbstat`, nil, &all, &headings)
	commit(b, s)
	b.ReportMetric(float64(headings)/float64(n), "bytes/entry")
	b.ReportMetric(100*float64(headings)/float64(all), "%")
}
