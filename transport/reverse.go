package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"feedex/protocol"
)

// A node that cannot be dialled, for it is behind a router that nobody forwards, keeps a connection open to each of its
// neighbors, over which it is called: a reverse link. It is an HTTP connection whose ends change roles by Upgrade
// (RFC 9110 §7.8); who dialled proves its key, and then serves HTTP on it. Its own calls go over connections of their
// own, as everybody's.
//
// The tokens give way to that of Transposed Transactions over HTTP once there is an RFC for it.
const (
	// reverseToken asks for HTTP/2 (RFC 9113 §3.3), as this program does, and serialToken for HTTP/1.1, by which there
	// is one call at a time: for languages that have no server of HTTP/2.
	reverseToken = "feedex-reverse/2"
	serialToken  = "feedex-reverse/1"
	// KeyHeader says which key each end has, and ChallengeHeader what the one that dialled is to sign.
	KeyHeader       = "Feedex-Key"
	ChallengeHeader = "Feedex-Challenge"

	// maxProofLine is the longest line by which a key is proved.
	maxProofLine = 512
	// pingAfter is for how long nothing comes over a reverse link until each end asks whether the other is still there,
	// and pingTimeout how long that may take to answer. NAT keeps what speaks so often.
	pingAfter   = 20 * time.Second
	pingTimeout = 10 * time.Second
	// reverseStreams is how many calls at a time the end answers that is called. A client must know that it may make as
	// many before it is told (RFC 9113 §6.5.2 recommends no less).
	reverseStreams = 100
)

// ErrNotHosted is wrapped by the error of a reverse link that the other node does not take, and of a call to a node of
// which there is none.
var ErrNotHosted = errors.New("no reverse link")

// reverseHTTP2 is how both ends speak over a reverse link.
func reverseHTTP2() (*http.Protocols, *http.HTTP2Config) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols, &http.HTTP2Config{
		MaxConcurrentStreams: reverseStreams, SendPingTimeout: pingAfter, PingTimeout: pingTimeout,
		MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10,
	}
}

// A readConn is a connection of which something was read ahead.
type readConn struct {
	net.Conn
	ahead io.Reader
}

func (c *readConn) Read(p []byte) (int, error) { return c.ahead.Read(p) }

// A ReverseLink is the end of a node that cannot be dialled.
type ReverseLink struct {
	to   protocol.NodeID
	conn net.Conn
}

// Reverse opens a reverse link to a node, whose calls Serve then answers. The error wraps ErrNotHosted where the node
// takes none, guard.ErrForbidden where it must not be called, ctx's error, or what the network said.
func (c *Client) Reverse(ctx context.Context, to protocol.NodeID) (*ReverseLink, error) {
	conn, err := c.transport.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, fmt.Errorf("open reverse link to %s: %w", to, err)
	}
	ended := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	read, err := c.swapRoles(conn, to)
	if !ended() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("open reverse link to %s: %w", to, err)
	}
	return &ReverseLink{to, &readConn{conn, read}}, nil
}

// swapRoles asks the node at the other end of a connection to become its client, and proves the own key to it.
func (c *Client) swapRoles(conn net.Conn, to protocol.NodeID) (*bufio.Reader, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+to.String()+Path, nil)
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {reverseToken}, "User-Agent": {c.cfg.UserAgent},
		KeyHeader: {protocol.NodeKeyOf(c.cfg.Key).String()},
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	read := bufio.NewReader(io.LimitReader(conn, maxHeaderBytes))
	resp, err := http.ReadResponse(read, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols ||
		!strings.EqualFold(resp.Header.Get("Upgrade"), reverseToken) {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, maxFaultText))
		return nil, fmt.Errorf("%w: HTTP status %d: %q", ErrNotHosted, resp.StatusCode, strings.TrimSpace(string(why)))
	}
	host, err := protocol.ParseNodeKey(resp.Header.Get(KeyHeader))
	if err != nil {
		return nil, fmt.Errorf("%w: its key: %w", ErrNotHosted, err)
	}
	proof := protocol.ProveKey(c.cfg.Key, protocol.ProvesReverse, host, resp.Header.Get(ChallengeHeader), to)
	if _, err := fmt.Fprintf(conn, "%s %s\n", proof.Dialled, proof.Signature); err != nil {
		return nil, err
	}
	// What comes behind the headers are the host's first words in its new role: it has believed the proof.
	if _, err := read.Peek(1); err != nil {
		return nil, fmt.Errorf("%w: it does not believe the proof of the key, or has no place: %w", ErrNotHosted, err)
	}
	first, err := read.Peek(read.Buffered())
	return bufio.NewReader(io.MultiReader(strings.NewReader(string(first)), conn)), err
}

// Serve answers the calls of the node to which the link leads, until ctx or the connection ends; nobody else can make
// any. The limits are those of the package's Serve.
func (l *ReverseLink) Serve(ctx context.Context, handler http.Handler, cfg ServerConfig) error {
	defer l.conn.Close() // where it ends before the server has taken it
	cfg.reverse, cfg.TrustedProxies = l, nil
	err := Serve(ctx, newOneConn(l.conn), handler, cfg)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close ends a link that Serve was not called for.
func (l *ReverseLink) Close() error { return l.conn.Close() }

// reverseKey is where the ReverseLink of a request is in its context.
type reverseKey struct{}

// reversedBy is the node by whose reverse link a request came, zero where it came to the listener.
func reversedBy(ctx context.Context) protocol.NodeID {
	if l, ok := ctx.Value(reverseKey{}).(*ReverseLink); ok {
		return l.to
	}
	return protocol.NodeID{}
}

// serveReverse has a server answer the calls of one reverse link, over HTTP/2, for as long as that lasts.
func serveReverse(server *http.Server, l *ReverseLink, ln net.Listener, to *slog.Logger) {
	server.ErrorLog = log.New(linkErrors{to}, "", 0)
	server.Protocols, server.HTTP2 = reverseHTTP2()
	server.IdleTimeout = forever // pings tell whether the other end is there
	server.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, reverseKey{}, l)
	}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ln.Close()
		}
	}
}

// linkErrors logs what net/http says of a reverse link. That one ended, as wherever a router gets another address, is
// no news to the owner of the node, who hears of the neighbor; that a handler panicked is.
type linkErrors struct{ to *slog.Logger }

func (l linkErrors) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("panic")) {
		level = slog.LevelWarn
	}
	l.to.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}

// forever is longer than any link lasts.
const forever = 365 * 24 * time.Hour

// A oneConn is a listener to which there comes one connection.
type oneConn struct {
	conns chan net.Conn
	addr  net.Addr
	ended chan struct{}
	end   func()
}

func newOneConn(c net.Conn) *oneConn {
	l := &oneConn{conns: make(chan net.Conn, 1), addr: c.LocalAddr(), ended: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	l.conns <- c
	return l
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *oneConn) Close() error {
	l.end()
	return nil
}

// Addr implements net.Listener.
func (l *oneConn) Addr() net.Addr { return l.addr }
