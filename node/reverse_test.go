package node_test

import (
	"crypto/ed25519"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/lab"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/search"
)

// router is the address of homes that share one.
var router = netip.MustParseAddr("21.0.0.9")

// addBehind starts a node behind a router that lets nobody in.
func (w *network) addBehind(address netip.Addr, c node.Config, feeds ...feed.URL) *testHost {
	c.Policy = polling.Fixed{Every: time.Hour}
	c.Incentive.Bound = -1
	h := &testHost{
		net: w, config: c, waiting: make(map[uint64]func(node.Respond)), blocked: make(map[feed.URL]bool),
		arrived: make(map[feed.EntryID]time.Time), behind: address,
	}
	w.list = append(w.list, h)
	h.join()
	h.id = h.ID
	w.hosts[h.id] = h
	h.step(node.Subscribe{Feeds: feeds})
	return h
}

// street starts a node that can be dialled, and homes at one address that know it.
func (w *network) street(homes int, feeds ...feed.URL) (host *testHost, street []*testHost) {
	for _, u := range feeds {
		w.feed(u)
	}
	host = w.add(node.Config{}, feeds...)
	for range homes {
		street = append(street, w.addBehind(router, node.Config{Peers: []string{host.id.String()}}, feeds...))
	}
	w.run(time.Minute)
	return host, street
}

// A home that floods with queries costs another one at its address no standing, nor their address.
func TestAHomeThatFloodsWithQueriesBlamesNobodyBesideIt(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	for range 3*search.PerMinute - 1 {
		host.hears(homes[0], protocol.QueryFeed{})
	}
	r := host.hears(homes[1], protocol.QueryFeed{})
	if r.Fault == nil || r.Fault.Code != protocol.Busy {
		t.Fatalf("the two do not share what they may ask: the other is answered %v, %v", r.Reply, r.Fault)
	}
	if marks := host.account(homes[1]).Standing.Marks; len(marks) > 0 {
		t.Errorf("the other home is blamed: %v", marks)
	}
}

// seenAs is what calls from the homes look like.
var seenAs = protocol.NewNodeID(router, protocol.DefaultPort)

// Homes behind one address become neighbors of a node that can be dialled, each by its key, over links that it calls
// them by; and what one polls the other has by way of that node.
func TestHomesAtOneAddress(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	var paths [][]protocol.NodeID
	w.watch = func(_ *testHost, ev node.Event, _ []node.Effect) {
		if asked, ok := ev.(node.Asked); ok {
			if put, ok := asked.Call.(protocol.PutEntries); ok {
				paths = append(paths, put.Bundle.Path)
			}
		}
	}
	for i, h := range homes {
		if !host.neighborOf(h.id) || !h.neighborOf(host.id) || host.keyOf(h.id) != h.node.Status().Key ||
			h.keyOf(host.id) != host.node.Status().Key {
			t.Fatalf("home %d is no neighbor by its key: %+v", i, host.node.Neighbors())
		}
	}
	id := w.publish(news)
	homes[0].poll(news)
	w.run(time.Minute)
	if !host.has(id) || !homes[1].has(id) {
		t.Fatalf("what a home polled: the host has it %v, the other home %v", host.has(id), homes[1].has(id))
	}
	want := protocol.NameOf(homes[0].node.Status().Key)
	if !slices.ContainsFunc(paths, func(p []protocol.NodeID) bool { return slices.Equal(p, []protocol.NodeID{want}) }) {
		t.Errorf("the paths of what came are %v, want one of %v alone", paths, want)
	}
	id = w.publish(news)
	host.poll(news)
	w.run(time.Minute)
	if !homes[0].has(id) || !homes[1].has(id) {
		t.Errorf("what the host polled: the homes have it %v, %v", homes[0].has(id), homes[1].has(id))
	}
}

