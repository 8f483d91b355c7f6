package lan

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/ipv4"

	"feedex/protocol"
)

// A testLAN has the packets and the tellings of a Responder on 192.168.1.2/24, interface 3, whose time the test
// makes.
type testLAN struct {
	*Responder
	now  time.Time
	sent []packet
	told [][]Neighboring
}

func newTestNetwork(t *testing.T) *testLAN {
	t.Helper()
	w := &testLAN{now: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
	w.Responder = New(Config{Key: keyOf(1), Port: 7790, Found: func(list []Neighboring, own []protocol.NodeID) {
		w.told = append(w.told, list)
		if len(own) != 1 || own[0].String() != "192.168.1.2:7790" {
			t.Errorf("it is known as %v", own)
		}
	}})
	w.lookAt = w.now.AddDate(1, 0, 0)
	w.cameTo(w.now, []inter{{3, netip.MustParsePrefix("192.168.1.2/24")}})
	return w
}

// run lets d pass, and counts what is sent: announcements and queries.
func (w *testLAN) run(t *testing.T, d time.Duration) (announcements, queries int) {
	t.Helper()
	for end := w.now.Add(d); ; {
		w.tell(w.now, func(_ *lanNetwork, data []byte) {
			p, err := read(data, keyOf(999))
			if err != nil {
				t.Fatal(err)
			}
			if w.sent = append(w.sent, p); len(p.nodes) > 0 {
				announcements++
			} else {
				queries++
			}
		})
		next := w.next()
		if !next.After(w.now) {
			t.Fatalf("at %v something is to be done at once again", w.now)
		}
		if next.After(end) {
			w.now = end
			return announcements, queries
		}
		w.now = next
	}
}

// hear has a packet come in from an address, and port 5353.
func (w *testLAN) hear(from string, data []byte) bool {
	return w.take(w.now, data, netip.AddrPortFrom(netip.MustParseAddr(from), port), 3)
}

// node is the announcement of a node.
func node(key int, port uint16, goodbye bool) []byte {
	return announcement(keyOf(key), netip.AddrPortFrom(netip.MustParseAddr("10.9.9.9"), port), goodbye)
}

// A node that comes to a network announces itself twice, a second apart (RFC 6762 §8.3), and asks at intervals that
// double up to an hour (§5.2).
func TestComingToANetwork(t *testing.T) {
	w := newTestNetwork(t)
	if said, asked := w.run(t, time.Second/2); said != 1 || asked != 1 {
		t.Errorf("at first: %d announcements, %d queries", said, asked)
	}
	if said, asked := w.run(t, time.Minute); said != 1 || asked != 5 {
		t.Errorf("within a minute: %d announcements, %d queries, want 1 and 5", said, asked)
	}
	w.run(t, 3*time.Hour)
	if said, asked := w.run(t, 24*time.Hour); said != 0 || asked != 24 {
		t.Errorf("in a day: %d announcements, %d queries", said, asked)
	}
}

// Queries are answered, once a second at most however many there are (§6).
func TestAnswersAreFew(t *testing.T) {
	w := newTestNetwork(t)
	w.run(t, time.Minute)
	said := 0
	for range 100 {
		if !w.hear("192.168.1.9", queryFor(nil)) {
			t.Fatal("a query is nothing to do anything about")
		}
		n, _ := w.run(t, 100*time.Millisecond)
		said += n
	}
	if said < 9 || said > 11 {
		t.Errorf("ten queries a second for ten seconds had %d answers", said)
	}
}

// A node is where its packet came from, whatever the packet says, until it says goodbye or is not heard for long;
// and what comes from elsewhere than a network of this machine counts for nothing (§11).
func TestWhoIsNear(t *testing.T) {
	w := newTestNetwork(t)
	near := func(ap string) bool { return w.Near(netip.MustParseAddrPort(ap)) }
	w.hear("192.168.1.9", node(2, 7790, false))
	if !near("192.168.1.9:7790") || near("10.9.9.9:7790") || near("192.168.1.9:7791") {
		t.Error("the node is not where its packet came from alone")
	}
	w.run(t, time.Second)
	got := w.told[len(w.told)-1]
	if len(got) != 1 || got[0].ID.String() != "192.168.1.9:7790" || got[0].Key != keyOf(2) {
		t.Errorf("told: %v", got)
	}
	for _, from := range []string{"192.168.2.9", "8.8.8.8", "192.168.1.255", "192.168.1.0", "192.168.1.2", "127.0.0.1",
		"fe80::1"} {
		if w.hear(from, node(3, 7790, false)) {
			t.Errorf("a packet from %s counts", from)
		}
	}
	at := netip.MustParseAddr("192.168.1.9")
	if w.take(w.now, node(3, 7791, false), netip.AddrPortFrom(at, 5354), 3) ||
		w.take(w.now, node(3, 7791, false), netip.AddrPortFrom(at, port), 4) ||
		w.hear("192.168.1.9", node(1, 7791, false)) {
		t.Error("packets from another port, by another interface or of the node itself count")
	}
	w.hear("192.168.1.10", node(2, 7790, true))
	w.hear("192.168.1.9", node(3, 7790, true))
	if !near("192.168.1.9:7790") {
		t.Error("the goodbye of another ends it")
	}
	w.hear("192.168.1.9", node(2, 7790, true))
	if near("192.168.1.9:7790") {
		t.Error("it is still there after its goodbye")
	}

	w.hear("192.168.1.9", node(2, 7790, false))
	w.run(t, otherLife-time.Second)
	if !near("192.168.1.9:7790") {
		t.Error("it is forgotten before its time")
	}
	w.run(t, time.Second)
	if near("192.168.1.9:7790") {
		t.Error("it is remembered for longer than it said")
	}
	w.hear("192.168.1.9", node(2, 7790, false))
	w.cameTo(w.now, nil)
	w.config.Found = func(list []Neighboring, own []protocol.NodeID) {
		if len(list) > 0 || len(own) > 0 {
			t.Errorf("on no network there are %v, and the node is %v", list, own)
		}
	}
	w.tell(w.now, nil)
	if near("192.168.1.9:7790") {
		t.Error("it is near although the machine left the network")
	}
}

// Who is there is asked for again before its time is over (§5.2).
func TestNodesAreAskedForAgain(t *testing.T) {
	w := newTestNetwork(t)
	w.run(t, 10*time.Hour)
	w.hear("192.168.1.9", node(2, 7790, false))
	before := len(w.sent)
	w.run(t, otherLife)
	if n := len(w.sent) - before; n < 4 || n > 6 {
		t.Errorf("it was asked for %d times within its life", n)
	}
}

// A storm of invented nodes grows nothing, has the node look at no more than it may, and is said once.
func TestAStorm(t *testing.T) {
	w := newTestNetwork(t)
	w.run(t, time.Minute)
	w.hear("192.168.1.9", node(9999, 7790, false))
	storm := func() (seen map[protocol.NodeID]bool) {
		seen = make(map[protocol.NodeID]bool)
		for i := range 10_000 {
			from := fmt.Sprintf("192.168.1.%d", 10+i%200)
			data := node(2+i%1000, uint16(2000+i%1000), i%7 == 0)
			w.hear(from, data)
			if i%100 == 0 {
				w.run(t, 100*time.Millisecond)
			}
			for _, k := range w.nodes.list {
				seen[k.id] = true
			}
		}
		return seen
	}
	first := storm()
	if len(w.nodes.list) > maxNodes || len(first) > maxNodes+1 {
		t.Errorf("%d nodes are remembered, %d were told", len(w.nodes.list), len(first))
	}
	if !w.Near(netip.MustParseAddrPort("192.168.1.9:7790")) {
		t.Error("who was there before is forgotten")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	storm()
	w.sent, w.told = nil, nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("it took %d bytes", grown)
	}
}

// One address has few places.
func TestOneAddressHasFewPlaces(t *testing.T) {
	w := newTestNetwork(t)
	for i := range 100 {
		w.hear("192.168.1.9", node(2+i, uint16(2000+i), false))
	}
	if len(w.nodes.list) != maxPerAddress {
		t.Errorf("one address has %d nodes", len(w.nodes.list))
	}
	if w.hear("192.168.1.10", node(2, 7790, false)); len(w.nodes.list) != maxPerAddress+1 {
		t.Error("another has no place")
	}
}

// Beyond so many packets a second none are read.
func TestAStormIsNotRead(t *testing.T) {
	w := newTestNetwork(t)
	for range maxPackets - 1 {
		if w.breather(w.now) != 0 {
			t.Fatal("it waits too early")
		}
	}
	if wait := w.breather(w.now.Add(time.Second / 4)); wait != 3*time.Second/4 {
		t.Errorf("it waits for %v", wait)
	}
	if w.breather(w.now.Add(time.Second)) != 0 {
		t.Error("it waits in the next second, too")
	}
}

// A node that went and runs again announces itself and asks as it did at first, and knows who is there.
func TestRunningAgain(t *testing.T) {
	w := newTestNetwork(t)
	w.hear("192.168.1.9", node(2, 7790, false))
	w.run(t, time.Minute)
	w.interfaces = func() ([]inter, error) { return []inter{{3, netip.MustParsePrefix("192.168.1.2/24")}}, nil }
	var said []packet
	w.goodbye(func(_ *lanNetwork, data []byte) {
		p, err := read(data, keyOf(999))
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, p)
	})
	if len(said) != 1 || len(said[0].nodes) != 1 || said[0].nodes[0].life != 0 {
		t.Errorf("going it says %+v", said)
	}
	w.look(w.now, new(ipv4.PacketConn))
	if said, asked := w.run(t, time.Second/2); said != 1 || asked != 1 {
		t.Errorf("when it runs again: %d announcements, %d queries", said, asked)
	}
	if !w.Near(netip.MustParseAddrPort("192.168.1.9:7790")) {
		t.Error("who was there is forgotten")
	}
}

