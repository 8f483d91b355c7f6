package transport

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"feedex/feed"
	"feedex/guard"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// ErrNotXMLRPC is wrapped by the error of a call whose answer is not one that the protocol knows:
// another HTTP status than 200, no XML-RPC, too large, or a value of the wrong type.
var ErrNotXMLRPC = errors.New("no proper answer")

const (
	// perPeer is the most connections to one peer: one for a large message, and one for those that are not to wait for
	// it.
	perPeer = 2
	// maxFaultText is how much of what a peer says in a fault is kept, in bytes.
	maxFaultText = 256
)

// ClientConfig holds the facts that a Client needs to know of its node.
type ClientConfig struct {
	// Port is where our own node listens: the nid of every call.
	Port uint16
	// AllowLocal permits calls to addresses that are not public.
	AllowLocal bool
	// Near permits calls to an address that is not public, and not this machine's. Default: to none.
	Near func(netip.AddrPort) bool
	// Key is the node's private key, by which it opens reverse links. Default: it opens none.
	Key ed25519.PrivateKey
	// Hosting has the reverse links over which nodes are called that cannot be dialled. Default: none is.
	Hosting *Hosting
	// UserAgent is sent with calls that carry no session: to others than neighbors, who know each other. "" sends none.
	UserAgent string
	// Meter counts calls that are answered, and what connections take. Default: none does.
	Meter *Meter
}

// A Client calls peers and trackers. It keeps a few connections open to each, follows no redirect, asks
// no proxy, and reads no more of an answer than the protocol allows for. Make one with NewClient. It is
// safe for concurrent use.
type Client struct {
	cfg       ClientConfig
	transport *http.Transport
	buffers   buffers
	takers    takers
	turns     turns
}

// NewClient makes a Client. Unless cfg allows it, it refuses, at the moment it connects, every address that is not
// public, or is this machine's own, however the name of it was spelt or resolved.
func NewClient(cfg ClientConfig) *Client {
	allow := guard.Unless("allow_private", guard.Others)
	switch {
	case cfg.AllowLocal:
		allow = nil
	case cfg.Near != nil:
		allow = func(ap netip.AddrPort) error {
			if cfg.Near(ap) {
				return guard.NotHere(ap)
			}
			return guard.Unless("allow_private", guard.Others)(ap)
		}
	}
	dialer := guard.Dialer(allow)
	dialer.Timeout = 10 * time.Second
	return &Client{
		cfg: cfg,
		transport: &http.Transport{
			DialContext:            cfg.Meter.dialled(inTurn(dialer.DialContext)),
			TLSHandshakeTimeout:    10 * time.Second,
			DisableCompression:     true,
			MaxConnsPerHost:        perPeer,
			MaxIdleConnsPerHost:    perPeer,
			MaxIdleConns:           128,
			IdleConnTimeout:        idleTimeout - 30*time.Second, // we close first: no call meets a closing server
			MaxResponseHeaderBytes: maxHeaderBytes,
		},
	}
}

// A Result is the answer to a call.
type Result struct {
	Reply   protocol.Reply  // of the type that belongs to the call
	Session string          // the token that came with it, "" for none
	Peer    protocol.NodeID // the node that answered: the address that was dialed
	// Unsent is set where the call failed and nothing of it was written to the network, and Queued where
	// that is because other calls of ours had all connections to the peer meanwhile. They are the only
	// fields that count beside an error, but for the Peer beside a fault, which it answered with.
	Unsent, Queued bool
}

// Call makes call to the peer at addr, "host:port", or one that is hosted, as its id spells itself, or to a tracker,
// whose addr is an http or https URL (its path, if it has none, is Path). session is sent along unless it is "". The
// call ends with ctx, which ought to have a deadline.
//
// The error is a *protocol.RemoteError where the peer answered with a fault. It wraps ErrNotXMLRPC
// where the answer makes no sense, guard.ErrForbidden where the address must not be called, ctx's
// error, or what the network said. A call may have been carried out even if it failed; where a kept
// connection turns out to be dead it is made a second time, which no call of the protocol minds.
func (c *Client) Call(ctx context.Context, addr, session string, call protocol.Call) (Result, error) {
	var way way
	result, err := c.call(ctx, addr, session, call, &way)
	if err != nil {
		queued := ctx.Err() != nil && !way.begun.Load()
		return Result{Peer: result.Peer, Unsent: !way.sent.Load(), Queued: queued},
			fmt.Errorf("call %s at %s: %w", call.Method(), addr, err)
	}
	return result, nil
}

