package node_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// Where neighbors come from, and what a liar that names false ones, or an attacker with many addresses, comes to.

// 200 ports on one address, and 200 addresses in one network, win two places.
func TestOneNetworkWinsTwoPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		id   func(i int) protocol.NodeID
	}{
		{"one address", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.MustParseAddr("20.99.0.1"), uint16(2000+i))
		}},
		{"one /24", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, 99, 0, byte(i)}), 7790)
		}},
		{"one /48", func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.MustParseAddr(fmt.Sprintf("2a00:1:2:%x::1", i)), 7790)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, victim := newAlone(t, node.Config{}, news)
			for i := range 200 {
				w.addAt(c.id(i), node.Config{Peers: []string{victim.id.String()}}, news)
			}
			w.run(10 * time.Minute)
			if n := victim.node.Status().Neighbors; n != 2 {
				t.Errorf("the attacker has %d places", n)
			}
		})
	}
}

// A node that takes and never gives has no more by coming back as another: 200 ports of one address together get what
// one address gets for a start.
func TestManyPortsAreServedAsOne(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{Incentive: incentive.Config{Bound: 10}}, news)
	victim := hosts[0]
	got := 0
	taker := func(_ *testHost, c node.Call) protocol.Reply {
		switch c := c.Call.(type) {
		case protocol.Vouch:
			return protocol.Vouched(true)
		case protocol.CheckDID:
			return protocol.Seen(false)
		case protocol.CheckDIDs:
			return make(protocol.SeenList, len(c.DIDs))
		case protocol.PutEntries:
			got += len(c.Bundle.Entries)
		}
		return protocol.OK{}
	}
	places := 0
	for i := range 200 {
		id := protocol.NewNodeID(netip.MustParseAddr("20.99.0.1"), uint16(2000+i))
		w.play(id, taker)
		victim.answerTo(id, "token", wantsNews())
		if victim.neighborOf(id) {
			places++
		}
		w.publish(news)
		victim.poll(news)
		w.run(10 * time.Second)
		if victim.neighborOf(id) {
			victim.answerTo(id, "token", protocol.Disconnect{})
		}
	}
	if places < 20 {
		t.Errorf("%d of 200 connects won a place; nothing is shown", places)
	}
	if got > 10 {
		t.Errorf("one address was given %d entries, the bound is 10", got)
	}
}

// An address inside a private network is never called, whichever node names it.
func TestNobodySendsOurCallsInside(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	inside := []string{
		"127.0.0.1:7790", "10.1.2.3:7790", "192.168.0.1:7790", "172.16.9.9:7790", "169.254.169.254:8080",
		"100.64.0.1:7790",
		"0.0.0.0:7790", "[::1]:7790", "[fe80::1]:7790", "[fc00::1]:7790", "[::ffff:10.0.0.1]:7790",
		"[64:ff9b::a00:1]:7790",
		"[2002:7f00:1::]:7790", "224.0.0.1:7790", "255.255.255.255:7790", "20.1.1.1:25", "20.1.1.1:443",
	}
	var list protocol.NodeList
	for _, text := range inside {
		id, err := protocol.ParseNodeID(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, id)
	}
	w.trackers[tracker] = list
	w.feed(news).clients = inside
	w.publish(news)
	a := w.add(node.Config{Trackers: []string{tracker}}, news)
	b := w.add(node.Config{Peers: []string{a.id.String()}}, news)
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, asked := c.(protocol.GetNeighbors)
		return list, asked
	}
	w.run(time.Hour)
	if !linked(a, b) || count(a.calls, "get_neighbors") < 2 {
		t.Fatalf("linked %v, neighbors and trackers were asked for nodes %d times", linked(a, b),
			count(a.calls, "get_neighbors"))
	}
	if n := count(a.calls, "connect"); n != 0 {
		t.Errorf("%d connects to addresses inside private networks", n)
	}
	before := count(a.calls, "feedex.vouch")
	for _, id := range list {
		if r := a.answerTo(id, "", wantsNews()); r.Fault == nil {
			t.Errorf("%s was answered %v", id, r.Reply)
		}
	}
	if n := count(a.calls, "feedex.vouch") - before; n != 0 {
		t.Errorf("%d call backs into private networks", n)
	}
}