// A machine that slept comes to its networks anew, as others may have forgotten the node, and forgets those that do not
// say soon that they are there still.
func TestAfterASleep(t *testing.T) {
	w := newTestNetwork(t)
	w.run(t, 3*time.Hour)
	w.interfaces = func() ([]inter, error) { return []inter{{3, netip.MustParsePrefix("192.168.1.2/24")}}, nil }
	near := func(ap string) bool { return w.Near(netip.MustParseAddrPort(ap)) }
	for range 3 {
		w.lookAt = w.now
		w.look(w.now, new(ipv4.PacketConn))
		if said, _ := w.run(t, lookEvery-time.Second); said != 0 {
			t.Fatal("it announces itself although nothing happened")
		}
	}
	w.hear("192.168.1.9", node(2, 7790, false))
	w.hear("192.168.1.10", node(3, 7790, false))
	w.now = w.now.Add(time.Hour)
	w.look(w.now, new(ipv4.PacketConn))
	w.lookAt = w.now.AddDate(1, 0, 0)
	if said, asked := w.run(t, 2*time.Second); said != 2 || asked < 2 {
		t.Errorf("after a sleep: %d announcements, %d queries", said, asked)
	}
	if !near("192.168.1.9:7790") || !near("192.168.1.10:7790") {
		t.Error("who was there is forgotten at once")
	}
	w.hear("192.168.1.9", node(2, 7790, false))
	w.run(t, hostLife)
	if !near("192.168.1.9:7790") || near("192.168.1.10:7790") {
		t.Error("who answers is forgotten, or who does not is not")
	}
}

