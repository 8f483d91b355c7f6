package poller

import (
	"net/netip"
	"testing"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

// Nodes can be invented, neighbors cannot: what one neighbor names counts as far as others name about as many.
func TestPollersCountAsOthersNameThem(t *testing.T) {
	id := func(network, port int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{192, 0, byte(network), 1}), uint16(port))
	}
	liar, honest, other := id(1, 7070), id(2, 7070), id(3, 7070)
	for _, c := range []struct {
		named []int
		most  int
	}{
		{nil, 1},
		{[]int{1}, 4},
		{[]int{300, 1, 2}, 7},
		{[]int{30, 2}, 91},
	} {
		if most := mostNamed(c.named); most != c.most {
			t.Errorf("of neighbors that name %v, %d nodes are believed of each, not %d", c.named, most, c.most)
		}
	}

	now := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	s := &Subscription{}
	s.Interval = time.Hour
	s.chorus.begun = now.Add(-2 * time.Hour)
	hear := func(origin, via protocol.NodeID) {
		h := &core.PollHeard{Origin: origin, Via: via, Own: origin == via}
		s.chorus.hear(s.chorus.find(h), h, now)
	}
	hear(honest, honest)
	hear(other, other)
	if n := s.countPollers(now); n != 3 {
		t.Fatalf("%d poll the feed; two neighbors and the node itself are 3", n)
	}
	for i := range 100 {
		hear(id(4, 7000+i), liar)
	}
	if n := s.countPollers(now); n != 7 {
		t.Errorf("%d poll the feed where one of three neighbors names a hundred; 4 of them are believed", n)
	}
}