// dials counts the connects that h makes to each address.
func (w *network) dials(h *testHost) map[netip.Addr]int {
	dials := make(map[netip.Addr]int)
	w.watch = func(from *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if c, ok := e.(node.Call); ok && from == h && c.Call.Method() == "connect" {
				dials[c.To.Node.Addr()]++
			}
		}
	}
	return dials
}

// A tracker names ten thousand victims, or one under ten thousand ports. Two addresses of one network are
// taken, and each is called at once, after 15 s, and then after twice the time before, up to six hours: so
// a victim sees 18 connects in the first hour and 28 in the first day at most, however it is named.
func TestAVictimIsCalledEverMoreRarely(t *testing.T) {
	victim := netip.MustParseAddr("50.0.0.1")
	others := func(i int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{51, byte(i / 250), byte(i % 250), 1}), 9000)
	}
	port := func(i int) protocol.NodeID { return protocol.NewNodeID(victim, uint16(2000+i)) }
	for _, c := range []struct {
		name  string
		names func(i int) protocol.NodeID
		d     time.Duration
		most  int
	}{
		{"one victim, an hour", port, time.Hour, 18},
		{"one victim, a day", port, 24 * time.Hour, 28},
		{"many victims", others, 100 * time.Second, 3},
	} {
		w := newNetwork(t)
		w.feed(news)
		for i := range 10_000 {
			w.trackers[tracker] = append(w.trackers[tracker], c.names(i))
		}
		a := w.add(node.Config{}, news)
		w.run(time.Second)
		a.kill()
		a.config.Trackers = []string{tracker}
		a.start()
		dials := w.dials(a)
		most := 0
		for begun := w.Now(); w.Now().Sub(begun) < c.d; {
			w.run(time.Second)
			if a.node.Connecting() > 2 {
				t.Fatalf("%s: %d connects to addresses of one source at a time", c.name,
					a.node.Connecting())
			}
		}
		for _, n := range dials {
			most = max(most, n)
		}
		if most > c.most || most < 1 {
			t.Errorf("%s: %d connects to one, want at most %d", c.name, most, c.most)
		}
		if a.node.BookLen() > 1000 {
			t.Errorf("%s: the book holds %d addresses", c.name, a.node.BookLen())
		}
	}
}

// The other sources: a publisher that lists a victim with every new document, and a neighbor.
func TestDocumentsAndNeighborsCannotMakeUsAFlood(t *testing.T) {
	victim := netip.MustParseAddr("50.0.0.1")
	w, a := newAlone(t, node.Config{}, news)
	b := w.add(node.Config{Peers: []string{a.id.String()}}, news)
	dials := w.dials(a)
	ports := 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		var list protocol.NodeList
		for range protocol.MaxNeighborList {
			ports++
			list = append(list, protocol.NewNodeID(victim, uint16(2000+ports)))
		}
		_, asked := c.(protocol.GetNeighbors)
		return list, asked && to == b
	}
	for range 24 {
		w.feed(news).clients = nil
		for range 50 {
			ports++
			w.feed(news).clients = append(w.feed(news).clients, protocol.NewNodeID(victim, uint16(2000+ports)).String())
		}
		w.publish(news)
		a.poll(news)
		w.run(time.Hour)
	}
	if n := dials[victim]; n > 28 || n < 2 {
		t.Errorf("%d connects to the victim within a day, want at most 28", n)
	}
}

