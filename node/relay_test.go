package node_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/node/internal/exchange"
	"feedex/polling"
	"feedex/protocol"
)

// hearsWhat tells the node that a neighbor wants count feeds, from number first on.
func (h *testHost) hearsWhat(from *testHost, first, count int) {
	h.hears(from, protocol.UpdateSubset{Changes: numbered(first, count)})
}

// numbered is interest in count feeds, from number first on.
func numbered(first, count int) (s protocol.Subset) {
	for i := range count {
		s = append(s, protocol.Interest{Feed: feed.URL(fmt.Sprintf("https://example.com/%d", first+i))})
	}
	return s
}

// A node takes part in no more than so many feeds for others' sake, and chooses anew before each advert.
func TestRelaysAreBounded(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(3, node.Config{MaxRelayed: 10}, news)
	a, b, c := hosts[0], hosts[1], hosts[2]
	relays := func(u string) bool { // what c has of it is welcome
		return a.hears(c, protocol.CheckDID{DID: one(u).DID, Feed: feed.URL(u)}).Reply == protocol.Seen(false)
	}
	a.hearsWhat(b, 0, 10)
	a.hearsWhat(b, 500, 1)
	a.hearsWhat(c, 500, 1)
	if !relays("https://example.com/0") || relays("https://example.com/500") {
		t.Error("it relays another than the ten feeds that were wanted first")
	}
	w.run(300 * time.Second)
	if !relays("https://example.com/500") {
		t.Error("what two neighbors want is not relayed in place of what one wants")
	}
	if got := c.status(a).Feeds; got != 1+10 {
		t.Errorf("it advertises %d feeds, want ten beside its own", got)
	}
}

// Bundles that were promised before a choice are taken after it, although the feed is relayed no more, and nobody is
// blamed.
func TestAPromiseOutlivesAChoice(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(4, node.Config{MaxRelayed: 10}, news)
	a, b, c, d := hosts[0], hosts[1], hosts[2], hosts[3]
	a.hearsWhat(d, 0, 10)
	w.run(300 * time.Second) // everybody is told
	a.hearsWhat(b, 500, 10)
	a.hearsWhat(c, 500, 10)
	var promised []*protocol.Bundle
	for i := range 10 {
		u := feed.URL(fmt.Sprintf("https://example.com/%d", i))
		bundle := protocol.NewBundle(u, []feed.Entry{{Feed: u, ID: "1", Title: "T", Published: w.Now()}})
		if r := a.hears(b, protocol.CheckDID{DID: bundle.DID, Feed: u}); r.Reply != protocol.Seen(false) {
			t.Fatalf("before the choice an offer is answered %v", r.Reply)
		}
		promised = append(promised, bundle)
	}
	a.inside((*node.Node).ChooseRelays)
	w.run(200 * time.Millisecond)
	left := 0
	for _, bundle := range promised {
		if !a.node.Advertises(b.id, bundle.Feed) {
			left++
		}
		if r := a.put(b, bundle); r.Fault != nil || !a.has(bundle.Entries[0].EntryID()) {
			t.Errorf("what was promised is refused: %v", r.Fault)
		}
	}
	if left == 0 {
		t.Fatal("the neighbor believes that all of the feeds are still relayed")
	}
	if n := len(a.account(b).Standing.Marks); n != 0 {
		t.Errorf("%d offences are held against a neighbor that kept its promises", n)
	}
}

// star are the pairs in which four nodes are linked with the first alone, and mesh those in which they are with each
// other as well.
var (
	star = [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}}
	mesh = append([][2]int{{1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}, star...)
)

// between is a network of five nodes with these links and no others. All but the first follow news, and poll one after
// the other within four hours.
func (w *network) between(pairs [][2]int) (relay *testHost, others []*testHost) {
	w.feed(news)
	w.intercept = func(_, _ *testHost, c protocol.Call) (protocol.Reply, bool) {
		_, is := c.(protocol.Connect)
		return nil, is
	}
	hosts := w.graph(5, node.Config{Policy: polling.Fixed{Every: 4 * time.Hour}}, pairs...)
	for _, h := range hosts[1:] {
		h.follow(false, news)
		w.run(17 * time.Minute)
	}
	return hosts[0], hosts[1:]
}

