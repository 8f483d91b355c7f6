package transport

import (
	"cmp"
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

// The owner brings lists of thousands of feeds, and takes whole archives, over whatever network there is.
const (
	ownerHeaderTimeout  = 10 * time.Second
	ownerWriteTimeout   = 5 * time.Minute
	ownerGraceTimeout   = 2 * time.Second
	ownerMaxHeaderBytes = 64 << 10
)

// ServerConfig holds the options of Serve. The zero value of each field means its default.
type ServerConfig struct {
	// Limiter shares connections with other listeners of the process. Default one for this listener alone.
	Limiter *Limiter
	// Owner says that the owner and their readers connect here, who have more time than nodes: handlers see to it how
	// long the body of a request may take, and an answer may take five minutes.
	Owner bool
	// TrustedProxies are the networks of reverse proxies that are believed when they say which client a request comes
	// from.
	TrustedProxies []netip.Prefix
	// Meter counts the bytes of connections that are accepted. Default: none does.
	Meter *Meter
	// Log receives what goes wrong with single connections. Default slog.Default().
	Log *slog.Logger

	reverse *ReverseLink // the listener has its connection alone
}

// Serve answers HTTP requests on ln by handler until ctx ends, then gives the calls under way a few
// seconds to end by themselves before it ends their contexts and connections. It returns when the last
// call has ended, nil if ctx was the reason, and ln is closed then.
//
// Headers may take 5 s, a whole request 10 s, its answer 30 s, and a connection may be idle for two minutes. Where
// cfg.Limiter has no more places for connections, those go that keep us waiting for longer than a second, or whose
// owners have more of them than others.
func Serve(ctx context.Context, ln net.Listener, handler http.Handler, cfg ServerConfig) error {
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	if cfg.Limiter == nil {
		cfg.Limiter = NewLimiter(LimiterConfig{})
	}
	// Calls outlive ctx by the grace, no longer.
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	gate := &requestGate{handler: handler, proxies: cfg.TrustedProxies}
	server := &http.Server{
		Handler:           gate,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return calls },
		ConnContext:       withConn,
		ConnState:         connState,
	}
	grace := graceTimeout
	if cfg.Owner {
		grace, server.MaxHeaderBytes = ownerGraceTimeout, ownerMaxHeaderBytes
		server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout = ownerHeaderTimeout, 0, ownerWriteTimeout
	}
	if cfg.reverse == nil {
		ln = &listener{ln, cfg.Limiter, cfg.Owner, cfg.Meter}
	} else {
		serveReverse(server, cfg.reverse, ln, cfg.Log)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()

	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		ending, done := context.WithTimeout(calls, grace)
		server.Shutdown(ending)
		done()
		<-ended
	}
	cancel()
	server.Close()
	gate.close()
	return err
}

// A requestGate lets requests through to a handler until it is closed.
type requestGate struct {
	handler http.Handler
	proxies []netip.Prefix
	inside  sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

func (g *requestGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		panic(http.ErrAbortHandler)
	}
	defer g.inside.Done()
	defer attend(r, g.proxies)()
	g.handler.ServeHTTP(w, r)
}

func (g *requestGate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside.Add(1)
	}
	return !g.closed
}

// close lets no more requests through, and returns when the last has ended.
func (g *requestGate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
