package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/guard"
	"feedex/node"
)

// spellings are hosts that are not public, in every way that somebody may write them. Names stand for
// what a resolver makes of them: ours reads numbers like inet_aton, as the C library's does.
var spellings = []string{
	// this machine
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "127.0.0.1.",
	"127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "0x7f000001", "0X7F000001", "2130706433",
	"017700000001", "0177.1",
	"127.000.000.001", "00127.0.0.1", "0", "0.0.0.0", "0x0", "0.0.0.1",
	"localhost", "LOCALHOST", "localhost.", "rebind.localhost.example",
	"%31%32%37.0.0.1", "127%2e0%2e0%2e1",
	"１２７.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "127．0．0．1",
	// IPv6, with IPv4 inside
	"[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]",
	"[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]",
	"[64:ff9b:1::7f00:1]",
	"[2002:7f00:1::]", "[2002:7f00:1::1]", "[2001:0:7f00:1::]", "[::1%25lo]",
	// private networks and the cloud's metadata
	"10.0.0.1", "10.255.255.255", "012.0.0.1", "167772161", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1",
	"0xc0a80001",
	"169.254.169.254", "169.254.170.2", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "metadata.example",
	"100.100.100.200",
	"[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]",
	"[2002:a9fe:a9fe::1]", "[2002:c0a8:1::1]",
	"[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]",
	// shared, reserved, multicast, documentation
	"100.64.0.1", "192.0.0.192", "198.18.0.1", "192.0.2.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
	"255.255.255.255",
	"[ff02::1]", "[ff0e::1]", "[100::1]", "[2001:db8::1]", "[5f00::1]",
}

// inetAton reads a number as C's inet_aton does: one to four parts, decimal, octal or hexadecimal, the
// last of which fills what is left. Other names are this machine's.
func inetAton(name string, _ int) netip.Addr {
	var ip uint64
	parts := strings.Split(name, ".")
	for i, part := range parts {
		var n uint64
		format := "%d"
		switch {
		case strings.HasPrefix(part, "0x"):
			part, format = part[2:], "%x"
		case strings.HasPrefix(part, "0"):
			format = "%o"
		}
		if _, err := fmt.Sscanf(part, format, &n); err != nil {
			return netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		if i < len(parts)-1 {
			n <<= 24 - 8*i
		}
		ip |= n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)})
}

// Whatever a feed's URL or a redirect names, nothing leaves for an address that is not public.
func TestNoSpellingReachesPrivateAddresses(t *testing.T) {
	if len(spellings) < 60 {
		t.Errorf("only %d spellings", len(spellings))
	}
	l := listen(t)
	c := New(Config{Resolver: nameServer(t, inetAton), PrivateHosts: []string{"other.example"}})
	defer c.CloseIdle()
	for _, host := range spellings {
		for _, scheme := range []string{"http", "https"} {
			raw := scheme + "://" + host + ":" + l.port() + "/feed"
			got := c.Fetch(t.Context(), node.Fetch{Feed: feed.URL(raw)})
			if got.Err == nil || got.Document != nil {
				t.Errorf("%s: no error", raw)
			}
			// Some do not even parse or resolve; the others are refused by the guard.
			var dns *net.DNSError
			if u, err := url.Parse(raw); err == nil && !errors.Is(got.Err, guard.ErrForbidden) &&
				!errors.As(got.Err, &dns) {
				t.Errorf("%s (%s): %v, want ErrForbidden", raw, u.Host, got.Err)
			}
		}
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections left", n)
	}
}

// The resolver gives a public address when somebody looks and another one when it counts.
func TestRebindingResolver(t *testing.T) {
	l := listen(t)
	for _, private := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254"} {
		const name = "rebind.example.com"
		r := nameServer(t, func(_ string, n int) netip.Addr {
			if n == 0 {
				return netip.MustParseAddr("8.8.8.8")
			}
			return netip.MustParseAddr(private)
		})
		before, err := r.LookupNetIP(t.Context(), "ip4", name)
		if err != nil || len(before) != 1 || !feed.PublicAddr(before[0]) {
			t.Fatalf("the first look gives %v, %v, want a public address", before, err)
		}
		got := fetchWith(t, Config{Resolver: r}, node.Fetch{Feed: feed.URL("http://" + name + ":" + l.port() + "/")})
		if !errors.Is(got.Err, guard.ErrForbidden) {
			t.Errorf("%s: %v, want ErrForbidden", private, got.Err)
		}
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections left", n)
	}
}