// Who asks for neighbors, and who keeps them over a restart, hears of nobody that cannot be dialled.
func TestHostedNeighborsAreNotNamed(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	for _, asker := range homes {
		r := host.hears(asker, protocol.GetNeighbors{})
		if list, ok := r.Reply.(protocol.NodeList); !ok || len(list) != 0 {
			t.Errorf("a home is told of %v", r.Reply)
		}
	}
	for _, p := range host.store.LoadPeers() {
		if p.ID.Hosted() {
			t.Errorf("the archive has %v", p.ID)
		}
	}
}

// A node that cannot be dialled finds that out from two that called back in vain, and then opens reverse links at once;
// somebody that dials it has it try without, and so does a router that forwards its port.
func TestANodeLearnsThatItCannotBeDialled(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	var peers []string
	var hosts []*testHost
	for range 3 {
		h := w.add(node.Config{}, news)
		hosts, peers = append(hosts, h), append(peers, h.id.String())
	}
	home := w.addBehind(router, node.Config{Peers: peers[:2]}, news)
	var direct, reversed int
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			call, ok := e.(node.Call)
			if c, is := call.Call.(protocol.Connect); ok && is && h == home {
				if c.Reverse {
					reversed++
				} else {
					direct++
				}
			}
		}
	}
	w.run(time.Minute)
	if direct != 2 || reversed != 2 || len(home.node.Neighbors()) != 2 {
		t.Fatalf("two connects in vain, and two over reverse links: %d, %d; %d neighbors", direct, reversed,
			len(home.node.Neighbors()))
	}
	home.inside(func(n *node.Node) { n.Connect(hosts[2].id, func(error) {}) })
	w.run(time.Minute)
	if direct != 2 || reversed != 3 || !home.neighborOf(hosts[2].id) {
		t.Errorf("then: %d connects in vain, %d over reverse links", direct, reversed)
	}
	home.ask(stranger(7), "", protocol.WhoAmI{}, func(node.Respond) {})
	home.inside(func(n *node.Node) { n.Connect(hosts[2].id, func(error) {}) })
	w.run(time.Second)
	if direct != 3 {
		t.Errorf("after somebody dialled it: %d connects without a reverse link, want 3", direct)
	}
	home.inside(func(n *node.Node) { n.Connect(hosts[1].id, func(error) {}) })
	w.run(time.Second)
	if direct != 4 {
		t.Errorf("after one more in vain: %d connects without a reverse link, want 4", direct)
	}
	if !home.node.Status().Undialled {
		t.Fatal("after two in vain it does not know that it cannot be dialled")
	}
	home.step(node.Forwarded{})
	home.inside(func(n *node.Node) { n.Connect(hosts[2].id, func(error) {}) })
	w.run(time.Second)
	if direct != 5 {
		t.Errorf("after the router forwards the port: %d connects without a reverse link, want 5", direct)
	}
}

// A home that cannot be dialled by IPv4, as behind a carrier's router, tries by IPv6 whether others can dial it; where
// they can it counts as one that can be dialled, and opens reverse links to those alone that it reaches by IPv4.
func TestANodeThatCanBeDialledByIPv6Alone(t *testing.T) {
	w := newNetwork(t)
	four := []*testHost{w.add(node.Config{}, news), w.add(node.Config{}, news)}
	six := w.addAt(protocol.NewNodeID(netip.MustParseAddr("2600:9::7"), 7790), node.Config{}, news)
	home := w.addBehind(router, node.Config{Peers: []string{four[0].id.String(), four[1].id.String()}}, news)
	connects := make(map[bool][]protocol.NodeID) // over reverse links, and without
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if call, ok := e.(node.Call); ok && h == home {
				if c, is := call.Call.(protocol.Connect); is {
					connects[c.Reverse] = append(connects[c.Reverse], call.To.Node)
				}
			}
		}
	}
	w.run(time.Minute)
	connect := func(to *testHost) {
		clear(connects)
		home.inside(func(n *node.Node) { n.Connect(to.id, func(error) {}) })
		w.run(time.Second)
	}
	if connect(six); !home.node.Status().Undialled || !slices.Equal(connects[false], []protocol.NodeID{six.id}) {
		t.Fatalf("it cannot be dialled: %v, and connects to %v by IPv6", home.node.Status().Undialled, connects)
	}
	caller := protocol.NewNodeID(netip.MustParseAddr("2600:8::5"), 7790)
	home.ask(caller, "", protocol.WhoAmI{}, func(node.Respond) {})
	if home.node.Status().Undialled {
		t.Error("it was dialled by IPv6, and counts as one that cannot be")
	}
	if connect(six); !slices.Contains(connects[false], six.id) {
		t.Errorf("dialled by IPv6, it connects to %v", connects)
	}
	if connect(four[1]); len(connects[true]) != 1 || len(connects[false]) != 0 {
		t.Errorf("by IPv4 it connects to %v, want a reverse link", connects)
	}
}

