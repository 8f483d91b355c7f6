// Package trackerhost hosts a tracker.Registry in real time: it answers nodes over XML-RPC and calls them back, keeps
// the list in a file, and shows on a page how the tracker is doing.
package trackerhost

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"feedex/feed"
	"feedex/internal/datadir"
	"feedex/protocol"
	"feedex/tracker"
	"feedex/transport"
)

const (
	// saveEvery is how often the list is written to disk, besides at the end.
	saveEvery = time.Minute
	// complainEvery is how often the log says at most that the list is full.
	complainEvery = time.Hour
	// callBackTimeout is how long a node may take to show that it listens.
	callBackTimeout = 10 * time.Second
	listName        = "tracker.json"
	// maxList is how large the file of the list may be, a few times what a full one is.
	maxList = 64 << 20
)

// Config says where a tracker lives. Data and Listen must be set.
type Config struct {
	Data   string // directory of its list; made if it does not exist
	Listen string // "host:port"; port 0 is any free one
	// AllowLocal lists nodes on this machine and on private networks too.
	AllowLocal bool
	// TrustedProxies are the reverse proxies whose word counts about the address of a caller.
	TrustedProxies []netip.Prefix
	UserAgent      string       // of its calls to nodes
	Log            *slog.Logger // default: nowhere
	Ready          func(address string)
}

// Run hosts a tracker until ctx ends (Paper §3.1): XML-RPC at transport.Path, a status page at
// /, Prometheus metrics at /metrics, and whether it works at /healthz. The error wraps datadir.ErrInUse where another
// runs on the data directory.
func Run(ctx context.Context, c Config) error {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	unlock, err := datadir.Lock(c.Data)
	if err != nil {
		return err
	}
	defer unlock()
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen for nodes: %w; choose another address with --listen", err)
	}
	defer ln.Close()
	var seed [32]byte
	crand.Read(seed[:])
	client := transport.NewClient(transport.ClientConfig{Port: uint16(ln.Addr().(*net.TCPAddr).Port),
		AllowLocal: c.AllowLocal, UserAgent: c.UserAgent})
	defer client.CloseIdle()
	t := &registryHost{
		config:   c,
		client:   client,
		registry: tracker.New(tracker.Config{AllowLocal: c.AllowLocal}, rand.New(rand.NewChaCha8(seed))),
		started:  time.Now(),
		calling:  make(map[protocol.NodeID]*callBack),
	}
	if err := t.load(); err != nil {
		return err
	}
	return t.run(ctx, ln)
}

// A registryHost runs one tracker.
type registryHost struct {
	config  Config
	client  *transport.Client
	started time.Time
	backs   sync.WaitGroup // call backs under way; the registry bounds them

	turnedAway int64     // how many callers were when the log said so last
	complained time.Time // when that was

	mu       sync.Mutex
	registry *tracker.Registry
	calling  map[protocol.NodeID]*callBack // the callers that are called back
	unsaved  bool                          // the list could not be saved when that was tried last
}

// A callBack is one that is under way.
type callBack struct{ cancel context.CancelFunc }

// run serves until ctx ends.
func (t *registryHost) run(ctx context.Context, ln net.Listener) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	mux := http.NewServeMux()
	mux.Handle(transport.Path, transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.TrackerMethods(), TrustedProxies: t.config.TrustedProxies, Log: t.config.Log,
		Serve: func(_ context.Context, r transport.Request) transport.Response { return t.serve(ctx, r) },
	}))
	mux.HandleFunc("GET /{$}", t.page)
	mux.Handle("GET /metrics", t.metrics())
	mux.HandleFunc("GET /healthz", t.healthz)
	if t.config.Ready != nil {
		t.config.Ready(ln.Addr().String())
	}
	var parts sync.WaitGroup
	parts.Go(func() { t.saveNowAndThen(ctx) })
	err := transport.Serve(ctx, ln, mux, transport.ServerConfig{
		TrustedProxies: t.config.TrustedProxies, Log: t.config.Log,
	})
	stop(err)
	parts.Wait()
	t.backs.Wait()
	return errors.Join(err, t.save())
}

// serve registers the caller and hands out others.
func (t *registryHost) serve(ctx context.Context, r transport.Request) transport.Response {
	if _, ok := r.Call.(protocol.GetNeighbors); !ok {
		return transport.Response{Fault: protocol.Faultf(protocol.UnknownMethod, "a tracker has get_neighbors only")}
	}
	if !t.config.AllowLocal && !feed.PublicAddr(r.From.Addr()) {
		return transport.Response{Fault: protocol.Faultf(protocol.Unreachable,
			"%s is not a public address, and this tracker lists no others; it would with --allow-private",
			r.From.Addr())}
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	wanted, gaveUp := t.registry.Register(now, r.From)
	for _, id := range gaveUp {
		t.calling[id].cancel()
		delete(t.calling, id)
	}
	if wanted {
		ctx, cancel := context.WithTimeout(ctx, callBackTimeout)
		back := &callBack{cancel}
		t.calling[r.From] = back
		t.backs.Go(func() { t.callBack(ctx, r.From, back) })
	}
	return transport.Response{Reply: protocol.NodeList(t.registry.Hand(now, r.From, protocol.MaxNeighborList))}
}

// callBack finds out whether a node listens where it says. Any answer of an XML-RPC server will do,
// also a refusal: a node of another make may not know the question.
func (t *registryHost) callBack(ctx context.Context, id protocol.NodeID, back *callBack) {
	defer back.cancel()
	_, err := t.client.Call(ctx, id.String(), "", protocol.ListMethods{})
	ok := protocol.Spoke(err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calling[id] != back { // it gave way to another's
		return
	}
	delete(t.calling, id)
	t.registry.Confirm(time.Now(), id, ok)
	if ok {
		t.config.Log.Debug("node listed", "node", id)
	} else {
		t.config.Log.Debug("call back failed", "node", id, "err", err)
	}
}

// status is the registry's report about itself now.
func (t *registryHost) status() tracker.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.registry.Status(time.Now())
}
