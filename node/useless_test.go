package node_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// taking is a stranger that has seen all that it is offered, and gives nothing.
func taking(_ *testHost, c node.Call) protocol.Reply {
	switch c := c.Call.(type) {
	case protocol.Vouch:
		return protocol.Vouched(true)
	case protocol.CheckDIDs:
		return make(protocol.SeenList, len(c.DIDs))
	case protocol.CheckDID:
		return protocol.Seen(true)
	case protocol.Notify:
		return protocol.Notices{}
	}
	return protocol.OK{}
}

// Where nothing comes out nobody is of no use.
func TestWhereNothingComesOutNobodyIsUseless(t *testing.T) {
	t.Parallel()
	w := newLargeNetwork(t)
	few := node.Config{MaxNeighbors: 4, MinNeighbors: 4, Policy: polling.Fixed{Every: time.Hour}}
	hosts := w.full(12, few, news, blog, comic)
	w.run(24 * time.Hour)
	for _, h := range hosts {
		if polls := h.node.Status().Counters.Polls; polls < 3*20 || h.parted("it brings nothing") > 0 {
			t.Errorf("%s polled %d times, and sent %d away", h.id, polls, h.parted("it brings nothing"))
		}
	}
}

// What a node keeps to itself shows by nobody that goes: who names it brings as little of it as who names another feed.
func TestWhoGoesTellsNothingOfPrivateFeeds(t *testing.T) {
	t.Parallel()
	w := newLargeNetwork(t)
	hourly := polling.Fixed{Every: time.Hour}
	w.feed(blog)
	w.feed(comic)
	w.full(14, node.Config{Policy: hourly}, blog)
	v := w.add(node.Config{Trackers: []string{tracker}, MaxNeighbors: 5, MinNeighbors: 3, Policy: hourly}, blog)
	v.step(node.Subscribe{Feeds: []feed.URL{comic}, Private: new(true)})
	w.run(5 * time.Minute)
	strangers := []protocol.NodeID{stranger(1), stranger(2)}
	for i, id := range strangers {
		w.play(id, taking)
		names := protocol.Subset{{Feed: blog}, {Feed: []feed.URL{comic, news}[i]}}
		v.inside(func(n *node.Node) { n.Join(id, true, "token", names) })
	}
	for range 48 {
		w.publish(comic)
		w.run(30 * time.Minute)
		for _, id := range strangers {
			if !v.neighborOf(id) {
				t.Fatalf("after %v %v is sent away", w.Now(), id)
			}
			v.answerTo(id, "token", protocol.CheckDIDs{}) // it is there
		}
	}
}

// Who claims to others what a node follows has it send none of them away: they do not poll it.
func TestWhatOthersOfferAtAHopIsNoEvidence(t *testing.T) {
	t.Parallel()
	w := newLargeNetwork(t)
	hourly := polling.Fixed{Every: time.Hour}
	honest := w.full(12, node.Config{MinNeighbors: 4, MaxNeighbors: 12, Policy: hourly}, blog)
	own, claims := []feed.URL{blog}, protocol.Subset{{Feed: blog}}
	for _, u := range []feed.URL{news, comic, "https://a.example.net/", "https://b.example.net/"} {
		w.feed(u)
		own, claims = append(own, u), append(claims, protocol.Interest{Feed: u})
	}
	v := w.add(node.Config{Trackers: []string{tracker}, MaxNeighbors: 6, MinNeighbors: 4, Policy: hourly}, own...)
	w.run(5 * time.Minute)
	liar := stranger(1)
	w.play(liar, taking)
	for _, h := range honest {
		h.inside(func(n *node.Node) { n.Join(liar, true, "token", claims) })
	}
	for range 48 {
		for _, u := range own {
			w.publish(u)
		}
		w.run(30 * time.Minute)
		for _, h := range honest {
			if h.neighborOf(liar) {
				h.answerTo(liar, "token", protocol.CheckDIDs{})
			}
		}
	}
	if n := v.parted("it brings nothing"); n > 0 {
		t.Errorf("%d honest neighbors are sent away", n)
	}
}
