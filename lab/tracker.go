package lab

import (
	"time"

	"feedex/protocol"
	"feedex/tracker"
)

// A trackerHost hosts the real tracker.Registry, as package trackerhost does.
type trackerHost struct {
	world    *World
	registry *tracker.Registry
	backs    uint64 // call backs begun
}

// callBackTimeout is that of package trackerhost.
const callBackTimeout = 10 * time.Second

func newTrackerHost(w *World) *trackerHost {
	return &trackerHost{
		world:    w,
		registry: tracker.New(tracker.Config{}, w.config.Seed.Stream("tracker")),
	}
}

// asked registers the caller and hands out others.
func (t *trackerHost) asked(from *Host) protocol.NodeList {
	now := t.world.Now()
	if callBack, _ := t.registry.Register(now, from.seen); callBack {
		t.callBack(from)
	}
	return protocol.NodeList(t.registry.Hand(now, from.seen, protocol.MaxNeighborList))
}

// callBack finds out whether a node listens where it says: whether its machine runs is enough to know,
// because the answer to system.listMethods comes from the transport.
func (t *trackerHost) callBack(h *Host) {
	w := t.world
	t.backs++
	there, lost := w.delay(trackerEnd, h.index, 2*t.backs)
	back, lostBack := w.delay(h.index, trackerEnd, 2*t.backs+1)
	w.At(w.Now().Add(there), func() {
		state := h.state
		if w.cut(h, nil) || h.Unreachable() || lost || lostBack {
			state = vanished
		}
		wait := back
		if state == vanished {
			wait = callBackTimeout - there
		}
		w.At(w.Now().Add(wait), func() { t.registry.Confirm(w.Now(), h.seen, state == running) })
	})
}
