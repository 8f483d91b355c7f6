package lab

import (
	"context"
	"crypto/sha1"
	"net"
	"strings"
	"testing"

	"feedex/internal/tally"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

// The bytes that the lab counts are those that transport sends.
func TestBytesAreThoseOfTransport(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	token := strings.Repeat("t", 32)
	reply := protocol.Reply(protocol.Seen(true))
	h := transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(context.Context, transport.Request) transport.Response {
			return transport.Response{Reply: reply, Session: token}
		},
	})
	counted := &tally.Listener{Listener: ln}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- transport.Serve(ctx, counted, h, transport.ServerConfig{}) }()
	defer func() { cancel(); <-done }()
	client := transport.NewClient(transport.ClientConfig{Port: 7790, AllowLocal: true, UserAgent: userAgent})
	defer client.CloseIdle()

	long := make(protocol.NodeList, 0, 50)
	for i := range 50 {
		long = append(long, address(i))
	}
	var dids []protocol.DID
	for i := range protocol.MaxDIDs {
		dids = append(dids, sha1.Sum([]byte{byte(i)}))
	}
	for _, c := range []struct {
		session string
		call    protocol.Call
		reply   protocol.Reply
	}{
		{"", protocol.GetNeighbors{}, protocol.NodeList{}},
		{token, protocol.CheckDID{DID: protocol.DID{1}}, protocol.Seen(true)},
		{token, protocol.CheckDID{DID: protocol.DID{1}, Feed: "https://www.example.org/feed.xml"},
			protocol.Seen(true)},
		{token, protocol.CheckDIDs{DIDs: make([]protocol.DID, 64)}, make(protocol.SeenList, 64)},
		{token, protocol.CheckDIDs{DIDs: dids}, make(protocol.SeenList, len(dids))},
		{token, protocol.GetNeighbors{}, long},
	} {
		reply = c.reply
		in, out := counted.In.Load(), counted.Out.Load()
		if _, err := client.Call(ctx, ln.Addr().String(), c.session, c.call); err != nil {
			t.Fatal(err)
		}
		in, out = counted.In.Load()-in, counted.Out.Load()-out
		w := &World{config: Config{EveryMessage: true}}
		open := &inFlightCall{from: &Host{seen: protocol.NewNodeID(address(1).Addr(), 7790)},
			made: node.Call{To: node.Target{Host: ln.Addr().String()}, Session: c.session, Call: c.call}}
		var counts codec
		counts.call(w, open)
		counts.reply(w, open, node.Respond{Session: token, Reply: c.reply})
		if in != open.bytes || out != open.answered {
			t.Errorf("%s took %d bytes there and %d back; the lab counts %d and %d", c.call.Method(), in, out,
				open.bytes, open.answered)
		}
	}
}
