package node_test

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// signer is the private key of a caller that tests play.
func signer(i byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), i))
}

// keyOf is the key that the node knows a neighbor by.
func (h *testHost) keyOf(id protocol.NodeID) protocol.NodeKey {
	if l := h.node.LinkTo(id); l != nil {
		return l.Key
	}
	return protocol.NodeKey{}
}

// Both ends of a link prove their keys, whoever asked.
func TestNodesProveTheirKeys(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(5, node.Config{}, news)
	for _, a := range hosts {
		for _, b := range hosts {
			if want := b.node.Status().Key; a != b && (a.keyOf(b.id) != want || want.IsZero()) {
				t.Errorf("%s knows %s by %v, want %v", a.id, b.id, a.keyOf(b.id), want)
			}
		}
	}
}

// A key is proved once a link, by each end, and not once a call.
func TestKeysAreProvedOnceALink(t *testing.T) {
	w := newNetwork(t)
	proofs, calls, verified := 0, 0, 0
	w.watch = func(_ *testHost, ev node.Event, _ []node.Effect) {
		switch ev := ev.(type) {
		case node.Asked:
			calls++
			proofs += strings.Count(string(protocol.EncodeCall(nil, 1, ev.Call)), "<name>proof</name>")
		case node.Answered:
			if ev.Reply != nil {
				proofs += strings.Count(string(protocol.EncodeReply(nil, ev.Reply)), "<name>proof</name>")
			}
		}
	}
	for _, h := range w.full(3, node.Config{}, news) {
		for _, other := range h.node.Links() {
			if !other.Key.IsZero() {
				verified++
			}
		}
	}
	for range 12 {
		w.publish(news)
		w.run(time.Hour)
	}
	if verified != 6 || proofs != verified || calls < 100 {
		t.Errorf("%d proofs in %d calls, for %d ends of links by keys", proofs, calls, verified)
	}
}

// Whoever calls back gets a proof for its own challenge, of the node that it dialled, and no other.
func TestProofsOfCallers(t *testing.T) {
	key := protocol.NodeKeyOf(signer(1))
	var first protocol.Vouch // of an earlier connect
	for i, c := range []struct {
		name   string
		answer func(a *testHost, v protocol.Vouch) protocol.Reply
		linked bool
		known  protocol.NodeKey
	}{
		{"its own proof", func(a *testHost, v protocol.Vouch) protocol.Reply {
			first = v
			return protocol.ProveKey(signer(1), protocol.ProvesLink, v.Key, v.Challenge, a.id)
		}, true, key},
		{"no proof", func(*testHost, protocol.Vouch) protocol.Reply { return protocol.Vouched(true) }, true,
			protocol.NodeKey{}},
		{"the proof of another key", func(a *testHost, v protocol.Vouch) protocol.Reply {
			return protocol.ProveKey(signer(2), protocol.ProvesLink, v.Key, v.Challenge, a.id)
		}, false, protocol.NodeKey{}},
		{"a proof for another node", func(a *testHost, v protocol.Vouch) protocol.Reply {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, protocol.NodeKeyOf(signer(3)), v.Challenge, a.id)
		}, false, protocol.NodeKey{}},
		{"the proof of before", func(a *testHost, v protocol.Vouch) protocol.Reply {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, v.Key, first.Challenge, a.id)
		}, false, protocol.NodeKey{}},
		{"a proof that went through other hands", func(_ *testHost, v protocol.Vouch) protocol.Reply {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, v.Key, v.Challenge, stranger(9))
		}, true, protocol.NodeKey{}},
		{"nothing that is a proof", func(a *testHost, v protocol.Vouch) protocol.Reply {
			return protocol.KeyProof{Dialled: a.id, Signature: "x"}
		}, false, protocol.NodeKey{}},
	} {
		w := newNetwork(t)
		a := w.full(5, node.Config{}, news)[0] // it knows its own address
		w.run(time.Duration(i) * time.Second)
		caller := w.play(stranger(1), func(_ *testHost, call node.Call) protocol.Reply {
			v, _ := call.Call.(protocol.Vouch)
			if v.Key != a.node.Status().Key || !v.Proof.Proves(protocol.ProvesLink, v.Key, key, "challenge") ||
				v.Proof.Dialled != stranger(1) {
				t.Errorf("%s: called back with %+v", c.name, v)
			}
			return c.answer(a, v)
		})
		connect := wantsNews()
		connect.Key, connect.Challenge = key, "challenge"
		r := a.answerTo(caller.id, "token", connect)
		if c.linked != a.neighborOf(caller.id) || a.keyOf(caller.id) != c.known ||
			!c.linked && (r.Fault == nil || r.Fault.Code != protocol.NotVouched) {
			t.Errorf("%s: answered %v, %v; it is known by %v", c.name, r.Reply, r.Fault, a.keyOf(caller.id))
		}
	}
}

