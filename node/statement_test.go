package node_test

import (
	"testing"
	"time"

	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Neighbors tell each other every two hours how they stand, also where nothing changes; and what was not said again for
// two and a half hours counts no more.
func TestAccountsAreStatedEveryTwoHours(t *testing.T) {
	w := newNetwork(t)
	list := w.full(2, node.Config{}, news)
	a, b := list[0], list[1]
	method := protocol.StateAccount{}.Method()
	var said []time.Time
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if c, ok := e.(node.Call); ok && h == a && c.Call.Method() == method {
				said = append(said, w.Now())
			}
		}
	}
	w.run(13 * time.Hour)
	if len(said) < 5 || len(said) > 7 {
		t.Fatalf("it was said %d times in 13 hours", len(said))
	}
	for i := 1; i < len(said); i++ {
		if d := said[i].Sub(said[i-1]); d < exchange.StateEvery || d > exchange.StateEvery+2*membership.ReviewEvery {
			t.Errorf("it was said again after %v", d)
		}
	}
	w.watch = nil
	a.inside(func(n *node.Node) { n.NoteOurs(b.id, protocol.Statement{Bound: 10_000, Waiting: 1}) })
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {exchange.StateEvery, true}, {exchange.StateEvery + 31*time.Minute, false}} {
		if got := a.node.KeptShort(b.id, c.after); got != c.want {
			t.Errorf("%v later it counts: %v", c.after, got)
		}
	}
}
