package node_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// BenchmarkQueryFlood is a minute in which one of ten neighbors asks 100 queries a second, each for what nobody has, as
// far and with as many messages as there may be. It is to take less than 5 % of a core, without what the host adds.
func BenchmarkQueryFlood(b *testing.B) {
	const friends = 10
	now := epoch
	n, err := node.New(now, node.Config{Secret: []byte("secret of a benchmark")}, archive.NewMemory(),
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		b.Fatal(err)
	}
	var effects []node.Effect
	answered, relayed, asked := 0, 0, 0
	var step func(ev node.Event)
	step = func(ev node.Event) {
		effects = n.Step(effects[:0], now, ev)
		var follow []node.Event
		for _, e := range effects {
			switch e := e.(type) {
			case node.Respond:
				if _, ok := e.Reply.(protocol.Answer); ok {
					answered++
				}
			case node.Search:
				follow = append(follow, node.Searched{ID: e.ID})
			case node.Call:
				a := node.Answered{ID: e.ID, Reply: protocol.OK{}, Peer: e.To.Node, RTT: 50 * time.Millisecond}
				if _, ok := e.Call.(protocol.QueryFeed); ok {
					relayed++
					a.Reply = protocol.Answer{}
				}
				follow = append(follow, a)
			}
		}
		for _, ev := range follow {
			step(ev)
		}
	}
	news := protocol.Subset{{Feed: news}}
	for i := range friends {
		id := stranger(i)
		n.Within(now, func(n *node.Node) { n.Join(id, i%2 == 0, "token", news) })
	}
	began := now
	for b.Loop() {
		for range 60 * 100 {
			now = now.Add(10 * time.Millisecond)
			asked++
			step(node.Asked{From: stranger(0), Session: "token", Tag: uint64(asked),
				Call: protocol.QueryFeed{Query: protocol.Query{
					ID: fmt.Sprint(asked), Hops: 4, Budget: protocol.MaxBudget,
					Filter: feed.Filter{Words: []string{fmt.Sprint("dodo", asked)}},
				}}})
		}
	}
	minutes := now.Sub(began).Minutes()
	b.ReportMetric(100*b.Elapsed().Seconds()/now.Sub(began).Seconds(), "%core")
	b.ReportMetric(float64(answered)/minutes, "answered/min")
	b.ReportMetric(float64(relayed)/minutes, "relayed/min")
}
