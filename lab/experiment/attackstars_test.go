package experiment

import (
	"fmt"
	"strings"
	"testing"

	"feedex/feed"
)

// Who stuffs from one network has one vote, and what has one is not on the page; who does from two is seen to be.
func TestStuffersByNetworks(t *testing.T) {
	t.Parallel()
	a, c, _, err := Attacks{Seed: 3, Traces: embedded(t), Nodes: 20, Length: leastAttack}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for networks := 1; networks <= 2; networks++ {
		x := &trial{crowd: c, ctx: t.Context(), trials: a.Trials, worlds: 1, tell: func(float64) {}}
		measured, pass := stuffing{networks, 1, byAll, byNone, false}.run(x)
		if nothing := strings.Contains(measured, " 0 votes"); nothing != (networks == 1) || pass && nothing {
			t.Errorf("from %d networks: %s, pass %v", networks, measured, pass)
		}
	}
}

// Readers star nothing of what stuffers do, and of the rest what is liked.
func TestTaste(t *testing.T) {
	s := taste{5}
	const entries = 2000
	pushed, liked := 0, 0
	for i := range entries {
		id := (&feed.Entry{Feed: "https://example.com/", ID: fmt.Sprint(i)}).EntryID()
		switch chance := s.chance(id); {
		case s.pushed(id) && chance != 0:
			t.Fatalf("%v is starred by readers and stuffers", id)
		case s.pushed(id):
			pushed++
		case chance == starLiked:
			liked++
		}
	}
	if share := float64(pushed) / entries; share < pushedShare/2 || share > 2*pushedShare {
		t.Errorf("stuffers star %d of %d", pushed, entries)
	}
	if share := float64(liked) / entries; share < likedShare/2 || share > 2*likedShare {
		t.Errorf("%d of %d are liked", liked, entries)
	}
}
