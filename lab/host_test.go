package lab

import (
	"crypto/ed25519"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedex/node"
	"feedex/protocol"
)

// A host that is gone is missed; one that returns has its archive and finds neighbors again.
func TestCrashAndReturn(t *testing.T) {
	t.Parallel()
	const away = 7 * time.Minute
	for name, end := range map[string]func(*Host){"crash": (*Host).Crash, "stop": (*Host).Stop,
		"leave": (*Host).Leave} {
		w := run(t, Config{Seed: 4, Feeds: feeds(12, 48), NoEncoding: true}, 20, 30*time.Minute)
		h := w.Hosts()[3]
		links := func() (count int) {
			for _, other := range w.Hosts() {
				if !other.Running() {
					continue
				}
				for _, n := range other.Node().Neighbors() {
					if n.ID == h.ID {
						count++
					}
				}
			}
			return count
		}
		if links() < 4 {
			t.Fatalf("%s: %d neighbors before the end", name, links())
		}
		end(h)
		if h.Running() {
			t.Fatalf("%s: still running", name)
		}
		w.Run(w.Now().Add(away)) // some have nothing to say to it, and ask only after five
		if n := links(); n > 0 {
			t.Errorf("%s: seven minutes later %d nodes count on it", name, n)
		}
		kept := len(h.store.LoadPeers())
		if err := h.Return(); err != nil {
			t.Fatal(err)
		}
		w.Run(w.Now().Add(5 * time.Minute))
		if n := links(); n < 4 || h.Links() != n {
			t.Errorf("%s: five minutes after its return %d nodes count on it, and it on %d", name, n, h.Links())
		}
		if got := h.Sessions(); len(got) != 2 || got[0].To == Never ||
			got[1].From != got[0].To+away || kept == 0 {
			t.Errorf("%s: its stays are %v, with %d peers of earlier", name, got, kept)
		}
	}
}

// A mute is a node that offers nothing to anybody.
type mute struct{ *node.Node }

func (m mute) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	begin := len(dst)
	dst = m.Node.Step(dst, now, ev)
	kept := dst[:begin]
	for _, e := range dst[begin:] {
		if c, ok := e.(node.Call); ok {
			switch c.Call.(type) {
			case protocol.CheckDID, protocol.CheckDIDs, protocol.PutEntries:
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// acts is a member that runs a in place of its node.
func acts(a Actor) MemberConfig {
	return MemberConfig{Actor: func(*node.Node, ed25519.PrivateKey, *rand.Rand) Actor { return a }}
}

// An Actor stands between its node and the world.
func TestActorsChangeHabits(t *testing.T) {
	t.Parallel()
	w := network(t, Config{Seed: 5, Feeds: feeds(12, 48), NoEncoding: true}, 15, 4)
	h, err := w.Join(MemberConfig{
		Name: "mute", Feeds: w.feedURLs(),
		Actor: func(n *node.Node, _ ed25519.PrivateKey, _ *rand.Rand) Actor { return mute{n} },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(wednesday.Add(3 * time.Hour))
	if sent := h.Made[CheckDID].Calls + h.Made[CheckDIDs].Calls + h.Made[PutEntries].Calls; sent > 0 ||
		h.Made.Total().Calls == 0 {
		t.Errorf("of %d calls it made %d that it should not", h.Made.Total().Calls, sent)
	}
	honest := w.Hosts()[1]
	if honest.Made[CheckDID].Calls == 0 {
		t.Error("the others are mute as well")
	}
}

// A call that is lost ends at its timeout, and the network lives with it.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	w := run(t, Config{Seed: 6, Feeds: feeds(12, 48), Links: Links{Loss: .05}, NoEncoding: true}, 20, 6*time.Hour)
	var failed int64
	var got, all int
	for _, h := range w.Hosts() {
		failed += h.Node().Status().Counters.CallsFailed
		for _, s := range h.Sights(w.Now()) {
			if s.Published > 5*time.Hour {
				continue // a node that polls hourly may not have it yet
			}
			all++
			if s.Any != Never {
				got++
			}
		}
	}
	if failed == 0 || got < all {
		t.Errorf("%d calls failed; %d of %d entries came", failed, got, all)
	}
}

// A sleeper wants to be woken at one moment, and then never.
type sleeper struct {
	next  time.Time
	woken []time.Time
}

func (s *sleeper) Next() time.Time { return s.next }

func (s *sleeper) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if ev == (node.Wake{}) {
		s.woken, s.next = append(s.woken, now), time.Time{}
	}
	return dst
}

// A node that changes its mind about when to be woken is woken then alone, and one that stopped not at all.
func TestAlarms(t *testing.T) {
	after := func(d time.Duration) time.Time { return wednesday.Add(d) }
	for _, c := range []struct {
		name    string
		change  func(*Host, *sleeper) // a minute before it was to be woken
		minutes []int                 // at which it is
	}{
		{"as it said", func(*Host, *sleeper) {}, []int{2}},
		{"later", func(_ *Host, s *sleeper) { s.next = after(3 * time.Minute) }, []int{3}},
		{"sooner than now", func(h *Host, s *sleeper) { s.next = after(0); h.Tell(node.Subscribe{}) }, []int{1}},
		{"never", func(_ *Host, s *sleeper) { s.next = time.Time{} }, nil},
		{"stopped", func(h *Host, _ *sleeper) { h.Stop() }, nil},
	} {
		w := network(t, Config{}, 0, 0)
		s := &sleeper{next: after(2 * time.Minute)}
		h, err := w.Join(acts(s))
		if err != nil {
			t.Fatal(err)
		}
		w.Run(after(time.Minute))
		c.change(h, s)
		w.Run(after(time.Hour))
		var want []time.Time
		for _, m := range c.minutes {
			want = append(want, after(time.Duration(m)*time.Minute))
		}
		if !slices.Equal(s.woken, want) {
			t.Errorf("%s: woken at %v, want %v", c.name, s.woken, want)
		}
	}
}
