package node

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
)

// Attacks on the paper's protocol, and what they come to.

// A second process on a neighbor's address states the neighbor's port.
func TestNobodySpeaksForAnothersPort(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{}, news)
	a, victim := hosts[0], hosts[1]
	thief := victim.id // same address, and it says the same port
	for _, session := range []string{"", "guess", victim.node.links[a.id].session} {
		for _, c := range []protocol.Call{
			protocol.PutEntries{Bundle: bundleOf(w, 1)}, protocol.CheckDID{}, protocol.UpdateSubset{},
			protocol.QueryFeed{}, protocol.Disconnect{}, protocol.GetNeighbors{},
		} {
			if r := a.answerTo(thief, session, c); r.Fault == nil || r.Fault.Code != protocol.NotVouched {
				t.Errorf("%s with session %q was answered %+v, %v", c.Method(), session, r.Reply, r.Fault)
			}
		}
	}
	// To connect anew in its name does not help: the node itself is asked.
	for _, session := range []string{"", "chosen by the thief"} {
		r := a.answerTo(thief, session, protocol.Connect{Subset: protocol.Subset{{Feed: news}}})
		if r.Fault == nil || r.Fault.Code != protocol.NotVouched {
			t.Errorf("connect with session %q was answered %+v, %v", session, r.Reply, r.Fault)
		}
	}
	if !linked(a, victim) {
		t.Error("the link was lost")
	}
	if s := a.node.Neighbors()[0]; s.Delivered != 0 {
		t.Errorf("the victim's account changed: %+v", s)
	}
}

// A plain node, which knows XML-RPC and the paper's methods alone, is a full neighbor.
func TestPlainNodeIsBelievedAfterACallBack(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	a := w.add(Config{}, news)
	plain := &testHost{net: w, id: protocol.NewNodeID(netip.MustParseAddr("20.9.9.9"), 8000)}
	w.hosts[plain.id] = plain
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if to != plain {
			return nil, false
		}
		switch c.(type) {
		case protocol.CheckDID:
			return protocol.Seen(false), true
		case protocol.PutEntries:
			plain.calls = append(plain.calls, c.Method())
			return protocol.OK{}, true
		}
		return &protocol.RemoteError{Code: 1, Text: "method is not supported"}, true
	}
	w.run(time.Second) // the first poll ends
	r := a.answerTo(plain.id, "", protocol.Connect{Subset: protocol.Subset{{Feed: news}}})
	if subset, _ := r.Reply.(protocol.Subset); len(subset) == 0 {
		t.Fatalf("connect was answered %+v, %v", r.Reply, r.Fault)
	}
	w.publish(news)
	w.run(2 * time.Hour)
	if len(plain.calls) == 0 {
		t.Error("nothing was delivered to the plain node")
	}
	if r := a.answerTo(plain.id, "", protocol.PutEntries{Bundle: bundleOf(w, 1)}); r.Fault != nil {
		t.Errorf("its delivery was refused: %v", r.Fault)
	}
	// Nobody listens at the port of another caller.
	dead := protocol.NewNodeID(netip.MustParseAddr("20.9.9.8"), 8000)
	if r := a.answerTo(dead, "", protocol.Connect{Subset: protocol.Subset{{Feed: news}}}); r.Fault == nil || r.Fault.Code != protocol.Unreachable {
		t.Errorf("a caller at whose port nobody listens was answered %+v, %v", r.Reply, r.Fault)
	}
}

// Neighbors claim every bundle that they hear of and deliver none: everybody else is still reached.
func TestClaimersDoNotCutAnybodyOff(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(40, Config{}, news)
	claimer := make(map[*testHost]bool)
	for _, h := range hosts[30:] { // a quarter
		claimer[h] = true
	}
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, put := c.(protocol.PutEntries)
		return protocol.OK{}, put && claimer[from] // what they deliver never arrives
	}
	for _, h := range hosts[1:] {
		h.blocked[news] = true
	}
	var missed, total int
	for range 20 {
		id := w.publish(news)
		// Claimers have it at once and offer it to everybody, before any honest node can.
		bundle := protocol.NewBundle(news, w.feeds[news].entries[len(w.feeds[news].entries)-1:])
		for _, h := range hosts[30:] {
			h.node.now = w.now
			h.store.Keep([]archive.Record{archive.NewRecord(bundle.Entries[0], w.now, protocol.NodeID{})})
			h.offerAll(bundle)
		}
		w.run(2 * time.Hour)
		for _, h := range hosts[:30] {
			total++
			if !h.has(id) {
				missed++
			}
		}
	}
	if missed != 0 {
		t.Errorf("%d of %d deliveries to honest nodes never came", missed, total)
	}
}

