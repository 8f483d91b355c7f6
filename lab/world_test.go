package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/polling"
)

var wednesday = time.Date(2026, 7, 22, 0, 0, 0, 0, time.UTC)

// feeds makes so many feeds that publish perDay entries at random times from the day before start on, for
// three days. Their documents hold 10 entries.
func feeds(count, perDay int) []trace.Feed {
	var list []trace.Feed
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range count {
		f := trace.Feed{Name: fmt.Sprintf("feed %d", i), Kind: "news", Window: 10}
		for range 3 * perDay {
			f.Times = append(f.Times, wednesday.Unix()-86400+rng.Int64N(3*86400))
		}
		slices.Sort(f.Times)
		list = append(list, f)
	}
	return list
}

// network makes a world of members that follow each of the feeds of their own choosing.
func network(t testing.TB, c Config, members, each int) *World {
	c.Start = wednesday
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range members {
		rng := c.Seed.Stream(fmt.Sprintf("choice of %d", i))
		var follows []feed.URL
		for _, j := range rng.Perm(len(w.Publishers()))[:each] {
			follows = append(follows, w.Publishers()[j].URL)
		}
		w.At(w.Now().Add(time.Duration(rng.Int64N(int64(time.Minute)))), func() {
			if _, err := w.Join(Member{Name: fmt.Sprintf("member %d", i), Feeds: follows}); err != nil {
				t.Error(err)
			}
		})
	}
	return w
}

// BenchmarkWorld runs the network of Paper §4.3 for six hours.
func BenchmarkWorld(b *testing.B) {
	for _, noEncoding := range []bool{false, true} {
		b.Run(fmt.Sprintf("encoding=%v", !noEncoding), func(b *testing.B) {
			var steps int64
			for b.Loop() {
				w := network(b, Config{Feeds: feeds(70, 24), NoEncoding: noEncoding, Node: node.Config{Policy: polling.Fixed{Every: time.Hour}}}, 189, 20)
				w.Run(wednesday.Add(6 * time.Hour))
				steps += w.Steps()
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
