package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
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
	endless := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name          string
		first, repeat string
		ends          bool // the call, with its context
	}{
		{name: "nothing", ends: true},
		{name: "half an answer", first: head + "Content-Length: 100\r\n\r\n<method", ends: true},
		{name: "endless headers", first: head + "A: ", repeat: endless},
		{name: "an endless body", first: head + "\r\n", repeat: endless},
		{name: "endless chunks", first: head + "Transfer-Encoding: chunked\r\n\r\n", repeat: "1\r\nx\r\n"},
		{name: "endless interims", repeat: "HTTP/1.1 102 X\r\n\r\n"},
		{name: "endless answers", repeat: head + "Content-Length: 1\r\n\r\nx"},
		{name: "too long a body", first: head + "Content-Length: 99999999\r\n\r\n"},
		{name: "another protocol", first: "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"},
		{name: "no HTTP", first: "220 mail.example\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReversible(t, 4)
			conn := r.dialSerial(t, 2)
			ctx, cancel := context.WithCancel(deadline(t))
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				http.ReadRequest(bufio.NewReader(conn))
				_, err := io.WriteString(conn, c.first)
				for err == nil && c.repeat != "" {
					_, err = io.WriteString(conn, c.repeat)
				}
				if c.ends {
					cancel()
				}
			}()
			got, err := r.client.Call(ctx, hosted(2).String(), "", protocol.Disconnect{})
			if err == nil || got.Unsent || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v, %v", got, err)
			}
			until(t, "the link is over", func() bool { return r.hosting.Len() == 0 })
			<-sent
		})
	}
}

// A link over HTTP/1.1 is over once its home is gone, says what nobody asked for, or that an answer is its last; and a
// newer link of the same home takes its place.
func TestSerialLinkBreaks(t *testing.T) {
	r := newReversible(t, 4)
	r.dialSerial(t, 2).Close()
	until(t, "the first link is gone", func() bool { return r.hosting.Len() == 0 })
	var said bytes.Buffer
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	io.WriteString(r.dialSerial(t, 2), "HTTP/1.1 200 OK\r\n\r\n")
	until(t, "the second link is gone", func() bool { return r.hosting.Len() == 0 })
	body := string(protocol.EncodeReply(nil, protocol.OK{}))
	for _, last := range []string{"HTTP/1.1 200 OK\r\nConnection: close\r\n", "HTTP/1.0 200 OK\r\n"} {
		conn := r.dialSerial(t, 2)
		go func() {
			http.ReadRequest(bufio.NewReader(conn))
			fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", last, len(body), body)
		}()
		if _, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.Disconnect{}); err != nil {
			t.Errorf("the last answer: %v", err)
		}
		until(t, "the link with the last answer is gone", func() bool { return r.hosting.Len() == 0 })
	}
	old := r.dialSerial(t, 2)
	r.open(t, 2, func(context.Context, Request) Response { return Response{Reply: protocol.OK{}, Session: "new"} })
	if n, err := old.Read(make([]byte, 1)); err == nil || n > 0 {
		t.Errorf("the older link goes on: %d, %v", n, err)
	}
	if got, err := r.client.Call(deadline(t), hosted(2).String(), "", protocol.Disconnect{}); got.Session != "new" {
		t.Errorf("over the newer link: %+v, %v", got, err)
	}
	if said.Len() > 0 {
		t.Errorf("what came unasked stands in the log: %s", &said)
	}
}
