package portmap

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/reach"
)

// A fakeRouter answers on the loopback interface, as answer says.
type fakeRouter struct {
	conn   *net.UDPConn
	answer func(request []byte) [][]byte

	mu       sync.Mutex
	requests [][]byte
}

func newFakeRouter(t *testing.T, answer func(request []byte) [][]byte) *fakeRouter {
	t.Helper()
	return newFakeRouterAt(t, "udp4", net.IPv4(127, 0, 0, 1), answer)
}

func newFakeRouterAt(t *testing.T, network string, ip net.IP, answer func(request []byte) [][]byte) *fakeRouter {
	t.Helper()
	conn, err := net.ListenUDP(network, &net.UDPAddr{IP: ip})
	if err != nil {
		t.Fatal(err)
	}
	r := &fakeRouter{conn: conn, answer: answer}
	var serving sync.WaitGroup
	serving.Go(func() {
		data := make([]byte, 2000)
		for {
			n, from, err := conn.ReadFromUDP(data)
			if err != nil {
				return
			}
			r.mu.Lock()
			r.requests = append(r.requests, slices.Clone(data[:n]))
			r.mu.Unlock()
			for _, a := range answer(data[:n]) {
				conn.WriteToUDP(a, from)
			}
		}
	})
	t.Cleanup(func() { conn.Close(); serving.Wait() })
	return r
}

// asked is what it was asked so far, and forgets it.
func (r *fakeRouter) asked() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.requests
	r.requests = nil
	return list
}

// keeper keeps port 7790 forwarded by the router, and writes down what it tells.
func (r *fakeRouter) keeper(told *[]reach.Forwarding) *keeper {
	c := Config{Port: 7790, By: IPv4, Secret: [32]byte{1, 2, 3},
		Told: func(f reach.Forwarding) { *told = append(*told, f) }}
	at := r.conn.LocalAddr().(*net.UDPAddr).AddrPort()
	return &keeper{config: c, gateway: func(IP) (netip.Addr, error) { return at.Addr(), nil }, port: at.Port(),
		machine: func(IP) net.IP { return net.IPv4(127, 0, 0, 1) },
		wait:    time.Second}
}

// pcpAnswer answers a MAP request.
func pcpAnswer(request []byte, code byte, port uint16, at string, seconds uint32) []byte {
	a := slices.Clone(request)
	a[1] |= response
	a[3] = code
	binary.BigEndian.PutUint32(a[4:], seconds)
	binary.BigEndian.PutUint16(a[pcpHeader+18:], port)
	outside := netip.MustParseAddr(at).As16()
	copy(a[pcpHeader+20:], outside[:])
	return a
}

// natPMPAnswer answers a request of NAT-PMP, or tells one of PCP that it knows no better.
func natPMPAnswer(request []byte, port uint16) []byte {
	var a []byte
	switch {
	case request[0] != natPMPVersion:
		return []byte{0, response | request[1], 0, 1, 0, 0, 0, 9}
	case request[1] == natPMPAddress:
		a = append(make([]byte, 8), 203, 0, 113, 9)
	default:
		a = make([]byte, 16)
		copy(a[8:], request[4:6])
		binary.BigEndian.PutUint16(a[10:], port)
		copy(a[12:], request[8:12])
	}
	a[1] = response | request[1]
	return a
}

var (
	now      = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	outside  = netip.MustParseAddrPort("203.0.113.9:7790")
	loopback = netip.MustParseAddr("127.0.0.1")
)

