package daemon

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"feedex/internal/sleep"
	"feedex/node"
	"feedex/portmap"
	"feedex/protocol"
	"feedex/reach"
)

// A router is asked to open only what others should dial and could not, by each version of IP at which the node
// listens.
func TestWhatARouterIsAskedToOpen(t *testing.T) {
	on := Config{PortMapping: MapByPCP}
	local := on
	local.Node.AllowLocal = true
	for name, test := range map[string]struct {
		config Config
		listen string
		want   []portmap.IP
	}{
		"everywhere":                       {on, "[::]:7790", []portmap.IP{portmap.IPv4, portmap.IPv6}},
		"at one address":                   {on, "192.168.1.7:7790", []portmap.IP{portmap.IPv4}},
		"everywhere by IPv4":               {on, "0.0.0.0:7790", []portmap.IP{portmap.IPv4}},
		"at an address of IPv6":            {on, "[2600:12::7]:7790", []portmap.IP{portmap.IPv6}},
		"switched off":                     {Config{}, "[::]:7790", nil},
		"nowhere":                          {on, ListenNone, nil},
		"on this machine":                  {on, "127.0.0.1:7790", nil},
		"on this machine, by IPv6":         {on, "[::1]:7790", nil},
		"where private addresses are fine": {local, "[::]:7790", nil},
	} {
		h := newHost(test.config.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		h.at.Listen = test.listen
		if at, got := h.toOpen(); !slices.Equal(got, test.want) || len(got) > 0 && at.Port() != 7790 {
			t.Errorf("%s: asked for port %d by %v, want %v", name, at.Port(), got, test.want)
		}
	}
}

// A node that nobody dialled has not been, whatever its clock says: one without a battery begins in 1970.
func TestNobodyDialsByTheClock(t *testing.T) {
	h := host{loop: new(loop)}
	if h.isDialled(portmap.IPv4, time.Unix(60, 0)) {
		t.Error("nobody dialled it")
	}
	versions := []portmap.IP{portmap.IPv4, portmap.IPv6}
	for i, from := range []string{"193.0.0.1", "2600:12::8"} {
		by, other := versions[i], versions[1-i]
		h = host{loop: new(loop)}
		h.noteDialled(protocol.NewNodeID(netip.MustParseAddr(from), 7790))
		now := time.Now()
		if !h.isDialled(by, now) || h.isDialled(by, now.Add(2*dialledFor)) {
			t.Error("who was dialled is so for an hour")
		}
		if h.isDialled(other, now) || !h.reachOf(&node.Status{}).Dialled {
			t.Errorf("dialled from %s, it is so by IPv%d, or not at all", from, other)
		}
	}
}

// The node hears that its port is open where others can use that, and not where another router is in between.
func TestTheNodeHearsOfAnOpenPort(t *testing.T) {
	is := func(external string) reach.Forwarding {
		return reach.Forwarding{External: netip.MustParseAddrPort(external)}
	}
	for name, test := range map[string]struct {
		is   reach.Forwarding
		want int
	}{
		"forwarded":        {is("198.51.101.4:7790"), 1},
		"behind a carrier": {is("100.64.0.2:7790"), 0},
		"refused":          {reach.Forwarding{Problem: "refused"}, 0},
		"not needed":       {reach.Forwarding{Machine: netip.MustParseAddr("198.51.101.4")}, 0},
		"let in by IPv6":   {is("[2600:12::7]:7790"), 1},
	} {
		by := portmap.IPv4
		if test.is.External.Addr().Is6() {
			by = portmap.IPv6
		}
		h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
		// Others still know the node by the address that its router had before.
		h.self.Store(&node.Selves{By4: protocol.NewNodeID(netip.MustParseAddr("198.51.101.9"), 7790)})
		h.opened(t.Context(), by, test.is)
		if len(h.events) != test.want {
			t.Errorf("%s: the node hears of %d things, want %d", name, len(h.events), test.want)
		}
		facts := h.reachOf(&node.Status{})
		told := map[portmap.IP]*reach.Forwarding{portmap.IPv4: facts.Forwarding, portmap.IPv6: facts.Firewall}
		if got := told[by]; got == nil || *got != test.is {
			t.Errorf("%s: its owner hears %+v", name, got)
		}
	}
}

// A node that starts waits until its router answered, and no longer than a moment; one that asks none does not. A
// tracker, which calls back once a day, is called once the router answered anew or was given up on, and a node at once.
func TestWhoCallsBackIsCalledOnceTheRouterAnswered(t *testing.T) {
	for _, test := range []struct {
		listen         string
		answers        time.Duration // of a router by IPv4; by IPv6 it takes twice as long
		start, tracker time.Duration // how long these wait
	}{
		{"[::]:7790", 10 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond},
		{"[::]:7790", 4 * time.Second, routerPatience, 8 * time.Second},
		{"[::]:7790", time.Minute, routerPatience, trackerPatience},
		{ListenNone, time.Minute, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(Config{PortMapping: MapByPCP}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
			h.at.Listen = test.listen
			for i, by := range []portmap.IP{portmap.IPv4, portmap.IPv6} {
				go func() {
					for done := range h.opening(by).doubt {
						_ = sleep.For(t.Context(), test.answers<<i)
						close(done)
					}
				}()
			}
			call := func(to node.Target) func() {
				return func() { h.call(t.Context(), node.Call{To: to, Call: protocol.WhoAmI{}, Timeout: time.Second}) }
			}
			tracker := call(node.Target{Tracker: "http://tracker.example/"})
			for _, does := range []struct {
				what  string
				waits time.Duration
				do    func()
			}{
				{"a start", test.start, func() { h.awaitRouter(t.Context(), routerPatience) }},
				{"the first call to a tracker", test.tracker, tracker},
				{"the next", test.tracker, tracker},
				{"a call to a node", 0, call(node.Target{Node: peerID(7)})},
			} {
				began := time.Now()
				if does.do(); time.Since(began) != does.waits {
					t.Errorf("%s, a router that answers after %v: %s waits for %v, want %v", test.listen, test.answers,
						does.what, time.Since(began), does.waits)
				}
				_ = sleep.For(t.Context(), time.Hour) // until the router is done
			}
			close(h.forwarding.doubt)
			close(h.firewall.doubt)
		})
	}
}

// A machine's own public addresses of IPv6, and no others, are those at which others may dial the node.
func TestWhereOthersMayDialTheMachine(t *testing.T) {
	var own []net.Addr
	for _, at := range []string{"127.0.0.1/8", "::1/128", "198.51.101.4/24", "fe80::1/64", "fd00::1/64",
		"2600:12::8/64", "2600:12::9/128"} {
		ip, network, err := net.ParseCIDR(at)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, &net.IPNet{IP: ip, Mask: network.Mask})
	}
	var want []protocol.NodeID
	for _, at := range []string{"2600:12::8", "2600:12::9"} {
		want = append(want, protocol.NewNodeID(netip.MustParseAddr(at), 7791))
	}
	if got := public6(own, 7791); !slices.Equal(got, want) {
		t.Errorf("it may be dialled at %v, want %v", got, want)
	}
}
