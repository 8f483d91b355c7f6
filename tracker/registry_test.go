package tracker

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newRegistry(cfg Config) *Registry { return New(cfg, rand.New(rand.NewPCG(1, 2))) }

func node(text string) protocol.NodeID {
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// public is the i-th of 50,000 public addresses, the first 200 of them in networks of their own.
func public(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{11, byte(i % 200), byte(i / 200), 1}), 7790)
}

// register registers id and reports whether it is to be called back.
func register(r *Registry, now time.Time, id protocol.NodeID) bool {
	callBack, _ := r.Register(now, id)
	return callBack
}

// join registers id and confirms it.
func join(t *testing.T, r *Registry, now time.Time, id protocol.NodeID) {
	t.Helper()
	if !register(r, now, id) {
		t.Fatalf("Register(%s) asked for no call back", id)
	}
	r.Confirm(now, id, true)
}

func handed(r *Registry, now time.Time, id protocol.NodeID) bool {
	for range 100 {
		for _, h := range r.Hand(now, protocol.NodeID{}, protocol.MaxNeighborList) {
			if h == id {
				return true
			}
		}
	}
	return false
}

func TestRegister(t *testing.T) {
	const confirm, refuse = "confirm", "refuse"
	id := node("11.1.1.1:7790")
	type step struct {
		at       time.Duration
		callBack bool   // what Register says
		outcome  string // what Confirm is told, "" for nothing
		handed   bool   // afterwards
	}
	for name, steps := range map[string][]step{
		"confirmed":         {{0, true, confirm, true}},
		"not confirmed yet": {{0, true, "", false}, {time.Second, false, "", false}},
		"refused":           {{0, true, refuse, false}, {time.Hour, false, "", false}},
		"refused, tried again a day on": {{0, true, refuse, false}, {24*time.Hour - 1, false, "", false},
			{24 * time.Hour, true, confirm, true}},
		"back within the day":      {{0, true, confirm, true}, {5 * time.Hour, false, "", true}},
		"checked anew after a day": {{0, true, confirm, true}, {24 * time.Hour, true, "", false}},
		"checked anew after a day, gone": {{0, true, confirm, true}, {24 * time.Hour, true, refuse, false},
			{30 * time.Hour, false, "", false}},
		"calling on and on": {{0, true, confirm, true}, {29 * time.Minute, false, "", true},
			{58 * time.Minute, false, "", true}},
		"call back forgotten by the host": {{0, true, "", false}, {expiry, false, "", false},
			{2 * 24 * time.Hour, true, confirm, true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(Config{})
			for _, s := range steps {
				now := start.Add(s.at)
				if got := register(r, now, id); got != s.callBack {
					t.Fatalf("at %v: Register = %v, want %v", s.at, got, s.callBack)
				}
				if s.outcome != "" {
					r.Confirm(now, id, s.outcome == confirm)
				}
				if got := handed(r, now, id); got != s.handed {
					t.Fatalf("at %v: handed out = %v, want %v", s.at, got, s.handed)
				}
				check(t, r)
			}
		})
	}
}

func TestExpiry(t *testing.T) {
	r := newRegistry(Config{})
	id := node("11.1.1.1:7790")
	join(t, r, start, id)
	if !handed(r, start.Add(expiry-1), id) {
		t.Error("not handed out just before it expires")
	}
	if handed(r, start.Add(expiry), id) {
		t.Error("handed out after it expired")
	}
	if got := r.Status(start.Add(expiry)); got.Known != 1 || got.Listed != 0 {
		t.Errorf("after expiry: %+v, want 1 known, 0 listed", got)
	}
	if got := r.Status(start.Add(expiry + callBackEvery)); got.Known != 0 {
		t.Errorf("a day later: %d known, want 0", got.Known)
	}
	check(t, r)
}

func TestTurnedAway(t *testing.T) {
	for _, id := range []string{
		"127.0.0.1:7790", "10.1.2.3:7790", "192.168.1.1:7790", "169.254.169.254:7790", "100.64.0.1:7790",
		"[::1]:7790", "[fe80::1]:7790", "[fd00::1]:7790", "[::ffff:10.1.2.3]:7790", "[64:ff9b::a01:203]:7790",
		"224.0.0.1:7790", "0.0.0.0:7790", "11.1.1.1:80", "11.1.1.1:1023",
	} {
		r := newRegistry(Config{})
		if register(r, start, node(id)) {
			t.Errorf("Register(%s) asked for a call back", id)
		}
		if s := r.Status(start); s.Known != 0 || s.TurnedAway != 1 {
			t.Errorf("Register(%s): %+v, want 0 known, 1 turned away", id, s)
		}
	}
	if register(newRegistry(Config{AllowLocal: true}), start, node("127.0.0.1:80")) {
		t.Error("a low port was accepted with AllowLocal")
	}
}

