package tracker

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"feedex/protocol"
)

func TestHandLimit(t *testing.T) {
	r := newRegistry(Config{})
	for i := range 200 {
		join(t, r, start, public(i))
	}
	for limit, want := range map[int]int{-1: 0, 0: 0, 1: 1, 7: 7, 50: 50, 51: 50, 1000: 50} {
		got := r.Hand(start, public(0), limit)
		if len(got) != want {
			t.Errorf("Hand(%d) = %d nodes, want %d", limit, len(got), want)
		}
		slices.SortFunc(got, protocol.NodeID.Compare)
		if len(slices.Compact(got)) != want {
			t.Errorf("Hand(%d): a node twice", limit)
		}
	}
	if got := newRegistry(Config{}).Hand(start, public(0), 50); len(got) != 0 {
		t.Errorf("an empty registry handed out %v", got)
	}
}

func TestHandNeverTheAsker(t *testing.T) {
	r := newRegistry(Config{})
	alone := public(0)
	join(t, r, start, alone)
	if got := r.Hand(start, alone, 50); len(got) != 0 {
		t.Errorf("handed the asker itself: %v", got)
	}
	// Another node behind the asker's address may be handed to it.
	other := protocol.NewNodeID(alone.Addr(), alone.Port()+1)
	join(t, r, start, other)
	for range 100 {
		if got := r.Hand(start, alone, 50); len(got) != 1 || got[0] != other {
			t.Fatalf("handed %v, want %s", got, other)
		}
	}
}

func TestHandShares(t *testing.T) {
	type crowd struct{ networks, hosts int } // hosts in each network
	for _, c := range []struct {
		name       string
		crowds     []crowd
		nodes, max int // of the answer, and of one network in it
	}{
		{"one network", []crowd{{1, 200}}, 1, 1},
		{"9 networks of 3", []crowd{{9, 3}}, 9, 1},
		{"19 networks of 3", []crowd{{19, 3}}, 50, 3},
		{"10 networks", []crowd{{10, 40}}, 50, 5},
		{"11 networks of 2", []crowd{{11, 2}}, 22, 2},
		{"one large, ten single", []crowd{{1, 200}, {10, 1}}, 11, 1},
		{"one large, 40 single", []crowd{{1, 200}, {40, 1}}, 44, 4},
		{"one large, 45 single", []crowd{{1, 200}, {45, 1}}, 50, 5},
		{"60 single", []crowd{{60, 1}}, 50, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(Config{})
			second := 0
			for _, crowd := range c.crowds {
				for range crowd.networks {
					second++
					for host := range crowd.hosts {
						join(t, r, start, node(fmt.Sprintf("11.%d.%d.1:7790", second, host)))
					}
				}
			}
			for range 20 {
				answer := r.Hand(start, protocol.NodeID{}, 50)
				if len(answer) != c.nodes {
					t.Fatalf("%d nodes, want %d", len(answer), c.nodes)
				}
				if got := largestShare(answer); got > c.max || got > max(1, len(answer)/10) {
					t.Fatalf("%d of %d nodes in one network, want at most %d", got, len(answer), c.max)
				}
			}
		})
	}
}

func largestShare(answer []protocol.NodeID) int {
	share, largest := make(map[netip.Prefix]int), 0
	for _, id := range answer {
		share[networkOf(id.Addr())]++
		largest = max(largest, share[networkOf(id.Addr())])
	}
	return largest
}

// TestHandUniform draws 10,000 answers of 10 from 100 nodes: each is expected 1,000 times, with a
// standard deviation of 30. For 99 degrees of freedom, chi square exceeds 149 once in a thousand runs;
// draws without replacement within an answer make it smaller still.
func TestHandUniform(t *testing.T) {
	r := New(Config{}, rand.New(rand.NewPCG(7, 11)))
	for i := range 100 {
		join(t, r, start, public(i))
	}
	// More ports make a host no likelier.
	for port := range uint16(MaxPorts - 1) {
		join(t, r, start, protocol.NewNodeID(public(0).Addr(), 8000+port))
	}
	drawn := make(map[netip.Addr]int)
	for range 10_000 {
		for _, id := range r.Hand(start, protocol.NodeID{}, 10) {
			drawn[id.Addr()]++
		}
	}
	chi2 := 0.0
	for i := range 100 {
		d := float64(drawn[public(i).Addr()] - 1000)
		chi2 += d * d / 1000
	}
	if chi2 > 149 {
		t.Errorf("chi square is %.1f, want at most 149: %v", chi2, drawn)
	}
}

// TestHandEqualSeeds shows that a Registry has no chance but the one it was given.
func TestHandEqualSeeds(t *testing.T) {
	run := func() (answers [][]protocol.NodeID) {
		r := New(Config{}, rand.New(rand.NewPCG(3, 4)))
		for i := range 500 {
			register(r, start, public(i))
			r.Confirm(start, public(i), i%3 != 0)
			answers = append(answers, r.Hand(start, public(i), 50))
		}
		return answers
	}
	if !slices.EqualFunc(run(), run(), slices.Equal[[]protocol.NodeID]) {
		t.Error("equal seeds gave different answers")
	}
}

func BenchmarkRegisterAndHand(b *testing.B) {
	for _, nodes := range []int{100, 50_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			r := newRegistry(Config{})
			for i := range nodes {
				register(r, start, public(i))
				r.Confirm(start, public(i), true)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				register(r, start, public(i%nodes))
				r.Hand(start, public(i%nodes), 50)
			}
		})
	}
}
