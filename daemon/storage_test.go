package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/protocol"
	"feedex/transport"
)

// A testPeer is a neighbor that the test plays.
type testPeer struct {
	t      *testing.T
	client *transport.Client
	node   string
}

// startPeer makes a peer of n, which is friendly and a neighbor once it connects.
func startPeer(t *testing.T, n *testNode) *testPeer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(ctx context.Context, r transport.Request) transport.Response {
			reply, _ := friendly(ctx, "", r.Call)
			return transport.Response{Reply: reply}
		},
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-served })
	p := &testPeer{t: t, node: n.at.Listen,
		client: transport.NewClient(transport.ClientConfig{Port: portOf(ln), AllowLocal: true})}
	t.Cleanup(p.client.CloseIdle)
	return p
}

// call makes a call to the node and returns the code of the fault that is the answer, 0 for none.
func (p *testPeer) call(c protocol.Call) protocol.Code {
	p.t.Helper()
	_, err := p.client.Call(p.t.Context(), p.node, "the peer's", c)
	var refused *protocol.RemoteError
	if err != nil && !errors.As(err, &refused) {
		p.t.Fatal(err)
	}
	if refused == nil {
		return 0
	}
	return refused.Code
}

// A disk that is full refuses, says so, and loses nothing that was acknowledged; when it is mended the
// node goes on, and believes in nothing that was refused.
func TestStorageFaults(t *testing.T) {
	f, g := startFeed(t, "First"), startFeed(t, "Other")
	log, said := overhear()
	n := startNode(t, Config{Log: log, Subscribe: []feed.URL{f.url}, revival: time.Millisecond})
	n.waitArrival(f.url)
	p := startPeer(t, n)
	connect := protocol.Connect{Subset: protocol.Subset{{Feed: f.url}}}
	if code := p.call(connect); code != 0 {
		t.Fatalf("connect: fault %d", code)
	}
	put := protocol.PutEntries{Bundle: protocol.NewBundle(f.url,
		[]feed.Entry{{Feed: f.url, ID: "urn:test:late", Title: "Late"}})}
	late := feed.Filter{Title: []string{"late"}}

	mend := ondisk.Break(t, DatabasePath(n.data))
	if code := p.call(put); code != protocol.Unavailable {
		t.Errorf("delivery to a full disk: fault %d, want %d", code, protocol.Unavailable)
	}
	if err := n.client.Subscribe(t.Context(), following(g.url)); err == nil ||
		!strings.Contains(err.Error(), "disk is full") {
		t.Errorf("subscribing on a full disk: %v", err)
	}
	report, err := n.client.Status(t.Context())
	if err != nil || !strings.Contains(report.Storage, "disk is full") {
		t.Errorf("status says %q, %v", report.Storage, err)
	}
	if status, _ := get(t, "http://"+n.at.Reader+"/feed/"+string(f.url)); status != 200 {
		t.Errorf("readers are answered %d", status)
	}
	if found, err := n.client.Search(t.Context(), late); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v, which was refused", found, err)
	}

	mend()
	said.wait(t, "entries can be stored again")
	if code := p.call(put); code != protocol.UnknownNeighbor {
		t.Errorf("delivery over a link that was forgotten: fault %d, want %d", code, protocol.UnknownNeighbor)
	}
	for _, c := range []protocol.Call{connect, put} {
		if code := p.call(c); code != 0 {
			t.Errorf("%s after all was mended: fault %d", c.Method(), code)
		}
	}
	if found, err := n.client.Search(t.Context(), late); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want what was delivered again", found, err)
	}
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Error(err)
	}
	n.waitArrival(g.url)
	if report, _ := n.client.Status(t.Context()); report.Storage != "" {
		t.Errorf("status still says %q", report.Storage)
	}

	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	again := startNode(t, Config{Data: n.data})
	if feeds, err := again.client.Feeds(t.Context()); err != nil || len(feeds) != 2 {
		t.Errorf("after a restart the node follows %v, %v; want both feeds", feeds, err)
	}
}