func TestConfirmNobodyWaitsFor(t *testing.T) {
	r := newRegistry(Config{})
	id := node("11.1.1.1:7790")
	r.Confirm(start, id, true)
	if register(r, start, id); handed(r, start, id) {
		t.Fatal("a report before the call back counted")
	}
	r.Confirm(start, id, false)
	r.Confirm(start, id, true)
	if handed(r, start, id) {
		t.Fatal("a second report counted")
	}
	check(t, r)
}

func TestLocalAddresses(t *testing.T) {
	r := newRegistry(Config{AllowLocal: true})
	for port := range uint16(40) {
		join(t, r, start, protocol.NewNodeID(netip.MustParseAddr("127.0.0.1"), 2000+port))
	}
	if got := len(r.Hand(start, node("127.0.0.1:2000"), 50)); got != 39 {
		t.Errorf("handed out %d of 39 others on one machine", got)
	}
	id := node("127.0.0.1:9000")
	register(r, start, id)
	r.Confirm(start, id, false)
	if register(r, start.Add(localCallBackEvery-1), id) || !register(r, start.Add(localCallBackEvery), id) {
		t.Error("want the next call back after LocalCallBackEvery")
	}
	check(t, r)
}

func TestBoundsOfHostAndNetwork(t *testing.T) {
	t.Run("call backs to one host", func(t *testing.T) {
		r := newRegistry(Config{})
		callBacks := 0
		for port := range 1000 {
			if id := protocol.NewNodeID(netip.MustParseAddr("11.1.1.1"), uint16(2000+port)); register(r, start, id) {
				callBacks++
				r.Confirm(start, id, port%2 == 0)
			}
		}
		if callBacks != maxPorts {
			t.Errorf("%d call backs, want %d", callBacks, maxPorts)
		}
		check(t, r)
	})
	t.Run("one IPv6 customer is one host", func(t *testing.T) {
		r := newRegistry(Config{})
		callBacks := 0
		for i := range 1000 {
			if id := node(fmt.Sprintf("[2a00:1:2:3:%x::1]:7790", i+1)); register(r, start, id) {
				callBacks++
				r.Confirm(start, id, true)
			}
		}
		if callBacks != maxPorts {
			t.Errorf("%d call backs, want %d", callBacks, maxPorts)
		}
		if got := len(r.Hand(start, protocol.NodeID{}, 50)); got != 1 {
			t.Errorf("handed out %d ids of one customer, want 1", got)
		}
	})
	t.Run("call backs under way", func(t *testing.T) {
		r := newRegistry(Config{CallBacks: 16})
		for i := range 1000 {
			register(r, start, public(i))
		}
		if got := r.Status(start).Pending; got != 16 {
			t.Errorf("%d call backs under way, want 16", got)
		}
		r.Confirm(start, public(0), true)
		if !register(r, start, public(999)) {
			t.Error("no call back after another ended")
		}
		check(t, r)
	})
	t.Run("no room for a new check: a confirmed node stays", func(t *testing.T) {
		r := newRegistry(Config{CallBacks: 1})
		join(t, r, start, public(0))
		day := start.Add(callBackEvery)
		register(r, day.Add(-time.Minute), public(0))
		register(r, day, public(1))
		if register(r, day, public(0)) || !handed(r, day, public(0)) {
			t.Error("want it handed out and called back later")
		}
		r.Confirm(day, public(1), true)
		if !register(r, day, public(0)) {
			t.Error("want it called back once there is room")
		}
	})
}

