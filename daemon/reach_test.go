package daemon

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"feedex/node"
	"feedex/protocol"
	"feedex/reach"
)

// A router is asked to forward only what others should dial and could not.
func TestWhatARouterIsAskedToForward(t *testing.T) {
	on := Config{PortMapping: MapByPCP}
	local := on
	local.Node.AllowLocal = true
	for name, test := range map[string]struct {
		config Config
		listen string
		want   bool
	}{
		"everywhere":                       {on, "[::]:7790", true},
		"at one address":                   {on, "192.168.1.7:7790", true},
		"switched off":                     {Config{}, "[::]:7790", false},
		"nowhere":                          {on, ListenNone, false},
		"on this machine":                  {on, "127.0.0.1:7790", false},
		"on this machine, by IPv6":         {on, "[::1]:7790", false},
		"where private addresses are fine": {local, "[::]:7790", false},
	} {
		h := newHost(test.config.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		h.at.Listen = test.listen
		if at, got := h.toForward(); got != test.want || got && at.Port() != 7790 {
			t.Errorf("%s: asked for port %d: %v, want %v", name, at.Port(), got, test.want)
		}
	}
}

// The node hears that its port is forwarded where others can use that, and not where another router is in between.
func TestTheNodeHearsOfAForwardedPort(t *testing.T) {
	is := func(external string) reach.Forwarding {
		return reach.Forwarding{External: netip.MustParseAddrPort(external)}
	}
	self := protocol.NewNodeID(netip.MustParseAddr("198.51.101.4"), 7790)
	for name, test := range map[string]struct {
		is   reach.Forwarding
		self protocol.NodeID
		want int
	}{
		"forwarded":                 {is("198.51.101.4:7790"), self, 1},
		"before others said":        {is("198.51.101.4:7790"), protocol.NodeID{}, 1},
		"behind a carrier":          {is("100.64.0.2:7790"), protocol.NodeID{}, 0},
		"behind a public carrier's": {is("198.51.101.9:7790"), self, 0},
		"refused":                   {reach.Forwarding{Problem: "refused"}, self, 0},
		"not needed":                {reach.Forwarding{Machine: self.Addr()}, self, 0},
	} {
		h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		h.self.Store(&test.self)
		h.forwarded(t.Context(), test.is)
		if len(h.events) != test.want {
			t.Errorf("%s: the node hears of %d things, want %d", name, len(h.events), test.want)
		}
		if facts := h.reachOf(&node.Status{Self: test.self}); *facts.Forwarding != test.is {
			t.Errorf("%s: its owner hears %+v", name, facts.Forwarding)
		}
	}
}

// A node that starts waits until its router answered, and no longer than a moment; one that asks none does not.
func TestAStartAwaitsTheRouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := func(listen string, answers bool) time.Duration {
			h := newHost(Config{PortMapping: MapByPCP}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
			h.at.Listen = listen
			began := time.Now()
			if answers {
				answer := func() { h.forwarded(t.Context(), reach.Forwarding{Problem: "no"}) }
				time.AfterFunc(20*time.Millisecond, answer)
			}
			h.awaitRouter(t.Context())
			return time.Since(began)
		}
		for took, want := range map[time.Duration]time.Duration{
			start("[::]:7790", true): 20 * time.Millisecond, start("[::]:7790", false): routerPatience,
			start(ListenNone, false): 0,
		} {
			if took != want {
				t.Errorf("it waits for %v, want %v", took, want)
			}
		}
	})
}