// offerAll has the node offer the bundle to all that want it, as if it had it.
func (h *testHost) offerAll(b *protocol.Bundle) {
	h.node.effects = nil
	h.node.spread(b, protocol.NodeID{})
	effects := h.node.effects
	h.node.effects = nil
	for _, e := range effects {
		h.carryOut(e)
	}
	h.step(Wake{})
}

// A promised bundle is never answered "seen"; who offers it meanwhile is held for a second and then
// inherits the promise.
func TestPromisedBundleIsNotSeen(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, Config{}, news)
	a, claimer, second, third := hosts[0], hosts[1], hosts[2], hosts[3]
	b := bundleOf(w, 1)
	check := func(from *testHost, got *[]protocol.Reply) {
		a.ask(from.id, a.node.links[from.id].session, protocol.CheckDID{DID: b.DID}, func(r Respond) { *got = append(*got, r.Reply) })
	}
	var first, others []protocol.Reply
	check(claimer, &first)
	check(second, &others)
	check(third, &others)
	if len(first) != 1 || first[0] != protocol.Seen(false) || len(others) != 0 {
		t.Fatalf("at once: %v to the first, %v to the others", first, others)
	}
	w.run(999 * time.Millisecond)
	if len(others) != 0 {
		t.Fatalf("answered before the second was over: %v", others)
	}
	w.run(2 * time.Millisecond)
	if len(others) != 1 || others[0] != protocol.Seen(false) {
		t.Fatalf("after a second: %v, want one unseen", others)
	}
	heir := second
	if a.node.gossip.promises[b.DID].holder.id() == third.id {
		heir = third
	}
	a.put(heir, b)
	if len(others) != 2 || others[1] != protocol.Seen(true) {
		t.Errorf("once it is stored: %v, want seen for who waits", others)
	}
	w.run(time.Minute)
	if got := a.node.Status().Counters.Broken; got != 1 {
		t.Errorf("%d broken promises, want the claimer's", got)
	}
}

// A neighbor may owe 64 deliveries at a time, and no more.
func TestPromisesAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, Config{}, news)
	a, b := hosts[0], hosts[1]
	session := a.node.links[b.id].session
	refused := 0
	for i := range 100 {
		r := a.answerTo(b.id, session, protocol.CheckDID{DID: protocol.DID{byte(i), 1}})
		if r.Fault != nil && r.Fault.Code == protocol.Busy {
			refused++
		}
	}
	if refused != 36 {
		t.Errorf("%d of 100 offers were refused, want 36", refused)
	}
	w.run(time.Minute)
	if n := len(a.node.gossip.promises); n != 0 {
		t.Errorf("%d promises are open although their time is over", n)
	}
}