// A home that can be dialled by IPv6 is a neighbor by that, although it came over a reverse link by IPv4 before.
func TestAHomeThatIsDialledByIPv6(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	home := homes[0]
	key := ed25519.NewKeyFromSeed(seed.Secret("key 0 of " + home.Name))
	by6, host6 := protocol.NewNodeID(netip.MustParseAddr("2600:13::9"), 7790),
		protocol.NewNodeID(netip.MustParseAddr("2600:12::8"), 7790)
	w.play(by6, func(_ *testHost, call node.Call) protocol.Reply {
		if v, is := call.Call.(protocol.Vouch); is {
			return protocol.ProveKey(key, protocol.ProvesLink, v.Key, v.Challenge, host6)
		}
		return protocol.OK{}
	})
	connect := wantsNews()
	connect.Key, connect.Challenge = protocol.NodeKeyOf(key), "challenge"
	if !host.neighborOf(home.id) {
		t.Fatal("the home is not hosted")
	}
	r := host.answerTo(by6, "token", connect)
	if !host.neighborOf(by6) || host.neighborOf(home.id) {
		t.Errorf("dialled by IPv6 it is still hosted, or no neighbor: %v, %v", r.Reply, r.Fault)
	}
}

// A home gets no place whose key is not proved to its host, over the link.
func TestAHomeProvesItsKeyToItsHost(t *testing.T) {
	for name, answer := range map[string]func(home *testHost, v protocol.Vouch) protocol.Reply{
		"it proves none": func(*testHost, protocol.Vouch) protocol.Reply { return protocol.Vouched(true) },
		"it dialled another node": func(home *testHost, v protocol.Vouch) protocol.Reply {
			key := ed25519.NewKeyFromSeed(seed.Secret("key 0 of " + home.Name))
			return protocol.ProveKey(key, protocol.ProvesLink, v.Key, v.Challenge, stranger(5))
		},
	} {
		w := newNetwork(t)
		host := w.full(4, node.Config{}, news)[0]
		w.run(time.Minute)
		if host.node.Self().By4 != host.id {
			t.Fatalf("the host takes itself for %v", host.node.Self())
		}
		asked := 0
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			if v, is := c.(protocol.Vouch); is && to.behind.IsValid() {
				asked++
				return answer(to, v), true
			}
			return nil, false
		}
		home := w.addBehind(router, node.Config{Undialled: true, Peers: []string{host.id.String()}}, news)
		w.run(time.Minute)
		if asked == 0 || host.neighborOf(home.id) {
			t.Errorf("%s: asked %d times, a neighbor %v", name, asked, host.neighborOf(home.id))
		}
	}
}

// An owner who says so spares the node that.
func TestAnOwnerSaysThatANodeCannotBeDialled(t *testing.T) {
	w, host := newAlone(t, node.Config{}, news)
	home := w.addBehind(router, node.Config{Undialled: true, Peers: []string{host.id.String()}}, news)
	w.run(5 * time.Second)
	if !host.neighborOf(home.id) {
		t.Error("there is no link within seconds")
	}
	if c := slices.Index(home.calls, "connect"); c < 0 || slices.Contains(home.calls[c+1:], "connect") {
		t.Errorf("it made the calls %v, want one connect", home.calls)
	}
}

