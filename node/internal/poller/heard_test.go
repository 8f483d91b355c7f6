package poller

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/node/internal/core"
	"feedex/protocol"
)

// nodeID is the address of a node in a network of its own.
func nodeID(n int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{192, byte(n >> 8), byte(n), 1}), 7070)
}

// hears notes a poll of a node, as a neighbor tells of it.
func (p *pollsHeard) hears(origin, via protocol.NodeID, at time.Time) int {
	h := &core.PollHeard{Origin: origin, Via: via, Own: origin == via}
	return p.hear(p.find(h), h, at)
}

// What the list says is what was heard, however polls come and go.
func TestPollsAreHeardAndForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	latest := make(map[protocol.NodeID][2]time.Time)
	var p pollsHeard
	for range 3000 {
		now = now.Add(time.Duration(rng.IntN(60)) * time.Second)
		origin, via := nodeID(rng.IntN(60)), nodeID(rng.IntN(4))
		at := now.Add(-time.Duration(rng.IntN(300)) * time.Second)
		i := p.hears(origin, via, at)
		latest[origin] = [2]time.Time{at, latest[origin][0]}
		p[i].doubted = rng.IntN(4) == 0
		oldest := now.Add(-time.Duration(10+rng.IntN(20)) * time.Minute)
		var believed []protocol.NodeID
		for one := range p.believed(oldest) {
			believed = append(believed, one.origin)
		}
		for _, one := range p {
			of := latest[one.origin]
			if !one.last().Equal(of[0]) || one.before != 0 && one.before != of[1].UnixNano() {
				t.Fatalf("the list has %v of %v, want %v", one, one.origin, of)
			}
			if want := !one.doubted && !of[0].Before(oldest); slices.Contains(believed, one.origin) != want {
				t.Fatalf("%v is among those that are believed: %v", one.origin, !want)
			}
		}
		if rng.IntN(3) == 0 {
			p.forget(oldest)
			for id, of := range latest {
				if of[0].Before(oldest) {
					delete(latest, id)
				}
			}
		}
		if len(p) != len(latest) {
			t.Fatalf("%d are listed, want %d", len(p), len(latest))
		}
	}
}

// Those that are doubted make room for others, and only they do.
func TestWhoIsDoubtedMakesRoom(t *testing.T) {
	at := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	var p pollsHeard
	for n := range maxPollers {
		p.hears(nodeID(n), nodeID(5000), at)
	}
	if i := p.hears(nodeID(4000), nodeID(5000), at); i >= 0 {
		t.Errorf("a node takes the place of another that is not doubted, %d", i)
	}
	p[7].doubted = true
	if i := p.hears(nodeID(4000), nodeID(5000), at); i != 7 || p[7].origin != nodeID(4000) || p[7].doubted {
		t.Errorf("a node has place %d, want that of the one which is doubted, 7: %v", i, p[7])
	}
	if i := p.hears(nodeID(9), nodeID(5000), at.Add(time.Hour)); i != 9 || len(p) != maxPollers {
		t.Errorf("of %d, a node that is known has place %d", len(p), i)
	}
}
