package transport

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"feedex/admission"
	"feedex/protocol"
)

const (
	// proofTimeout is how long a caller may take to prove its key.
	proofTimeout = 5 * time.Second
	// hostedPatience is how long a reverse link may go without a call while others want its place, of a neighbor and of
	// one that is none yet: a node calls its neighbors more often.
	hostedPatience, newcomerPatience = 10 * time.Minute, time.Minute
	// callsAtOnce is how many calls are made over a reverse link at a time.
	callsAtOnce = reverseStreams / 2
)

// keepAlive has TCP ask as often as pings do whether the other end is still there, and give up as soon, since HTTP/1.1
// has no pings.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: pingAfter, Interval: pingTimeout / 5, Count: 5}

// HostingConfig holds what a Hosting needs to know of its node. All fields must be set.
type HostingConfig struct {
	Key   ed25519.PrivateKey
	Slots int // how many neighbors are hosted at most; as many may have a link that are none yet
	// Dialled reports whether a caller can have dialled this node at an address, as far as the node knows its own. It
	// is called from many goroutines.
	Dialled func(from, at protocol.NodeID) bool
	// Neighbor reports whether a node is one. It is called from many goroutines.
	Neighbor func(protocol.NodeID) bool
	Log      *slog.Logger
}

// A Hosting keeps the reverse links by which other nodes, which cannot be dialled, are called. Make one with
// NewHosting, and give it to the handler and the client of the same node. It is safe for concurrent use.
type Hosting struct {
	cfg        HostingConfig
	transports map[string]*http.Transport // by the tokens that ask for them

	bytes atomic.Int64

	mu                   sync.Mutex
	links                map[protocol.NodeID]*hostedLink
	neighbors, newcomers *hostedLinks // links whose keys are proved
	closed               bool
}

type hostedLinks = admission.SharedPool[*hostedLink]

// A hostedLink is the end of the node that hosts.
type hostedLink struct {
	id    protocol.NodeID // protocol.HostedID, once its key is proved
	token string          // by which it was asked for
	conn  net.Conn
	calls chan struct{}    // a place each for those that are made at a time
	ready chan struct{}    // closed once there is http, or the link is over
	http  *http.ClientConn // nil where it is over
	pool  *hostedLinks
	place *admission.Place[*hostedLink]
}

// NewHosting makes a Hosting.
func NewHosting(cfg HostingConfig) *Hosting {
	h := &Hosting{
		cfg: cfg, links: make(map[protocol.NodeID]*hostedLink),
		neighbors: admission.NewSharedPool[*hostedLink](cfg.Slots, hostedPatience),
		newcomers: admission.NewSharedPool[*hostedLink](cfg.Slots, newcomerPatience),
	}
	serial := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(dialledKey{}).(net.Conn), nil
		},
		DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes,
	}
	parallel := serial.Clone()
	parallel.Protocols, parallel.HTTP2 = reverseHTTP2()
	h.transports = map[string]*http.Transport{serialToken: serial, reverseToken: parallel}
	return h
}

// dialledKey is where the connection is, in the context of a "dial", that was there before.
type dialledKey struct{}

// Close ends all reverse links, and takes no more.
func (h *Hosting) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.closed = true
	var open []*hostedLink
	for _, l := range h.links {
		open = append(open, l)
	}
	h.mu.Unlock()
	for _, l := range open {
		l.conn.Close()
	}
}

// Bytes is how many have passed over reverse links so far, both ways together.
func (h *Hosting) Bytes() int64 {
	if h == nil {
		return 0
	}
	return h.bytes.Load()
}

// A countedConn counts what passes over a connection.
type countedConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c *countedConn) Read(p []byte) (n int, err error) {
	n, err = c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (n int, err error) {
	n, err = c.Conn.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// linkAsked is the token by which a request asks for a reverse link, "" where it asks for none.
func linkAsked(r *http.Request) string {
	token := strings.ToLower(r.Header.Get("Upgrade"))
	if r.Method != http.MethodPost || token != reverseToken && token != serialToken {
		return ""
	}
	return token
}

// take makes a reverse link of the connection of a request from an address.
func (h *Hosting) take(w http.ResponseWriter, r *http.Request, from netip.Addr) {
	key, err := protocol.ParseNodeKey(r.Header.Get(KeyHeader))
	switch {
	case h == nil:
		refuse(w, r, http.StatusNotImplemented, "this node takes no reverse links")
		return
	case err != nil:
		refuse(w, r, http.StatusBadRequest, KeyHeader+": "+err.Error())
		return
	case r.ContentLength != 0:
		refuse(w, r, http.StatusBadRequest, "a reverse link begins without a body")
		return
	case key == protocol.NodeKeyOf(h.cfg.Key):
		refuse(w, r, http.StatusConflict, "this is the node itself")
		return
	}
	if err := h.swapRoles(w, r, &hostedLink{
		id: protocol.HostedID(from, key), token: linkAsked(r),
		ready: make(chan struct{}), calls: make(chan struct{}, callsAtOnce),
	}, key); err != nil {
		h.cfg.Log.Debug("no reverse link", "peer", from, "err", err)
	}
}

// errNoPlace is why a link ends whose key is proved.
var errNoPlace = errors.New("all places for nodes that cannot be dialled are taken")

// swapRoles becomes the client of the node at the other end, once it has proved its key. An error has closed the
// connection.
func (h *Hosting) swapRoles(w http.ResponseWriter, r *http.Request, l *hostedLink, key protocol.NodeKey) error {
	var chance [32]byte
	rand.Read(chance[:])
	challenge := protocol.ChallengeOf(chance)
	under, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	l.conn = under
	under.SetDeadline(time.Now().Add(proofTimeout))
	fmt.Fprintf(buffered, "HTTP/1.1 %d %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n%s: %s\r\n\r\n",
		http.StatusSwitchingProtocols, http.StatusText(http.StatusSwitchingProtocols), l.token, KeyHeader,
		protocol.NodeKeyOf(h.cfg.Key), ChallengeHeader, challenge)
	err = buffered.Flush()
	if err == nil {
		err = h.proved(buffered.Reader, l.id, key, challenge)
	}
	if err == nil {
		err = under.SetDeadline(time.Time{})
	}
	// The other end takes our first words in our new role for a sign that it can be called, so it is enlisted before.
	if err == nil {
		err = h.enlist(l)
	}
	if err != nil {
		under.Close()
		return err
	}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.leavePool() // it has a place here
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetKeepAliveConfig(keepAlive)
		}
	}
	defer close(l.ready)
	conn := net.Conn(&countedConn{&readConn{under, buffered.Reader}, &h.bytes})
	if l.token == serialToken { // which begins with no words; an empty line says nothing (RFC 9112 §2.2)
		io.WriteString(under, "\r\n")
		conn = &serialConn{conn, l}
	}
	ctx := context.WithValue(context.Background(), dialledKey{}, conn)
	link, err := h.transports[l.token].NewClientConn(ctx, "http", hostedHost+":80")
	if err != nil {
		under.Close()
		h.leave(l)
		return err
	}
	l.http = link
	link.SetStateHook(func(c *http.ClientConn) {
		if c.Err() != nil {
			h.leave(l)
		}
	})
	if link.Err() != nil { // before there was a hook
		h.leave(l)
	}
	return nil
}

