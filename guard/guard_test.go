package guard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"feedex/guard"
)

// notPublic holds addresses of every special-purpose block, at its edges, and the ways in which
// IPv6 can carry such an IPv4 address inside.
var notPublic = []string{
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.255", // this machine
	"0.0.0.0", "0.0.0.1", "0.255.255.255", // this network
	"10.0.0.0", "10.0.0.1", "10.255.255.255", // private
	"172.16.0.1", "172.20.10.1", "172.31.255.255",
	"192.168.0.1", "192.168.1.254", "192.168.255.255",
	"169.254.0.1", "169.254.169.254", "169.254.170.2", // link-local, cloud metadata
	"100.64.0.1", "100.100.100.200", "100.127.255.255", // carrier-grade NAT
	"192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.7", "203.0.113.9", // assignments, documentation
	"192.88.99.1", "198.18.0.1", "198.19.255.255", // 6to4 relay, benchmarking
	"224.0.0.1", "239.255.255.250", // multicast
	"240.0.0.1", "255.255.255.255", // reserved, broadcast
	"::", "::1", // unspecified, loopback
	"::127.0.0.1", "::10.0.0.1", "::8.8.8.8", // IPv4-compatible
	// v4-mapped
	"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0",
	"::ffff:192.168.0.1",
	"::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254", // v4-translated
	"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::8.8.8.8%lo", "64:ff9b:1::808:808", // NAT64
	"2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1", // 6to4
	"2001::1", "2001:0:7f00:1::", // Teredo
	"2001:db8::1", "3fff::1", // documentation
	"100::1",                   // discard
	"fc00::1", "fd00:ec2::254", // unique local, cloud metadata
	"fe80::1", "fe80::1%lo", "febf::1", // link-local
	"fec0::1",            // site-local
	"ff02::1", "ff0e::1", // multicast
	"5f00::1",            // segment routing
	"4000::1", "e000::1", // not given out
}

var public = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
	"128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
	"223.255.255.255", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::1",
	"64:ff9b::8.8.8.8", // NAT64
}

func TestPublic(t *testing.T) {
	for _, s := range notPublic {
		err := guard.Public(netip.AddrPortFrom(netip.MustParseAddr(s), 443))
		if !errors.Is(err, guard.ErrForbidden) {
			t.Errorf("Public(%s) = %v, want ErrForbidden", s, err)
		}
	}
	for _, s := range public {
		if err := guard.Public(netip.AddrPortFrom(netip.MustParseAddr(s), 443)); err != nil {
			t.Errorf("Public(%s) = %v, want nil", s, err)
		}
	}
	if err := guard.Public(netip.AddrPort{}); !errors.Is(err, guard.ErrForbidden) {
		t.Errorf("Public(zero) = %v, want ErrForbidden", err)
	}
}

// A refusal names the setting that would permit the address, and nothing is said of what is permitted.
func TestUnless(t *testing.T) {
	allow := guard.Unless("allow_private", guard.Public)
	err := allow(netip.MustParseAddrPort("192.168.1.1:7790"))
	if !errors.Is(err, guard.ErrForbidden) ||
		!strings.HasSuffix(err.Error(), "; the setting allow_private permits it") {
		t.Errorf("refused with %v", err)
	}
	if err := allow(netip.MustParseAddrPort("8.8.8.8:7790")); err != nil {
		t.Errorf("a public address is refused: %v", err)
	}
}

// A refused dial ends before the first packet: a listener that would accept never sees it.
func TestDialerRefusesBeforeConnecting(t *testing.T) {
	listener, port := listen(t)
	var asked []string
	dialer := guard.Dialer(func(ap netip.AddrPort) error {
		asked = append(asked, ap.String())
		return guard.Public(ap)
	})
	for _, host := range []string{"127.0.0.1", "127.8.9.10", "localhost", "[::1]", "[::ffff:127.0.0.1]",
		"0.0.0.0", "[::]"} {
		conn, err := dialer.DialContext(t.Context(), "tcp", host+":"+port)
		if err == nil {
			conn.Close()
		}
		if !errors.Is(err, guard.ErrForbidden) {
			t.Errorf("dial %s: %v, want ErrForbidden", host, err)
		}
	}
	if len(asked) < 7 {
		t.Errorf("allow was asked about %v, want every address", asked)
	}

	// The first connection to arrive is the one that is allowed.
	conn, err := guard.Dialer(nil).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if got.RemoteAddr().String() != conn.LocalAddr().String() {
		t.Errorf("accepted %v first, want %v", got.RemoteAddr(), conn.LocalAddr())
	}
}

func TestDialerPassesAllowsError(t *testing.T) {
	_, port := listen(t)
	mine := errors.New("not on a Sunday")
	_, err := guard.Dialer(func(netip.AddrPort) error { return mine }).DialContext(t.Context(), "tcp",
		"127.0.0.1:"+port)
	if !errors.Is(err, mine) {
		t.Errorf("dial: %v, want %v", err, mine)
	}
}

func TestDialerRefusesUnixSockets(t *testing.T) {
	dialer := guard.Dialer(func(netip.AddrPort) error { return nil })
	_, err := dialer.DialContext(context.Background(), "unix", t.TempDir()+"/socket")
	if !errors.Is(err, guard.ErrForbidden) {
		t.Errorf("dial a Unix socket: %v, want ErrForbidden", err)
	}
}

func listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return l, port
}

// Services of this machine at its own addresses are out of reach, by whichever of them, though some may be public.
func TestThisMachineIsOutOfReach(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	here := []netip.Addr{}
	for _, text := range []string{"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::",
		"::ffff:0.0.0.0"} {
		here = append(here, netip.MustParseAddr(text))
	}
	for _, n := range own {
		if ip, ok := netip.AddrFromSlice(n.(*net.IPNet).IP); ok {
			here = append(here, ip, netip.AddrFrom16(ip.As16()), ip.Unmap())
			if ip = ip.Unmap(); ip.Is4() {
				here = append(here, netip.MustParseAddr("64:ff9b::"+ip.String()))
			}
		}
	}
	for _, a := range here {
		for _, allow := range []func(netip.AddrPort) error{guard.NotHere, guard.Others} {
			if err := allow(netip.AddrPortFrom(a, 8080)); !errors.Is(err, guard.ErrForbidden) {
				t.Errorf("%s: %v", a, err)
			}
		}
	}
	for _, text := range []string{"8.8.8.8", "2606:4700:4700::1111", "64:ff9b::8.8.8.8"} {
		if err := guard.Others(netip.AddrPortFrom(netip.MustParseAddr(text), 8080)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