// Offers of random dids neither push out what was seen nor fill the memory.
func TestRandomOffersDisplaceNothing(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, Config{}, news)
	a, b, honest := hosts[0], hosts[1], hosts[2]
	session := a.node.links[b.id].session
	bundle := bundleOf(w, 1)
	a.put(honest, bundle)
	before := heapBytes()
	for i := range 1_000_000 {
		did := protocol.DID{byte(i), byte(i >> 8), byte(i >> 16), 0xff}
		a.node.Step(nil, w.now, Asked{From: b.id, Session: session, Call: protocol.CheckDID{DID: did}, Tag: 1})
		if i%1000 == 0 {
			w.run(time.Second)
		}
	}
	if grown := heapBytes() - before; grown > 5<<20 {
		t.Errorf("a million offers left %d bytes behind", grown)
	}
	if r := a.answerTo(honest.id, a.node.links[honest.id].session, protocol.CheckDID{DID: bundle.DID}); r.Reply != protocol.Seen(true) {
		t.Errorf("a stored bundle is answered %v, %v", r.Reply, r.Fault)
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A bundle that is not what its did says is refused, and marks nothing: the real one is still taken.
func TestForgedBundlesMarkNothing(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(11, Config{}, news)
	a := hosts[0]
	honest := bundleOf(w, 3)
	change := []struct {
		name string
		code protocol.Code
		edit func(*protocol.Bundle)
	}{
		{"an entry is missing", protocol.BadDID, func(b *protocol.Bundle) { b.Entries = b.Entries[:2] }},
		{"a title is another", protocol.BadDID, func(b *protocol.Bundle) { b.Entries[1].Title = "Buy now" }},
		{"an entry of another feed", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[1].Feed = blog }},
		{"an entry twice", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[1] = b.Entries[0] }},
		{"no entries", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries = nil }},
		{"a title too long", protocol.TooLong, func(b *protocol.Bundle) { b.Entries[0].Title = string(make([]byte, 5000)) }},
		{"a title that is not clean", protocol.BadBundle, func(b *protocol.Bundle) { b.Entries[0].Title = "a\x00b" }},
		{"a path too long", protocol.TooLong, func(b *protocol.Bundle) { b.Path = make([]protocol.NodeID, 17) }},
		{"a feed that nobody wants", protocol.UnwantedFeed, func(b *protocol.Bundle) { b.Feed = comic }},
		{"another did", protocol.BadDID, func(b *protocol.Bundle) { b.DID[0]++ }},
	}
	var b *testHost
	for i, c := range change {
		b = hosts[1+i]
		if !linked(a, b) {
			t.Fatal("not linked")
		}
		forged := *honest
		forged.Entries = append([]feed.Entry(nil), honest.Entries...)
		c.edit(&forged)
		r := a.answerTo(b.id, a.node.links[b.id].session, protocol.PutEntries{Bundle: &forged})
		if r.Fault == nil || r.Fault.Code != c.code {
			t.Errorf("%s: answered %v, %v; want fault %v", c.name, r.Reply, r.Fault, c.code)
		}
	}
	for i := range honest.Entries {
		if a.has(honest.Entries[i].EntryID()) {
			t.Errorf("entry %d was stored from a bundle that was refused", i)
		}
	}
	if a.node.gossip.seen.has(honest.DID) {
		t.Error("a forged bundle marked the honest one seen")
	}
	if r := a.put(b, honest); r.Fault != nil || !a.has(honest.Entries[1].EntryID()) {
		t.Errorf("the honest bundle was not taken afterwards: %v", r.Fault)
	}
}

// An attacker writes the victim's name into every path, so that the victim takes each bundle for one
// that went in a loop.
func TestVictimsNameInThePathCutsNobodyOff(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(5, Config{}, news)
	victim, attacker := hosts[0], hosts[1]
	w.run(time.Minute)
	if victim.node.self.id != victim.id {
		t.Fatalf("the victim takes itself for %v", victim.node.self.id)
	}
	b := *bundleOf(w, 1)
	b.Path = []protocol.NodeID{victim.id}
	if r := victim.put(attacker, &b); r.Fault != nil || !victim.has(b.Entries[0].EntryID()) {
		t.Errorf("the victim did not take the bundle: %v", r.Fault)
	}
	if n := victim.node.Status().Counters.PathsTampered; n != 1 {
		t.Errorf("%d tampered paths were noticed", n)
	}
	suspects := 0
	for _, note := range victim.notes {
		if s, ok := note.(Suspect); ok && s.Peer == attacker.id {
			suspects++
		}
	}
	if suspects == 0 {
		t.Error("nobody was suspected")
	}
}

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
			w := newNetwork(t)
			w.feed(news)
			victim := w.add(Config{}, news)
			for i := range 200 {
				w.addAt(c.id(i), Config{Peers: []string{victim.id.String()}}, news)
			}
			w.run(10 * time.Minute)
			if n := len(victim.node.links); n != 2 {
				t.Errorf("the attacker has %d places", n)
			}
		})
	}
}