// A serialConn is a connection with HTTP/1.1 inside. It fails where something comes that nobody asked for, which
// net/http would write to the standard log, for strangers to fill.
type serialConn struct {
	net.Conn
	link *hostedLink
}

func (c *serialConn) Read(p []byte) (int, error) {
	<-c.link.ready
	n, err := c.Conn.Read(p)
	if n > 0 && c.link.http.InFlight() == 0 {
		return 0, errUnasked
	}
	return n, err
}

var errUnasked = errors.New("an answer that nobody asked for")

// errNotProved is why a reverse link ends before it begins.
var errNotProved = errors.New("the key is not proved")

// proved reads the line by which a caller proves its key.
func (h *Hosting) proved(r *bufio.Reader, from protocol.NodeID, key protocol.NodeKey, challenge string) error {
	var line []byte
	for len(line) == 0 || line[len(line)-1] != '\n' {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		if line = append(line, b); len(line) > maxProofLine {
			return errNotProved
		}
	}
	dialled, signature, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	id, err := protocol.ParseNodeID(dialled)
	proof := protocol.KeyProof{Dialled: id, Signature: signature}
	if err != nil || !h.cfg.Dialled(from, id) ||
		!proof.Proves(protocol.ProvesReverse, key, protocol.NodeKeyOf(h.cfg.Key), challenge) {
		return errNotProved
	}
	return nil
}

// enlist gives a link a place, for which others may be closed, and has calls go over it from now on.
func (h *Hosting) enlist(l *hostedLink) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.links[l.id]
	if old != nil {
		old.pool.Leave(old.place) // its node has a newer one
	}
	l.pool = h.newcomers
	if h.cfg.Neighbor(l.id) {
		l.pool = h.neighbors
	}
	if h.closed || !h.enter(l) {
		if old != nil {
			old.place, _ = old.pool.Enter(time.Now(), old.id.Addr(), 1, old) // there was room for it
		}
		return errNoPlace
	}
	h.links[l.id] = l
	if old != nil {
		old.conn.Close()
	}
	return nil
}

// enter gives a link a place in its pool.
func (h *Hosting) enter(l *hostedLink) bool {
	place, gaveUp := l.pool.Enter(time.Now(), l.id.Addr(), 1, l)
	for _, other := range gaveUp {
		other.Of.conn.Close() // which has it leave
	}
	if place != nil {
		l.place = place
	}
	return place != nil
}

// called notes that a call is made over a link. One of a node that is a neighbor by now has a place among those.
func (h *Hosting) called(l *hostedLink) {
	if l.pool == h.newcomers && h.cfg.Neighbor(l.id) {
		before := l.place
		if l.pool = h.neighbors; h.enter(l) {
			h.newcomers.Leave(before)
		} else {
			l.pool = h.newcomers
		}
	}
	l.place.Await(time.Now())
}

// leave ends a link.
func (h *Hosting) leave(l *hostedLink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.pool.Leave(l.place); h.links[l.id] == l {
		delete(h.links, l.id)
	}
}

// roundTrip makes a call over the reverse link of a node.
func (h *Hosting) roundTrip(to protocol.NodeID, req *http.Request) (*http.Response, error) {
	var link *hostedLink
	if h != nil {
		h.mu.Lock()
		if link = h.links[to]; link != nil {
			h.called(link)
		}
		h.mu.Unlock()
	}
	if link == nil {
		return nil, fmt.Errorf("%w of %s", ErrNotHosted, to)
	}
	select {
	case <-link.ready:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if link.http == nil {
		return nil, fmt.Errorf("%w of %s", ErrNotHosted, to)
	}
	select {
	case link.calls <- struct{}{}:
		defer func() { <-link.calls }()
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return link.http.RoundTrip(req)
}

// Len is how many reverse links there are.
func (h *Hosting) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.links)
}