// Whoever was called proves its key when it calls back, and gets no proof where it shows a wrong one.
func TestProofsOfTheCalled(t *testing.T) {
	by4, by6 := stranger(1), protocol.NewNodeID(netip.MustParseAddr("2600:13::9"), 7790)
	for _, c := range []struct {
		name  string
		at    protocol.NodeID
		proof func(a *testHost, connect protocol.Connect) protocol.KeyProof
		want  protocol.NodeKey
		fault protocol.Code
	}{
		{"its own proof", by4, func(a *testHost, c protocol.Connect) protocol.KeyProof {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, c.Challenge, a.id)
		}, protocol.NodeKeyOf(signer(1)), 0},
		{"its own proof, by IPv6", by6, func(_ *testHost, c protocol.Connect) protocol.KeyProof {
			a6 := protocol.NewNodeID(netip.MustParseAddr("2600:12::8"), 7790)
			return protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, c.Challenge, a6)
		}, protocol.NodeKeyOf(signer(1)), 0},
		{"the proof of another key", by4, func(a *testHost, c protocol.Connect) protocol.KeyProof {
			return protocol.ProveKey(signer(2), protocol.ProvesLink, c.Key, c.Challenge, a.id)
		}, protocol.NodeKey{}, protocol.NotVouched},
		{"a proof for another connect", by4, func(a *testHost, c protocol.Connect) protocol.KeyProof {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, "another", a.id)
		}, protocol.NodeKey{}, protocol.NotVouched},
		{"a proof that went through other hands", by4, func(_ *testHost, c protocol.Connect) protocol.KeyProof {
			return protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, c.Challenge, stranger(9))
		}, protocol.NodeKey{}, 0},
	} {
		w := newNetwork(t)
		a := w.full(5, node.Config{}, news)[0]
		called := w.play(c.at, func(_ *testHost, call node.Call) protocol.Reply {
			connect, is := call.Call.(protocol.Connect)
			if !is {
				return protocol.OK{}
			}
			v := protocol.Vouch{Session: call.Session, Key: protocol.NodeKeyOf(signer(1)), Challenge: "challenge",
				Proof: c.proof(a, connect)}
			r := a.answerTo(c.at, "its token", v)
			if c.fault != 0 {
				if r.Fault == nil || r.Fault.Code != c.fault {
					t.Errorf("%s: answered %+v, %v", c.name, r.Reply, r.Fault)
				}
				return protocol.Subset{}
			}
			if p, is := r.Reply.(protocol.KeyProof); !is || p.Dialled != c.at ||
				!p.Proves(protocol.ProvesLink, connect.Key, v.Key, v.Challenge) {
				t.Errorf("%s: answered %+v, %v", c.name, r.Reply, r.Fault)
			}
			return protocol.Subset{{Feed: news}}
		})
		a.inside(func(n *node.Node) { n.Connect(called.id, func(error) {}) })
		w.run(time.Second)
		if a.neighborOf(called.id) != (c.fault == 0) || a.keyOf(called.id) != c.want {
			t.Errorf("%s: linked %v, known by %v", c.name, a.neighborOf(called.id), a.keyOf(called.id))
		}
	}
}