// relays reports whether a neighbor believes that the node wants news.
func (h *testHost) relays(to *testHost) bool {
	_, ok := to.node.HopsOf(h.id, news)
	return ok
}

// meet makes the node a neighbor of somebody who wants these feeds, answers every call and makes none.
func (h *testHost) meet(id protocol.NodeID, want protocol.Subset) *testHost {
	friend := h.net.play(id, func(from *testHost, c node.Call) protocol.Reply {
		if _, is := c.Call.(protocol.WhoAmI); is {
			return from.id
		}
		return protocol.OK{}
	})
	h.inside(func(n *node.Node) {
		n.Join(id, false, "token of "+id.String(), want)
	})
	return friend
}

// mustRelay sees to it that the node relays news for so long, as one of its neighbors hears it.
func (w *network) mustRelay(relay, to *testHost, d time.Duration) {
	w.t.Helper()
	for end := w.Now().Add(d); w.Now().Before(end); w.run(5 * time.Minute) {
		if !relay.relays(to) {
			w.t.Fatal("the relay rests")
		}
	}
}

// A node relays a feed for as long as its neighbors have nobody else to get it from. Among neighbors who have it from
// each other it is there now and then, in case that they need it.
func TestARelayThatNobodyNeedsRests(t *testing.T) {
	for _, x := range []struct {
		name        string
		pairs       [][2]int
		least, most int // of a thousand times, so often it is relayed
	}{
		{"nobody else has it", star, 1000, 1000},
		{"everybody has it", mesh, 50, 600},
	} {
		w := newNetwork(t)
		relay, others := w.between(x.pairs)
		var ids []feed.EntryID
		relayed := 0
		for range 1000 {
			ids = append(ids, w.publish(news))
			w.run(20 * time.Minute)
			if relay.relays(others[0]) {
				relayed++
			}
		}
		if relayed < x.least || relayed > x.most {
			t.Errorf("%s: relayed %d times of a thousand, want %d to %d", x.name, relayed, x.least, x.most)
		}
		w.run(4 * time.Hour)
		for _, h := range others {
			if missing := slices.DeleteFunc(slices.Clone(ids), h.has); len(missing) > 0 {
				t.Errorf("%s: %s misses %d entries", x.name, h.id, len(missing))
			}
		}
	}
}

// Bundles that a node missed while it was away have come to its neighbors by other ways, and these wait for what comes
// next.
func TestARelayThatWasAwayIsNeeded(t *testing.T) {
	w := newNetwork(t)
	relay, others := w.between(star)
	relay.kill()
	w.publish(news)
	w.run(5 * time.Hour) // all poll
	relay.start()
	for _, h := range others {
		w.tie(relay, h)
		h.inside(func(n *node.Node) {
			n.LinkTo(relay.id).Away = 5 * time.Hour
			n.CatchUp(relay.id)
		})
	}
	w.run(10 * time.Minute) // and everybody hears that it relays the feed
	if len(relay.arrived) == 0 {
		t.Fatal("it does not get what it missed")
	}
	w.mustRelay(relay, others[0], 8*time.Hour)
}

// A neighbor that refuses what comes does not have it.
func TestARelayIsNeededThatBroughtAForgery(t *testing.T) {
	w := newNetwork(t)
	relay, others := w.between(star)
	w.run(2 * time.Hour)
	forger := relay.meet(protocol.NewNodeID(netip.MustParseAddr("99.1.1.1"), 7790), nil)
	for _, h := range others {
		h.inside(func(n *node.Node) {
			n.Punish(forger.id, incentive.ForgedEntry, 0)
		})
	}
	forged := w.junk("junk")
	relay.put(forger, forged)
	w.run(time.Minute)
	if id := forged.Entries[0].EntryID(); !relay.has(id) || others[0].has(id) {
		t.Fatal("the forgery is not where it should be")
	}
	w.mustRelay(relay, others[0], 8*time.Hour)
}

