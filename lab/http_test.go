package lab

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"feedex/protocol"
	"feedex/transport"
)

// A tally counts what passes over the connections of a listener.
type tally struct {
	net.Listener
	in, out atomic.Int64
}

func (l *tally) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &tallied{c, l}, err
}

type tallied struct {
	net.Conn
	l *tally
}

func (c *tallied) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.l.in.Add(int64(n))
	return n, err
}

func (c *tallied) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.l.out.Add(int64(n))
	return n, err
}

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
	counted := &tally{Listener: ln}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- transport.Serve(ctx, counted, h, transport.ServerConfig{AllowLocal: true}) }()
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
		{protocol.CheckDID{DID: protocol.DID{1}, Feed: "https://www.example.org/feed.xml", Entries: 7}, protocol.Seen(true)},
		{protocol.CheckDIDs{DIDs: make([]protocol.DID, 64)}, make(protocol.SeenList, 64)},
		{protocol.GetNeighbors{}, long},
	} {
		reply = c.reply
		in, out := counted.in.Load(), counted.out.Load()
		if _, err := client.Call(ctx, ln.Addr().String(), token, c.call); err != nil {
			t.Fatal(err)
		}
		in, out = counted.in.Load()-in, counted.out.Load()-out
		wantIn := int64(requestBytes(ln.Addr().String(), token, len(protocol.EncodeCall(nil, 7790, c.call))))
		wantOut := int64(responseBytes(token, len(protocol.EncodeReply(nil, c.reply))))
		if in != wantIn || out != wantOut {
			t.Errorf("%s took %d bytes there and %d back; the lab counts %d and %d", c.call.Method(), in, out, wantIn, wantOut)
		}
	}
}
