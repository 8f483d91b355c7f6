package node_test

import (
	"testing"
	"time"

	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/protocol"
)

// echoers makes hosts offer what they hear others offer, ten seconds later, to nodes that have it, which they know by
// magic, and deliver nothing. What they poll themselves they keep to themselves.
func (o *overlay) echoers(hosts []*testHost) {
	heard := make(map[*testHost]map[protocol.DID]bool)
	for _, h := range hosts {
		heard[h] = make(map[protocol.DID]bool)
	}
	echo := func(h *testHost, did protocol.DID) {
		if heard[h][did] {
			return
		}
		heard[h][did] = true
		o.at(o.now.Add(10*time.Second), func() {
			for _, p := range h.node.Core().Table.All() {
				l, other := h.node.Core().LinkTo(p.ID), o.hosts[p.ID].node
				if !other.Exchange().Gossip.Seen.Has(did) {
					continue // to be asked for it would cost more than it earns
				}
				h.carryOut(node.Call{To: node.Target{Node: p.ID}, Call: protocol.CheckDID{DID: did}, Session: l.Token,
					Timeout: exchange.OfferTimeout})
			}
		})
	}
	honest := o.intercept
	o.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if heard[to] != nil {
			switch c := c.(type) {
			case protocol.CheckDID:
				echo(to, c.DID)
			case protocol.CheckDIDs:
				for _, did := range c.DIDs {
					echo(to, did)
				}
			}
		}
		if heard[from] == nil {
			return honest(from, to, c)
		}
		switch c := c.(type) {
		case protocol.PutEntries:
			return protocol.OK{}, true
		case protocol.CheckDID:
			if c.Feed != "" { // the node's own
				return protocol.Seen(true), true
			}
		case protocol.CheckDIDs:
			seen := make(protocol.SeenList, len(c.DIDs))
			for i := range seen {
				seen[i] = true
			}
			return seen, true
		}
		return nil, false
	}
}

// A quarter of the nodes offers what others offer, and delivers nothing: that gets them nothing from neighbors, and
// the others notice nothing.
func TestEchoersGainNothingAndCostNothing(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("the race detector makes half a minute of it")
	}
	const nodes, echoers = 16, 4
	without, with := newOverlay(t, nodes-echoers, 0), newOverlay(t, nodes, 0)
	with.echoers(with.list[nodes-echoers:])
	echoing := make(map[*testHost]bool)
	for _, h := range with.list[nodes-echoers:] {
		echoing[h] = true
	}
	for _, o := range []*overlay{without, with} {
		o.run(10 * time.Minute)
		o.publishFor(49 * time.Hour)
	}
	from := epoch.Add(45 * time.Hour) // after the first credit is used up, with everybody in turn
	base := without.service(func(*testHost) bool { return true }, from)
	got := with.service(func(h *testHost) bool { return !echoing[h] }, from)
	echoer := with.service(func(h *testHost) bool { return echoing[h] }, from)
	fined := 0
	for _, h := range with.list[:nodes-echoers] {
		for _, a := range h.node.Core().Ledger.Accounts() {
			if a.Fined > 0 {
				fined++
			}
		}
	}
	t.Logf("without echoers: %.1f%% covered, lag %v; honest among echoers: %.1f%%, %v; echoers: %.1f%% from "+
		"neighbors, fined by %d",
		100*base.coverage, base.lag.Round(time.Second), 100*got.coverage, got.lag.Round(time.Second),
		100*echoer.fromPeer, fined)
	if got.coverage < 0.95*base.coverage || got.lag > base.lag*105/100 {
		t.Errorf("the honest get %.1f%% of their entries with a lag of %v among echoers, %.1f%% and %v without",
			100*got.coverage, got.lag, 100*base.coverage, base.lag)
	}
	if echoer.fromPeer > 0.02 {
		t.Errorf("echoers get %.1f%% of their entries from neighbors", 100*echoer.fromPeer)
	}
}
