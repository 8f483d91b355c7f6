package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"feedex/feed"
	"feedex/protocol"
	"feedex/transport"
	"feedex/xmlrpc"
)

// A stranger is a neighbor written by hand, as an attacker would write it: it says what the test says, from an address
// of its own, over HTTP. Where it is called it takes everything once, unless it is to refuse some of it.
type stranger struct {
	t       *testing.T
	id      protocol.NodeID
	node    string // that it talks to, "ip:port"
	http    *http.Client
	refuses func(b *protocol.Bundle) *protocol.Fault // what is delivered to it; nil for nothing
	took    chan *protocol.Bundle                    // what it did not refuse
	has     sync.Map                                 // of that, by did
}

// newStranger listens at the address, and calls the node from there, until the test ends.
func newStranger(t *testing.T, ip, node string) *stranger {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(ip, "7790"))
	if err != nil {
		t.Fatal(err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	carrier := &http.Transport{DialContext: dialer.DialContext, MaxConnsPerHost: 1}
	s := &stranger{
		t: t, node: node, http: &http.Client{Transport: carrier},
		took: make(chan *protocol.Bundle, 1000),
	}
	if s.id, err = protocol.ParseNodeID(ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	handler := transport.NewHandler(transport.HandlerConfig{Methods: protocol.NodeMethods(), Serve: s.serve})
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := transport.Serve(ctx, ln, handler, transport.ServerConfig{}); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	})
	t.Cleanup(func() {
		carrier.CloseIdleConnections()
		cancel()
		serving.Wait()
	})
	return s
}

// serve answers what the node calls.
func (s *stranger) serve(_ context.Context, r transport.Request) transport.Response {
	switch c := r.Call.(type) {
	case protocol.CheckDID:
		return transport.Response{Reply: s.seen(c.DID)}
	case protocol.CheckDIDs:
		reply := make(protocol.SeenList, len(c.DIDs))
		for i, did := range c.DIDs {
			reply[i] = s.seen(did)
		}
		return transport.Response{Reply: reply}
	case protocol.PutEntries:
		if s.refuses != nil {
			if fault := s.refuses(c.Bundle); fault != nil {
				return transport.Response{Fault: fault}
			}
		}
		s.has.Store(c.Bundle.DID, true)
		s.took <- c.Bundle
		return transport.Response{Reply: protocol.OK{}}
	case protocol.UpdateSubset, protocol.Disconnect:
		return transport.Response{Reply: protocol.OK{}}
	case protocol.WhoAmI:
		return transport.Response{Reply: r.From}
	}
	return transport.Response{Fault: protocol.Faultf(protocol.UnknownMethod, "it answers no such thing")}
}

// seen reports whether it took the bundle.
func (s *stranger) seen(did protocol.DID) protocol.Seen {
	_, has := s.has.Load(did)
	return protocol.Seen(has)
}

// call makes a call of the node.
func (s *stranger) call(c protocol.Call) (protocol.Reply, error) {
	return callByHand(s.t.Context(), s.http, "http://"+s.node+transport.Path, "", s.id.Port(), c)
}

// callByHand makes a call of a node over HTTP, as a program would that has nothing of ours but the codec.
func callByHand(ctx context.Context, client *http.Client, at, session string, port uint16,
	c protocol.Call) (protocol.Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(protocol.EncodeCall(nil, port, c)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "text/xml")
	if session != "" {
		req.Header.Set(transport.SessionHeader, session)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	v, err := xmlrpc.DecodeResponse(text, protocol.AnswerLimits(c.Method()))
	if fault, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return nil, &protocol.RemoteError{Code: protocol.Code(fault.Code), Text: fault.String}
	} else if err != nil {
		return nil, err
	}
	return protocol.DecodeReply(c, v)
}

// connect becomes a neighbor that follows the feed.
func (s *stranger) connect(u feed.URL) {
	s.t.Helper()
	r, err := s.call(protocol.Connect{Subset: protocol.Subset{{Feed: u}}})
	if subset, ok := r.(protocol.Subset); err != nil || !ok || len(subset) == 0 {
		s.t.Fatalf("%s is not taken for a neighbor: %v, %v", s.id, r, err)
	}
}

// leave ends that.
func (s *stranger) leave() {
	s.t.Helper()
	if _, err := s.call(protocol.Disconnect{Reason: "enough"}); err != nil {
		s.t.Fatal(err)
	}
}

// put delivers entries as polled by itself, or as they came by a path, without a word before. It must not be refused.
func (s *stranger) put(u feed.URL, path []protocol.NodeID, entries ...feed.Entry) {
	s.t.Helper()
	b := protocol.NewBundle(u, entries)
	b.Path = path
	if r, err := s.call(protocol.PutEntries{Bundle: b}); err != nil {
		s.t.Fatalf("the bundle of %s is answered with %v, %v", s.id, r, err)
	}
}

// addressed is the n-th address of a /24 of 20.0.0.0/8.
func addressed(network, n int) string {
	return fmt.Sprintf("20.%d.%d.%d", 10+network/256, network%256, n)
}
