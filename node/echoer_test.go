package node_test

import (
	"testing"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
)

// A quarter of the nodes offers what others offer, and delivers nothing: that gets them nothing from neighbors, and
// the others notice nothing.
func TestEchoersGainNothingAndCostNothing(t *testing.T) {
	t.Parallel()
	const nodes, echoers, seeds = 16, 4, 3
	from := epoch.Add(45 * time.Hour) // after the first credit is used up, with everybody in turn
	var base, got, echoer service     // means over the seeds: one alone says little
	fined := 0
	c := node.Config{Incentive: incentive.Config{Bound: 10}}
	echo := func(n *node.Node) lab.Actor { return actor.Echoer(n, actor.None) }
	for s := range lab.Seed(seeds) {
		world := lab.Config{Seed: seed + s, NoEncoding: true}
		without := newOverlayOn(newNetworkOf(t, world), nodes-echoers, 0, c, nil)
		with := newOverlayOn(newNetworkOf(t, world), nodes, echoers, c, echo)
		for _, o := range []*overlay{without, with} {
			o.run(10 * time.Minute)
			o.publishFor(69 * time.Hour)
		}
		base.add(without.service(func(*testHost) bool { return true }, from), seeds)
		got.add(with.service(func(h *testHost) bool { return !with.bad[h] }, from), seeds)
		echoer.add(with.service(func(h *testHost) bool { return with.bad[h] }, from), seeds)
		for _, h := range with.list[:nodes-echoers] {
			fined += h.node.Fined()
		}
	}
	t.Logf("without echoers: %.1f%% covered, lag %v; honest among echoers: %.1f%%, %v; echoers: %.1f%% from "+
		"neighbors, fined by %d",
		100*base.coverage, base.lag.Round(time.Second), 100*got.coverage, got.lag.Round(time.Second),
		100*echoer.fromPeer, fined)
	if got.coverage < 0.95*base.coverage || got.lag > base.lag*110/100 {
		t.Errorf("the honest get %.1f%% of their entries with a lag of %v among echoers, %.1f%% and %v without",
			100*got.coverage, got.lag, 100*base.coverage, base.lag)
	}
	if echoer.fromPeer > 0.02 {
		t.Errorf("echoers get %.1f%% of their entries from neighbors", 100*echoer.fromPeer)
	}
}