// A node that knows nobody but a friend finds others by that one, those that come later too, and asks no more often
// than every five minutes; so does one that knows a tracker that does not answer, or one that names nobody.
func TestAFriendIsEnough(t *testing.T) {
	const quiet = "http://quiet.example/"
	for _, trackers := range [][]string{nil, {deadTracker}, {quiet}} {
		w := newNetwork(t)
		friend := w.full(1, node.Config{}, news)[0]
		a := w.add(node.Config{Peers: []string{friend.id.String()}, Trackers: trackers}, news)
		asked := 0
		w.intercept = func(from, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
			if c.Method() == "get_neighbors" && from == a {
				asked++
			}
			return nil, false
		}
		for range 2 {
			for range 2 {
				w.add(node.Config{Trackers: []string{tracker}, MinNeighbors: 1}, news)
			}
			w.run(40 * time.Minute)
		}
		for _, h := range w.list {
			if h != a && !linked(a, h) {
				t.Errorf("%v: not linked with %s", trackers, h.id)
			}
		}
		if asked < 2 || asked > 16 {
			t.Errorf("%v: asked neighbors %d times within 80 minutes", trackers, asked)
		}
	}
}

// What the owner names while the node runs is asked at once and goes on to be, as that of the start is; what they take
// back is not asked any more.
func TestSourcesChange(t *testing.T) {
	w := newNetwork(t)
	w.trackers[tracker] = nil
	b := w.add(node.Config{}, news)
	a := w.add(node.Config{MinNeighbors: 1}, news)
	w.run(time.Minute)
	asked := func(d time.Duration) int {
		before := count(a.calls, "get_neighbors")
		w.run(d)
		return count(a.calls, "get_neighbors") - before
	}
	if n := asked(time.Hour); n != 0 || linked(a, b) {
		t.Fatalf("asked %d times where nobody is known", n)
	}
	a.step(node.Sources{Trackers: []string{tracker}, Peers: []string{b.id.String()}})
	if n := asked(10 * time.Second); n < 1 || !a.neighborOf(b.id) || !a.node.Neighbors()[0].Static {
		t.Errorf("asked %d times, linked: %v", n, linked(a, b))
	}
	if n := asked(time.Hour); n < 3 {
		t.Errorf("within an hour the tracker is asked %d times", n)
	}
	if list := a.node.Status().Sources; len(list) != 2 || !list[0].Tracker || list[1].Asked.IsZero() {
		t.Errorf("its sources are %+v", list)
	}
	for range 3 { // does not multiply what is asked
		a.step(node.Sources{})
		a.step(node.Sources{Trackers: []string{tracker}})
	}
	if n := asked(time.Hour); n < 3 || n > 12 {
		t.Errorf("named again and again the tracker is asked %d times within an hour", n)
	}
	if list := a.node.Neighbors(); len(list) != 1 || list[0].Static {
		t.Errorf("taken back, its neighbors are %+v", list)
	}
	a.step(node.Sources{})
	b.inside(func(n *node.Node) { n.Part(a.id, "over") })
	a.hears(b, protocol.Disconnect{})
	w.trackers[tracker] = nil
	w.run(time.Hour)
	if list := w.trackers[tracker]; len(list) > 0 || len(a.node.Status().Sources) > 0 {
		t.Errorf("taken back, the tracker is asked by %v", list)
	}
}

// A neighbor that comes and goes does not make us a nuisance to the tracker.
func TestAFlappingNeighborDoesNotHammerTheTracker(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{MinNeighbors: 2}, news)
	a, b := hosts[0], hosts[1]
	w.run(30 * time.Minute)
	before := count(a.calls, "get_neighbors")
	for range 100 {
		if a.neighborOf(b.id) {
			a.hears(b, protocol.Disconnect{})
		}
		b.inside(func(n *node.Node) { n.Part(a.id, "over") })
		w.run(200 * time.Millisecond)
		b.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
		w.run(500 * time.Millisecond)
	}
	if n := count(a.calls, "get_neighbors") - before; n > 8 { // a round a minute, a few calls each
		t.Errorf("the tracker was asked %d times within 70 s", n)
	}
}

