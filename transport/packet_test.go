package transport

import (
	"context"
	"net"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/internal/tally"
	"feedex/protocol"
)

// Paper §3.4: check_did is "small enough to fit in one packet". The packet is the smallest that every
// network must carry whole, 1,280 bytes (RFC 8200 §5), of which IPv6 and TCP take 72.
func TestPaperCheckFitsInAPacket(t *testing.T) {
	const packet, headers = 1280, 72
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
		hint bool // whether it is sent
	}{
		{"no hint", "", false},
		{"an ordinary URL", "https://www.example.org/blog/category/technology/feed.xml", true},
		{"a long URL", "https://www.example.org/" + strings.Repeat("p", 300), true},
		{"a URL of 2,000 bytes", "https://www.example.org/" + strings.Repeat("p", 1976), false},
		{"a URL that grows by escapes", "https://www.example.org/?" + strings.Repeat("&", 200), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := counted.In.Load(), counted.Out.Load()
			call := protocol.CheckDID{DID: protocol.DID{0xff}, Feed: feed.URL(c.feed)}
			if _, err := client.Call(ctx, ln.Addr().String(), token, call); err != nil {
				t.Fatal(err)
			}
			in, out = counted.In.Load()-in, counted.Out.Load()-out
			t.Logf("request %d bytes, response %d bytes", in, out)
			if in+headers > packet || out+headers > packet {
				t.Errorf("request %d bytes, response %d bytes, with %d of TCP and IP each; want %d", in, out,
					headers, packet)
			}
			if (got.Feed != "") != c.hint || got.DID != call.DID {
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