// A way is how far a call came: net/http goes on connecting for it after its time is over.
type way struct {
	begun atomic.Bool // somebody was called for it, or it got a connection
	sent  atomic.Bool // it was written, or a part of it
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// call makes a call as gzip where the peer takes that, and as it is if that was not understood: another program may be
// there by now.
func (c *Client) call(ctx context.Context, addr, session string, call protocol.Call, way *way) (Result, error) {
	body := c.encode(call)
	if c.takers.has(addr) {
		if coded, ok := AppendCodedCall(nil, body); ok {
			result, err := c.post(ctx, addr, session, call, coded, coding, way)
			remote, fault := errors.AsType[*protocol.RemoteError](err)
			if !errors.Is(err, ErrNotXMLRPC) && !(fault && remote.Code == protocol.ParseError) {
				return result, err
			}
		}
	}
	return c.post(ctx, addr, session, call, body, "", way)
}

// post sends the body of a call, of that Content-Encoding.
func (c *Client) post(ctx context.Context, addr, session string, call protocol.Call, body []byte,
	encoding string, way *way) (result Result, err error) {
	var hosted protocol.NodeID
	target, err := hostedEndpoint, hosted.UnmarshalText([]byte(addr))
	if !hosted.Hosted() {
		target, err = endpoint(addr)
	}
	if err != nil {
		return Result{}, err
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { way.begun.Store(true) },
		ConnectStart: func(_, _ string) { way.begun.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			way.begun.Store(true)
			if ap, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil && !hosted.Hosted() {
				result.Peer = protocol.NewNodeID(ap.Addr(), ap.Port())
			}
		},
		WroteHeaders: func() { // over a reverse link that is the first sign of a connection
			way.begun.Store(true)
			way.sent.Store(true)
		},
	})
	req, err := http.NewRequestWithContext(c.turns.take(ctx, addr), http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return Result{}, err
	}
	req.Header = http.Header{
		"Content-Type":    {"text/xml"},
		"Accept-Encoding": {coding},
		"User-Agent":      {c.cfg.UserAgent},
		"Idempotency-Key": {}, // for net/http alone, to repeat the call on a fresh connection; it is not sent
	}
	if encoding != "" {
		req.Header["Content-Encoding"] = []string{encoding}
	}
	if session != "" {
		req.Header[SessionHeader] = []string{session}
		req.Header["User-Agent"] = []string{""}
	}
	// The transport itself, without an http.Client around it: nothing follows redirects.
	roundTrip := c.transport.RoundTrip
	if hosted.Hosted() {
		result.Peer = hosted
		roundTrip = func(r *http.Request) (*http.Response, error) { return c.cfg.Hosting.roundTrip(hosted, r) }
	}
	resp, err := roundTrip(req)
	if err != nil {
		return Result{}, err
	}
	defer resp.Body.Close()
	if encoding == "" {
		c.takers.note(addr, takesCoding(resp.Header))
	}
	if resp.StatusCode != http.StatusOK {
		// A short body is read to the end, so that the connection can serve again. That of a 101 is the connection
		// itself, for which ctx ends nothing.
		if resp.StatusCode != http.StatusSwitchingProtocols {
			io.CopyN(io.Discard, resp.Body, 4<<10)
		}
		return Result{}, fmt.Errorf("%w: HTTP status %d", ErrNotXMLRPC, resp.StatusCode)
	}
	c.cfg.Meter.madeCall()
	if result.Reply, err = c.decode(resp, call); err != nil {
		return Result{Peer: result.Peer}, err
	}
	if token := resp.Header.Get(SessionHeader); len(token) <= protocol.MaxSessionBytes {
		result.Session = token
	}
	return result, nil
}

// encode is the body of call. A check_did whose hint is too long for a packet goes without it.
func (c *Client) encode(call protocol.Call) []byte {
	body := protocol.EncodeCall(nil, c.cfg.Port, call)
	if check, ok := call.(protocol.CheckDID); ok && len(body) > protocol.MaxCheckBytes {
		body = protocol.EncodeCall(body[:0], c.cfg.Port, protocol.CheckDID{DID: check.DID})
	}
	return body
}

// decode reads the answer to call.
func (c *Client) decode(resp *http.Response, call protocol.Call) (protocol.Reply, error) {
	limits := protocol.AnswerLimits(call.Method())
	buf := c.buffers.take()
	defer c.buffers.give(buf)
	err := buf.readAll(resp.Body, resp.ContentLength, limits.Bytes, nil)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrNotXMLRPC, limits.Bytes)
	case err != nil:
		return nil, err
	case codingOf(resp.Header) == coding:
		raw := buf
		buf = c.buffers.take()
		defer c.buffers.give(buf)
		if err := buf.inflate(raw, limits.Bytes, nil); err != nil {
			return nil, fmt.Errorf("%w: inflate: %w", ErrNotXMLRPC, err)
		}
	}
	v, err := xmlrpc.DecodeResponse(buf.data, limits)
	if fault, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return nil, remoteError(fault)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotXMLRPC, err)
	}
	reply, err := protocol.DecodeReply(call, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotXMLRPC, err)
	}
	return reply, nil
}

// remoteError is a fault as a peer sent it, its text made fit for a log.
func remoteError(f *xmlrpc.Fault) *protocol.RemoteError {
	code := protocol.Code(f.Code)
	text := strings.TrimPrefix(f.String, code.String()+": ")
	if len(text) > maxFaultText {
		text = text[:maxFaultText]
	}
	return &protocol.RemoteError{Code: code, Text: feed.Clean(text)}
}

// Calls over a reverse link go to a host of no name, as it has none that leads to it.
const (
	hostedHost     = "hosted.invalid"
	hostedEndpoint = "http://" + hostedHost + Path
)

// endpoint is the URL to which calls to addr go. The port of a peer must be one at which a node may
// listen: a stranger's address must not have us talk to a mail server. A tracker's URL is its owner's.
func endpoint(addr string) (string, error) {
	if strings.Contains(addr, "://") {
		u, err := url.Parse(addr)
		if err != nil {
			return "", err
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return "", fmt.Errorf("parse tracker: %q is no http or https URL", addr)
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = Path
		}
		return u.String(), nil
	}
	_, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return "", fmt.Errorf("parse port: %w", err)
	}
	if port < protocol.LowestPort {
		return "", fmt.Errorf("%w: port %d is below %d", guard.ErrForbidden, port, protocol.LowestPort)
	}
	if strings.ContainsAny(addr, "/?#@") { // what would make another address of it within a URL
		return "", fmt.Errorf("parse address: %q is no host:port", addr)
	}
	return "http://" + addr + Path, nil
}