// The verdict goes by which neighbors, among those that were there before, are known to have the new bundle.
func TestWhoHasABundleFromOthers(t *testing.T) {
	w := newNetwork(t)
	relay, others := w.between(mesh)
	w.run(2 * time.Hour)
	entry := feed.Entry{Feed: news, ID: "1", Title: "T", Published: w.Now()}
	undated, old := entry, entry
	undated.Published, old.Published = time.Time{}, w.Now().Add(-49*time.Hour)
	for _, c := range []struct {
		name  string
		entry feed.Entry
		came  time.Duration // after all had been linked
		lacks *testHost
		want  bool
	}{
		{"all have it", entry, time.Hour, nil, true},
		{"one does not", entry, time.Hour, others[2], false},
		{"it came when links were young", entry, 59 * time.Minute, nil, false},
		{"it has no date", undated, time.Hour, nil, false},
		{"it is old", old, time.Hour, nil, false},
	} {
		relay.inside(func(n *node.Node) {
			b, latest := bundleWith(c.entry), time.Time{}
			for _, l := range n.Links() {
				if n.ForgetOffered(l.ID()); c.lacks == nil || l.ID() != c.lacks.id {
					n.NoteOffered(l.ID(), b.DID)
				}
				if l.Peer.Since.After(latest) {
					latest = l.Peer.Since
				}
			}
			if got := n.Spared(b, latest.Add(c.came)); got != c.want {
				t.Errorf("%s: %v", c.name, got)
			}
		})
	}
}

// Bundles from before a neighbor left say nothing of which neighbors can do without the relay now.
func TestARelayIsNeededOnceAnotherIsGone(t *testing.T) {
	w := newNetwork(t)
	relay, others := w.between(mesh)
	w.run(2 * time.Hour)
	w.publish(news)
	others[0].poll(news)
	w.run(30 * time.Second)
	relay.inside(func(n *node.Node) {
		came := n.Recent()[len(n.Recent())-1]
		for _, id := range n.LinkIDs() {
			n.NoteOffered(id, came.DID)
		}
		n.Part(others[3].id, "")
		n.WeighRelays()
	})
	w.mustRelay(relay, others[0], 3*time.Hour)
}

// Some relays stay although nobody needs them.
func TestOneRelayInEightIsRestless(t *testing.T) {
	const count = 90
	w := newNetwork(t)
	want := numbered(0, count)
	relay := w.add(node.Config{})
	for i := range byte(3) {
		id := protocol.NewNodeID(netip.AddrFrom4([4]byte{99, i, 1, 1}), 7790)
		relay.meet(id, want)
	}
	for range 4 * 12 {
		relay.inside(func(n *node.Node) {
			for _, in := range want {
				n.Spare(in.Feed)
			}
		})
		w.run(5 * time.Minute)
	}
	var relayed []feed.URL
	for _, in := range want {
		if relay.node.Relays(in.Feed) {
			relayed = append(relayed, in.Feed)
		}
	}
	if is := restlessOf(relay.node, want); !slices.Equal(relayed, is) || len(is) < count/exchange.OneRestless/2 ||
		len(is) > count/exchange.OneRestless*2 {
		t.Errorf("relays %v, want the following, one in %d: %v", relayed, exchange.OneRestless, is)
	}
}

// Which they are nobody can foretell without the node's secret.
func TestRestlessRelaysAreOthersAtOtherNodes(t *testing.T) {
	var before []feed.URL
	for _, secret := range []string{"secret of a node", "secret of another"} {
		n, err := node.New(epoch, node.Config{Secret: []byte(secret)}, archive.NewMemory(), rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		list := restlessOf(n, numbered(0, 90))
		if slices.Equal(list, before) {
			t.Errorf("those that never rest are the same at two nodes: %v", list)
		}
		before = list
	}
}

// restlessOf are those of the feeds whose relay never rests.
func restlessOf(n *node.Node, of protocol.Subset) (list []feed.URL) {
	for _, in := range of {
		if n.Restless(in.Feed) {
			list = append(list, in.Feed)
		}
	}
	return list
}
