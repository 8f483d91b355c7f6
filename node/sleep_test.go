package node_test

import (
	"testing"
	"time"

	"feedex/node"
	"feedex/node/internal/core"
)

// jump sets the clock of a network of one, whose node is woken and finds out.
func (w *network) jump(h *testHost, to time.Time) {
	w.queue, w.now, h.alarm = core.NewTimers(epoch), to, time.Time{}
	h.step(node.Wake{})
}

// After a sleep of months feeds are polled about as soon as after one of hours.
func TestASleepOfMonths(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
	w.run(time.Hour)
	before := len(p.asked)
	w.jump(h, w.now.Add(90*24*time.Hour))
	w.run(30 * time.Minute)
	if len(p.asked) == before {
		t.Error("a feed of every 20 minutes was not polled within half an hour")
	}
}