// Where a feed is located nobody is asked: its name is looked up, and is public if its addresses are.
func TestANameIsLocated(t *testing.T) {
	l := listen(t)
	r := nameServer(t, func(name string, _ int) netip.Addr {
		if name == "public.example.com" {
			return netip.MustParseAddr("8.8.8.8")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	for host, public := range map[string]bool{
		"public.example.com": true, "8.8.8.8": true, "intranet.example.com": false, "127.0.0.1": false, "::1": false,
		"64:ff9b::8.8.8.8": true, "64:ff9b::10.0.0.1": false, // by NAT64
	} {
		got := fetchWith(t, Config{Resolver: r}, node.Fetch{
			Feed: feed.URL("http://" + net.JoinHostPort(host, l.port()) + "/"), Locate: true,
		})
		if !got.Located || got.Dialed != public || len(got.Requests) > 0 {
			t.Errorf("%s: %+v, want public %v", host, got, public)
		}
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections left", n)
	}
}

// pretend makes the client take the server for public.example, at a public address.
func pretend(c *Client, server string) {
	guarded := c.guarded.DialContext
	c.guarded.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == "public.example:80" {
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(server, "http://"))
		}
		return guarded(ctx, network, addr)
	}
}

func TestRedirectsAreRechecked(t *testing.T) {
	l := listen(t)
	secret, requests := serve(t, serveRSS)
	port := secret[strings.LastIndexByte(secret, ':')+1:]
	resolver := nameServer(t, inetAton)
	for _, target := range []string{
		"http://127.0.0.1:" + l.port() + "/", "http://localhost:" + l.port() + "/", "http://[::1]:" + l.port() + "/",
		"//127.0.0.1:" + l.port() + "/", "http://0x7f.1:" + l.port() + "/", "http://169.254.169.254/latest/meta-data/",
		"http://[::ffff:127.0.0.1]:" + l.port() + "/",
		"http://nas.example:" + port + "/", // the owner's leave was for feeds there, not for this publisher
		"https://public.example:25/", "http://public.example:22/",
	} {
		public, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusFound)
		})
		c := New(Config{Resolver: resolver, PrivateHosts: []string{"nas.example"}})
		pretend(c, public)
		// A connection that the owner's own feed has left open must not be of use either.
		wantEntry(t, c.Fetch(t.Context(), node.Fetch{Feed: feed.URL("http://nas.example:" + port + "/")}))
		got := c.Fetch(t.Context(), node.Fetch{Feed: "http://public.example/feed"})
		if !errors.Is(got.Err, guard.ErrForbidden) {
			t.Errorf("redirect to %s: %v, want ErrForbidden", target, got.Err)
		}
		c.CloseIdle()
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections left", n)
	}
	if n := requests.Load(); n != 10 {
		t.Errorf("the private server got %d requests, want those of its own feed only", n)
	}
}

// A feed that neighbors named leads to no other host, whatever its publisher says.
func TestStrangersFeedsLeadNowhereElse(t *testing.T) {
	other, requests := serve(t, serveRSS)
	port := other[strings.LastIndexByte(other, ':')+1:]
	for host, allowed := range map[string]bool{"public.example": true, "www.public.example": true,
		"victim.example": false} {
		public, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://"+host+":"+port+"/")
			w.WriteHeader(http.StatusMovedPermanently)
		})
		c := New(Config{Resolver: nameServer(t, inetAton), AllowLocal: true})
		from := feed.URL(strings.Replace(public, "127.0.0.1", "public.example", 1))
		before := requests.Load()
		got := c.Fetch(t.Context(), node.Fetch{Feed: from, SameHost: true})
		if (got.Err == nil) != allowed || !allowed && !errors.Is(got.Err, ErrElsewhere) ||
			(requests.Load() > before) != allowed {
			t.Errorf("to %s: %v, %d requests", host, got.Err, requests.Load()-before)
		}
		wantEntry(t, c.Fetch(t.Context(), node.Fetch{Feed: from}))
		c.CloseIdle()
	}
}

