package node_test

import (
	"testing"
	"time"

	"feedex/node"
)

// After a sleep of months feeds are polled about as soon as after one of hours.
func TestASleepOfMonths(t *testing.T) {
	w := newNetwork(t)
	_, p := alone(w, func(_ int, f node.Fetch) node.Fetched { return listing(f.Feed, 1) })
	w.run(time.Hour)
	before := len(p.asked)
	w.sleep(90 * 24 * time.Hour)
	w.run(30 * time.Minute)
	if len(p.asked) == before {
		t.Error("a feed of every 20 minutes was not polled within half an hour")
	}
}
