package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"feedex/protocol"
)

// dialSerial opens a reverse link for HTTP/1.1 as docs/PROTOCOL.md has it, up to the sign that its proof is believed.
func (r *reversible) dialSerial(t *testing.T, key byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	answer := r.askForLink(t, conn, serialToken, key)
	proof := protocol.ProveKey(signer(key), protocol.ProvesReverse, keyOf(1), answer.Header.Get(ChallengeHeader), r.id)
	fmt.Fprintf(conn, "%s %s\n", proof.Dialled, proof.Signature)
	sign := make([]byte, 2)
	if _, err := io.ReadFull(conn, sign); err != nil || string(sign) != "\r\n" {
		t.Fatalf("the sign that the proof is believed: %q, %v", sign, err)
	}
	return conn
}

// askForLink asks for a reverse link by a token, and returns the answer.
func (r *reversible) askForLink(t *testing.T, conn net.Conn, token string, key byte) *http.Response {
	t.Helper()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s: %s\r\n\r\n", Path, token,
		KeyHeader, keyOf(key))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Upgrade") != token {
		t.Fatalf("asked for %s: %+v, %v", token, answer, err)
	}
	return answer
}

// openSerial opens a reverse link for HTTP/1.1, and answers the calls over it until the test ends.
func (r *reversible) openSerial(t *testing.T, key byte, serve func(context.Context, Request) Response) net.Conn {
	t.Helper()
	conn := r.dialSerial(t, key)
	server := &http.Server{Handler: newHandler(serve)}
	ln := newOneConn(conn)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(ln)
	}()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
	return conn
}

// Over HTTP/1.1 calls go over a reverse link one at a time, and whoever waits waits no longer than it has time.
func TestSerialCallsOverReverseLink(t *testing.T) {
	r := newReversible(t, 4)
	asked, release := make(chan struct{}, 100), make(chan struct{})
	var under, most int
	var mu sync.Mutex
	r.openSerial(t, 2, func(ctx context.Context, _ Request) Response {
		mu.Lock()
		under++
		most = max(most, under)
		mu.Unlock()
		asked <- struct{}{}
		<-release
		mu.Lock()
		under--
		mu.Unlock()
		return Response{Reply: protocol.OK{}, Session: "theirs"}
	})
	var calls sync.WaitGroup
	call := func() {
		got, err := r.client.Call(deadline(t), hosted(2).String(), "ours", protocol.Disconnect{})
		if err != nil || got.Peer != hosted(2) || got.Session != "theirs" {
			t.Errorf("from %v with %q, %v", got.Peer, got.Session, err)
		}
	}
	calls.Go(call)
	<-asked
	ctx, cancel := context.WithCancel(deadline(t))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		got, err := r.client.Call(ctx, hosted(2).String(), "", protocol.Disconnect{})
		if !errors.Is(err, context.Canceled) || !got.Unsent || !got.Queued {
			t.Errorf("a call that waited in vain: %+v, %v", got, err)
		}
	}()
	for range 20 {
		calls.Go(call)
	}
	until(t, "all wait", func() bool { return r.hosting.waiting(hosted(2)) == 22 })
	cancel()
	<-ended
	close(release)
	calls.Wait()
	if most != 1 {
		t.Errorf("%d calls at a time, want one", most)
	}
}

// waiting is how many calls are made over a link, or wait for their turn.
func (h *Hosting) waiting(to protocol.NodeID) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.links[to].calls)
}

// A home that ends its connection, says what nobody asked for, answers without end, with what is no answer or not at
// all, costs one call in its time, and has no link any more.
func TestSerialHomesThatMisbehave(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n"
	endless := strings.NewReader(strings.Repeat("x", 32<<20))
	for name, answer := range map[string]func(io.Writer){
		"nothing":          nil,
		"the end":          func(w io.Writer) { w.(net.Conn).Close() },
		"endless headers":  func(w io.Writer) { io.WriteString(w, head+"A: "); io.Copy(w, endless) },
		"an endless body":  func(w io.Writer) { io.WriteString(w, head+"\r\n"); io.Copy(w, endless) },
		"too long a body":  func(w io.Writer) { io.WriteString(w, head+"Content-Length: 99999999\r\n\r\n") },
		"endless interims": func(w io.Writer) { io.WriteString(w, strings.Repeat("HTTP/1.1 102 X\r\n\r\n", 1<<20)) },
		"another protocol": func(w io.Writer) { io.WriteString(w, "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n") },
		"no HTTP":          func(w io.Writer) { io.WriteString(w, "220 mail.example\r\n") },
		"half an answer":   func(w io.Writer) { io.WriteString(w, head+"Content-Length: 100\r\n\r\n<method") },
		"one answer a lot": func(w io.Writer) { io.WriteString(w, strings.Repeat(head+"Content-Length: 0\r\n\r\n", 1<<20)) },
	} {
		r := newReversible(t, 4)
		conn := r.dialSerial(t, 2)
		ctx, cancel := context.WithCancel(deadline(t))
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			http.ReadRequest(bufio.NewReader(conn))
			if answer != nil {
				answer(conn)
			}
			cancel()
		}()
		got, err := r.client.Call(ctx, hosted(2).String(), "", protocol.Disconnect{})
		if err == nil || got.Unsent {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		until(t, name+": the link is over", func() bool { return r.hosting.Len() == 0 })
		<-sent
	}
}