// A link that breaks is opened again, and one whose host is gone is given up.
func TestABrokenReverseLinkIsReplaced(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	home := homes[0]
	cut := func() { home.step(node.Broke{To: host.id}) }
	home.Unreverse(host.Host)
	cut()
	w.run(10 * time.Second)
	id := w.publish(news)
	host.poll(news)
	w.run(time.Minute)
	if !home.has(id) {
		t.Fatal("after the link broke the home hears nothing")
	}
	host.kill()
	w.run(time.Minute)
	if home.neighborOf(host.id) {
		t.Error("the host is gone, and the home holds on to it")
	}
	host.start()
	w.run(5 * time.Minute)
	if !home.neighborOf(host.id) || !host.neighborOf(home.id) {
		t.Error("the host is back, and the home does not find it")
	}
	home.kill()
	w.run(3 * time.Minute)
	if host.neighborOf(home.id) {
		t.Error("the home is gone, and the host holds on to it")
	}
}

// What only a home has is found from another one, and had by way of the node that hosts both.
func TestAHomesArchiveIsReached(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	old := oldEntry(news, 1)
	homes[0].holds(old)
	other := w.add(node.Config{Peers: []string{host.id.String()}}, news)
	w.run(time.Minute)
	for name, asker := range map[string]*testHost{"a home": homes[1], "one that can be dialled": other} {
		r, _ := asker.seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
		if len(r.Hits) != 1 || len(r.Hits[0].Holders) != 1 || r.Hits[0].Holders[0] != host.id {
			t.Fatalf("%s found %+v, want one hit with the host as its holder", name, r.Hits)
		}
		if got := asker.pulls(wishesOf(r)...); len(got.Stored) != 1 || asker.digest(old.EntryID()) != old.Digest() {
			t.Errorf("%s: the entry did not come: %+v", name, got)
		}
	}
	if host.has(old.EntryID()) {
		t.Error("the host kept what it passed on")
	}
}

// A home that sends another version than it told of is noted, and nothing of that is passed on.
func TestAHostPassesOnNoLies(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	homes[0].holds(oldEntry(news, 1))
	forged := oldEntry(news, 1)
	forged.Title = "forged"
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, ok := c.(protocol.GetEntries); ok && to == homes[0] {
			return protocol.Batch{Entries: []protocol.Archived{{Entry: forged, Seen: epoch}}}, true
		}
		return nil, false
	}
	r, _ := homes[1].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}})
	if got := homes[1].pulls(wishesOf(r)...); len(got.Stored) != 0 || len(got.Missing) != 1 {
		t.Errorf("got %+v", got)
	}
	a := host.account(homes[0])
	if points := a.Standing.Points(w.Now()); points >= 100 {
		t.Errorf("after the lie it has %d points", points)
	}
}

// A stranger for whom too little is left of gifts has a host ask no home, which would have the host pay.
func TestAHostPaysForNoGiftsThatItDoesNotGive(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	old := oldEntry(news, 1)
	homes[0].holds(old)
	if r, _ := homes[1].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"walrus"}}}); len(r.Hits) != 1 {
		t.Fatalf("found %+v", r.Hits)
	}
	asked := 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, ok := c.(protocol.GetEntries); ok && to == homes[0] {
			asked++
		}
		return nil, false
	}
	for i, left := range []int64{10, 1000} {
		host.inside(func(n *node.Node) { n.LeaveGifts(left) })
		host.answerTo(stranger(1), "", protocol.GetEntries{Wanted: []protocol.Wanted{
			{ID: old.EntryID(), Digest: old.Digest()}}})
		w.run(time.Second)
		if asked != i {
			t.Errorf("with %d bytes left the home was asked %d times, want %d", left, asked, i)
		}
	}
}