// playKeyed plays the node of a key that a dials at an address, and that dials a at own. It counts the connects.
func (w *network) playKeyed(a *testHost, at, own protocol.NodeID, connects *int) {
	w.play(at, func(_ *testHost, call node.Call) protocol.Reply {
		switch c := call.Call.(type) {
		case protocol.WhoAmI:
			return own
		case protocol.Vouch:
			return protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, c.Challenge, own)
		case protocol.Connect:
			*connects++
			proof := protocol.ProveKey(signer(1), protocol.ProvesLink, c.Key, c.Challenge, own)
			a.answerTo(at, "its token", protocol.Vouch{Session: call.Session,
				Key: protocol.NodeKeyOf(signer(1)), Challenge: "challenge", Proof: proof})
			return protocol.Subset{{Feed: news}}
		}
		return protocol.OK{}
	})
}

// A node that has both versions of IP is a neighbor at one of its addresses, and does not come and go by the two,
// whoever asks; its owner's names for it stand for that one. Where it is there no more it is sought at the other.
func TestANodeHasOneLinkByItsTwoAddresses(t *testing.T) {
	w := newNetwork(t)
	w.feed(news)
	at := []protocol.NodeID{stranger(1), protocol.NewNodeID(netip.MustParseAddr("2600:13::9"), 7790)}
	own := []protocol.NodeID{protocol.NewNodeID(netip.MustParseAddr("20.0.1.5"), 7790),
		protocol.NewNodeID(netip.MustParseAddr("2600:12::8"), 7790)}
	a := w.addAt(own[0], node.Config{}, news)
	connects := 0
	play := func(at, own protocol.NodeID) { w.playKeyed(a, at, own, &connects) }
	for i := range at {
		play(at[i], own[i])
	}
	w.trackers[tracker] = slices.Clone(at)
	a.step(node.Sources{Trackers: []string{tracker}})
	w.run(time.Hour)
	if n := len(a.node.Links()); n != 1 || connects > 2 {
		t.Errorf("%d links after %d connects within an hour", n, connects)
	}
	first, other := at[0], 1
	if a.neighborOf(at[1]) {
		first, other = at[1], 0
	}
	third := protocol.NewNodeID(netip.MustParseAddr([]string{"20.7.7.7", "2600:14::9"}[other]), 7790)
	play(third, own[other])
	w.trackers[tracker] = append(w.trackers[tracker], third)
	w.run(time.Hour)
	if n := len(a.node.Links()); n != 1 || connects > 20 {
		t.Errorf("%d links after %d connects within two hours at three addresses", n, connects)
	}
	connect := wantsNews()
	connect.Key, connect.Challenge = protocol.NodeKeyOf(signer(1)), "challenge"
	if r := a.answerTo(at[other], "its token", connect); !a.neighborOf(first) || a.neighborOf(at[other]) {
		t.Errorf("asked by its other address it is linked by that, or by none: %v, %v", r.Reply, r.Fault)
	}
	if got := a.joins(at[other], protocol.NodeKeyOf(signer(1))); got.Err != nil || got.Peer != first {
		t.Errorf("joined by its other address: %v, %v", got.Peer, got.Err)
	}
	a.step(node.Sources{Peers: []string{at[other].String()}})
	w.run(time.Minute)
	if list := a.node.Neighbors(); len(list) != 1 || list[0].ID != first || !list[0].Static {
		t.Errorf("named by its other address its neighbors are %+v", list)
	}
	a.step(node.Sources{Trackers: []string{tracker}})
	w.hang[first] = true
	w.run(10 * time.Minute)
	if !a.neighborOf(at[other]) && !a.neighborOf(third) || a.neighborOf(first) {
		t.Error("it is not sought at its other addresses")
	}
}