// A firewall for IPv6 is asked by PCP alone, from the address that it is to let others in to; it opens that or nothing.
func TestLetsInByIPv6(t *testing.T) {
	needIPv6(t)
	loopback6 := netip.IPv6Loopback()
	for name, test := range map[string]struct {
		answer  func(q []byte) []byte
		problem string
		asked   int // besides the one for the port
	}{
		"as asked":        {func(q []byte) []byte { return pcpAnswer(q, 0, 7790, "::1", 600) }, "", 0},
		"another port":    {func(q []byte) []byte { return pcpAnswer(q, 0, 7791, "::1", 600) }, "open port 7791", 1},
		"another address": {func(q []byte) []byte { return pcpAnswer(q, 0, 7790, "2600::9", 600) }, "dial 2600::9", 1},
		"refused":         {func(q []byte) []byte { return pcpAnswer(q, 2, 7790, "::1", 600) }, "opens no port", 0},
		"knows no PCP":    {func(q []byte) []byte { return natPMPAnswer(q, 7790) }, errSilent6.Error(), 0},
	} {
		r := newFakeRouterAt(t, "udp6", net.IPv6loopback, func(q []byte) [][]byte { return [][]byte{test.answer(q)} })
		k := r.keeper(new([]reach.Forwarding))
		k.config.By, k.machine = IPv6, func(IP) net.IP { return net.IPv6loopback }
		conn, err := k.dial(loopback6)
		if err != nil {
			t.Fatal(err)
		}
		m, protocol, err := k.ask(t.Context(), conn, lease)
		conn.Close()
		asked := r.asked()
		if q := asked[0]; netip.AddrFrom16([16]byte(q[8:24])) != loopback6 ||
			!netip.AddrFrom16([16]byte(q[44:60])).IsUnspecified() {
			t.Errorf("%s: asked % x", name, q)
		}
		if len(asked) != 1+test.asked {
			t.Errorf("%s: asked %d times, want %d", name, len(asked), 1+test.asked)
		}
		switch {
		case test.problem != "":
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %q", name, err, test.problem)
			}
		case err != nil || protocol != pcp || m.external != netip.AddrPortFrom(loopback6, 7790):
			t.Errorf("%s: %+v by %s, %v", name, m, protocol, err)
		}
	}
}

// needIPv6 skips a test where this machine has no IPv6.
func needIPv6(t *testing.T) {
	t.Helper()
	conn, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	conn.Close()
}

// Each router has a nonce of its own, the same whenever it is asked: no other learns what it goes by.
func TestEachRouterHasANonce(t *testing.T) {
	nonce := func(secret byte, router string) string {
		k := &keeper{config: Config{Port: 7790, By: IPv4, Secret: [32]byte{secret}}}
		return string(k.pcpRequest(loopback, netip.MustParseAddr(router), lease)[pcpHeader : pcpHeader+12])
	}
	first, again := nonce(1, "192.168.1.1"), nonce(1, "192.168.1.1")
	if first != again || first == nonce(1, "192.168.1.2") || first == nonce(2, "192.168.1.1") {
		t.Error("nonces are not those of a secret and a router")
	}
}

// A machine without a router for IPv6, or without a public address there, asks nobody, and that is no problem.
func TestNobodyIsAskedWithoutIPv6(t *testing.T) {
	needIPv6(t)
	r := newFakeRouter(t, func([]byte) [][]byte { return nil })
	var told []reach.Forwarding
	k := r.keeper(&told)
	k.config.By, k.machine = IPv6, func(IP) net.IP { return net.IPv6loopback }
	k.gateway = func(IP) (netip.Addr, error) { return netip.Addr{}, errNoRouter }
	k.look(t.Context(), now)
	k.gateway = func(IP) (netip.Addr, error) { return netip.IPv6Loopback(), nil }
	for _, at := range []string{"::1", "fd00::7", "fe80::7"} {
		k.machine = func(IP) net.IP { return net.ParseIP(at) }
		k.look(t.Context(), now.Add(lookEvery))
	}
	if want := []reach.Forwarding{{}}; !slices.Equal(told, want) || len(r.asked()) > 0 {
		t.Errorf("told %+v, want %+v", told, want)
	}
}

// A router forwards the port by PCP: it is asked again after half of the time that it promised, by the same nonce, and
// at the end to forward nothing.
func TestForwardsByPCP(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7790, "203.0.113.9", 600)} })
	var told []reach.Forwarding
	k := r.keeper(&told)
	k.look(t.Context(), now)
	want := reach.Forwarding{Machine: loopback, Router: loopback, Protocol: "PCP", External: outside}
	if !slices.Equal(told, []reach.Forwarding{want}) {
		t.Fatalf("told %+v, want %+v", told, want)
	}
	k.look(t.Context(), now.Add(299*time.Second))
	first := r.asked()
	if len(first) != 1 {
		t.Fatalf("asked %d times, want once", len(first))
	}
	q := first[0]
	if q[0] != 2 || q[1] != 1 || binary.BigEndian.Uint32(q[4:]) != 1200 ||
		netip.AddrFrom16([16]byte(q[8:24])).Unmap() != loopback || q[36] != 6 ||
		binary.BigEndian.Uint16(q[40:]) != 7790 || binary.BigEndian.Uint16(q[42:]) != 7790 {
		t.Errorf("asked % x", q)
	}
	k.look(t.Context(), now.Add(300*time.Second))
	if again := r.asked(); len(again) != 1 || string(again[0]) != string(q) {
		t.Errorf("asked again % x, want the same once", again)
	}
	k.end(t.Context())
	if last := r.asked(); len(last) != 1 || binary.BigEndian.Uint32(last[0][4:]) != 0 ||
		string(last[0][24:42]) != string(q[24:42]) {
		t.Errorf("at the end asked % x", last)
	}
	if len(told) != 1 {
		t.Errorf("told %+v, want one thing", told)
	}
}

