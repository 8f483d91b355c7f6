package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/protocol"
)

// signer is the private key of a node that tests play.
func signer(i byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), i))
}

func keyOf(i byte) protocol.NodeKey { return protocol.NodeKeyOf(signer(i)) }

// A reversible is a node that hosts others, with a client that calls them.
type reversible struct {
	hosting *Hosting
	client  *Client
	addr    string
	id      protocol.NodeID
	calls   chan Request
	near    sync.Map // neighbors
}

func newReversible(t testing.TB, slots int) *reversible {
	t.Helper()
	r := &reversible{calls: make(chan Request, 100)}
	r.hosting = NewHosting(HostingConfig{Key: signer(1), Slots: slots,
		Dialled:  func(_, at protocol.NodeID) bool { return at == r.id },
		Neighbor: func(id protocol.NodeID) bool { _, is := r.near.Load(id); return is }, Log: quiet})
	t.Cleanup(r.hosting.Close)
	r.client = NewClient(ClientConfig{Port: 7790, AllowLocal: true, Hosting: r.hosting})
	t.Cleanup(r.client.CloseIdle)
	r.addr = serveLoopback(t, NewHandler(HandlerConfig{
		Methods: protocol.NodeMethods(), Hosting: r.hosting, Log: quiet,
		Serve: func(_ context.Context, req Request) Response {
			r.calls <- req
			return Response{Reply: protocol.OK{}}
		},
	}), ServerConfig{})
	r.id = nodeID(r.addr)
	return r
}

// open has a node with the key open a reverse link, and answers the calls over it by serve until the test ends. ended
// is closed once the link is over.
func (r *reversible) open(t testing.TB, key byte, serve func(context.Context, Request) Response) (
	link *ReverseLink, ended chan struct{}) {
	t.Helper()
	client := NewClient(ClientConfig{Port: 7790, AllowLocal: true, Key: signer(key), UserAgent: "feedex"})
	link, err := client.Reverse(deadline(t), r.id)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan struct{})
	handler := newHandler(serve)
	go func() {
		defer close(ended)
		if err := link.Serve(ctx, handler, ServerConfig{Log: quiet}); err != nil {
			t.Errorf("Serve: %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return link, ended
}

// askForLink asks for a reverse link by a token, and returns the answer.
func (r *reversible) askForLink(t *testing.T, conn net.Conn, token string, key byte) *http.Response {
	t.Helper()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n\r\n", Path,
		token, KeyHeader, keyOf(key))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Upgrade") != token {
		t.Fatalf("asked for %s: %+v, %v", token, answer, err)
	}
	return answer
}

// hosted is the id by which calls go to the node with the key.
func hosted(key byte) protocol.NodeID {
	return protocol.HostedID(netip.MustParseAddr("127.0.0.1"), keyOf(key))
}

// until waits for something that happens by itself.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for ctx := deadline(t); !is(); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Every method goes over a reverse link as over any other, many at a time, and comes from the node that was dialled
// whatever port it states.
func TestCallsOverReverseLink(t *testing.T) {
	r := newReversible(t, 4)
	replies := make(map[string]protocol.Reply)
	for _, x := range examples("\n") {
		replies[string(protocol.EncodeCall(nil, 1, x.call))] = x.reply
	}
	r.open(t, 2, func(_ context.Context, req Request) Response {
		if req.From != r.id || !req.Reversed {
			t.Errorf("a call over the link comes from %v, reversed %v", req.From, req.Reversed)
		}
		return Response{Reply: replies[string(protocol.EncodeCall(nil, 1, req.Call))], Session: "theirs"}
	})
	until(t, "the link is there", func() bool { return r.hosting.Len() == 1 })
	var calls sync.WaitGroup
	for range 4 {
		for _, x := range examples("\n") {
			calls.Go(func() {
				got, err := r.client.Call(deadline(t), hosted(2).String(), "ours", x.call)
				want := replies[string(protocol.EncodeCall(nil, 1, x.call))]
				if err != nil || !sameReply(got.Reply, want) || got.Peer != hosted(2) || got.Session != "theirs" {
					t.Errorf("%s: %v from %v with %q, %v", x.call.Method(), got.Reply, got.Peer, got.Session, err)
				}
			})
		}
	}
	calls.Wait()
	if sent := r.hosting.Bytes(); sent < 10_000 {
		t.Errorf("%d bytes have passed over the link, want those of all calls", sent)
	}
}

