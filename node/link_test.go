package node_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/membership"
	"feedex/protocol"
)

// How links end, and what remains of them.

// A fault says whether the link is over, whether the neighbor may be gone, or that it is there and refuses.
func TestWhatAFaultSaysOfTheLink(t *testing.T) {
	for _, c := range []struct {
		code   protocol.Code
		linked bool
	}{
		{protocol.UnknownNeighbor, false},
		{protocol.NotVouched, false},
		{protocol.Dropped, false},
		{protocol.UnwantedFeed, true},
		{protocol.BadBundle, true},
		{protocol.TooLong, true},
		{protocol.InvalidParams, true},
		{protocol.Busy, true},
		{protocol.Unavailable, true},
		{protocol.Internal, true}, // once
	} {
		w := newNetwork(t)
		hosts := w.full(3, node.Config{}, news)
		a, b := hosts[0], hosts[1]
		link, failed := a.node.LinkTo(b.id), false
		w.intercept = func(_, to *testHost, call protocol.Call) (protocol.Reply, bool) {
			if to != b || failed {
				return nil, false
			}
			failed = true
			return &protocol.RemoteError{Code: c.code, Text: "no"}, true
		}
		a.inside(func(n *node.Node) { n.Offer(b.id, one("x")) })
		w.run(2 * time.Second)
		if got := a.node.LinkTo(b.id) == link; got != c.linked {
			t.Errorf("after fault %q the link holds: %v", c.code, got)
		}
		if !a.neighborOf(hosts[2].id) {
			t.Errorf("after fault %q another link is over", c.code)
		}
	}
}

// A neighbor that answers nothing for a day, or refuses whatever it is asked, is none.
func TestANeighborThatIsOfNoUseIsGivenUp(t *testing.T) {
	for name, reply := range map[string]protocol.Reply{
		"it has a failure": &protocol.RemoteError{Code: protocol.Internal, Text: "no"},
		"it resets":        errors.New("connection reset by peer"),
		"it hangs":         nil,
	} {
		w, a, b := newPair(t, node.Config{}, news)
		w.intercept = func(_, to *testHost, _ protocol.Call) (protocol.Reply, bool) { return reply, to == b }
		for range 4 {
			w.publish(news)
			w.run(time.Hour)
		}
		if a.neighborOf(b.id) {
			t.Errorf("%s: it is kept", name)
		}
	}
}

// While long calls have all connections to a neighbor, other calls end unsent. Such a failure says nothing of the
// neighbor.
func TestCallsThatGetNoConnectionEndNoLink(t *testing.T) {
	for name, queued := range map[string]func(protocol.Call) bool{
		"all":        func(protocol.Call) bool { return true },
		"deliveries": func(c protocol.Call) bool { _, put := c.(protocol.PutEntries); return put },
	} {
		w, a, b := newPair(t, node.Config{}, news)
		link, tried := a.node.LinkTo(b.id), 0
		w.intercept = func(_, to *testHost, c protocol.Call) (protocol.Reply, bool) {
			if to != b || !queued(c) {
				return nil, false
			}
			tried++
			return errQueued, true
		}
		bundle := one("x")
		a.inside(func(n *node.Node) { n.Offer(b.id, bundle) })
		w.run(20 * time.Second)
		if tried < 3 || a.node.LinkTo(b.id) != link {
			t.Errorf("%s: after %d calls the link holds: %v", name, tried, a.node.LinkTo(b.id) == link)
		}
		w.intercept = nil
		w.run(20 * time.Second)
		if _, came := b.arrived[bundle.Entries[0].EntryID()]; !came {
			t.Errorf("%s: what waited was not delivered", name)
		}
	}
}

// Where there is nothing to say, a dead neighbor is noticed all the same, within seven minutes.
func TestASilentNeighborIsNoticed(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(2, node.Config{}, news)
	hosts[1].kill()
	began := w.Now()
	for hosts[0].node.Status().Neighbors > 0 && w.Now().Sub(began) < time.Hour {
		w.run(time.Second)
	}
	if took := w.Now().Sub(began); took > noticed || noticed > 7*time.Minute {
		t.Errorf("a dead neighbor keeps its place for %v", took)
	}
}

// A neighbor that takes our connections and never answers is noticed as well, although queries, which may be late,
// have both of them all the time and whatever else there is to say gets none.
func TestASilentNeighborThatHasOurConnectionsIsNoticed(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.intercept = func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) {
		if _, query := c.(protocol.QueryFeed); query || from == b {
			return nil, true
		}
		return errQueued, true
	}
	began := w.Now()
	for a.neighborOf(b.id) && w.Now().Sub(began) < time.Hour {
		a.step(node.OwnerQuery{Query: protocol.Query{Filter: feed.Filter{Feed: news}}})
		w.run(4 * time.Second)
	}
	if took := w.Now().Sub(began); took > noticed {
		t.Errorf("it keeps its place for %v", took)
	}
}

// A neighbor that forgot us answers whatever anybody may ask. We notice all the same that it is none, although
// there is nothing to say to it.
func TestALinkThatTheOtherForgotEnds(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	b.kill()
	b.config.Trackers = nil
	b.loseArchive()
	w.run(membership.Silence + membership.Silence/4)
	if a.neighborOf(b.id) {
		t.Error("a link is believed in of which the other end knows nothing")
	}
}