// What one home invents has a host forget nothing of what another told of. Where one tells of that as well, and has
// nothing of it, the other is asked.
func TestAHomeThatInventsHidesNothingOfOthers(t *testing.T) {
	w := newNetwork(t)
	_, homes := w.street(3, news)
	old := oldEntry(news, 1)
	homes[0].holds(old)
	told := 0
	w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		switch q := c.(type) {
		case protocol.QueryFeed:
			var a protocol.Answer
			if len(q.Query.Filter.IDs) > 0 {
				a.Found = []protocol.Found{{ID: old.EntryID(), Digest: old.Digest(), Feed: news, Title: old.Title,
					Link: old.Link, Published: old.Published, Updated: old.Updated, Seen: epoch}}
				return a, to == homes[2]
			}
			for len(a.Found) < q.Query.Filter.Limit {
				told++
				a.Found = append(a.Found, protocol.Found{ID: feed.EntryID{byte(told), byte(told >> 8), 1},
					Digest: feed.Digest{1}, Feed: news, Title: "flood", Seen: epoch})
			}
			return a, to == homes[2]
		case protocol.GetEntries:
			return protocol.Batch{}, to == homes[2]
		}
		return nil, false
	}
	r, _ := homes[1].seeks(protocol.Query{Filter: feed.Filter{IDs: []feed.EntryID{old.EntryID()}}})
	for told < 6000 {
		homes[1].seeks(protocol.Query{Filter: feed.Filter{Words: []string{"flood"}, Limit: 200}})
		w.run(10 * time.Second)
	}
	if got := homes[1].pulls(wishesOf(r)...); len(got.Stored) != 1 {
		t.Errorf("of what a home told of %d came, want 1", len(got.Stored))
	}
}

// Nobody takes the part of a home that he shares an address with: without its session his calls are a stranger's, and
// without its key he gets no link in its name.
func TestNobodyPassesForAHome(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	home := homes[0]
	token := host.node.SessionOf(home.id)
	for name, c := range map[string]struct {
		from    protocol.NodeID
		session string
		code    protocol.Code
	}{
		"without a session":           {seenAs, "", protocol.UnknownNeighbor},
		"with another session":        {seenAs, "x" + token, protocol.UnknownNeighbor},
		"from elsewhere":              {stranger(3), token, protocol.UnknownNeighbor},
		"with the session":            {seenAs, token, 0},
		"and from another port there": {protocol.NewNodeID(router, 9000), token, 0},
		"and from its network":        {protocol.NewNodeID(router.Next(), 9000), token, 0},
	} {
		r := host.answerTo(c.from, c.session, protocol.GetNeighbors{})
		if code := codeOf(r); code != c.code {
			t.Errorf("%s: fault %d, want %d", name, code, c.code)
		}
	}
	key := home.node.Status().Key
	for name, c := range map[string]struct {
		connect protocol.Connect
		answer  func(v protocol.Vouch) protocol.Reply
		code    protocol.Code
	}{
		"no key": {protocol.Connect{}, nil, protocol.NotVouched},
		"no link": {protocol.Connect{Key: protocol.NodeKeyOf(signer(8)), Challenge: "x"}, nil,
			protocol.Unreachable},
		"the home's key": {protocol.Connect{Key: key, Challenge: "x"}, nil, protocol.NotVouched},
	} {
		c.connect.Subset, c.connect.Reverse = protocol.Subset{{Feed: news}}, true
		if r := host.answerTo(seenAs, "theirs", c.connect); codeOf(r) != c.code {
			t.Errorf("connect with %s: %+v, %v, want fault %d", name, r.Reply, r.Fault, c.code)
		}
	}
	if !host.neighborOf(home.id) || host.node.SessionOf(home.id) != token {
		t.Error("the home has lost its link")
	}
}

