package transport

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second // headers and body
	writeTimeout  = 30 * time.Second // from the end of the headers to the end of the answer
	idleTimeout   = 2 * time.Minute
	graceTimeout  = 5 * time.Second // for calls under way when the server ends
)

// ServerConfig is what Serve needs. The zero value of each field means its default.
type ServerConfig struct {
	// AllowLocal lifts the bounds by address for addresses that are not public.
	AllowLocal bool
	// TrustedProxies are the networks of reverse proxies, for which the bounds by address are lifted,
	// too: all calls come through them.
	TrustedProxies []netip.Prefix
	// MaxConns is the most connections at one time. Default 512.
	MaxConns int
	// Log receives what goes wrong with single connections. Default slog.Default().
	Log *slog.Logger
}

// Serve answers HTTP requests on ln by handler until ctx ends, then gives the calls under way a few
// seconds to end by themselves before it ends their contexts and connections. It returns when the last
// call has ended, nil if ctx was the reason, and ln is closed then.
//
// A connection beyond 4 from one address (an IPv4 address, a /64 of IPv6), beyond 32 from its
// network (/24, /48) or beyond cfg.MaxConns is closed at once. Headers may take 5 s, a whole request
// 10 s, its answer 30 s.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, cfg ServerConfig) error {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.MaxConns <= 0 {
		cfg.MaxConns = 512
	}
	// Calls outlive ctx by the grace, no longer.
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	gate := &gate{handler: handler}
	server := &http.Server{
		Handler:           gate,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return calls },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newListener(ln, cfg)) }()

	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		grace, done := context.WithTimeout(calls, graceTimeout)
		server.Shutdown(grace)
		done()
		<-ended
	}
	cancel()
	server.Close()
	gate.close()
	return err
}

// A gate lets requests through to a handler until it is closed.
type gate struct {
	handler http.Handler
	inside  sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		panic(http.ErrAbortHandler)
	}
	defer g.inside.Done()
	g.handler.ServeHTTP(w, r)
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

// close lets no more requests through, and returns when the last has ended.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