// A call to a node without a link ends at once, and is known not to have been sent.
func TestCallWithoutReverseLink(t *testing.T) {
	r := newReversible(t, 1)
	for _, client := range []*Client{r.client, newClient(t)} {
		got, err := client.Call(deadline(t), hosted(2).String(), "", protocol.WhoAmI{})
		if !errors.Is(err, ErrNotHosted) || !got.Unsent || got.Queued {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

// A link that breaks is forgotten, at either end, and a newer one of the same node takes its place.
func TestReverseLinkBreaks(t *testing.T) {
	r := newReversible(t, 4)
	answer := func(name string) func(context.Context, Request) Response {
		return func(context.Context, Request) Response { return Response{Reply: protocol.OK{}, Session: name} }
	}
	first, ended := r.open(t, 2, answer("first"))
	until(t, "the first link is there", func() bool { return r.hosting.Len() == 1 })
	r.open(t, 2, answer("second"))
	<-ended
	got, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.Disconnect{})
	if err != nil || got.Session != "second" {
		t.Errorf("after a second link: %v, %v", got, err)
	}
	first.Close() // which is over
	third, ended := r.open(t, 3, answer("third"))
	until(t, "two links are there", func() bool { return r.hosting.Len() == 2 })
	third.Close()
	<-ended
	until(t, "one is gone", func() bool { return r.hosting.Len() == 1 })
	r.hosting.Close()
	until(t, "both are gone", func() bool { return r.hosting.Len() == 0 })
	client := NewClient(ClientConfig{AllowLocal: true, Key: signer(2)})
	if _, err := client.Reverse(deadline(t), r.id); !errors.Is(err, ErrNotHosted) {
		t.Errorf("after the end: %v", err)
	}
}

// A host that vanished, as for a home whose router got another address, is no warning to the home's owner.
func TestAVanishedHostIsNoWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home, host := net.Pipe()
		var warned bytes.Buffer
		link := &ReverseLink{conn: home}
		ended := make(chan error, 1)
		go func() {
			ended <- link.Serve(t.Context(), http.NotFoundHandler(), ServerConfig{
				Log: slog.New(slog.NewTextHandler(&warned, &slog.HandlerOptions{Level: slog.LevelInfo}))})
		}()
		// It says what begins a connection of HTTP/2 (RFC 9113 §3.4), and nothing ever after.
		go io.WriteString(host, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		go io.Copy(io.Discard, host)
		began := time.Now()
		if err := <-ended; err != nil || time.Since(began) != pingAfter+pingTimeout {
			t.Errorf("it ended after %v, %v", time.Since(began), err)
		}
		if warned.Len() > 0 {
			t.Errorf("its owner is told %q", warned.String())
		}
	})
}

// That a handler panicked is one.
func TestAPanicOverAReverseLinkIsAWarning(t *testing.T) {
	var told bytes.Buffer
	l := linkErrors{slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	io.WriteString(l, "timeout waiting for PING response\n")
	io.WriteString(l, "http2: panic serving 11.0.0.1:7790: nil map\n")
	if text := told.String(); strings.Contains(text, "PING") || !strings.Contains(text, "panic serving") {
		t.Errorf("told %q", text)
	}
}

// Where places are short a network that has many gives way to another, and a node without hosting says so.
func TestReversePlaces(t *testing.T) {
	r := newReversible(t, 2)
	ok := func(context.Context, Request) Response { return Response{Reply: protocol.OK{}} }
	r.open(t, 2, ok)
	r.open(t, 3, ok)
	until(t, "two links are there", func() bool { return r.hosting.Len() == 2 })
	client := NewClient(ClientConfig{AllowLocal: true, Key: signer(4)})
	if _, err := client.Reverse(deadline(t), r.id); !errors.Is(err, ErrNotHosted) {
		t.Errorf("a third link of one address: %v", err)
	}
	// Who becomes a neighbor is called, and leaves its place to others that would like to.
	r.near.Store(hosted(2), true)
	if _, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.Disconnect{}); err != nil {
		t.Fatal(err)
	}
	r.open(t, 4, ok)
	if r.hosting.Len() != 3 {
		t.Errorf("there are %d links, want a neighbor's and two", r.hosting.Len())
	}
	plain := serveLoopback(t, newHandler(unserved(t)), ServerConfig{})
	if _, err := client.Reverse(deadline(t), nodeID(plain)); !errors.Is(err, ErrNotHosted) {
		t.Errorf("at a node that hosts nobody: %v", err)
	}
}

