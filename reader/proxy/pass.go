package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"feedex/guard"
)

const (
	// maxPassing is how many requests and tunnels go through at a time: readers have some dozens at most, and each
	// keeps two connections.
	maxPassing = 64
	// passIdle is how long what goes through may stand still: a tunnel in both directions, and an answer. dialTime is
	// how long it may take to open a tunnel.
	passIdle = 2 * time.Minute
	dialTime = 15 * time.Second
	// tunnelBuffer is how many bytes wait in each direction of a tunnel.
	tunnelBuffer = 32 << 10
)

// A Passage leads to what is no business of the node. It must not reach what its clients are not to reach: its errors
// wrap guard.ErrForbidden for that.
type Passage struct {
	Fetch http.RoundTripper                                                    // of what is asked for by http://
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // to the other end of a tunnel
}

// pass has f serve a request to another place, if there are not too many of them already.
func (p *proxy) pass(w http.ResponseWriter, f func()) {
	select {
	case p.passing <- struct{}{}:
		defer func() { <-p.passing }()
		f()
	default:
		w.Header().Set("Retry-After", "5")
		say(w, http.StatusServiceUnavailable, "Too much goes through this proxy at present.")
	}
}

// refuse says why a place was not reached. Which names lead to something in the home is not for who may use the proxy.
func refuse(w http.ResponseWriter, host string, err error) {
	if noName := (*net.DNSError)(nil); errors.Is(err, guard.ErrForbidden) ||
		errors.As(err, &noName) && noName.IsNotFound {
		say(w, http.StatusForbidden, "This proxy leads to the public Internet alone, and there to ports 80 and 443.")
		return
	}
	say(w, http.StatusBadGateway, "%s does not answer: %v.", host, err)
}

// fetch fetches what is no feed for the client, as any proxy does, for as long as something comes. Nothing is kept, and
// nothing is said about the client.
func (p *proxy) fetch(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	flowing := flow{w, time.AfterFunc(passIdle, cancel)}
	defer flowing.still.Stop()
	forward := httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			// The reverse proxy has taken away what is for proxies alone; the address is complete already.
			r.Out.Host = r.In.Host
			// A connection that turns to another protocol would be under no bound; that is what tunnels are for.
			r.Out.Header.Del("Connection")
			r.Out.Header.Del("Upgrade")
		},
		Transport:    p.Pass.Fetch,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, r.URL.Host, err) },
	}
	forward.ServeHTTP(flowing, r.WithContext(ctx))
}

// A flow is an answer of any length, which may not stand still for long.
type flow struct {
	http.ResponseWriter
	still *time.Timer // ends it
}

// Write implements http.ResponseWriter.
func (f flow) Write(b []byte) (int, error) {
	f.still.Reset(passIdle)
	// The server's own deadline is that of answers which the node makes. A writer without deadlines has none to move.
	_ = http.NewResponseController(f.ResponseWriter).SetWriteDeadline(time.Now().Add(passIdle))
	return f.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (f flow) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// tunnel joins the client with the place that it names (RFC 9110 §9.3.6), until both have said all, nothing was said
// for a while, or the node stops.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	dialing, cancel := context.WithTimeout(r.Context(), dialTime)
	defer cancel()
	there, err := p.Pass.Dial(dialing, "tcp", r.Host)
	if err != nil {
		refuse(w, r.Host, err)
		return
	}
	defer there.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.fail(w, err)
		return
	}
	defer client.Close()
	defer context.AfterFunc(r.Context(), func() {
		client.Close()
		there.Close()
	})()
	t := tunnel{client, there}
	t.alive()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// What the client said before the answer, as it may, waits in the buffer.
	early := io.LimitReader(buffered, int64(buffered.Reader.Buffered()))
	var both sync.WaitGroup
	both.Go(func() { t.pump(there, io.MultiReader(early, client)) })
	both.Go(func() { t.pump(client, there) })
	both.Wait()
}

// A tunnel is two connections of which each says what the other does.
type tunnel [2]net.Conn

// alive lets both ends be silent for as long as they may.
func (t *tunnel) alive() {
	until := time.Now().Add(passIdle)
	for _, c := range t {
		_ = c.SetDeadline(until)
	}
}

// pump passes on what one end says, its end too. One that fails ends the other.
func (t *tunnel) pump(to net.Conn, from io.Reader) {
	buffer := make([]byte, tunnelBuffer)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			t.alive()
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err == nil {
			continue
		}
		if half, ok := to.(interface{ CloseWrite() error }); ok && errors.Is(err, io.EOF) && half.CloseWrite() == nil {
			return
		}
		for _, c := range t {
			c.Close()
		}
		return
	}
}
