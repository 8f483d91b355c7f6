package node_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// month has a household of so many nodes follow a feed in which something comes out every four hours, on average, and
// returns how many polls they made in the last three weeks, and how long what came out then took to be at one of them.
func month(t *testing.T, nodes int, near bool, policy polling.Policy) (polls int, lag time.Duration) {
	t.Helper()
	w := newNetwork(t)
	household := w.household(nodes, node.Config{Policy: policy})
	for i, h := range household {
		if near && nodes > 1 {
			h.discovers(append(append([]*testHost(nil), household[:i]...), household[i+1:]...)...)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var out []feed.EntryID
	var at []time.Time
	weeks := func(n int) {
		for range n * 7 * 6 {
			w.run(time.Duration(rng.ExpFloat64() * float64(4*time.Hour)))
			out, at = append(out, w.publish(news)), append(at, w.Now())
		}
	}
	weeks(1)
	begun, first := len(w.feed(news).asked), len(out)
	weeks(3)
	polls = len(w.feed(news).asked) - begun
	w.run(24 * time.Hour)
	for i := first; i < len(out); i++ {
		for _, h := range household {
			lag += h.arrived[out[i]].Sub(at[i]) / time.Duration((len(out)-first)*nodes)
		}
	}
	return polls, lag
}

// Nodes of one household that find each other ask as one: by the default policy for hardly more requests than one of
// them alone, and by a fixed interval, which is what its owner wants, in turn.
func TestAHouseholdPollsAsOne(t *testing.T) {
	alone, late := month(t, 1, true, polling.Auto{})
	fixed := polling.Fixed{Every: 2 * time.Hour}
	_, lateFixed := month(t, 1, true, fixed)
	for nodes, most := range map[int]float64{2: 1.5, 3: 1.7} {
		polls, lag := month(t, nodes, true, polling.Auto{})
		apart, _ := month(t, nodes, false, polling.Auto{})
		if float64(polls) > most*float64(alone) || lag > late || apart < nodes*alone*9/10 {
			t.Errorf("%d nodes: %d polls, %d if they do not find each other, %d of one alone; entries after %v, "+
				"%v alone", nodes, polls, apart, alone, lag, late)
		}
		if _, lag := month(t, nodes, true, fixed); float64(lag) > 1.2*float64(lateFixed)/float64(nodes) {
			t.Errorf("%d nodes that poll every two hours have entries after %v, one alone after %v", nodes, lag,
				lateFixed)
		}
	}
}
