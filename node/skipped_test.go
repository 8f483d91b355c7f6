package node_test

import (
	"feedex/node"
	"testing"
	"time"
)

// A node that is away at the only hours at which a publisher wants to be asked asks at another time once a week.
func TestHoursOfWhichTheNodeMissesAll(t *testing.T) {
	w := newNetwork(t)
	h, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Document.Pace.SkipHours = 1<<24 - 1 - 1<<3 // all but from three to four
		return ev
	})
	for range 28 { // days on which the machine is on from eight to six
		w.run(10 * time.Hour)
		h.kill()
		w.run(14 * time.Hour)
		h.start()
	}
	if n := len(p.asked); n < 4 || n > 6 {
		t.Errorf("%d requests in four weeks, at %v", n, p.asked)
	}
}

// The same for a machine that sleeps meanwhile.
func TestHoursThatTheNodeSleepsThrough(t *testing.T) {
	w := newNetwork(t)
	_, p := alone(w, func(_ int, f node.Fetch) node.Fetched {
		ev := listing(f.Feed, 3)
		ev.Document.Pace.SkipHours = 1<<24 - 1 - 1<<3
		return ev
	})
	for range 28 {
		w.run(10 * time.Hour)
		w.sleep(14 * time.Hour)
	}
	if n := len(p.asked); n < 4 || n > 6 {
		t.Errorf("%d requests in four weeks, at %v", n, p.asked)
	}
}
