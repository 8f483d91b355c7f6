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

func TestHandOneOfANetwork(t *testing.T) {
	type crowd struct{ networks, hosts int } // hosts in each network
	for _, c := range []struct {
		name   string
		crowds []crowd
		nodes  int // of the answer
	}{
		{"one network", []crowd{{1, 200}}, 1},
		{"19 networks of 3", []crowd{{19, 3}}, 19},
		{"one large, ten single", []crowd{{1, 200}, {10, 1}}, 11},
		{"60 single", []crowd{{60, 1}}, 50},
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
				if got := largestShare(r, answer); len(answer) != c.nodes || got != 1 {
					t.Fatalf("%d nodes, %d of one network, want %d and 1", len(answer), got, c.nodes)
				}
			}
		})
	}
}

// largestShare is how many of an answer are of one network.
func largestShare(r *Registry, answer []protocol.NodeID) int {
	share, largest := make(map[place]int), 0
	for _, id := range answer {
		share[r.networkOf(id)]++
		largest = max(largest, share[r.networkOf(id)])
	}
	return largest
}

// TestHandUniform draws 10,000 answers of 10 from 100 nodes: each is expected 1,000 times, with a
// standard deviation of 30. For 99 degrees of freedom, chi square exceeds 149 once in a thousand runs;
// draws without replacement within an answer make it smaller still. It draws 100,000 answers of 1 from the
// hosts of a network likewise, where the standard deviation is 31.
func TestHandUniform(t *testing.T) {
	for name, c := range map[string]struct {
		id             func(i int) protocol.NodeID
		answers, limit int
	}{
		"networks": {public, 10_000, 10},
		"hosts": {func(i int) protocol.NodeID { return newID(netip.AddrFrom4([4]byte{11, 1, byte(i), 1}), 7790) },
			100_000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(Config{}, rand.New(rand.NewPCG(7, 11)))
			for i := range 100 {
				join(t, r, start, c.id(i))
			}
			// More ports make a host no likelier.
			for port := range uint16(maxPorts - 1) {
				join(t, r, start, newID(c.id(0).Addr(), 8000+port))
			}
			drawn := make(map[netip.Addr]int)
			for range c.answers {
				for _, id := range r.Hand(start, protocol.NodeID{}, c.limit) {
					drawn[id.Addr()]++
				}
			}
			chi2 := 0.0
			for i := range 100 {
				d := float64(drawn[c.id(i).Addr()] - 1000)
				chi2 += d * d / 1000
			}
			if chi2 > 149 {
				t.Errorf("chi square is %.1f, want at most 149: %v", chi2, drawn)
			}
		})
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
