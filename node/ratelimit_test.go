package node_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Tests of the limits to what others may cause, and that coming again, or meanwhile, gains nothing.

// minute lets time pass until a minute begins.
func (w *network) minute() { w.run(w.Now().Truncate(time.Minute).Add(time.Minute).Sub(w.Now())) }

// busy counts how many of so many calls of a kind are refused because there were too many.
func busy(h *testHost, times int, id func(i int) protocol.NodeID, c protocol.Call) (refused int) {
	for i := range times {
		if r := h.answerTo(id(i), "", c); r.Fault != nil && r.Fault.Code == protocol.Busy {
			refused++
		}
	}
	return refused
}

func TestStrangersAreHeldBack(t *testing.T) {
	at := func(addr netip.Addr) protocol.NodeID { return protocol.NewNodeID(addr, 7790) }
	port := func(i int) protocol.NodeID {
		return protocol.NewNodeID(netip.MustParseAddr("20.66.6.6"), uint16(2000+i))
	}
	local := func(int) protocol.NodeID { return protocol.NewNodeID(netip.MustParseAddr("10.1.2.3"), 7790) }
	twenty := func(i int) protocol.NodeID {
		return at(netip.AddrFrom4([4]byte{50, byte(i % 20), 7, byte(i / 20)}))
	}
	// Of one /64 each, or one /48 each, of one /32.
	of64 := func(i int) protocol.NodeID {
		return at(netip.AddrFrom16([16]byte{0x2a, 0, 0, 0, 0, 0, byte(i >> 8), byte(i), 15: 1}))
	}
	of48 := func(i int) protocol.NodeID {
		return at(netip.AddrFrom16([16]byte{0x2a, 0, 0, 0, byte(i >> 8), byte(i), 15: 1}))
	}
	// Newcomers, of another region, of the first ones' and of their network.
	elsewhere, nearby, beside := stranger(1), at(netip.MustParseAddr("20.66.7.7")), at(netip.MustParseAddr("20.66.6.7"))
	trusting := node.Config{AllowLocal: true, Incentive: incentive.Config{TrustLocal: true}}
	for _, c := range []struct {
		name      string
		config    node.Config
		times     int
		id        func(int) protocol.NodeID
		call      protocol.Call
		want      int
		newcomers []protocol.NodeID
	}{
		{"one address asks who it is", node.Config{}, 1000, port, protocol.WhoAmI{}, 400,
			[]protocol.NodeID{elsewhere, nearby, beside}},
		{"one address asks us to vouch", node.Config{}, 1000, port, protocol.Vouch{}, 400,
			[]protocol.NodeID{elsewhere}},
		{"one address connects with nothing", node.Config{}, 1000, port, protocol.Connect{}, 400,
			[]protocol.NodeID{elsewhere}},
		{"one address offers without a link", node.Config{}, 1000, port, protocol.CheckDID{}, 400,
			[]protocol.NodeID{elsewhere}},
		{"twenty networks", node.Config{}, 1000, twenty, protocol.WhoAmI{}, 400, []protocol.NodeID{elsewhere, nearby}},
		{"one /48", node.Config{}, 1000, of64, protocol.WhoAmI{}, 400, []protocol.NodeID{elsewhere, of48(2000)}},
		{"one /32", node.Config{}, 1000, of48, protocol.WhoAmI{}, 400, []protocol.NodeID{elsewhere}},
		{"a local address", node.Config{AllowLocal: true}, 1000, local, protocol.WhoAmI{}, 400,
			[]protocol.NodeID{elsewhere}},
		{"the owner's own machines", trusting, 1000, local, protocol.WhoAmI{}, 0, nil},
	} {
		w, a := newAlone(t, c.config, news)
		w.minute()
		if got := busy(a, c.times, c.id, c.call); got != c.want {
			t.Errorf("%s: %d of %d calls were refused, want %d", c.name, got, c.times, c.want)
		}
		if n := a.node.CallersCounted(); n > core.CallsAMinute {
			t.Errorf("%s: %d calls are kept", c.name, n)
		}
		for _, id := range c.newcomers {
			w.play(id, vouches)
			if busy(a, 5, func(int) protocol.NodeID { return id }, protocol.WhoAmI{}) > 0 {
				t.Errorf("%s: a newcomer at %s is refused", c.name, id)
			}
			if r := a.answerTo(id, "token", wantsNews()); r.Fault != nil {
				t.Errorf("%s: a newcomer at %s cannot connect: %v", c.name, id, r.Fault)
			}
		}
		w.minute()
		if got := busy(a, 1, c.id, c.call); got != 0 {
			t.Errorf("%s: refused in the next minute too", c.name)
		}
	}
}