// A node that has several addresses of one version, as by IPv6 one for each day, moves from one to the next and not
// back; where it is there no more it is sought at the others.
func TestANodeMovesToAnAddressOnce(t *testing.T) {
	w := newNetwork(t)
	own := protocol.NewNodeID(netip.MustParseAddr("2600:12::8"), 7790)
	a := w.addAt(own, node.Config{}, news)
	connects := 0
	for i := range 4 {
		at := protocol.NewNodeID(netip.MustParseAddr(fmt.Sprintf("2600:13::%d", i+1)), 7790)
		w.playKeyed(a, at, own, &connects)
		w.trackers[tracker] = append(w.trackers[tracker], at)
	}
	a.step(node.Sources{Trackers: []string{tracker}})
	w.run(time.Hour)
	list := a.node.Neighbors()
	if len(list) != 1 || connects > 4 {
		t.Fatalf("%d neighbors after %d connects", len(list), connects)
	}
	w.hang[list[0].ID] = true
	w.run(10 * time.Minute)
	if now := a.node.Neighbors(); len(now) != 1 || now[0].ID == list[0].ID {
		t.Errorf("it is not sought at its other addresses: %+v", now)
	}
}

// A neighbor that gave something keeps its account where its address changes, and has one link; who comes to its old
// address begins anew.
func TestAnAccountMovesWithItsKey(t *testing.T) {
	w := newNetwork(t)
	c := node.Config{Incentive: incentive.Config{Bound: 10}}
	hosts := w.full(2, c, news)
	a, b := hosts[0], hosts[1]
	old := b.id
	a.inside(func(n *node.Node) { n.Got(old, 5*incentive.Entry) })
	w.run(6 * time.Minute)
	if got := a.account(b); got.Got != 5*incentive.Entry || got.Holder.String() != b.node.Status().Key.String() {
		t.Fatalf("the account is %+v", got)
	}
	b.kill()
	moved := protocol.NewNodeID(stranger(4).Addr(), 9000)
	if err := b.Move(moved); err != nil {
		t.Fatal(err)
	}
	w.hosts[moved], b.id = b, moved
	if err := b.Return(); err != nil {
		t.Fatal(err)
	}
	b.inside(func(n *node.Node) { n.Connect(a.id, func(error) {}) })
	w.run(time.Second)
	if len(a.node.Links()) != 1 || !a.neighborOf(moved) || a.account(b).Got != 5*incentive.Entry {
		t.Errorf("after the move there are %d links, and the account is %+v", len(a.node.Links()), a.account(b))
	}
	if got := a.node.Limit(old); got != incentive.Entry {
		t.Errorf("who comes to the old address may owe %v", got)
	}
}

// A carrier is a node, and what calls it from homes behind one address.
type carrier struct {
	w *network
	a *testHost
}

func newCarrier(t *testing.T) carrier {
	w := newNetwork(t)
	w.publish(news)
	a := w.add(node.Config{MaxNeighbors: 64, Incentive: incentive.Config{Bound: 10}}, news)
	w.run(time.Minute)
	return carrier{w, a}
}

func (carrier) home(i int) protocol.NodeID {
	return protocol.NewNodeID(stranger(1).Addr(), uint16(10_000+i))
}

// settle has the key of that number be one that gave for long.
func (c carrier) settle(key byte) {
	c.a.inside(func(n *node.Node) { n.Settle(c.home(int(key)), protocol.NodeKeyOf(signer(key))) })
}

