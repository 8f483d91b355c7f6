package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/tracker"
	"feedex/transport"
)

const (
	// saveEvery is how often the list is written to disk, besides at the end.
	saveEvery = time.Minute
	// callBackTimeout is how long a node may take to show that it listens.
	callBackTimeout = 10 * time.Second
	listName        = "tracker.json"
)

// TrackerConfig says where a tracker lives. Data and Listen must be set.
type TrackerConfig struct {
	Data   string // directory of its list; made if it does not exist
	Listen string // "host:port"; port 0 is any free one
	// AllowLocal lists nodes on this machine and on private networks too.
	AllowLocal bool
	// TrustedProxies are the reverse proxies whose word counts about the address of a caller.
	TrustedProxies []netip.Prefix
	Log            *slog.Logger // default: nowhere
	Ready          func(address string)
}

// RunTracker hosts a tracker until ctx ends (Paper §3.1): XML-RPC at transport.Path, a status page at
// /, Prometheus metrics at /metrics. The error wraps ErrInUse where another runs on the data directory.
func RunTracker(ctx context.Context, c TrackerConfig) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	unlock, err := lockData(c.Data)
	if err != nil {
		return err
	}
	defer unlock()
	ln, err := listenTCP("nodes", "--listen", c.Listen)
	if err != nil {
		return err
	}
	defer ln.Close()
	client := transport.NewClient(transport.ClientConfig{Port: portOf(ln), AllowLocal: c.AllowLocal,
		UserAgent: "feedex/" + Version})
	defer client.CloseIdle()
	t := &trackerHost{
		config:   c,
		client:   client,
		registry: tracker.New(tracker.Config{AllowLocal: c.AllowLocal}, rand.New(rand.NewPCG(seed(), seed()))),
		started:  time.Now(),
		calling:  make(map[protocol.NodeID]*callBack),
	}
	if err := t.load(); err != nil {
		return err
	}
	return t.run(ctx, ln)
}

// A trackerHost runs one tracker.
type trackerHost struct {
	config  TrackerConfig
	client  *transport.Client
	started time.Time
	backs   sync.WaitGroup // call backs under way; the registry bounds them

	mu       sync.Mutex
	registry *tracker.Registry
	calling  map[protocol.NodeID]*callBack // the callers that are called back
}

// A callBack is one that is under way.
type callBack struct{ cancel context.CancelFunc }

// run serves until ctx ends.
func (t *trackerHost) run(ctx context.Context, ln net.Listener) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	mux := http.NewServeMux()
	mux.Handle(transport.Path, transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.TrackerMethods(), TrustedProxies: t.config.TrustedProxies, Log: t.config.Log,
		Serve: func(_ context.Context, r transport.Request) transport.Response { return t.serve(ctx, r) },
	}))
	mux.HandleFunc("GET /{$}", t.page)
	mux.Handle("GET /metrics", t.metrics())
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
func (t *trackerHost) serve(ctx context.Context, r transport.Request) transport.Response {
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
func (t *trackerHost) callBack(ctx context.Context, id protocol.NodeID, back *callBack) {
	defer back.cancel()
	_, err := t.client.Call(ctx, id.String(), "", protocol.ListMethods{})
	var refused *protocol.RemoteError
	ok := err == nil || errors.As(err, &refused)
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

// status is what the registry says about itself now.
func (t *trackerHost) status() tracker.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.registry.Status(time.Now())
}

// load reads the list of an earlier run. A list that cannot be read is set aside: the nodes will
// call again, and an owner who wonders finds it.
func (t *trackerHost) load() error {
	path := filepath.Join(t.config.Data, listName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read list: %w; make it readable or choose another directory with --data", err)
	}
	var entries []tracker.Entry
	if err := json.Unmarshal(text, &entries); err != nil {
		aside := path + ".damaged"
		t.config.Log.Warn("list of an earlier run is damaged; starting with an empty one", "err", err, "kept", aside)
		if err := os.Rename(path, aside); err != nil {
			return fmt.Errorf("set damaged list aside: %w", err)
		}
		return nil
	}
	loaded := t.registry.Load(time.Now(), entries)
	t.config.Log.Info("list of an earlier run loaded", "nodes", loaded)
	return nil
}

// saveNowAndThen writes the list to disk until ctx ends.
func (t *trackerHost) saveNowAndThen(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := t.save(); err != nil {
				t.config.Log.Error("list cannot be saved", "err", err)
			}
		}
	}
}

// save writes the list so that a crash leaves either the old one or the new one.
func (t *trackerHost) save() error {
	t.mu.Lock()
	entries := t.registry.Snapshot(time.Now())
	t.mu.Unlock()
	text, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("save list: %w", err)
	}
	path := filepath.Join(t.config.Data, listName)
	if err := replaceFile(path, text); err != nil {
		return fmt.Errorf("save list: %w; free some space or choose another directory with --data", err)
	}
	return nil
}

// replaceFile puts text in the place of the file at path, durably and at once.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then if all went well
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes durable which files are in a directory.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which syncs no directories
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