// Keys cost nothing: all that are new at an address owe together what one may.
func TestHostedKeysShareOneCredit(t *testing.T) {
	w := newNetwork(t)
	_, homes := w.street(3, news)
	host := w.list[0]
	first := host.node.LinkTo(homes[0].id).Holder
	for _, h := range homes[1:] {
		if got := host.node.LinkTo(h.id).Holder; got != first || strings.Contains(got.String(), "ed25519") {
			t.Errorf("the account is that of %v, want %v", got, first)
		}
	}
}

// What two keys at an address get, or give, counts once for all there, and for each of the two as well.
func TestWhatKeysOfAnAddressHaveInCommonCountsOnce(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(2, news)
	host.inside(func(n *node.Node) {
		for _, h := range homes {
			n.Got(h.id, 20*incentive.Entry)
			n.Gave(h.id, 20*incentive.Entry)
		}
	})
	w.run(6 * time.Minute) // then each has an account
	owed := func() (together, first, second incentive.Credit) {
		at := host.node.AccountOf(incentive.HolderOf(seenAs))
		return at.Deficit + at.Beside, host.account(homes[0]).Deficit, host.account(homes[1]).Deficit
	}
	together, first, second := owed()
	moved := func(what string, all, one, other incentive.Credit) {
		t.Helper()
		a, b, c := owed()
		if a -= together; a != all || b-first != one || c-second != other {
			t.Errorf("%s: they owe %v more together, and each %v and %v; want %v, %v and %v", what, a,
				b-first, c-second, all, one, other)
		}
		together, first, second = owed()
	}
	w.publish(news)
	host.poll(news)
	w.run(time.Minute)
	moved("both are given an entry", incentive.Entry, incentive.Entry, incentive.Entry)

	b := bundleWith(feed.Entry{Feed: news, ID: "of somebody else", Published: w.Now()})
	for _, h := range []*testHost{host, homes[0], homes[1]} {
		h.knows(b)
	}
	homes[0].offers(host, b)
	homes[1].offers(host, b)
	w.run(time.Minute)
	moved("both give one", -incentive.Entry, -incentive.Entry, -incentive.Entry)
}

// codeOf is the code of the fault that is an answer, 0 for another answer.
func codeOf(r node.Respond) protocol.Code {
	if r.Fault == nil {
		return 0
	}
	return r.Fault.Code
}

// A street of homes takes no place that the node fills itself, and of those for hosted neighbors no more than there
// are; where they are short a second street gets its share.
func TestStreetsShareThePlaces(t *testing.T) {
	w := newNetwork(t)
	const places = 6
	host := w.add(node.Config{Hosted: places}, news)
	at := func(address netip.Addr) (homes []*testHost) {
		for range places + 2 {
			homes = append(homes, w.addBehind(address, node.Config{Peers: []string{host.id.String()}, Undialled: true},
				news))
		}
		return homes
	}
	linked := func(homes []*testHost) (n int) {
		for _, h := range homes {
			if host.neighborOf(h.id) {
				n++
			}
		}
		return n
	}
	first := at(router)
	w.run(time.Minute)
	if n := linked(first); n != places || host.node.Dialled() != 0 {
		t.Fatalf("a street has %d of %d places, and %d of others", n, places, host.node.Dialled())
	}
	second := at(netip.MustParseAddr("22.0.0.9"))
	w.run(2 * time.Hour) // nobody loses a place at once
	if a, b := linked(first), linked(second); a != places/2 || b != places/2 {
		t.Errorf("two streets have %d and %d places, want %d each", a, b, places/2)
	}
	none := w.add(node.Config{Hosted: -1}, news)
	home := w.addBehind(router, node.Config{Peers: []string{none.id.String()}}, news)
	w.run(time.Minute)
	if none.neighborOf(home.id) {
		t.Error("a node hosts whose owner wants none")
	}
}

// The lab takes messages of hosted nodes through the codec without a difference.
func TestHostedIDsStayOnTheNode(t *testing.T) {
	hash := func(c lab.Config) string {
		w := newNetworkOf(t, c)
		_, homes := w.street(3, news)
		for range 3 {
			w.publish(news)
			homes[0].poll(news)
			w.run(time.Hour)
		}
		return w.Hash()
	}
	encoded, plain := hash(lab.Config{Seed: seed, EveryMessage: true}), hash(lab.Config{Seed: seed, NoEncoding: true})
	if encoded != plain {
		t.Errorf("with the codec %s, without %s", encoded, plain)
	}
}

