package node_test

import (
	"net/netip"
	"testing"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/protocol"
)

// Nodes that try to get more than the bound by coming as others, by sharing out roles, or by changing sides.

// everything is direct interest in all feeds of the network.
func (o *overlay) everything() (s protocol.Subset) {
	for _, u := range o.feeds {
		s = append(s, protocol.Interest{Feed: u})
	}
	return s
}

// Every hour a taker leaves and comes back to everybody on another port of its address, for a day and a half; after a
// day all nodes start again. Nobody gives it more than the one entry that a stranger gets on trust.
func TestReturningOnAnotherPortWinsNothing(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 8, 0)
	o.run(10 * time.Minute)
	got := make(map[*testHost]int)
	taker := func(from *testHost, c node.Call) protocol.Reply {
		switch c := c.Call.(type) {
		case protocol.Vouch:
			return protocol.Vouched(true)
		case protocol.CheckDID:
			return protocol.Seen(false)
		case protocol.PutEntries:
			got[from] += len(c.Bundle.Entries)
		}
		return protocol.OK{}
	}
	var last protocol.NodeID
	places := 0
	for hour := range 36 {
		id := protocol.NewNodeID(netip.MustParseAddr("20.99.0.1"), uint16(2000+hour))
		last = id
		o.play(id, taker)
		for _, h := range o.list {
			h.answerTo(id, "token", protocol.Connect{Subset: o.everything()})
			if h.neighborOf(id) {
				places++
			}
		}
		for range 14 {
			o.run(4 * time.Minute)
			o.publish(o.feeds[o.rng.IntN(len(o.feeds))])
		}
		for _, h := range o.list {
			h.answerTo(id, "token", protocol.Disconnect{})
		}
		if o.run(4 * time.Minute); hour == 24 {
			for _, h := range o.list {
				h.kill()
				h.start()
			}
		}
	}
	if places < 8*30 {
		t.Fatalf("it won %d of %d places; nothing is shown", places, 8*36)
	}
	for _, h := range o.list {
		if a := h.node.Account(last); got[h] != 1 || a.Given != incentive.Entry {
			t.Errorf("%s gave it %d entries, and booked %v", h.id, got[h], a.Given)
		}
	}
}

// accounts are what everybody else keeps of h.
func (o *overlay) accounts(h *testHost) map[*testHost]incentive.Account {
	all := make(map[*testHost]incentive.Account)
	for _, other := range o.list {
		if other != h {
			all[other] = other.account(h)
		}
	}
	return all
}

// One works for two: it gives whatever it has, to its leech as well, and the leech takes from everybody and gives
// nothing. What both get from a node is not more than what the worker gave it, and D. The leech alone gets what any
// stranger gets on trust.
func TestAWorkerDoesNotPayForItsLeech(t *testing.T) {
	t.Parallel()
	o := newOverlay(t, 12, 1)
	o.run(10 * time.Minute)
	o.publishFor(12 * time.Hour)
	leech, worker := o.list[11], o.list[0]
	leeched, earned := o.accounts(leech), o.accounts(worker)
	most := incentive.Credit(0)
	for _, h := range o.list[1:11] {
		x, y := leeched[h], earned[h]
		if x.Given+y.Given > x.Got+y.Got+incentive.Value(10, 0) {
			t.Errorf("%s gave them %v and %v for %v", h.id, x.Given, y.Given, x.Got+y.Got)
		}
		if x.Given > incentive.Entry {
			t.Errorf("%s gave the leech %v", h.id, x.Given)
		}
		most = max(most, y.Given)
	}
	if most < 10*incentive.Entry {
		t.Errorf("the worker got %v at most; nothing is shown", most)
	}
}

// One gives for long, and then only takes: from the day it changes sides it gets 2D from each neighbor at most.
func TestATraitorTakesTwiceTheBound(t *testing.T) {
	t.Parallel()
	turns := epoch.Add(13 * time.Hour)
	o := newOverlayWith(t, 10, 1, node.Config{Incentive: incentive.Config{Bound: 10}},
		func(n *node.Node) lab.Actor { return actor.Traitor(n, turns) })
	o.run(10 * time.Minute)
	o.publishFor(8 * time.Hour)
	o.Run(turns)
	traitor := o.list[9]
	before := o.accounts(traitor)
	o.publishFor(12 * time.Hour)
	most, trusted := incentive.Credit(0), incentive.Credit(0)
	for h, a := range o.accounts(traitor) {
		trusted = min(trusted, before[h].Deficit)
		most = max(most, a.Given-before[h].Given)
	}
	t.Logf("it was owed %v at most, and took %v from one", -trusted, most)
	if most > incentive.Value(20, 0) {
		t.Errorf("it took %v from one neighbor after it had changed sides", most)
	}
	if trusted > -2*incentive.Entry || most <= incentive.Value(10, 0) {
		t.Errorf("it was owed %v at most, and took %v: nothing is shown", -trusted, most)
	}
}
