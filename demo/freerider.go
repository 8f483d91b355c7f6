package demo

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/transport"
)

// A freeRider is a node of bad habits: it says that it follows every feed, takes what it is given, and
// never polls nor gives anything. It is a client of its own, as anybody may write one: the participants of package
// lab/actor are nodes of this program whose effects are changed, and need a host in virtual time.
type freeRider struct {
	ln     net.Listener
	client *transport.Client
	urls   []feed.URL

	mu    sync.Mutex
	links map[protocol.NodeID]string // the nodes it found, and the token it sends them
	got   int                        // entries
	bound bool                       // a neighbor told it that it is at its bound
}

func newFreeRider(urls []feed.URL) (*freeRider, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the free rider: %w", err)
	}
	port := uint16(ln.Addr().(*net.TCPAddr).Port)
	return &freeRider{
		ln: ln, urls: urls, links: make(map[protocol.NodeID]string),
		client: transport.NewClient(transport.ClientConfig{Port: port, AllowLocal: true}),
	}, nil
}

// riderToken is the token that the free rider sends everybody: it has nothing to lose.
const riderToken = "free rider"

// run takes from the nodes that the tracker names until ctx ends.
func (f *freeRider) run(ctx context.Context, tracker string) error {
	defer f.client.CloseIdle()
	handler := transport.NewHandler(transport.HandlerConfig{Methods: protocol.NodeMethods(), Serve: f.serve})
	var looking sync.WaitGroup
	looking.Go(func() { f.look(ctx, tracker) })
	defer looking.Wait()
	return transport.Serve(ctx, f.ln, handler, transport.ServerConfig{})
}

// look connects to everyone that the tracker names.
func (f *freeRider) look(ctx context.Context, tracker string) {
	var subset protocol.Subset
	for _, u := range f.urls {
		subset = append(subset, protocol.Interest{Feed: u})
	}
	again := time.NewTicker(2 * time.Second)
	defer again.Stop()
	for {
		r, err := f.client.Call(ctx, tracker, "", protocol.GetNeighbors{})
		if nodes, ok := r.Reply.(protocol.NodeList); ok && err == nil {
			for _, id := range nodes {
				f.connect(ctx, id, subset)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// connect becomes a neighbor of id, unless it is one.
func (f *freeRider) connect(ctx context.Context, id protocol.NodeID, subset protocol.Subset) {
	f.mu.Lock()
	_, linked := f.links[id]
	f.mu.Unlock()
	if linked {
		return
	}
	r, err := f.client.Call(ctx, id.String(), riderToken, protocol.Connect{Subset: subset})
	if theirs, ok := r.Reply.(protocol.Subset); ok && err == nil && len(theirs) > 0 {
		f.mu.Lock()
		f.links[id] = r.Session
		f.mu.Unlock()
	}
}

// serve answers as a node would: it wants everything, and gives nothing.
func (f *freeRider) serve(_ context.Context, r transport.Request) transport.Response {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch c := r.Call.(type) {
	case protocol.Vouch:
		return transport.Response{Reply: protocol.Vouched(c.Session == riderToken)}
	case protocol.CheckDID:
		return transport.Response{Reply: protocol.Seen(false)}
	case protocol.CheckDIDs:
		return transport.Response{Reply: make(protocol.SeenList, len(c.DIDs))}
	case protocol.PutEntries:
		f.got += len(c.Bundle.Entries)
		return transport.Response{Reply: protocol.OK{}}
	case protocol.StateAccount:
		f.bound = f.bound || c.Account.Waiting > 0
		return transport.Response{Reply: protocol.Statement{Bound: -1}}
	case protocol.WhoAmI:
		return transport.Response{Reply: r.From}
	case protocol.Disconnect:
		delete(f.links, r.From)
		return transport.Response{Reply: protocol.OK{}}
	case protocol.UpdateSubset:
		return transport.Response{Reply: protocol.OK{}}
	}
	return transport.Response{Fault: protocol.Faultf(protocol.UnknownMethod, "a free rider answers no such thing")}
}

// state is how many entries it got, from how many neighbors, and whether it was told that it is at its
// bound.
func (f *freeRider) state() (got, neighbors int, bound bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got, len(f.links), f.bound
}