// Nobody hears of a hosted node by what it asks its host for, and the host's own downloads go on.
func TestWhatAHomeWishesForStaysWithItsHost(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	host.holds(oldEntry(news, 1))
	host.inside(func(n *node.Node) { n.AskedForBy(homes[0].id) })
	if askers := host.node.AskersBut(protocol.NodeID{}); len(askers) != 0 {
		t.Errorf("others are told that %v ask", askers)
	}
	if len(host.node.Hosted()) != 1 {
		t.Error("nothing is shown")
	}
}

// Hosted neighbors, which may all be one machine, have no say about the address of their host, and are not asked for
// others.
func TestHostedNeighborsNameNobody(t *testing.T) {
	w := newNetwork(t)
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, asked := c.(protocol.WhoAmI); asked && to.behind.IsValid() {
			return protocol.NewNodeID(stranger(66).Addr(), protocol.DefaultPort), true
		}
		if _, asked := c.(protocol.GetNeighbors); asked && to.behind.IsValid() {
			t.Errorf("%s asks a home for neighbors", from.id)
		}
		return nil, false
	}
	host, homes := w.street(8, news)
	w.run(time.Hour)
	if got := host.node.Status().Self; !got.IsZero() || len(host.node.Hosted()) != len(homes) {
		t.Errorf("by the word of %d homes the host is %v", len(host.node.Hosted()), got)
	}
}

// A plain neighbor at the address and port of homes takes nothing that they send.
func TestAPlainNeighborTakesNoCallsOfHomes(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	w.play(seenAs, func(*testHost, node.Call) protocol.Reply { return protocol.OK{} })
	host.inside(func(n *node.Node) { n.Join(seenAs, false, "", protocol.Subset{{Feed: news}}) })
	r := host.answerTo(seenAs, host.node.SessionOf(homes[0].id), protocol.Disconnect{Reason: "gone"})
	if r.Fault != nil || host.neighborOf(homes[0].id) || !host.neighborOf(seenAs) {
		t.Errorf("the goodbye of a home, answered %v: the home is a neighbor %v, the plain node %v", r.Fault,
			host.neighborOf(homes[0].id), host.neighborOf(seenAs))
	}
}

// A host that drops each reverse link as soon as it is there is left, and not called for ever.
func TestAHostThatDropsLinksIsLeft(t *testing.T) {
	w := newNetwork(t)
	host, homes := w.street(1, news)
	home := homes[0]
	connects := 0
	w.watch = func(h *testHost, _ node.Event, effects []node.Effect) {
		for _, e := range effects {
			if _, opens := e.(node.Reverse); opens && h == home {
				connects++
			}
		}
	}
	for range 30 {
		home.Unreverse(host.Host)
		home.step(node.Broke{To: host.id})
		home.step(node.Broke{To: host.id}) // said twice
		w.run(2 * time.Second)
	}
	if connects > 6 {
		t.Errorf("within a minute it opened %d reverse links", connects)
	}
	w.run(30 * time.Minute)
	id := w.publish(news)
	host.poll(news)
	w.run(time.Minute)
	if !home.has(id) {
		t.Error("half an hour later it has no link")
	}
}

