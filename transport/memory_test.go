package transport

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/protocol"
)

// largeCall is a call of so many bytes that is refused in the end.
func largeCall(size int) (head, body string) {
	body = "<methodCall><methodName>put_entries</methodName><params>"
	body += strings.Repeat(" ", size-len(body))
	return fmt.Sprintf("POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n", size),
		body
}

// A caller that holds back the end of large calls keeps no large call of others away, nor short ones, and not even its
// own for long.
func TestLargeCallsShareMemory(t *testing.T) {
	for name, addr := range map[string]func(i int) string{
		"one address":      func(i int) string { return fmt.Sprintf("12.1.1.1:%d", 1024+i) },
		"one /24":          func(i int) string { return fmt.Sprintf("12.1.1.%d:1024", i) },
		"twenty networks":  func(i int) string { return fmt.Sprintf("12.%d.1.1:1024", i) },
		"one /32 of IPv6":  func(i int) string { return fmt.Sprintf("[2a00:1:%x::1]:1024", i) },
		"one /48, by /64s": func(i int) string { return fmt.Sprintf("[2a00:1:1:%x::1]:1024", i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const fit = budgetBytes / (4 << 20)
				ln, h := newMemListener(), newHandler(unserved(t))
				stop := run(t.Context(), ln, h, ServerConfig{Log: quiet})
				head, body := largeCall(4 << 20)
				var held []net.Conn
				for i := range fit {
					c := ln.dial(t, addr(i))
					io.WriteString(c, head+body[:len(body)-1])
					held = append(held, c)
				}
				ask := func(from, head, body string) (int, string) {
					c := ln.dial(t, from)
					defer c.Close()
					status, text, err := exchange(c, []byte(head+body))
					if err != nil {
						t.Fatalf("%s: %v", from, err)
					}
					return status, text
				}
				if _, text := ask(addr(0), head, body); !strings.Contains(text, ">108<") {
					t.Errorf("one more of them is answered %s", text)
				}
				shortHead, short := largeCall(600)
				for _, c := range []struct{ what, from, head, body string }{
					{"a short call of theirs", addr(0), shortHead, short},
					{"a large call", "11.1.1.1:1024", head[:len(head)-11] + "200000\r\n\r\n", body[:200_000]},
				} {
					if status, text := ask(c.from, c.head, c.body); status != http.StatusOK ||
						!strings.Contains(text, ">-32700<") {
						t.Errorf("%s: HTTP status %d, %s", c.what, status, text)
					}
				}
				time.Sleep(patience)
				if status, text := ask(addr(0), head, body); status != http.StatusOK ||
					!strings.Contains(text, ">-32700<") {
					t.Errorf("one more of them, later: HTTP status %d, %s", status, text)
				}
				for _, c := range held {
					c.Close()
				}
				synctest.Wait()
				if n := h.memory.pool.Len(); n != 0 {
					t.Errorf("%d messages still hold memory", n)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A call that waits for its answer is given up where its memory is needed for a caller that holds less.
func TestALargeCallThatWaitsGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		ln, h := newMemListener(), newHandler(func(ctx context.Context, r Request) Response {
			if r.From.Addr() == netip.MustParseAddr("12.1.1.1") {
				<-ctx.Done()
				ended.Add(1)
			}
			return Response{Reply: protocol.OK{}}
		})
		stop := run(t.Context(), ln, h, ServerConfig{Log: quiet})
		large := protocol.PutEntries{Bundle: protocol.NewBundle(exampleFeed, []feed.Entry{{
			Feed: exampleFeed, Title: "T", Content: strings.Repeat("x", 1<<20), Summary: strings.Repeat("x", 1<<20),
		}})}
		var held []net.Conn
		for i := range budgetBytes / (2 << 20) {
			c := ln.dial(t, fmt.Sprintf("12.1.1.1:%d", 1024+i))
			defer c.Close()
			c.Write(request(large))
			held = append(held, c)
		}
		synctest.Wait()
		c := ln.dial(t, "11.1.1.1:1024")
		defer c.Close()
		if status, text, err := exchange(c, request(large)); status != http.StatusOK ||
			!strings.Contains(text, ">ok<") {
			t.Errorf("HTTP status %d, %s, %v", status, text, err)
		}
		synctest.Wait()
		if n := ended.Load(); n == 0 || n > 2 {
			t.Errorf("%d of %d calls were given up", n, len(held))
		}
		closeAll(held)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