// A flood of strangers keeps no node away that we asked ourselves, nor a neighbor.
func TestAFloodOfStrangersKeepsNobodyAway(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{}, news)
	a, other := hosts[0], w.add(node.Config{}, news)
	w.minute()
	if busy(a, 1000, stranger, protocol.WhoAmI{}) == 0 {
		t.Fatal("no flood")
	}
	if r := a.hears(hosts[1], protocol.WhoAmI{}); r.Fault != nil {
		t.Errorf("a neighbor is refused: %v", r.Fault)
	}
	a.inside(func(n *node.Node) { n.Connect(other.id, func(error) {}) })
	w.run(time.Second)
	if !linked(a, other) {
		t.Error("the call back of one that we asked is refused")
	}
}

// A node that connects again has no more calls than before, nor does one that connects from another port.
func TestConnectingAgainResetsNothing(t *testing.T) {
	first, second := stranger(1), protocol.NewNodeID(stranger(1).Addr(), 7791)
	for _, c := range []struct {
		name  string
		ids   []protocol.NodeID // as which it connects, in turn
		parts bool              // and parts again
	}{
		{"after it parted", []protocol.NodeID{first}, true},
		{"while it is linked", []protocol.NodeID{first}, false},
		{"from two ports", []protocol.NodeID{first, second}, false},
		{"from two ports, after it parted", []protocol.NodeID{first, second}, true},
	} {
		w, a := newAlone(t, node.Config{}, news)
		w.run(2 * time.Minute)
		w.minute()
		w.play(first, vouches)
		w.play(second, vouches)
		answered := 0
		for i := range 5 {
			id := c.ids[i%len(c.ids)]
			a.answerTo(id, "token", wantsNews())
			if !a.neighborOf(id) {
				t.Fatalf("%s: not linked", c.name)
			}
			for range 200 {
				if r := a.answerTo(id, "token", protocol.GetNeighbors{}); r.Fault == nil {
					answered++
				}
			}
			if c.parts {
				a.inside(func(n *node.Node) { n.Part(id, "over") })
			}
		}
		if answered > core.CallsAMinute || answered < core.CallsAMinute/2 {
			t.Errorf("%s: %d calls within a minute were answered, the limit is %d", c.name, answered, core.CallsAMinute)
		}
	}
}

// large is so many bundles, each of as many entries of a megabyte.
func large(n, entriesEach int) (list []*protocol.Bundle) {
	text := strings.Repeat("x", 1<<20-1<<10)
	for i := range n {
		var entries []feed.Entry
		for k := range entriesEach {
			entries = append(entries, feed.Entry{Feed: news, ID: fmt.Sprint("large ", i, k),
				Content: text, Published: epoch})
		}
		list = append(list, bundleWith(entries...))
	}
	return list
}

// A neighbor that offers what is large, delivers nothing and waits to be asked for it brings no more bytes in a minute
// than by deliveries. It is asked for the rest in the minutes after, also where it hung up, and is not blamed.
func TestWhatWeAskForCountsInTheMinute(t *testing.T) {
	for _, hangsUp := range []bool{false, true} {
		w := newLargeNetwork(t)
		hosts := w.full(2, unlimited(), news)
		a, b := hosts[0], hosts[1]
		w.run(time.Minute)
		w.minute()
		list, given, most := large(40, 3), make(map[int64]int), 0
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			demand, ok := c.(protocol.GetBundle)
			if !ok || to != b {
				return nil, false
			}
			bundle := list[slices.Index(didsOf(list), demand.DID)]
			given[core.MinuteOf(w.Now())] += bundle.WireBytes()
			most = max(most, given[core.MinuteOf(w.Now())])
			return bundle, true
		}
		a.hears(b, protocol.CheckDIDs{DIDs: didsOf(list)})
		if hangsUp {
			a.inside(func(n *node.Node) { n.Part(b.id, "over") })
		}
		w.run(afterwards)
		if most > core.BytesAMinute+list[0].WireBytes() {
			t.Errorf("hangs up %v: %d bytes were asked for in a minute, the limit is %d", hangsUp, most,
				core.BytesAMinute)
		}
		for i, bundle := range list {
			if !a.has(bundle.Entries[0].EntryID()) {
				t.Fatalf("hangs up %v: bundle %d of %d was not asked for", hangsUp, i, len(list))
			}
		}
		if blamed := w.blamed(b); len(blamed) > 0 {
			t.Errorf("hangs up %v: blamed for %v", hangsUp, blamed)
		}
	}
}