// A node that cannot be dialled tries another in the place of a neighbor that brings little, though that offers what
// others do.
func TestAHomeTriesAnotherForWhoBringsLittle(t *testing.T) {
	w := newNetwork(t)
	follows := wantedFeeds(12)
	var hosts []*testHost
	for range 6 {
		hosts = append(hosts, w.add(node.Config{}, follows...))
	}
	home := w.addBehind(router, node.Config{Undialled: true}, follows...)
	for _, h := range hosts[:5] {
		home.inside(func(n *node.Node) { n.Connect(h.id, func(error) {}) })
		w.run(time.Second)
	}
	idle, spare := hosts[4], hosts[5]
	for _, u := range follows {
		idle.blocked[u] = true
	}
	if !home.neighborOf(idle.id) || home.neighborOf(spare.id) {
		t.Fatalf("it has the neighbors %v", home.node.Neighbors())
	}
	home.inside(func(n *node.Node) { n.NoteAddresses(spare.id) })
	for i := range 45 {
		u := follows[i%len(follows)]
		w.publish(u)
		hosts[i%4].poll(u)
		w.run(2 * time.Minute)
	}
	if home.neighborOf(idle.id) || !home.neighborOf(spare.id) || len(home.node.Neighbors()) != 5 {
		t.Errorf("an hour and a half later it has the neighbors %v", home.node.Neighbors())
	}
}

// A neighbor that leaves while the reverse link to it is opened anew is replaced as soon as that came to nothing.
func TestWhoLeavesWhileItsLinkIsRenewedIsReplaced(t *testing.T) {
	w := newNetwork(t)
	first, second := w.add(node.Config{}, news), w.add(node.Config{}, news)
	home := w.addBehind(router, node.Config{Undialled: true, MaxNeighbors: 1}, news)
	home.inside(func(n *node.Node) { n.NoteAddresses(first.id) })
	w.run(10 * time.Second)
	home.inside(func(n *node.Node) { n.NoteAddresses(second.id) })
	if !home.neighborOf(first.id) {
		t.Fatal("it has no neighbor")
	}
	w.hang[first.id] = true
	home.Unreverse(first.Host)
	home.step(node.Broke{To: first.id})
	w.run(3 * time.Second)
	home.answerTo(first.id, home.node.SessionOf(first.id), protocol.Disconnect{Reason: "gone"})
	if home.neighborOf(first.id) {
		t.Fatal("it did not leave")
	}
	w.run(20 * time.Second)
	if !home.neighborOf(second.id) {
		t.Error("nobody came in its place")
	}
}

// A reverse link that breaks while the node connects is opened again.
func TestAReverseLinkBreaksBeforeItIsOfUse(t *testing.T) {
	w, host := newAlone(t, node.Config{}, news)
	home := w.addBehind(router, node.Config{Peers: []string{host.id.String()}, Undialled: true}, news)
	broken := false
	w.watch = func(h *testHost, ev node.Event, _ []node.Effect) {
		asked, ok := ev.(node.Asked)
		if _, vouch := asked.Call.(protocol.Vouch); ok && vouch && h == home && !broken {
			broken = true
			w.At(w.Now().Add(time.Millisecond), func() {
				home.Unreverse(host.Host)
				home.step(node.Broke{To: host.id})
			})
		}
	}
	w.run(time.Minute)
	id := w.publish(news)
	host.poll(news)
	w.run(time.Minute)
	if !broken || !home.has(id) {
		t.Errorf("the link broke %v, and the home has what came after %v", broken, home.has(id))
	}
}

// On the owner's own network a hosted neighbor is known as well, by its address there.
func TestAHostedNeighborOnALocalNetwork(t *testing.T) {
	w := newNetwork(t)
	at := protocol.NewNodeID(netip.MustParseAddr("10.0.0.1"), protocol.DefaultPort)
	host := w.addAt(at, node.Config{AllowLocal: true}, news)
	home := w.addBehind(netip.MustParseAddr("10.0.0.2"), node.Config{AllowLocal: true, Undialled: true,
		Peers: []string{at.String()}}, news)
	w.run(10 * time.Minute)
	id := w.publish(news)
	home.poll(news)
	w.run(time.Minute)
	if !host.neighborOf(home.id) || !host.has(id) || count(home.calls, "connect") != 1 {
		t.Errorf("it is a neighbor %v, what it polled is there %v, after the calls %v", host.neighborOf(home.id),
			host.has(id), home.calls)
	}
}