// Who cannot prove the key, proves it for another node, replays a proof, or says nothing, gets no link, and takes the
// link of nobody.
func TestReverseProofs(t *testing.T) {
	r := newReversible(t, 4)
	ok := func(context.Context, Request) Response { return Response{Reply: protocol.OK{}, Session: "true"} }
	r.open(t, 2, ok)
	until(t, "the link is there", func() bool { return r.hosting.Len() == 1 })
	old := protocol.ProveKey(signer(2), protocol.ProvesReverse, keyOf(1), "of before", r.id)
	for name, line := range map[string]func(challenge string) string{
		"another key": func(challenge string) string {
			p := protocol.ProveKey(signer(3), protocol.ProvesReverse, keyOf(1), challenge, r.id)
			return p.Dialled.String() + " " + p.Signature + "\n"
		},
		"for another node": func(challenge string) string {
			p := protocol.ProveKey(signer(2), protocol.ProvesReverse, keyOf(9), challenge, r.id)
			return p.Dialled.String() + " " + p.Signature + "\n"
		},
		"by way of another node": func(challenge string) string {
			p := protocol.ProveKey(signer(2), protocol.ProvesReverse, keyOf(1), challenge, nodeID("11.1.1.1:7790"))
			return p.Dialled.String() + " " + p.Signature + "\n"
		},
		"for feedex.vouch": func(challenge string) string {
			p := protocol.ProveKey(signer(2), protocol.ProvesLink, keyOf(1), challenge, r.id)
			return p.Dialled.String() + " " + p.Signature + "\n"
		},
		"replayed":   func(string) string { return old.Dialled.String() + " " + old.Signature + "\n" },
		"no proof":   func(string) string { return "\n" },
		"no address": func(string) string { return "x y\n" },
		"endless":    func(string) string { return strings.Repeat("x", 4096) },
	} {
		for _, token := range []string{reverseToken, serialToken} {
			conn, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, line(r.askForLink(t, conn, token, 2).Header.Get(ChallengeHeader)))
			conn.SetReadDeadline(time.Now().Add(time.Minute))
			if rest, err := io.ReadAll(conn); len(rest) > 0 || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: the link goes on with %q, %v", name, token, rest, err)
			}
			conn.Close()
		}
	}
	got, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.WhoAmI{})
	if err == nil || r.hosting.Len() != 1 { // it answers OK, which is no id: it was asked
		t.Errorf("the true link: %v, %v, of %d", got, err, r.hosting.Len())
	}
}

// What asks for a reverse link wrongly is told why.
func TestReverseRefusals(t *testing.T) {
	r := newReversible(t, 4)
	for _, c := range []struct {
		name   string
		status int
		edit   func(*http.Request)
	}{
		{"no key", http.StatusBadRequest, func(q *http.Request) { q.Header.Del(KeyHeader) }},
		{"no such key", http.StatusBadRequest, func(q *http.Request) { q.Header.Set(KeyHeader, "ed25519:x") }},
		{"the node's own key", http.StatusConflict,
			func(q *http.Request) { q.Header.Set(KeyHeader, keyOf(1).String()) }},
		{"a web page", http.StatusForbidden, func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }},
		{"a body", http.StatusBadRequest, func(q *http.Request) {
			q.Body, q.ContentLength = io.NopCloser(strings.NewReader("x")), 1
		}},
		{"another protocol", http.StatusUnsupportedMediaType,
			func(q *http.Request) { q.Header.Set("Upgrade", "websocket") }},
		{"by GET", http.StatusMethodNotAllowed, func(q *http.Request) { q.Method = http.MethodGet }},
	} {
		req, err := http.NewRequest(http.MethodPost, "http://"+r.addr+Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {reverseToken}, KeyHeader: {keyOf(2).String()}}
		c.edit(req)
		transport := &http.Transport{}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if resp.Body.Close(); resp.StatusCode != c.status {
			t.Errorf("%s: HTTP status %d, want %d", c.name, resp.StatusCode, c.status)
		}
		transport.CloseIdleConnections()
	}
	alone := serveLoopback(t, newHandler(nil), ServerConfig{})
	client := NewClient(ClientConfig{Port: 7790, AllowLocal: true, Key: signer(2), UserAgent: "feedex"})
	if _, err := client.Reverse(deadline(t), nodeID(alone)); !errors.Is(err, ErrNotHosted) ||
		!strings.Contains(err.Error(), "501") {
		t.Errorf("a node that hosts nobody: %v", err)
	}
}

// A host makes no more calls at a time over a link than the other end takes, and the others wait.
func TestReverseLinkIsBounded(t *testing.T) {
	r := newReversible(t, 4)
	release := make(chan struct{})
	var under, most int
	var mu sync.Mutex
	r.open(t, 2, func(ctx context.Context, _ Request) Response {
		mu.Lock()
		under++
		most = max(most, under)
		mu.Unlock()
		select {
		case <-release:
		case <-ctx.Done():
		}
		mu.Lock()
		under--
		mu.Unlock()
		return Response{Reply: protocol.OK{}}
	})
	until(t, "the link is there", func() bool { return r.hosting.Len() == 1 })
	var calls sync.WaitGroup
	for range 3 * callsAtOnce {
		calls.Go(func() {
			if _, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.Disconnect{}); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, "calls wait", func() bool { mu.Lock(); defer mu.Unlock(); return under == callsAtOnce })
	close(release)
	calls.Wait()
	if most > callsAtOnce {
		t.Errorf("%d calls at a time, want %d at most", most, callsAtOnce)
	}
}

// A call that was sent and not answered in time is known to have been sent, as it is where a peer was dialled.
func TestNoAnswerOverReverseLink(t *testing.T) {
	r := newReversible(t, 4)
	asked := make(chan struct{})
	r.open(t, 2, func(ctx context.Context, _ Request) Response {
		close(asked)
		<-ctx.Done()
		return Response{Reply: protocol.OK{}}
	})
	ctx, cancel := context.WithCancel(deadline(t))
	go func() {
		<-asked
		cancel()
	}()
	got, err := r.client.Call(ctx, hosted(2).String(), "", protocol.Disconnect{})
	if !errors.Is(err, context.Canceled) || got.Unsent || got.Queued {
		t.Errorf("got %+v, %v", got, err)
	}
}
