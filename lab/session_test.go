package lab

import (
	"testing"
	"time"

	"feedex/node"
)

// A stay is served once it has enough neighbors for the first time, and counts those that it has now.
func TestServedSinceTheFirstTime(t *testing.T) {
	w := network(t, Config{}, 0, 0)
	h, err := w.Join(MemberConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for range EnoughNeighbors - 1 {
		h.noted(node.Linked{})
	}
	if s := h.Sessions()[0]; s.Served != Never {
		t.Errorf("with %d neighbors it is served since %v", h.Links(), s.Served)
	}
	w.Run(wednesday.Add(time.Minute))
	h.noted(node.Linked{})
	w.Run(wednesday.Add(time.Hour))
	h.noted(node.Unlinked{})
	h.noted(node.Linked{})
	if s := h.Sessions()[0]; s.Served != time.Minute || h.Links() != EnoughNeighbors {
		t.Errorf("with %d neighbors it is served since %v, want since the first minute", h.Links(), s.Served)
	}
}