// An address inside a private network is never called, whoever names it.
func TestNobodySendsOurCallsInside(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	inside := []string{
		"127.0.0.1:7790", "10.1.2.3:7790", "192.168.0.1:7790", "172.16.9.9:7790", "169.254.169.254:8080", "100.64.0.1:7790",
		"0.0.0.0:7790", "[::1]:7790", "[fe80::1]:7790", "[fc00::1]:7790", "[::ffff:10.0.0.1]:7790", "[64:ff9b::a00:1]:7790",
		"[2002:7f00:1::]:7790", "224.0.0.1:7790", "255.255.255.255:7790", "20.1.1.1:25", "20.1.1.1:443",
	}
	for _, text := range inside {
		id, err := protocol.ParseNodeID(text)
		if err != nil {
			t.Fatal(err)
		}
		w.trackers[tracker] = append(w.trackers[tracker], id)
	}
	w.feed(news).clients = inside
	w.publish(news)
	a := w.add(Config{Trackers: []string{tracker}}, news)
	w.run(time.Hour)
	if n := count(a.calls, "connect"); n != 0 {
		t.Errorf("%d connects to addresses inside private networks", n)
	}
	for _, id := range w.trackers[tracker][:4] {
		r := a.answerTo(id, "", protocol.Connect{Subset: protocol.Subset{{Feed: news}}})
		if r.Fault == nil {
			t.Errorf("%s was answered %v", id, r.Reply)
		}
	}
	if n := count(a.calls, "feedex.vouch"); n != 0 {
		t.Errorf("%d call backs into private networks", n)
	}
}

// A source that names a thousand victims makes us call two at a time, each ever more rarely.
func TestOneSourceCannotMakeUsAFlood(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	for i := range 1000 {
		w.trackers[tracker] = append(w.trackers[tracker], protocol.NewNodeID(netip.AddrFrom4([4]byte{20, 50, byte(i / 250), byte(i % 250)}), 9000))
	}
	most, open := 0, 0

	a := w.add(Config{Trackers: []string{tracker}}, news)
	for range 600 {
		w.run(100 * time.Millisecond)
		open = a.node.boot.connecting
		most = max(most, open)
	}
	if most > 2 {
		t.Errorf("%d connects to addresses of one source at a time", most)
	}
	if a.node.book.Len() > 1000 {
		t.Errorf("the book holds %d addresses", a.node.book.Len())
	}
}

// What must stay inside stays inside.
func TestPrivateFeedsNeverLeaveTheNode(t *testing.T) {
	private := []feed.URL{
		"https://user:secret@news.example.com/feed", "https://example.com/feed?token=abc", "http://192.168.1.5/feed",
		"http://nas.local/feed", "http://localhost/feed",
	}
	w := newNetwork(t)
	c := Config{Trackers: []string{tracker}}
	optedOut := feed.URL("https://shy.example.com/feed")
	all := append([]feed.URL{news, optedOut}, private...)
	for _, u := range all {
		w.feed(u)
	}
	w.feed(optedOut).private = true
	w.publish(optedOut)
	spied := func(s protocol.Subset) {
		for _, in := range s {
			if in.Feed != news && in.Feed != optedOut {
				t.Errorf("%s was advertised", in.Feed)
			}
		}
	}
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		switch c := c.(type) {
		case protocol.Connect:
			spied(c.Subset)
		case protocol.UpdateSubset:
			spied(c.Changes)
		case protocol.PutEntries:
			if c.Bundle.Feed != news {
				t.Errorf("entries of %s were sent", c.Bundle.Feed)
			}
		}
		return nil, false
	}
	a, b := w.add(c, all...), w.add(c, all...)
	for _, u := range private {
		b.blocked[u] = true
	}
	w.run(10 * time.Minute)
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	for _, u := range all {
		w.publish(u)
	}
	w.run(3 * time.Hour)
	session := a.node.links[b.id].session
	for _, u := range append(private, optedOut) {
		r := a.answerTo(b.id, session, protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: u}}})
		if answer, _ := r.Reply.(protocol.Answer); len(answer.Found) != 0 {
			t.Errorf("a query was answered with entries of %s", u)
		}
	}
	if _, ok := b.node.links[a.id].peer.Hops(optedOut); ok {
		t.Error("a feed whose publisher opted out is still advertised")
	}
	if r := a.answerTo(b.id, session, protocol.QueryFeed{}); len(r.Reply.(protocol.Answer).Found) != 1 {
		t.Errorf("a query for everything found %+v, want the one public entry", r.Reply)
	}
}
