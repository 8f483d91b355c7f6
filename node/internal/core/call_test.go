package core

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/archive"
	"feedex/protocol"
)

// However many calls are open, and in whatever order they end, each ends once, and what is no answer to one of them
// ends none.
func TestACallEndsOnce(t *testing.T) {
	c, err := New(epoch, Config{Secret: []byte("secret of a test")}, archive.NewMemory(), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var ended, want []uint64
	for range 1000 {
		c.Call(Target{Host: "peer.example:1"}, "", protocol.WhoAmI{}, time.Minute,
			func(a Answered) { ended = append(ended, a.ID) })
		want = append(want, c.lastID)
		c.lastID++ // searches are counted with them
	}
	c.Rng.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
	for _, id := range want {
		for _, id := range []uint64{id, id, id + 1, id + 1_000_000} {
			c.Answered(Answered{ID: id, Reply: protocol.OK{}})
		}
	}
	if !slices.Equal(ended, want) {
		t.Errorf("%d calls ended, want %d", len(ended), len(want))
	}
	if len(c.open) != 0 {
		t.Errorf("%d calls are open", len(c.open))
	}
}