// connect has home i connect under a key, 0 for none.
func (c carrier) connect(i int, key byte) node.Respond {
	c.w.play(c.home(i), func(_ *testHost, call node.Call) protocol.Reply {
		v, is := call.Call.(protocol.Vouch)
		switch {
		case !is:
			return protocol.OK{}
		case key == 0:
			return protocol.Vouched(true)
		}
		return protocol.ProveKey(signer(key), protocol.ProvesLink, v.Key, v.Challenge, c.a.id)
	})
	connect := wantsNews()
	if key != 0 {
		connect.Key, connect.Challenge = protocol.NodeKeyOf(signer(key)), "challenge"
	}
	return c.a.answerTo(c.home(i), fmt.Sprint("token ", i), connect)
}

// linked reports whether home i has a link.
func (c carrier) linked(i int) bool { return c.a.neighborOf(c.home(i)) }

// punish has home i have forged an entry.
func (c carrier) punish(i int) {
	c.a.inside(func(n *node.Node) { n.Punish(c.home(i), incentive.ForgedEntry, incentive.Entry) })
}

// Twenty homes behind one address of a carrier, and a forger among them: the twenty keep their links, and he gets none
// under another key.
func TestNeighborsBehindOneAddress(t *testing.T) {
	c := newCarrier(t)
	const homes, forger = 20, 21
	for i := 1; i <= forger; i++ {
		c.settle(byte(i))
	}
	for i := 1; i <= forger; i++ {
		if c.connect(i, byte(i)); !c.linked(i) {
			t.Fatalf("home %d has no link", i)
		}
	}
	for i := range 3 { // strangers of that address get what they always got
		if c.connect(100+i, byte(100+i)); c.linked(100+i) != (i < 2) {
			t.Errorf("stranger %d has a link: %v", i, c.linked(100+i))
		}
	}
	c.punish(forger)
	for i := 1; i <= homes; i++ {
		if !c.linked(i) {
			t.Errorf("home %d lost its link", i)
		}
	}
	if c.linked(forger) || c.linked(100) {
		t.Error("the forger, or a stranger at his address, keeps his link")
	}
	if r := c.connect(200, 200); r.Fault == nil || r.Fault.Code != protocol.Dropped {
		t.Errorf("under another key he was answered %+v, %v", r.Reply, r.Fault)
	}
	c.a.inside(func(n *node.Node) { n.Part(c.home(3), "a test") })
	if c.connect(3, 3); !c.linked(3) {
		t.Error("a settled neighbor does not come back")
	}
}

// One settled key gets one place, whatever comes behind it at its addresses and ports.
func TestASettledKeyHasOnePlace(t *testing.T) {
	c := newCarrier(t)
	c.settle(1)
	for i := range 10 {
		c.connect(i, 1)
		if r := c.connect(i, 0); r.Fault == nil || r.Fault.Code != protocol.NotVouched {
			t.Errorf("who shows no key in place of it is answered %v, %v", r.Reply, r.Fault)
		}
	}
	if n := len(c.a.node.Links()); n != 1 {
		t.Errorf("there are %d links", n)
	}
	strangers := 0
	for i := range 10 {
		if c.connect(20+i, 0); c.linked(20 + i) {
			strangers++
		}
	}
	if strangers != 2 {
		t.Errorf("there are links to %d strangers", strangers)
	}
}

// A connect that is declined moves nobody's account, and what a key did stays with it.
func TestADeclinedConnectMovesNothing(t *testing.T) {
	c := newCarrier(t)
	c.settle(1)
	for range 21 {
		c.connect(5, 0)
	}
	if c.connect(1, 1); !c.linked(1) {
		t.Fatal("the settled key has no link")
	}
	holder := c.a.node.LinkTo(c.home(1)).Holder
	if c.connect(1, 0); c.a.node.HolderOf(c.home(1)) != holder {
		t.Errorf("after a connect without it its account is of %v", c.a.node.HolderOf(c.home(1)))
	}
	c.punish(1)
	if c.linked(1) {
		t.Error("the forger keeps his link")
	}
}

