package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/protocol"
)

// BenchmarkServe measures what the protocol costs above HTTP itself: requests to our handler, with
// nothing behind it, in turn with the same requests to one that reads the body and answers with nothing.
// The metric of-empty is the ratio of the two rates, in hundredths; the others are of ours alone.
func BenchmarkServe(b *testing.B) {
	dids := make([]protocol.DID, protocol.MaxDIDs)
	seen := make(protocol.SeenList, protocol.MaxDIDs)
	ours := newHandler(func(_ context.Context, r Request) Response {
		if _, ok := r.Call.(protocol.CheckDIDs); ok {
			return Response{Reply: seen}
		}
		return Response{Reply: protocol.Seen(true)}
	})
	empty := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	for _, bench := range []struct {
		call protocol.Call
		ids  int
	}{
		{protocol.CheckDID{Feed: exampleFeed}, 1},
		{protocol.CheckDIDs{DIDs: dids}, len(dids)},
	} {
		message := request(bench.call)
		for _, conns := range []int{8, 64} {
			b.Run(fmt.Sprintf("%s/conns=%d", bench.call.Method(), conns), func(b *testing.B) {
				without, with := connect(b, empty, conns), connect(b, ours, conns)
				var base time.Duration
				b.ReportAllocs()
				b.ResetTimer()
				for left := b.N; left > 0; {
					n := min(left, 100*conns)
					left -= n
					b.StopTimer()
					base += send(b, without, n, message)
					b.StartTimer()
					send(b, with, n, message)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
				b.ReportMetric(100*base.Seconds()/b.Elapsed().Seconds(), "of-empty")
				if bench.ids > 1 {
					b.ReportMetric(float64(b.N*bench.ids)/b.Elapsed().Seconds(), "ids/s")
				}
			})
		}
	}
}

// connect opens connections to a server of h.
func connect(b *testing.B, h http.Handler, conns int) []net.Conn {
	addr := serveLoopback(b, h, ServerConfig{})
	clients := make([]net.Conn, conns)
	for i := range clients {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		clients[i] = c
	}
	return clients
}

// send sends n requests over clients, each of which waits for its answers.
func send(b *testing.B, clients []net.Conn, n int, request []byte) time.Duration {
	began := time.Now()
	var wait sync.WaitGroup
	for i, c := range clients {
		own := n / len(clients)
		if i < n%len(clients) {
			own++
		}
		wait.Go(func() {
			r := bufio.NewReader(c)
			for range own {
				if _, err := c.Write(request); err != nil {
					b.Error(err)
					return
				}
				if err := skipAnswer(r); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return time.Since(began)
}

// skipAnswer reads an answer of HTTP status 200 and does not look at it.
func skipAnswer(r *bufio.Reader) error {
	const lengthHeader = "Content-Length: "
	length := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch text := string(line); {
		case first && text != "HTTP/1.1 200 OK\r\n":
			return fmt.Errorf("answer begins %q", text)
		case text == "\r\n":
			_, err := r.Discard(length)
			return err
		case strings.HasPrefix(text, lengthHeader):
			if length, err = strconv.Atoi(strings.TrimSpace(text[len(lengthHeader):])); err != nil {
				return err
			}
		}
	}
}

// BenchmarkHandler is the handler alone, without a connection.
func BenchmarkHandler(b *testing.B) {
	h := seenHandler()
	body := protocol.EncodeCall(nil, 7790, protocol.CheckDID{Feed: exampleFeed})
	b.ReportAllocs()
	for b.Loop() {
		if w := post(h, string(body)); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}

// BenchmarkCall is a whole call, client and server.
func BenchmarkCall(b *testing.B) {
	addr := serveLoopback(b, seenHandler(), ServerConfig{})
	client := newClient(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Call(context.Background(), addr, "", protocol.CheckDID{}); err != nil {
			b.Fatal(err)
		}
	}
}