// One host that connects from ever new ports is turned away, and leaves little behind.
func TestAStormOfConnectsLeavesLittleBehind(t *testing.T) {
	w, a := newAlone(t, node.Config{}, news)
	w.run(time.Minute)
	refused := 0
	for i := range 3000 {
		id := protocol.NewNodeID(netip.MustParseAddr("20.66.6.6"), uint16(2000+i))
		w.play(id, func(_ *testHost, c node.Call) protocol.Reply {
			if _, ok := c.Call.(protocol.Vouch); ok {
				return protocol.Vouched(true)
			}
			return protocol.OK{}
		})
		if r := a.answerTo(id, "token", wantsNews()); r.Fault != nil {
			refused++
			continue
		}
		a.answerTo(id, "token", protocol.Disconnect{})
	}
	if refused != 2980 {
		t.Errorf("%d of 3,000 connects were refused", refused)
	}
	if book, disk := a.node.BookLen(), len(a.store.LoadPeers()); book > 100 || disk > 100 {
		t.Errorf("one host left %d addresses in the book, %d on disk", book, disk)
	}
}

// A static neighbor is called for as long as there is no link, ever more rarely.
func TestAStaticNeighborIsSoughtForEver(t *testing.T) {
	w := newNetwork(t)
	late := protocol.NewNodeID(netip.MustParseAddr("20.77.0.1"), 7790)
	a := w.add(node.Config{Peers: []string{late.String()}}, news)
	w.run(24 * time.Hour)
	if n := count(a.calls, "feedex.whoami"); n < 24*60/7 || n > 24*60/5+20 {
		t.Errorf("called %d times within a day, want about once in five minutes", n)
	}
	b := w.addAt(late, node.Config{}, news)
	w.run(membership.LongestRetry * 3 / 2)
	if !linked(a, b) || !a.node.Neighbors()[0].Static {
		t.Error("it came up, and is no static neighbor")
	}
	a.hears(b, protocol.Disconnect{})
	w.run(membership.LongestRetry)
	if !linked(a, b) || !a.node.Neighbors()[0].Static {
		t.Error("the link ended, and was not made again")
	}
}

// Two names of one neighbor are sought each by itself: where its owner takes one back, or it comes to lead nowhere, the
// other still counts.
func TestTwoNamesOfANeighbor(t *testing.T) {
	w, b := newAlone(t, node.Config{}, news)
	names := []string{b.id.String(), fmt.Sprintf("[::ffff:%s]:%d", b.id.Addr(), b.id.Port())}
	for i, left := range names {
		a := w.add(node.Config{Peers: names}, news)
		w.run(time.Minute)
		if list := a.node.Neighbors(); len(list) != 1 || !list[0].Static {
			t.Fatalf("its neighbors are %+v", list)
		}
		a.step(node.Sources{Peers: []string{left}})
		w.run(membership.LongestRetry * 3 / 2)
		if list := a.node.Neighbors(); len(list) != 1 || !list[0].Static {
			t.Errorf("without the name %s its neighbors are %+v", names[1-i], list)
		}
		a.kill()
	}
}

// Nothing to say: nobody is called before there is a feed.
func TestANodeWithoutFeedsAsksNobody(t *testing.T) {
	w, b := newAlone(t, node.Config{Trackers: []string{tracker}}, news)
	a := w.add(node.Config{Trackers: []string{tracker}, Peers: []string{b.id.String()}})
	w.run(10 * time.Minute)
	if n := count(a.calls, "connect"); n != 0 {
		t.Errorf("%d connects with an empty set", n)
	}
	a.step(node.Subscribe{Feeds: []feed.URL{news}})
	w.run(membership.LongestRetry * 3 / 2)
	if !linked(a, b) {
		t.Error("not linked once there is a feed")
	}
}