// A neighbor that asks for the same bundles over and over is given no more bytes of them in a minute than it may send,
// also where it hung up.
func TestWhatIsAskedForAgainCountsInTheMinute(t *testing.T) {
	for _, hangsUp := range []bool{false, true} {
		w := newLargeNetwork(t)
		hosts := w.full(2, bound(), news)
		a, b := hosts[0], hosts[1]
		a.inside(func(n *node.Node) { n.Earn(b.id, 20*incentive.Entry) })
		w.minute()
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			return nil, to == b && isPut(c) // it takes no delivery
		}
		list := large(10, 1)
		for _, bundle := range list {
			a.offers(b, bundle)
		}
		w.run(time.Second)
		session := b.node.TokenOf(a.id)
		if hangsUp {
			a.inside(func(n *node.Node) { n.Part(b.id, "over") })
		}
		given := 0
		for range 20 {
			for _, bundle := range list {
				if r := a.answerTo(b.id, session, protocol.GetBundle{DID: bundle.DID}); r.Fault == nil {
					given += bundle.WireBytes()
				}
			}
		}
		if given > core.BytesAMinute+list[0].WireBytes() || given < core.BytesAMinute/2 {
			t.Errorf("hangs up %v: it was given %d bytes in a minute, the limit is %d", hangsUp, given,
				core.BytesAMinute)
		}
		if marks := a.account(b).Standing.Marks; len(marks) > 0 {
			t.Errorf("hangs up %v: blamed for %v", hangsUp, marks)
		}
	}
}

// While a connect is under way, whichever side began it, the other loses its standing, or is sent away.
func TestMuchMayHappenDuringAConnect(t *testing.T) {
	for name, happens := range map[string]func(n *node.Node, id protocol.NodeID){
		"it is refused":   func(n *node.Node, id protocol.NodeID) { n.Punish(id, incentive.ForgedEntry, 0) },
		"it is sent away": func(n *node.Node, id protocol.NodeID) { n.Ban(id) },
	} {
		w, a := newAlone(t, node.Config{}, news)
		w.run(2 * time.Minute)
		id := stranger(1)
		w.play(id, func(from *testHost, c node.Call) protocol.Reply {
			a.inside(func(n *node.Node) { happens(n, id) })
			if _, ok := c.Call.(protocol.Connect); ok {
				return wantsNews().Subset
			}
			return vouches(from, c)
		})
		r := a.answerTo(id, "token", wantsNews())
		if subset, _ := r.Reply.(protocol.Subset); len(subset) > 0 || a.neighborOf(id) {
			t.Errorf("%s while we call it back: answered %v, %v", name, r.Reply, r.Fault)
		}
		b := w.add(node.Config{}, news)
		w.run(time.Minute)
		w.play(id, func(from *testHost, c node.Call) protocol.Reply {
			b.inside(func(n *node.Node) { happens(n, id) })
			return wantsNews().Subset
		})
		b.inside(func(n *node.Node) { n.Connect(id, func(error) {}) })
		w.run(time.Minute)
		if b.neighborOf(id) {
			t.Errorf("%s while we connect: it is a neighbor", name)
		}
	}
}

// A static neighbor that is refused is not called to connect before that is over.
func TestARefusedStaticNeighborWaits(t *testing.T) {
	w, b := newAlone(t, node.Config{}, news)
	a := w.add(node.Config{Peers: []string{b.id.String()}}, news)
	w.run(time.Minute)
	a.inside(func(n *node.Node) {
		for range 3 {
			n.Punish(b.id, incentive.WrongDID, 0)
		}
	})
	before := count(a.calls, "connect")
	w.run(12 * time.Hour)
	if n := count(a.calls, "connect") - before; n != 0 || linked(a, b) {
		t.Errorf("%d connects to a refused node within half a day", n)
	}
	if s := a.node.Status().Sources[0]; s.Problem != membership.ErrRefused.Error() {
		t.Errorf("the owner is told %q", s.Problem)
	}
	w.run(13 * time.Hour)
	if !linked(a, b) {
		t.Error("not linked when the refusal is over")
	}
}