// A router that may have begun anew is asked again before that is due, but for one that was asked a moment ago.
func TestARouterInDoubtIsAskedAgain(t *testing.T) {
	for name, code := range map[string]byte{"it forwards": 0, "it refuses": 2} {
		answer := func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, code, 7790, "203.0.113.9", 1200)} }
		r := newFakeRouter(t, answer)
		k := r.keeper(new([]reach.Forwarding))
		k.doubt(t.Context(), now)
		k.doubt(t.Context(), now.Add(freshFor-time.Second))
		if asked := r.asked(); len(asked) != 1 {
			t.Errorf("%s: asked %d times within a moment, want once", name, len(asked))
		}
		k.doubt(t.Context(), now.Add(freshFor))
		k.look(t.Context(), now.Add(freshFor+lease/2-time.Second))
		if asked := r.asked(); len(asked) != 1 {
			t.Errorf("%s: asked %d times within half of the time after, want once", name, len(asked))
		}
	}
}

// Who doubts the router hears when it has answered, or need not be asked.
func TestWhoDoubtsHearsOfTheAnswer(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	doubt := make(chan chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		Run(ctx, Config{Port: 7790, By: IPv6, At: netip.IPv6Loopback(), Told: func(reach.Forwarding) {}, Doubt: doubt})
	})
	for range 2 {
		done := make(chan struct{})
		doubt <- done
		<-done
	}
	end()
	running.Wait()
}

// A router that knows NAT-PMP alone is asked by that, whether it says so or is silent to PCP.
func TestForwardsByNATPMP(t *testing.T) {
	for name, silent := range map[string]bool{"it says so": false, "it is silent": true} {
		t.Run(name, func(t *testing.T) {
			r := newFakeRouter(t, func(q []byte) [][]byte {
				if silent && q[0] != natPMPVersion {
					return nil
				}
				return [][]byte{natPMPAnswer(q, 7790)}
			})
			var told []reach.Forwarding
			k := r.keeper(&told)
			if silent {
				k.wait = time.Millisecond
			}
			k.look(t.Context(), now)
			if len(told) != 1 || told[0].Protocol != "NAT-PMP" || told[0].External != outside {
				t.Fatalf("told %+v", told)
			}
			r.asked()
			k.wait = time.Second
			k.end(t.Context())
			last := r.asked()
			if q := last[len(last)-1]; len(q) != 12 || string(q[1:4]) != "\x02\x00\x00" ||
				string(q[4:]) != "\x1e\x6e\x00\x00\x00\x00\x00\x00" {
				t.Errorf("at the end asked % x", q)
			}
		})
	}
}

// What a router does not forward, or does otherwise, is said, and asked for again ten minutes later.
func TestSaysWhatARouterDoes(t *testing.T) {
	tests := map[string]struct {
		answer func(q []byte) [][]byte
		want   string
	}{
		"silence": {func([]byte) [][]byte { return nil }, "127.0.0.1 answers neither PCP nor NAT-PMP"},
		"a refusal": {func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 2, 0, "::", 1800)} },
			"127.0.0.1 refuses: it opens no port for any machine, or not for this one"},
		"an unknown refusal": {func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 99, 0, "::", 1800)} },
			"127.0.0.1 refuses, by code 99"},
		"a refusal by NAT-PMP": {func(q []byte) [][]byte {
			if q[0] == natPMPVersion {
				return [][]byte{{0, response | q[1], 0, 3, 0, 0, 0, 1}}
			}
			return [][]byte{natPMPAnswer(q, 0)}
		}, "127.0.0.1 refuses: it has no connection outside"},
		"another port": {func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7791, "203.0.113.9", 600)} },
			"127.0.0.1 would open port 7791 in place of 7790, which another machine may have there"},
		"no address": {func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7790, "0.0.0.0", 600)} },
			"127.0.0.1 has no address outside: is it online?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newFakeRouter(t, test.answer)
			var told []reach.Forwarding
			k := r.keeper(&told)
			if name == "silence" {
				k.wait = time.Millisecond
			}
			k.look(t.Context(), now)
			if len(told) != 1 || told[0].Problem != test.want || told[0].External.IsValid() {
				t.Errorf("told %+v, want the problem %q", told, test.want)
			}
			r.asked()
			if k.look(t.Context(), now.Add(lease/2-time.Second)); len(r.asked()) > 0 {
				t.Error("asked again too soon")
			}
			if k.look(t.Context(), now.Add(lease/2)); len(r.asked()) == 0 {
				t.Error("not asked again")
			}
			if len(told) != 1 {
				t.Errorf("told %+v, want one thing", told)
			}
		})
	}
}