// A node that stops says so, and does no more: nothing that happens afterwards has an effect but answers.
func TestLeaving(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(6, node.Config{MaxNeighbors: 3, MinNeighbors: 3}, news)
	a := hosts[0]
	var former []*testHost
	for _, id := range a.node.LinkIDs() {
		former = append(former, w.hosts[id])
	}
	before := len(a.calls)
	a.step(node.Leave{})
	if got := a.calls[before:]; count(got, "feedex.disconnect") != len(former) || len(got) != len(former) {
		t.Errorf("calls at leaving: %v, want one disconnect to each of %d neighbors", got, len(former))
	}
	w.run(10 * time.Second)
	for _, h := range former {
		if h.neighborOf(a.id) {
			t.Errorf("%s was not told", h.id)
		}
	}
	for _, c := range []protocol.Call{wantsNews(), protocol.WhoAmI{}, protocol.CheckDID{}, protocol.Vouch{}} {
		if r := a.answerTo(former[0].id, "", c); r.Fault == nil || r.Fault.Code != protocol.UnknownNeighbor {
			t.Errorf("%s was answered %+v, %v", c.Method(), r.Reply, r.Fault)
		}
	}
	w.run(time.Hour)
	if got := a.calls[before+len(former):]; len(got) != 0 {
		t.Errorf("calls after it left: %v", got)
	}
	peers := a.store.LoadPeers()
	for _, p := range peers {
		if p.Together > w.Now().Sub(epoch) {
			t.Errorf("together with %v for %v, the node lived %v", p.ID, p.Together, w.Now().Sub(epoch))
		}
	}
	if len(peers) < len(former) {
		t.Errorf("%d of %d neighbors are remembered", len(peers), len(former))
	}
}

// Neighbors name each other, and nobody else asks.
func TestNeighborsNameTheirNeighbors(t *testing.T) {
	w := newNetwork(t)
	hosts := w.full(6, node.Config{}, news)
	a, asker := hosts[0], hosts[1]
	list, _ := a.hears(asker, protocol.GetNeighbors{}).Reply.(protocol.NodeList)
	var want []protocol.NodeID
	for _, h := range hosts[2:] {
		want = append(want, h.id)
	}
	slices.SortFunc(list, protocol.NodeID.Compare)
	slices.SortFunc(want, protocol.NodeID.Compare)
	if !slices.Equal(list, want) {
		t.Errorf("named %v, want %v: all but the asker", list, want)
	}
	if r := a.answerTo(stranger(1), "", protocol.GetNeighbors{}); r.Fault == nil ||
		r.Fault.Code != protocol.UnknownNeighbor {
		t.Errorf("a stranger was answered %v, %v", r.Reply, r.Fault)
	}
}

// A node with more neighbors than a list holds names each of them now and then.
func TestEachOfManyNeighborsIsNamed(t *testing.T) {
	_, a := newAlone(t, node.Config{MaxNeighbors: 64}, news)
	a.inside(func(n *node.Node) {
		for i := range 64 {
			n.Meet(stranger(i), protocol.Subset{{Feed: news}})
		}
	})
	named := make(map[protocol.NodeID]bool)
	for range 100 {
		list := a.node.NeighborList(stranger(0))
		if len(list) != protocol.MaxNeighborList {
			t.Fatalf("a list of %d", len(list))
		}
		for _, id := range list {
			named[id] = true
		}
	}
	if len(named) != 63 || named[stranger(0)] {
		t.Errorf("%d of 63 neighbors were ever named", len(named))
	}
}

// A restart forgets promises and links, and nothing that was acknowledged.
func TestARestartKeepsWhatWasAcknowledged(t *testing.T) {
	w, a, b := newPair(t, node.Config{SeenDIDs: 100}, news)
	var kept []*protocol.Bundle
	for i := range 300 { // more than are known exactly
		kept = append(kept, one(fmt.Sprint(i)))
		a.put(b, kept[i])
		w.run(200 * time.Millisecond)
	}
	promised := one("promised")
	a.hears(b, protocol.CheckDID{DID: promised.DID})
	for range 3 {
		a.kill()
		a.start()
		w.run(time.Minute)
	}
	if !linked(a, b) {
		t.Fatal("not linked")
	}
	for i, bundle := range kept {
		if !a.node.Saw(bundle.DID) || !a.has(bundle.Entries[0].EntryID()) {
			t.Fatalf("bundle %d of %d is forgotten", i, len(kept))
		}
	}
	if a.node.Saw(promised.DID) {
		t.Error("a bundle that was promised and never came counts as seen")
	}
	before := a.node.Status().Counters
	w.run(time.Minute)
	a.put(b, kept[0])
	if c := a.node.Status().Counters; c.Duplicates != before.Duplicates+1 || c.Delivered != before.Delivered {
		t.Error("a bundle of before the restart is taken for a new one")
	}
	if got := a.store.LoadFeeds(); len(got) != 1 || got[0].URL != news || !got[0].Subscribed {
		t.Errorf("feeds: %+v", got)
	}
}

// The owner is told of how many feeds nobody within reach offers any.
func TestFeedsThatNobodyOffersAreCounted(t *testing.T) {
	w, a, b := newPair(t, node.Config{}, news)
	w.feed(blog)
	want := func(alone int) {
		t.Helper()
		if s := a.node.Status(); s.Alone != alone {
			t.Errorf("%d feeds of %d are followed alone, want %d", s.Alone, s.Feeds, alone)
		}
	}
	a.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(time.Minute)
	want(1)
	b.step(node.Subscribe{Feeds: []feed.URL{blog}})
	w.run(time.Minute)
	want(0)
	b.step(node.Leave{})
	b.kill()
	w.run(time.Minute)
	want(2)
}
