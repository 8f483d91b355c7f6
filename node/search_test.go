package node_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// A network that is cut in two halves, each of which has neighbors enough in itself, grows together again, even
// where all places are taken; and comes to rest.
func TestACutNetworkGrowsTogether(t *testing.T) {
	for name, test := range map[string]struct {
		config node.Config
		oneIn  int // links across before the cut, one of which there must be again
	}{
		"usual":                {node.Config{}, 10},
		"all places are taken": {node.Config{MinNeighbors: 8, MaxNeighbors: 8}, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.config.Incentive = incentive.Config{Bound: 10}
			o := newOverlayOf(t, 30, 0, test.config)
			half := func(h *testHost) bool { return h.id.Addr().As4()[2]%2 == 0 }
			cut := false
			o.intercept = func(from, to *testHost, _ protocol.Call) (protocol.Reply, bool) {
				return errors.New("no route to host"), cut && half(from) != half(to)
			}
			// Both ends of each link, and whether it leads across.
			links := func() (all map[[2]protocol.NodeID]bool, across int) {
				all = make(map[[2]protocol.NodeID]bool)
				for _, h := range o.list {
					for _, id := range h.node.LinkIDs() {
						all[[2]protocol.NodeID{h.id, id}] = true
						if half(h) && !half(o.hosts[id]) {
							across++
						}
					}
				}
				return all, across
			}
			o.run(20 * time.Minute)
			_, before := links()
			cut = true
			o.run(2 * time.Hour)
			_, during := links()
			cut = false
			o.run(18 * time.Hour)
			then, after := links()
			if before < 40 || during > 0 || after*test.oneIn < before {
				t.Errorf("%d links lead across at first, %d during the cut, and %d afterwards", before, during, after)
			}
			o.run(6 * time.Hour)
			if now, _ := links(); !maps.Equal(now, then) {
				t.Error("a day later links still come and go")
			}
		})
	}
}
