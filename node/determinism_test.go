package node_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// Equal nodes given equal events produce equal effects.

// busyHour has twelve nodes live through an hour in which everything happens: they come, go, crash, change
// their minds, publish, search, and misbehave.
func busyHour(w *network) {
	feeds := []feed.URL{news, blog, comic}
	for i := range 6 {
		feeds = append(feeds, feed.URL(fmt.Sprintf("https://feed%d.example.com/", i)))
	}
	for _, u := range feeds {
		w.feed(u)
	}
	c := node.Config{
		Trackers: []string{tracker}, AdvertInterval: time.Minute, MaxNeighbors: 6, MinNeighbors: 4,
		Incentive: incentive.Config{Bound: 10}, Policy: polling.Fixed{Every: 4 * time.Minute},
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for range 12 {
		perm := rng.Perm(len(feeds))
		w.add(c, feeds[perm[0]], feeds[perm[1]], feeds[perm[2]], feeds[perm[3]])
	}
	for minute := range 60 {
		for range 2 {
			w.publish(feeds[rng.IntN(len(feeds))])
		}
		h := w.list[1+rng.IntN(len(w.list)-1)] // the first is there all the time
		u := feeds[rng.IntN(len(feeds))]
		switch minute % 6 {
		case 0:
			h.kill()
		case 1:
			h.step(node.Subscribe{Feeds: []feed.URL{u}})
		case 2:
			h.step(node.Unsubscribe{Feeds: []feed.URL{u}})
		case 3:
			for _, p := range h.node.Neighbors() {
				h.ask(p.ID, h.node.SessionOf(p.ID), protocol.QueryFeed{}, func(node.Respond) {})
			}
		case 4:
			for _, p := range w.list[0].node.Neighbors()[:min(1, w.list[0].node.Status().Neighbors)] {
				w.list[0].ask(p.ID, w.list[0].node.SessionOf(p.ID), protocol.CheckDID{DID: did(minute)},
					func(node.Respond) {})
			}
		}
		w.run(time.Minute)
		for _, h := range w.list {
			if !h.Running() {
				h.start()
			}
		}
	}
}

// Two nodes are stepped with what one of twelve lived through in a busy hour. Their effects are those of the
// first, one by one: no map's order and no address decides anything.
func TestEqualEventsGiveEqualEffects(t *testing.T) {
	type step struct {
		now     time.Time
		event   node.Event
		effects []node.Effect
	}
	var steps []step
	w := newNetwork(t)
	w.watch = func(h *testHost, ev node.Event, effects []node.Effect) {
		if h == w.list[0] {
			steps = append(steps, step{w.Now(), ev, effects})
		}
	}
	busyHour(w)
	kinds := make(map[string]int)
	for _, s := range steps {
		kinds[fmt.Sprintf("%T", s.event)]++
		for _, e := range s.effects {
			kinds[fmt.Sprintf("%T", e)]++
		}
	}
	for _, kind := range []string{"core.Wake", "core.Asked", "core.Answered", "core.Fetched", "core.Respond",
		"core.Call", "core.Fetch", "core.Tell"} {
		if kinds[kind] < 10 {
			t.Errorf("%d of %s: the hour was not busy", kinds[kind], kind)
		}
	}
	first := w.list[0]
	if len(first.Sessions()) != 1 {
		t.Fatal("the node was started again")
	}
	for twin := range 2 {
		config := first.config
		config.Port, config.Secret = first.id.Port(), seed.Secret(first.Name)
		config.Key = ed25519.NewKeyFromSeed(seed.Secret("key 0 of " + first.Name))
		n, err := node.New(epoch, config, archive.NewMemory(), seed.Stream(first.Name))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range steps {
			if got := n.Step(nil, s.now, s.event); !reflect.DeepEqual(got, s.effects) {
				t.Fatalf("twin %d, step %d of %d, %T at %v:\n%v\nthe first did\n%v", twin, i, len(steps), s.event,
					s.now.Sub(epoch), got, s.effects)
			}
		}
		if got, want := n.Status(), first.node.Status(); !reflect.DeepEqual(got, want) {
			t.Errorf("twin %d ended as %+v, the first as %+v", twin, got, want)
		}
	}
}

// The same network lives through the same hour again.
func TestEqualNetworksGiveEqualTraces(t *testing.T) {
	t.Parallel()
	trace := func() (steps int, sum [sha256.Size]byte) {
		w := newNetwork(t)
		h := sha256.New()
		w.watch = func(host *testHost, ev node.Event, effects []node.Effect) {
			steps++
			fmt.Fprintf(h, "%v %v %T\n", w.Now().Sub(epoch), host.id, ev)
			for _, e := range effects {
				write(h, e)
			}
		}
		busyHour(w)
		return steps, [sha256.Size]byte(h.Sum(nil))
	}
	steps, first := trace()
	if again, sum := trace(); again != steps || sum != first {
		t.Errorf("%d steps give %x, %d steps give %x", steps, first, again, sum)
	}
}

// write adds an effect to a trace: calls and answers as they stand on the wire.
func write(h hash.Hash, e node.Effect) {
	fmt.Fprintf(h, "%T ", e)
	switch e := e.(type) {
	case node.Call:
		h.Write(protocol.EncodeCall(nil, protocol.DefaultPort, e.Call))
		fmt.Fprintln(h, e.ID, e.To, e.Session, e.Timeout)
	case node.Respond:
		if e.Fault != nil {
			fmt.Fprintln(h, e.Tag, e.Fault)
			return
		}
		h.Write(protocol.EncodeReply(nil, e.Reply))
		fmt.Fprintln(h, e.Tag, e.Session)
	default:
		fmt.Fprintf(h, "%+v\n", e)
	}
}
