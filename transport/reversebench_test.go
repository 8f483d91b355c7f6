package transport

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"feedex/protocol"
)

// BenchmarkReverseCalls measures calls over one reverse link, in turn with the same calls over HTTP/2 to a server that
// was dialled, on one connection, and with those that go to a dialled node, by HTTP/1.1 on as many as there may be. The
// metrics are the ratios of the rates, in hundredths.
func BenchmarkReverseCalls(b *testing.B) {
	answer := func(context.Context, Request) Response { return Response{Reply: protocol.Seen(true)} }
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			r := newReversible(b, 1)
			r.open(b, 2, answer)
			until(b, "the link is there", func() bool { return r.hosting.Len() == 1 })
			ways := []struct {
				metric string
				client *Client
				to     string
				took   time.Duration
			}{
				{"", r.client, hosted(2).String(), 0},
				{"of-http2", http2Client(b), serveHTTP2(b, newHandler(answer)), 0},
				{"of-dialled", newClient(b), serveLoopback(b, newHandler(answer), ServerConfig{}), 0},
			}
			b.ResetTimer()
			for left := b.N; left > 0; {
				n := min(left, 100*callers)
				left -= n
				for i := range ways {
					began := time.Now()
					callTogether(b, callers, n, ways[i].client, ways[i].to)
					ways[i].took += time.Since(began)
				}
			}
			b.ReportMetric(float64(b.N)/ways[0].took.Seconds(), "calls/s")
			for _, w := range ways[1:] {
				b.ReportMetric(100*w.took.Seconds()/ways[0].took.Seconds(), w.metric)
			}
		})
	}
}

// callTogether makes n calls by so many callers.
func callTogether(b *testing.B, callers, n int, c *Client, to string) {
	b.Helper()
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			for range (n + i) / callers {
				if _, err := c.Call(b.Context(), to, "", protocol.CheckDID{Feed: exampleFeed}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// http2Client is a Client that speaks HTTP/2 with whom it dials.
func http2Client(b *testing.B) *Client {
	c := newClient(b)
	c.transport.Protocols, c.transport.HTTP2 = reverseHTTP2()
	c.transport.MaxConnsPerHost = 1
	return c
}

// serveHTTP2 serves h by HTTP/2 on a loopback port until the benchmark ends, and returns its address.
func serveHTTP2(b *testing.B, h http.Handler) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h}
	s.Protocols, s.HTTP2 = reverseHTTP2()
	go s.Serve(ln)
	b.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// BenchmarkIdleReverseLink measures the memory that an idle reverse link takes, heap and stacks of both its ends.
func BenchmarkIdleReverseLink(b *testing.B) {
	const links = 200
	r := newReversible(b, links)
	before := inUse()
	for i := range links {
		r.open(b, byte(2+i), unserved(b))
	}
	until(b, "all links are there", func() bool { return r.hosting.Len() == links })
	b.ReportMetric(float64(inUse()-before)/links, "B/link")
	r.hosting.Close() // or each of them takes its time to say goodbye
}

// inUse is how much memory is in use after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
