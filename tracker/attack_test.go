package tracker

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"feedex/protocol"
)

// TestVictims feeds the registry 10,000 addresses at which no node listens, again and again for three days, as an
// attacker would that wants it or its clients to call there: none is handed out, each sees one call back a day, and
// nodes that run stay on the list.
func TestVictims(t *testing.T) {
	const victims, honest = 10_000, 100
	r := newRegistry(Config{})
	victim := func(i int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{52, byte(i % 100), byte(i / 100), 9}), 7790)
	}
	callBacks := make(map[protocol.NodeID]int)
	for hour := range 72 {
		now := start.Add(time.Duration(hour) * time.Hour)
		for i := range victims {
			id := victim(i)
			if register(r, now, id) {
				callBacks[id]++
				r.Confirm(now, id, false)
			}
		}
		for i := range honest {
			if register(r, now, public(i)) {
				r.Confirm(now, public(i), true)
			}
		}
		for i := range 10 {
			answer := r.Hand(now, public(i), 50)
			if len(answer) != 50 {
				t.Fatalf("hour %d: %d nodes handed out, want 50", hour, len(answer))
			}
			for _, id := range answer {
				if id.Addr().As4()[0] == 52 {
					t.Fatalf("hour %d: victim %s was handed out", hour, id)
				}
			}
		}
	}
	for i := range victims {
		if got := callBacks[victim(i)]; got < 1 || got > 3 {
			t.Fatalf("victim %s was called back %d times in three days, want at most 3", victim(i), got)
		}
	}
	check(t, r)
}

// TestVictimBehindTheSameAddress shows the one case where an attacker can have a third party called:
// behind the same address, at every port in turn.
func TestVictimBehindTheSameAddress(t *testing.T) {
	r := newRegistry(Config{})
	victim := netip.MustParseAddr("52.1.1.1")
	const days = 3
	callBacks := 0
	for minute := range days * 24 * 60 {
		now := start.Add(time.Duration(minute) * time.Minute)
		for try := range 20 {
			id := protocol.NewNodeID(victim, uint16(1024+(20*minute+try)%60_000))
			if register(r, now, id) {
				callBacks++
				r.Confirm(now, id, false)
			}
		}
		if got := r.Hand(now, protocol.NodeID{}, 50); len(got) != 0 {
			t.Fatalf("handed out %v", got)
		}
	}
	if callBacks > days*maxPorts {
		t.Errorf("%d call backs in %d days, want at most %d", callBacks, days, days*maxPorts)
	}
	check(t, r)
}

// TestCrowdFromFewNetworks lets willing nodes of one network and of ten join first, as many as the registry holds: the
// few nodes of others still get in, and each network is in an answer as often as any other.
func TestCrowdFromFewNetworks(t *testing.T) {
	for _, c := range []struct{ networks, crowd, others, want, all int }{
		{1, 60_000, 45, 45, 46},
		{10, 110_000, 7, 7, 17},
		{10, 110_000, 90, 45, 50},
	} {
		t.Run(fmt.Sprintf("%d of %d networks, %d others", c.crowd, c.networks, c.others), func(t *testing.T) {
			r := newRegistry(Config{})
			for i := range c.crowd {
				host := i / c.networks
				id := newID(netip.AddrFrom4([4]byte{52, byte(i % c.networks), byte(host >> 8), byte(host)}), 7790)
				if register(r, start, id) {
					r.Confirm(start, id, true)
				}
			}
			for i := range c.others {
				join(t, r, start, public(i))
			}
			check(t, r)
			others := 0
			for range 100 {
				answer := r.Hand(start, protocol.NodeID{}, 50)
				if got := largestShare(r, answer); len(answer) != c.all || got > 1 {
					t.Fatalf("%d of %d nodes are of one network, want 1 of %d", got, len(answer), c.all)
				}
				for _, id := range answer {
					if id.Addr().As4()[0] != 52 {
						others++
					}
				}
			}
			// Of 100 answers the standard deviation is 15 where chance has a part.
			if got := others - 100*c.want; got < -2*c.want || got > 2*c.want || c.others == c.want && got != 0 {
				t.Errorf("%d of %d nodes belong to no crowd, want about %d", others, 100*c.all, 100*c.want)
			}
		})
	}
}

// TestSlowCallBacks has nodes of one network, of twenty and of one /32 of IPv6 take as long as they may when they are
// called back, and register again and again: a node from elsewhere is called back at once, and one from everywhere
// soon.
func TestSlowCallBacks(t *testing.T) {
	for name, slow := range map[string]func(i int) protocol.NodeID{
		"one address": func(i int) protocol.NodeID { return newID(netip.MustParseAddr("52.1.1.1"), uint16(2000+i)) },
		"one network": func(i int) protocol.NodeID {
			return newID(netip.AddrFrom4([4]byte{52, 1, 1, byte(i)}), uint16(2000+i>>8))
		},
		"twenty networks": func(i int) protocol.NodeID {
			return newID(netip.AddrFrom4([4]byte{52, byte(i % 20), 1, byte(i / 20)}), uint16(2000+i>>12))
		},
		"one /32": func(i int) protocol.NodeID {
			return newID(netip.AddrFrom16([16]byte{0x2a, 0, 0, 7, byte(i >> 8), byte(i), 15: 1}), 7790)
		},
		"everywhere": func(i int) protocol.NodeID {
			return newID(netip.AddrFrom4([4]byte{byte(52 + i>>8&7), byte(i), byte(i >> 11), 1}), 7790)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(Config{CallBacks: 32})
			now := start
			for second := range 60 {
				for i := range 20 {
					register(r, now, slow(20*second+i))
				}
				if second >= 10 {
					id := public(second)
					waited := 0
					for ; !register(r, now, id); waited++ {
						now = now.Add(time.Second)
						if waited == 5 {
							t.Fatalf("%s is not called back", id)
						}
					}
					if waited > 0 && name != "everywhere" {
						t.Errorf("%s is called back after %d seconds", id, waited)
					}
					r.Confirm(now, id, true)
					if !handed(r, now, id) {
						t.Errorf("%s is not handed out", id)
					}
				}
				now = now.Add(time.Second)
			}
			check(t, r)
		})
	}
}
