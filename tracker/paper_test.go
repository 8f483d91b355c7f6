package tracker

import (
	"slices"
	"testing"
	"time"
)

// Paper §3.1: "a node can contact a well-known server that provides the list", and "The contacting node
// includes its information so that it can be included later in the lists for other nodes."
func TestPaperListServer(t *testing.T) {
	r := newRegistry(Config{})
	first, second := public(0), public(1)

	join(t, r, start, first)
	if got := r.Hand(start, first, 50); len(got) != 0 {
		t.Errorf("the first node to call got %v, want nobody", got)
	}
	join(t, r, start, second)
	if got := r.Hand(start, second, 50); !slices.Equal(got, ids(first)) {
		t.Errorf("the second node got %v, want the first", got)
	}
	if got := r.Hand(start, first, 50); !slices.Equal(got, ids(second)) {
		t.Errorf("the first node got %v later, want the second", got)
	}
}

// Paper §3.1: the list is "a list of nodes that are currently running in the system".
func TestPaperCurrentlyRunning(t *testing.T) {
	r := newRegistry(Config{})
	running, gone, liar := public(0), public(1), public(2)
	join(t, r, start, running)
	join(t, r, start, gone)
	register(r, start, liar)
	r.Confirm(start, liar, false)
	register(r, start.Add(20*time.Minute), running)
	if got := r.Hand(start.Add(expiry), liar, 50); !slices.Equal(got, ids(running)) {
		t.Errorf("handed out %v, want only the node that runs", got)
	}
}

// Paper §3: "The implicitly taken address […] helps prevent the Sybil attack": many ports on one
// address weigh no more than one.
func TestPaperOneAddressOneVoice(t *testing.T) {
	r := newRegistry(Config{})
	for port := range uint16(200) {
		id := node("52.1.1.1:2000")
		register(r, start, newID(id.Addr(), 2000+port))
		r.Confirm(start, newID(id.Addr(), 2000+port), true)
	}
	for i := range 10 {
		join(t, r, start, public(i))
	}
	for range 100 {
		answer := r.Hand(start, public(0), 50)
		if len(answer) != 10 {
			t.Fatalf("%d nodes, want one for each of ten other addresses: %v", len(answer), answer)
		}
	}
}