// A mapping of another port than the one that was asked for is given up at once.
func TestGivesUpAnotherPort(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7791, "203.0.113.9", 600)} })
	var told []reach.Forwarding
	r.keeper(&told).look(t.Context(), now)
	if asked := r.asked(); len(asked) != 2 || binary.BigEndian.Uint32(asked[1][4:]) != 0 {
		t.Errorf("asked % x, want a request and its end", asked)
	}
}

// What is no answer to the question is passed over: of another version, to somebody else's question, too short.
func TestPassesOverWhatIsNoAnswer(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte {
		good := pcpAnswer(q, 0, 7790, "203.0.113.9", 600)
		other, port, older := slices.Clone(good), slices.Clone(good), slices.Clone(good)
		other[pcpHeader]++   // the nonce
		port[pcpHeader+17]++ // inside
		older[0] = 1
		return [][]byte{nil, {2}, q, other, port, older, good[:pcpPacket-1], good}
	})
	var told []reach.Forwarding
	r.keeper(&told).look(t.Context(), now)
	if len(told) != 1 || told[0].External != outside || told[0].Protocol != "PCP" {
		t.Errorf("told %+v", told)
	}
}

// A router that answers without end what is no answer does not hold the node, and neither does an end of the node wait
// for it.
func TestIsNotHeldByARouter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newFakeRouter(t, func([]byte) [][]byte { cancel(); return nil })
	var told []reach.Forwarding
	k := r.keeper(&told)
	k.wait = time.Hour
	k.look(ctx, now)
	if len(told) != 0 {
		t.Errorf("told %+v of a question that was not answered", told)
	}
}

// Where the clock is set back the router is asked at once: by that clock what it promised would end too late.
func TestAClockThatIsSetBack(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7790, "203.0.113.9", 600)} })
	var told []reach.Forwarding
	k := r.keeper(&told)
	for _, at := range []time.Duration{0, -time.Second, -365 * 24 * time.Hour} {
		k.look(t.Context(), now.Add(at))
		k.look(t.Context(), now.Add(at+299*time.Second))
		if n := len(r.asked()); n != 1 {
			t.Errorf("at %s: asked %d times, want once", at, n)
		}
	}
}

// Another router, or another address of the machine, is asked at once.
func TestAnotherRouterIsAskedAtOnce(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7790, "203.0.113.9", 600)} })
	var told []reach.Forwarding
	k := r.keeper(&told)
	k.look(t.Context(), now)
	k.last.Router = netip.MustParseAddr("192.168.1.1")
	r.asked()
	k.look(t.Context(), now.Add(lookEvery))
	if len(r.asked()) != 1 || len(told) != 2 {
		t.Errorf("told %+v", told)
	}
	k.gateway = func(IP) (netip.Addr, error) { return netip.Addr{}, errNoRouter }
	k.look(t.Context(), now.Add(2*lookEvery))
	if last := told[len(told)-1]; last != (reach.Forwarding{Machine: loopback, Problem: errNoRouter.Error()}) {
		t.Errorf("without a router told %+v", last)
	}
	public := netip.MustParseAddr("198.51.101.4") // as of an interface that is the way out itself
	k.machine = func(IP) net.IP { return public.AsSlice() }
	k.look(t.Context(), now.Add(3*lookEvery))
	if last := told[len(told)-1]; last != (reach.Forwarding{Machine: public}) {
		t.Errorf("with a public address told %+v", last)
	}
	k.end(t.Context())
	if last := r.asked(); len(last) != 1 || binary.BigEndian.Uint32(last[0][4:]) != 0 {
		t.Errorf("at the end the router that had forwarded the port was asked % x", last)
	}
}

// A node that listens at another address of the machine than the one that its router knows has nothing forwarded.
func TestListensElsewhere(t *testing.T) {
	r := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{pcpAnswer(q, 0, 7790, "203.0.113.9", 600)} })
	var told []reach.Forwarding
	k := r.keeper(&told)
	k.config.At = netip.MustParseAddr("192.168.7.7")
	k.look(t.Context(), now)
	if len(told) != 1 || !strings.Contains(told[0].Problem, "listens at 192.168.7.7 alone") || len(r.asked()) > 0 {
		t.Errorf("told %+v", told)
	}
}