// A key that is not settled goes with the strangers at its address, where these are refused, and where it is sent away.
func TestAKeyThatIsNotSettledIsAsItsAddress(t *testing.T) {
	c := newCarrier(t)
	c.connect(1, 1)
	c.connect(2, 2)
	c.a.inside(func(n *node.Node) { n.Got(c.home(1), 2*incentive.Entry) })
	c.w.run(6 * time.Minute)
	if got := c.a.node.HolderOf(c.home(1)); got.String() != protocol.NodeKeyOf(signer(1)).String() {
		t.Fatalf("the account is that of %v", got)
	}
	c.punish(2)
	if c.linked(1) || c.linked(2) {
		t.Error("a link is left")
	}

	c = newCarrier(t)
	c.connect(1, 1)
	c.a.inside(func(n *node.Node) { n.Got(c.home(1), 2*incentive.Entry) })
	c.w.run(6 * time.Minute)
	c.a.inside(func(n *node.Node) { n.Expel(c.home(1)) })
	for _, key := range []byte{1, 0, 2} {
		if c.connect(1, key); c.linked(1) {
			t.Errorf("who was sent away is back by key %d", key)
		}
	}
}

// What is paid late is paid to whoever brought it, and not to another at its address.
func TestLateEarningsAreTheirOwn(t *testing.T) {
	c := newCarrier(t)
	c.connect(1, 1)
	c.connect(2, 2)
	c.a.inside(func(n *node.Node) { n.EarnLate(c.home(2), 3*incentive.Entry) })
	one, two := c.a.node.LinkTo(c.home(1)), c.a.node.LinkTo(c.home(2))
	if one.Got != 0 || two.Got != 3*incentive.Entry {
		t.Errorf("the one got %v, the other %v", one.Got, two.Got)
	}
}

// A key has no account for what was taken back, though others at its address gave as much.
func TestWhatWasRevokedRecognizesNobody(t *testing.T) {
	c := newCarrier(t)
	c.connect(1, 1)
	c.connect(2, 2)
	c.a.inside(func(n *node.Node) {
		n.Got(c.home(1), 5*incentive.Entry)
		n.Revoked(c.home(1), 5*incentive.Entry)
		n.Got(c.home(2), 5*incentive.Entry)
	})
	c.w.run(6 * time.Minute)
	for i, want := range []string{1: "30.0.1.1", 2: protocol.NodeKeyOf(signer(2)).String()} {
		if got := c.a.node.HolderOf(c.home(i)).String(); i > 0 && got != want {
			t.Errorf("the account of home %d is that of %s, want %s", i, got, want)
		}
	}
}

// Whoever forged answers for it, and not who came to his address and port before he was judged.
func TestAForgerAnswersForItUnderHisKey(t *testing.T) {
	c := newCarrier(t)
	c.w.run(3 * time.Hour) // it polled the feed some times
	c.settle(1)
	c.connect(1, 1)
	c.w.run(time.Minute)
	forged := protocol.PutEntries{Bundle: c.w.junk("junk")}
	if r := c.a.answerTo(c.home(1), "token 1", forged); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	forger := c.a.node.HolderOf(c.home(1))
	c.a.inside(func(n *node.Node) { n.Part(c.home(1), "a test") })
	if c.connect(1, 0); !c.linked(1) || c.a.node.HolderOf(c.home(1)) == forger {
		t.Fatal("nobody else is there")
	}
	c.w.run(3 * time.Hour)
	if got := c.a.node.Status().Counters.Forged; got != 1 {
		t.Fatalf("%d entries are forged", got)
	}
	c.connect(9, 1) // the key is refused wherever it comes
	if account := c.a.node.AccountOf(forger); c.linked(9) || account.Fined != 10*incentive.Entry {
		t.Errorf("the forger is linked: %v; his account is %+v", c.linked(9), account)
	}
	if stranger := c.a.node.AccountOf(c.a.node.HolderOf(c.home(1))); stranger.Fined != 0 {
		t.Errorf("the stranger was fined %v", stranger.Fined)
	}
}