// Of an interface that is there no more the group is left: a system lets a socket join on a few only, and those that
// are gone count.
func TestGroupsOfInterfacesThatAreGone(t *testing.T) {
	all, err := net.Interfaces()
	i := slices.IndexFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
	if err != nil || i < 0 {
		t.Skip("it has no loopback interface that is known:", err)
	}
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := ipv4.NewPacketConn(conn)
	w := newTestNetwork(t)
	join := func() error { return p.JoinGroup(&all[i], group) }
	for _, there := range [][]inter{{{all[i].Index, netip.MustParsePrefix("192.168.1.2/24")}}, nil} {
		w.interfaces = func() ([]inter, error) { return there, nil }
		w.lookAt = w.now
		w.look(w.now, p)
		if err := join(); (err == nil) != (there == nil) {
			t.Errorf("with the interfaces %v to join ends with %v", there, err)
		}
	}
}

// A packet that cannot be received ends nothing, and nor do many; where a second has nothing else there is no more to
// come.
func TestFaultsOfReceiving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestNetwork(t)
		fault, read := errors.New("a packet longer than what it is to be read into"), 0
		from := &net.UDPAddr{IP: net.IPv4(192, 168, 1, 9), Port: port}
		next := func(data []byte) (int, *ipv4.ControlMessage, net.Addr, error) {
			switch read++; {
			case read <= 3*maxPackets:
				time.Sleep(2 * time.Second / maxPackets)
			case read == 3*maxPackets+1:
				return copy(data, node(2, 7790, false)), nil, from, nil
			case read > 5*maxPackets:
				t.Fatal("it goes on for ever")
			}
			return 0, nil, nil, fault
		}
		if err := w.receive(t.Context(), next, make(chan struct{}, 1)); !errors.Is(err, fault) {
			t.Errorf("it ends by %v", err)
		}
		if !w.Near(netip.MustParseAddrPort("192.168.1.9:7790")) {
			t.Errorf("after %d it reads no more", read)
		}
		closed := func([]byte) (int, *ipv4.ControlMessage, net.Addr, error) { return 0, nil, nil, net.ErrClosed }
		if err := w.receive(t.Context(), closed, nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("without a socket it ends by %v", err)
		}
	})
}
