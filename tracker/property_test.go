package tracker

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/protocol"
)

// TestProperties runs random histories against a plain account of which node called when and how the call backs ended.
func TestProperties(t *testing.T) {
	type account struct {
		heard     time.Time   // latest call while confirmed, or call back
		asked     []time.Time // call backs
		confirmed bool
		pending   bool
	}
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			AllowLocal: rapid.Bool().Draw(t, "local"),
			Capacity:   rapid.SampledFrom([]int{10, 40, 1000}).Draw(t, "capacity"),
			CallBacks:  rapid.SampledFrom([]int{1, 8, 100}).Draw(t, "callbacks"),
		}
		r := New(cfg, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		now := start
		accounts := make(map[protocol.NodeID]*account)
		anyID := rapid.Custom(func(t *rapid.T) protocol.NodeID {
			port := uint16(rapid.IntRange(2000, 2011).Draw(t, "port"))
			host := byte(rapid.IntRange(1, 3).Draw(t, "host"))
			switch network := byte(rapid.IntRange(0, 13).Draw(t, "network")); network {
			case 0:
				return newID(netip.AddrFrom4([4]byte{127, 0, 0, host}), port)
			case 1:
				return newID(netip.AddrFrom16([16]byte{0x2a, 0, 7: host, 15: host}), port)
			default:
				return newID(netip.AddrFrom4([4]byte{11, network, 0, host}), port)
			}
		})
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { check(t, r) },
			"pass": func(t *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{1, time.Minute, 10 * time.Minute, 6 * time.Hour,
					25 * time.Hour}).Draw(t, "time"))
			},
			"register": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "times") {
					id := anyID.Draw(t, "id")
					a := accounts[id]
					if a == nil {
						a = new(account)
						accounts[id] = a
					}
					callBack, gaveUp := r.Register(now, id)
					for _, other := range gaveUp { // as if it had not called
						b := accounts[other]
						if !b.pending {
							t.Fatalf("%s gave up a call back that was not under way", other)
						}
						b.pending, b.confirmed, b.asked = false, false, b.asked[:len(b.asked)-1]
					}
					if callBack {
						if a.pending && now.Sub(a.heard) < expiry {
							t.Fatalf("%s: a call back while one is under way", id)
						}
						a.asked = append(a.asked, now)
						a.pending, a.confirmed, a.heard = true, false, now
					} else if a.confirmed {
						a.heard = now
					}
				}
			},
			"confirm": func(t *rapid.T) {
				id, ok := anyID.Draw(t, "id"), rapid.Bool().Draw(t, "ok")
				r.Confirm(now, id, ok)
				if a := accounts[id]; a != nil && a.pending && now.Sub(a.heard) < expiry {
					a.pending, a.confirmed = false, ok
				}
			},
			"hand": func(t *rapid.T) {
				asker, limit := anyID.Draw(t, "asker"), rapid.IntRange(-1, 60).Draw(t, "limit")
				answer := r.Hand(now, asker, limit)
				if len(answer) > max(0, min(limit, protocol.MaxNeighborList)) {
					t.Fatalf("%d nodes, asked for %d", len(answer), limit)
				}
				hosts := make(map[place]bool)
				for _, id := range answer {
					a := accounts[id]
					if id == asker || a == nil || !a.confirmed || now.Sub(a.heard) >= expiry {
						t.Fatalf("handed %s to %s: %+v", id, asker, a)
					}
					if hosts[r.placeOf(id)] {
						t.Fatalf("two ids of one host: %v", answer)
					}
					hosts[r.placeOf(id)] = true
				}
				if got := largestShare(r, answer); got > 1 {
					t.Fatalf("%d of %d nodes in one network", got, len(answer))
				}
			},
			"restart": func(t *rapid.T) {
				entries := r.Snapshot(now)
				r = New(cfg, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
				if got := r.Load(now, entries); got != len(entries) {
					t.Fatalf("loaded %d of %d entries", got, len(entries))
				}
				for _, a := range accounts {
					if a.pending { // begins anew
						a.pending, a.asked = false, a.asked[:len(a.asked)-1]
					}
				}
			},
		})
		// A full registry forgets, so that only a roomy one keeps to a call back a day for certain.
		for id, a := range accounts {
			for i := 1; i < len(a.asked) && cfg.Capacity == 1000; i++ {
				if r.local(id) {
					continue
				}
				if gap := a.asked[i].Sub(a.asked[i-1]); gap < callBackEvery {
					t.Fatalf("%s: call backs %v apart", id, gap)
				}
			}
		}
	})
}
