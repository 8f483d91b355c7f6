package transport

import (
	"context"
	"crypto/ed25519"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/internal/tally"
	"feedex/protocol"
)

// Paper §3.4: check_did is "small enough to fit in one packet". The packet is the smallest that every
// network must carry whole, 1,280 bytes (RFC 8200 §5), of which IPv6 and TCP take 72.
func TestPaperCheckFitsInAPacket(t *testing.T) {
	const packet, headers = 1280, 72
	addr := netip.MustParseAddr("2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var got protocol.CheckDID
	token := strings.Repeat("t", protocol.MaxSessionBytes)
	h := newHandler(func(_ context.Context, r Request) Response {
		got = r.Call.(protocol.CheckDID)
		return Response{Reply: protocol.Seen(false), Session: token}
	})
	counted := &tally.Listener{Listener: ln}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, counted, h, ServerConfig{Log: quiet}) }()
	defer func() { cancel(); <-done }()

	client := NewClient(ClientConfig{Port: 65535, AllowLocal: true,
		UserAgent: "feedex/1.10.10 (+https://example.org/feedex)"})
	defer client.CloseIdle()
	for _, c := range []struct {
		name string
		feed string
		told int  // of so many polls
		hint bool // whether it is sent
	}{
		{"no hint", "", 0, false},
		{"an ordinary URL", "https://www.example.org/blog/category/technology/feed.xml", 0, true},
		{"an ordinary URL, and a poll", "https://www.example.org/blog/category/technology/feed.xml", 1, true},
		{"an ordinary URL, and polls", "https://www.example.org/blog/category/technology/feed.xml", 9, false},
		{"a long URL", "https://www.example.org/" + strings.Repeat("p", 300), 0, true},
		{"a URL of 2,000 bytes", "https://www.example.org/" + strings.Repeat("p", 1976), 0, false},
		{"a URL that grows by escapes", "https://www.example.org/?" + strings.Repeat("&", 200), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := counted.In.Load(), counted.Out.Load()
			call := protocol.CheckDID{DID: protocol.DID{0xff}, Feed: feed.URL(c.feed)}
			for range c.told {
				n := protocol.Notice{Feed: call.Feed, Path: []protocol.NodeID{protocol.NewNodeID(addr, 65535)}}
				n.Sign(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), time.Now())
				call.Notices = append(call.Notices, n)
			}
			if _, err := client.Call(ctx, ln.Addr().String(), token, call); err != nil {
				t.Fatal(err)
			}
			in, out = counted.In.Load()-in, counted.Out.Load()-out
			t.Logf("request %d bytes, response %d bytes", in, out)
			if in+headers > packet || out+headers > packet {
				t.Errorf("request %d bytes, response %d bytes, with %d of TCP and IP each; want %d", in, out,
					headers, packet)
			}
			if (got.Feed != "") != c.hint || c.hint && len(got.Notices) != c.told || got.DID != call.DID {
				t.Errorf("served %+v, hint wanted: %v", got, c.hint)
			}
			if c.feed == "" || c.name == "an ordinary URL" {
				if in+out > packet {
					t.Errorf("%d bytes there and back, want %d", in+out, packet)
				}
			}
		})
	}
}
