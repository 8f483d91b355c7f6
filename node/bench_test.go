package node_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// BenchmarkIdle is an hour in which nothing happens to a node with 2,000 feeds, polled every four hours and never
// changed, and ten neighbors that follow the same 2,000: conditional requests, adverts with nothing to say, and
// everybody asking each other whether they are still there. It is to take less than 1 % of a core, without what the
// host adds: sockets and disk.
func BenchmarkIdle(b *testing.B) {
	const feeds, friends = 2000, 10
	now := epoch
	n, err := node.New(now, node.Config{
		Policy: polling.Fixed{Every: 4 * time.Hour}, Secret: []byte("secret of a benchmark"),
	}, archive.NewMemory(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		b.Fatal(err)
	}
	var effects []node.Effect
	polls, calls := 0, 0
	var step func(ev node.Event)
	step = func(ev node.Event) {
		effects = n.Step(effects[:0], now, ev)
		var follow []node.Event
		for _, e := range effects {
			switch e := e.(type) {
			case node.Fetch:
				polls++
				follow = append(follow, node.Fetched{Feed: e.Feed, ETag: e.ETag, LastModified: e.LastModified})
			case node.Call:
				calls++
				a := node.Answered{ID: e.ID, Reply: protocol.OK{}, Peer: e.To.Node, RTT: 50 * time.Millisecond}
				switch e.Call.(type) {
				case protocol.GetNeighbors:
					a.Reply = protocol.NodeList{}
				case protocol.StateAccount:
					a.Reply = protocol.Statement{}
				case protocol.ListMethods:
					a.Reply = protocol.Methods{"check_dids", "feedex.account"}
				}
				follow = append(follow, a)
			}
		}
		for _, ev := range follow {
			step(ev)
		}
	}
	pass := func(d time.Duration) {
		for end := now.Add(d); ; {
			next := n.Next()
			if next.After(end) {
				now = end
				return
			}
			now = next
			step(node.Wake{})
		}
	}
	var wishes []feed.URL
	var subset protocol.Subset
	for i := range feeds {
		u := feed.URL(fmt.Sprintf("https://publisher%d.example.com/blog/feed.xml", i))
		wishes = append(wishes, u)
		subset = append(subset, protocol.Interest{Feed: u})
	}
	step(node.Subscribe{Feeds: wishes})
	pass(time.Minute)
	for i := range friends {
		id := stranger(i)
		n.Within(now, func(n *node.Node) { n.Join(id, i%2 == 0, "token", subset) })
	}
	pass(5 * time.Hour)
	polls, calls = 0, 0
	began := now
	for b.Loop() {
		for range 60 {
			for i := range friends {
				step(node.Asked{From: stranger(i), Session: "token", Call: protocol.GetNeighbors{}})
			}
			pass(time.Minute)
		}
	}
	hours := now.Sub(began).Hours()
	if n.Status().Neighbors != friends || float64(polls) < feeds/4*0.9*hours {
		b.Fatalf("%d neighbors, %.0f polls an hour", n.Status().Neighbors, float64(polls)/hours)
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/now.Sub(began).Seconds(), "%core")
	b.ReportMetric(float64(polls)/hours, "polls/h")
	b.ReportMetric(float64(calls)/hours, "calls/h")
}

// BenchmarkKeyedCheckDID compares check_did, of a bundle that the node has, by neighbors that proved a key and gave
// long enough to have an account by it, with the same by neighbors of addresses alone. The metric is the ratio of the
// medians, in hundredths.
func BenchmarkKeyedCheckDID(b *testing.B) {
	const friends, rounds, round = 8, 20, 25 // calls a minute and neighbor, fewer than they may make
	now := epoch
	noAudits := incentive.Altered(func(r *incentive.Rules) { r.Audit = func(*rand.Rand, int) bool { return false } })
	n, err := node.New(now, node.Config{
		Policy: polling.Fixed{Every: 1000 * time.Hour}, Secret: []byte("secret of a benchmark"), Key: signer(0),
		Incentive: incentive.Config{Rules: noAudits},
	}, archive.NewMemory(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		b.Fatal(err)
	}
	effects := n.Step(nil, now, node.Subscribe{Feeds: []feed.URL{news}})
	for i := range 2 * friends {
		n.Within(now, func(n *node.Node) {
			var key protocol.NodeKey
			if i%2 == 1 {
				key = protocol.NodeKeyOf(signer(byte(1 + i)))
				n.Settle(stranger(i), key)
			}
			n.JoinByKey(stranger(i), key, false, "token", protocol.Subset{{Feed: news}})
			if byKey := n.HolderOf(stranger(i)).String() == key.String(); byKey != (i%2 == 1) {
				b.Fatalf("neighbor %d has an account by its key: %v", i, byKey)
			}
		})
	}
	stored := one("urn:1")
	n.Within(now, func(n *node.Node) {
		n.Store(stored)
		n.See(stored.DID)
	})
	var took [2][]time.Duration
	for b.Loop() {
		now = now.Add(time.Minute)
		for turn := range rounds * 2 * friends {
			i := turn % (2 * friends)
			asked := node.Asked{From: stranger(i), Session: "token", Call: protocol.CheckDID{DID: stored.DID}}
			began := time.Now()
			for range round {
				effects = n.Step(effects[:0], now, asked)
			}
			took[i%2] = append(took[i%2], time.Since(began))
			r, ok := effects[len(effects)-1].(node.Respond)
			if !ok || r.Fault != nil || r.Reply != protocol.Seen(true) {
				b.Fatalf("neighbor %d is answered %+v", i, effects)
			}
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	middle := b.N * friends * rounds / 2
	b.ReportMetric(100*took[0][middle].Seconds()/took[1][middle].Seconds(), "%of-unkeyed")
	b.ReportMetric(float64(took[1][middle].Nanoseconds())/round, "ns/check")
}
