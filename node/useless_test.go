package node_test

import (
	"fmt"
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

// Three neighbors bring invented entries of feeds that an accomplice alone wants. No poll will ever judge those, and
// they make nobody a better neighbor: or whoever brings little of what the owner follows would seem to lie.
func TestWhatIsOnlyRelayedMakesNobodyUseful(t *testing.T) {
	w := newNetwork(t)
	a := w.full(1, node.Config{Policy: polling.Fixed{Every: 1000 * time.Hour}}, news)[0]
	var liars []*testHost
	var wanted []feed.URL
	for i := range 8 {
		wanted = append(wanted, lone(i))
	}
	for i := range 3 {
		liars = append(liars, a.agreeable(stranger(1+i), news))
	}
	honest := a.agreeable(stranger(4), news)
	a.agreeable(stranger(5), wanted...)
	for hour := range 7 {
		if hour == 0 {
			a.take(honest, w.junk("true"))
		}
		for i, u := range wanted {
			for _, liar := range liars {
				a.take(liar, protocol.NewBundle(u, []feed.Entry{{Feed: u, Published: w.Now().Truncate(time.Second),
					ID: fmt.Sprint(i, hour, liar.id), Title: "T", Link: "https://example.net/"}}))
			}
		}
		w.run(time.Hour)
	}
	if !a.neighborOf(honest.id) || a.suspects(honest.id) > 0 {
		t.Fatal("the honest neighbor is taken for a liar")
	}
	if is, of := a.status(honest).Observed, a.status(liars[0]).Observed; is == 0 || of != 0 {
		t.Errorf("the honest neighbor is observed to be worth %v, the liar %v", is, of)
	}
}