func TestRedirectsToOtherSchemes(t *testing.T) {
	for _, target := range []string{"file:///etc/passwd", "gopher://127.0.0.1/", "ftp://example.com/", "javascript:x",
		"mailto:x@example.com", "http://", "http://a b/", "\x7f", ""} {
		public, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Location"] = []string{target}
			w.WriteHeader(http.StatusMovedPermanently)
		})
		if got := local(t, public); got.Err == nil || !strings.Contains(got.Err.Error(), "redirect") &&
			!strings.Contains(got.Err.Error(), "malformed") {
			t.Errorf("redirect to %q: %v, want an error", target, got.Err)
		}
	}
}

func TestPrivateHosts(t *testing.T) {
	server, _ := serve(t, serveRSS)
	port := server[strings.LastIndexByte(server, ':')+1:]
	resolver := nameServer(t, inetAton)
	for _, test := range []struct {
		name    string
		cfg     Config
		url     string
		allowed bool
		local   bool
	}{
		{"by default", Config{}, "http://nas.example:" + port + "/", false, true},
		{"named", Config{PrivateHosts: []string{"nas.example"}}, "http://nas.example:" + port + "/", true, true},
		{"named, other spelling", Config{PrivateHosts: []string{"NAS.example."}},
			"http://nas.example:" + port + "/", true, true},
		{"named by address", Config{PrivateHosts: []string{"127.0.0.1"}}, "http://127.0.0.1:" + port + "/", true, true},
		{"another is named", Config{PrivateHosts: []string{"nas.example"}}, "http://127.0.0.1:" + port + "/",
			false, true},
		{"parent is named", Config{PrivateHosts: []string{"example"}}, "http://nas.example:" + port + "/", false, true},
		{"local allowed", Config{AllowLocal: true}, "http://nas.example:" + port + "/", true, false},
		{"local allowed and named", Config{AllowLocal: true, PrivateHosts: []string{"nas.example"}},
			"http://nas.example:" + port + "/", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Resolver = resolver
			got := fetchWith(t, test.cfg, node.Fetch{Feed: feed.URL(test.url)})
			switch {
			case test.allowed:
				wantEntry(t, got)
			case !errors.Is(got.Err, guard.ErrForbidden):
				t.Errorf("%v, want ErrForbidden", got.Err)
			}
			if got.Local != test.local || got.Unreached == test.allowed {
				t.Errorf("Local is %v, want %v; unreached is %v", got.Local, test.local, got.Unreached)
			}
		})
	}
}

func TestPublicFeedPorts(t *testing.T) {
	addr := netip.MustParseAddr("8.8.8.8")
	for port, allowed := range map[uint16]bool{
		80: true, 443: true, 1024: true, 8080: true, 8443: true, 65535: true,
		0: false, 7: false, 21: false, 22: false, 23: false, 25: false, 53: false, 110: false, 143: false, 445: false,
		587: false, 993: false, 1023: false,
	} {
		if err := guard.Web(netip.AddrPortFrom(addr, port)); (err == nil) != allowed || err != nil &&
			!errors.Is(err, guard.ErrForbidden) {
			t.Errorf("port %d: %v, want allowed %v", port, err, allowed)
		}
	}
}

// A proxy would look names up itself and connect past the guard.
func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	l := listen(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://"+l.Addr().String())
	}
	got := fetchWith(t, Config{Resolver: nameServer(t, inetAton)}, node.Fetch{Feed: "http://10.0.0.1/"})
	if !errors.Is(got.Err, guard.ErrForbidden) {
		t.Errorf("%v, want ErrForbidden", got.Err)
	}
	if n := l.close(t); n > 0 {
		t.Errorf("%d connections to the proxy", n)
	}
}
