package poller

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

// What is counted as polls are heard and forgotten is what the list says.
func TestPollsHeardAreCountedAsTheyComeAndGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	id := func(n int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, byte(n), 1}), 7070)
	}
	now := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	var v pollsHeard
	for range 3000 {
		now = now.Add(time.Duration(rng.IntN(60)) * time.Second)
		origin, by := id(rng.IntN(60)), id(rng.IntN(4))
		at := now.Add(-time.Duration(rng.IntN(300)) * time.Second)
		h := &core.PollHeard{Origin: origin, Via: by, Own: origin == by}
		i := v.hear(v.find(h), h, at)
		if v.list[i].origin != origin || !v.last(i).Equal(at) {
			t.Fatalf("of the poll of %v at %v the list says %v", origin, at, v.list[i])
		}
		oldest := now.Add(-time.Duration(10+rng.IntN(20)) * time.Minute)
		later, length := v.since(oldest), len(v.list)
		if rng.IntN(3) == 0 {
			v.forget(oldest)
			length = len(later.list)
		}
		if len(v.list) != length {
			t.Fatalf("%d are listed, want %d", len(v.list), length)
		}
		for _, v := range []*pollsHeard{&v, later} {
			named := make(map[protocol.NodeID]int)
			for i, one := range v.list {
				named[v.vias[one.via].id]++
				if v == later && v.last(i).Before(oldest) {
					t.Fatalf("a poll of %v is kept, though the oldest to keep is of %v", v.last(i), oldest)
				}
			}
			var counts []int
			for _, n := range named {
				counts = append(counts, n)
			}
			most, count := mostNamed(counts), 0
			for _, n := range named {
				count += min(n, most)
			}
			if len(v.list) > 0 && (v.most != most || v.count != count) {
				t.Fatalf("%d count, %d of one neighbor; want %d and %d", v.count, v.most, count, most)
			}
		}
	}
}
