package lab

import (
	"context"
	"net"
	"strings"
	"testing"

	"feedex/internal/tally"
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
	for _, c := range []struct {
		call  protocol.Call
		reply protocol.Reply
	}{
		{protocol.CheckDID{DID: protocol.DID{1}, Feed: "https://www.example.org/feed.xml"},
			protocol.Seen(true)},
		{protocol.CheckDIDs{DIDs: make([]protocol.DID, 64)}, make(protocol.SeenList, 64)},
		{protocol.GetNeighbors{}, long},
	} {
		reply = c.reply
		in, out := counted.In.Load(), counted.Out.Load()
		if _, err := client.Call(ctx, ln.Addr().String(), token, c.call); err != nil {
			t.Fatal(err)
		}
		in, out = counted.In.Load()-in, counted.Out.Load()-out
		wantIn := int64(requestBytes(len(ln.Addr().String()), token, len(protocol.EncodeCall(nil, 7790, c.call))))
		wantOut := int64(responseBytes(token, len(protocol.EncodeReply(nil, c.reply))))
		if in != wantIn || out != wantOut {
			t.Errorf("%s took %d bytes there and %d back; the lab counts %d and %d", c.call.Method(), in, out,
				wantIn, wantOut)
		}
	}
}