func TestCapacity(t *testing.T) {
	const capacity = 100
	t.Run("full of nodes that run", func(t *testing.T) {
		r := newRegistry(Config{Capacity: capacity})
		for i := range 2 * capacity {
			if register(r, start, public(i)) {
				r.Confirm(start, public(i), true)
			}
		}
		s := r.Status(start)
		if s.Known != capacity || s.Listed != capacity || s.TurnedAway != capacity {
			t.Errorf("%+v, want %d known and listed, as many turned away", s, capacity)
		}
		if !handed(r, start, public(0)) {
			t.Error("the first was displaced by newcomers")
		}
		check(t, r)
	})
	t.Run("full of nodes that are gone", func(t *testing.T) {
		r := newRegistry(Config{Capacity: capacity})
		for i := range capacity {
			register(r, start.Add(time.Duration(i)), public(i))
			r.Confirm(start.Add(time.Duration(i)), public(i), i%2 == 0)
		}
		later := start.Add(2 * expiry)
		for i := capacity; i < 2*capacity; i++ {
			join(t, r, later, public(i))
			check(t, r)
		}
		if s := r.Status(later); s.Known != capacity || s.Listed != capacity {
			t.Errorf("%+v, want the newcomers alone", s)
		}
	})
	t.Run("full of one network", func(t *testing.T) {
		r := newRegistry(Config{Capacity: capacity})
		for i := range 2 * capacity {
			id := node(fmt.Sprintf("52.1.%d.1:7790", i))
			if register(r, start, id) {
				r.Confirm(start, id, true)
			}
		}
		if s := r.Status(start); !s.Full || s.Listed != capacity || s.TurnedAway != capacity {
			t.Errorf("%+v, want %d listed and as many turned away", s, capacity)
		}
		for i := range capacity - 1 {
			join(t, r, start, public(i))
			check(t, r)
		}
		for i := range capacity - 1 {
			if !handed(r, start, public(i)) {
				t.Errorf("%s gave way to another", public(i))
			}
		}
		if register(r, start, public(capacity)) {
			t.Error("a newcomer was taken though nobody has more")
		}
		id := node("52.1.0.1:7790")
		if r.known[id] != nil {
			id = node("52.1.1.1:7790") // no more than one is left
		}
		if !register(r, start.Add(expiry), id) {
			t.Errorf("%s, which was forgotten, is not called back once there is room", id)
		}
	})
}

// check verifies what must hold of a Registry between any two calls.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, r *Registry) {
	t.Helper()
	records, listed, waiting := 0, 0, 0
	known := make(map[*hostNodes]int)
	inNetwork := make(map[*netRange]int)
	for _, rec := range r.known {
		records++
		known[rec.host]++
		inNetwork[rec.host.network]++
		if rec.state == pending {
			waiting++
		}
	}
	hosts := 0
	for i, n := range r.listed {
		if n.at != i || len(n.listed) == 0 || r.networks[n.place] != n {
			t.Fatalf("network %d of the list: %+v", i, n)
		}
		for i, h := range n.listed {
			hosts++
			if h.at != i || h.network != n || len(h.listed) == 0 || len(h.listed) > maxPorts || r.hosts[h.place] != h {
				t.Fatalf("host %d of %v: %+v", i, n.place, h)
			}
			for _, rec := range h.listed {
				listed++
				if rec.host != h || rec.state != confirmed || rec.queue != &r.live || r.known[rec.id] != rec {
					t.Fatalf("listed: %+v", rec)
				}
			}
		}
	}
	switch {
	case records > r.cfg.Capacity || records != r.live.Len()+r.old.Len():
		t.Fatalf("%d records, %d live, %d old, capacity %d", records, r.live.Len(), r.old.Len(), r.cfg.Capacity)
	case listed != r.status.Listed || hosts != r.status.Hosts || listed+waiting != r.live.Len():
		t.Fatalf("%d listed on %d hosts, counted %d on %d, %d pending, %d live", listed, hosts, r.status.Listed,
			r.status.Hosts, waiting, r.live.Len())
	case waiting != r.callBacks.Len() || waiting > r.cfg.CallBacks:
		t.Fatalf("%d pending, counted %d, bound %d", waiting, r.callBacks.Len(), r.cfg.CallBacks)
	case len(known) != len(r.hosts) || len(inNetwork) != len(r.networks):
		t.Fatalf("%d hosts, %d networks in use, %d and %d kept", len(known), len(inNetwork), len(r.hosts),
			len(r.networks))
	}
	for h, n := range known {
		if h.known != n || n > maxPorts {
			t.Fatalf("host %v: %d records, counted %d", h.place, n, h.known)
		}
	}
	for net, n := range inNetwork {
		if net.known != n {
			t.Fatalf("network %v: %d records, counted %d", net.place, n, net.known)
		}
	}
}
