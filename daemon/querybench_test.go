package daemon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
)

// BenchmarkQueryNetwork asks, through the control socket of one of 30 nodes on loopback, for words that all of them
// have an entry with, three hops far and past every cache. The nodes are in this process, each with its archive on
// disk, and have five links each on average.
func BenchmarkQueryNetwork(b *testing.B) {
	const size = 30
	titles := make([]string, 30)
	for i := range titles {
		titles[i] = fmt.Sprintf("Walrus %d sighted", i)
	}
	news := startFeed(b, titles...)
	rng := rand.New(rand.NewPCG(1, 2))
	var nodes []*testNode
	for i := range size {
		c := Config{Subscribe: []feed.URL{news.url}, Node: node.Config{MinNeighbors: 1, MaxNeighbors: 32}}
		for _, k := range rng.Perm(i)[:min(i, 2+rng.IntN(2))] {
			c.Node.Peers = append(c.Node.Peers, nodes[k].at.Listen)
		}
		nodes = append(nodes, startNode(b, c))
		nodes[i].waitArrival(news.url)
	}
	for _, n := range nodes[1:] {
		for list := []node.NeighborStatus(nil); len(list) == 0; {
			var err error
			if list, err = n.client.Neighbors(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	var took []time.Duration
	asked, since := 0, time.Unix(0, 0)
	for b.Loop() {
		since = since.Add(time.Second)
		begun := time.Now()
		end := nodes[0].seek(control.QueryRequest{Filter: feed.Filter{Words: []string{"walrus"}, Since: since},
			Hops: 3})
		took = append(took, time.Since(begun))
		asked += end.Asked
		if len(end.Found) != len(titles) {
			b.Fatalf("found %d entries, want %d", len(end.Found), len(titles))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
	b.ReportMetric(float64(asked)/float64(len(took)), "asked")
}
