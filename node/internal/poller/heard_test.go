package poller

import (
	"crypto/ed25519"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/internal/when"
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
	return p.hear(p.find(h), h, at, at)
}

// What the list says is what was heard, however polls come and go.
func TestPollsAreHeardAndForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	type polls struct {
		at, said time.Time // told by the node itself, and by others
		answered time.Time // the one before the latest that counts for its merit
		counts   time.Time
	}
	latest := make(map[protocol.NodeID]polls)
	var p pollsHeard
	for range 3000 {
		now = now.Add(time.Duration(rng.IntN(60)) * time.Second)
		origin, via := nodeID(rng.IntN(60)), nodeID(rng.IntN(4))
		at := now.Add(-time.Duration(rng.IntN(300)) * time.Second)
		i := p.hears(origin, via, at)
		of := latest[origin]
		if origin == via {
			if of.at.IsZero() {
				of.counts = time.Time{}
			}
			of.at, of.answered, of.counts = at, of.counts, at
		} else if of.said = at; of.at.IsZero() {
			of.answered, of.counts = of.counts, at
		}
		latest[origin] = of
		p[i].disregarded = rng.IntN(4) == 0
		oldest := now.Add(-time.Duration(10+rng.IntN(20)) * time.Minute)
		var believed []protocol.NodeID
		for one := range p.believed(oldest) {
			believed = append(believed, one.origin)
		}
		for _, one := range p {
			of := latest[one.origin]
			last := when.Later(of.at, of.said)
			if !one.last().Equal(last) || one.answered[1] != 0 && one.answered[1] != of.answered.UnixNano() {
				t.Fatalf("the list has %v of %v, want %v", one, one.origin, of)
			}
			if want := !one.disregarded && !last.Before(oldest); slices.Contains(believed, one.origin) != want {
				t.Fatalf("%v is among those that are believed: %v", one.origin, !want)
			}
		}
		if rng.IntN(3) == 0 {
			p.forget(oldest)
			for id, of := range latest {
				if when.Later(of.at, of.said).Before(oldest) {
					delete(latest, id)
				}
			}
		}
		if len(p) != len(latest) {
			t.Fatalf("%d are listed, want %d", len(p), len(latest))
		}
	}
}

// Those that are disregarded make room for others, and only they do.
func TestWhoIsDisregardedMakesRoom(t *testing.T) {
	at := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	var p pollsHeard
	for n := range maxPollers {
		p.hears(nodeID(n), nodeID(5000), at)
	}
	if p.room() {
		t.Error("there is room where all places are taken by nodes that are heard")
	}
	p[7].disregarded = true
	if !p.room() {
		t.Fatal("there is no room where a node is disregarded")
	}
	if i := p.hears(nodeID(4000), nodeID(5000), at); i != 7 || p[7].origin != nodeID(4000) || p[7].disregarded {
		t.Errorf("a node has place %d, want 7: %v", i, p[7])
	}
	if i := p.hears(nodeID(9), nodeID(5000), at.Add(time.Hour)); i != 9 || len(p) != maxPollers {
		t.Errorf("of %d, a node that is known has place %d", len(p), i)
	}
}

// Polls that a publisher refused are none that could have found anything, and a relay that overstates the age of a
// signed one does not make it miss what came out after that.
func TestWhichPollsAreJudged(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)
	n := protocol.Notice{Feed: "https://news.example/feed"}
	n.Sign(key, now)
	h := &core.PollHeard{Origin: nodeID(1), Via: nodeID(2), Notice: &n}
	var p pollsHeard
	p.hear(-1, h, now.Add(-10*time.Minute), now.Add(time.Second))
	h.Refused = true
	p.hear(0, h, now.Add(time.Hour), now.Add(time.Hour))
	if want := [2]int64{now.UnixNano()}; p[0].answered != want {
		t.Errorf("polls at %v are judged, want %v", p[0].answered, want)
	}
	if got := p[0].name(); got != protocol.NameOf(n.Signature.Key) {
		t.Errorf("what they were worth is known of %v, not of their key", got)
	}
}
