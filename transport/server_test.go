package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/protocol"
)

// request is a whole HTTP request for call.
func request(call protocol.Call) []byte {
	body := protocol.EncodeCall(nil, 7790, call)
	return fmt.Appendf(nil, "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
}

// exchange sends a request over c and reads the answer.
func exchange(c net.Conn, request []byte) (status int, body string, err error) {
	go c.Write(request)
	return answer(c)
}

func answer(c net.Conn) (status int, body string, err error) {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// closed reports whether the server has closed c; it must be asked within a synctest bubble.
func closed(c net.Conn) bool {
	synctest.Wait()
	c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return err == io.EOF
}

func seenHandler() *handler {
	return newHandler(func(context.Context, Request) Response { return Response{Reply: protocol.Seen(true)} })
}

// TestSlowSenders drip a call byte by byte and are cut off; meanwhile others are served.
func TestSlowSenders(t *testing.T) {
	whole := request(protocol.CheckDID{})
	for name, c := range map[string]struct {
		pause time.Duration // between bytes
		limit time.Duration // when the server has had enough
	}{
		"headers": {time.Second, headerTimeout},
		"body":    {40 * time.Millisecond, readTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newMemListener()
				stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
				began := time.Now()
				slow := ln.dial(t, "12.1.1.1:1024")
				var sending sync.WaitGroup
				sending.Go(func() {
					for i := range whole {
						if _, err := slow.Write(whole[i : i+1]); err != nil {
							return
						}
						time.Sleep(c.pause)
					}
				})
				ended := make(chan time.Duration)
				go func() {
					for err := error(nil); err == nil; {
						_, _, err = answer(slow)
					}
					ended <- time.Since(began)
				}()
				for time.Since(began) < c.limit {
					other := ln.dial(t, "11.1.1.1:1024")
					before := time.Now()
					if status, _, err := exchange(other, whole); status != 200 || time.Since(before) > 0 {
						t.Fatalf("another: HTTP status %d, %v after %v", status, err, time.Since(before))
					}
					other.Close()
					time.Sleep(time.Second)
				}
				if took := <-ended; took > c.limit+time.Second {
					t.Errorf("cut off after %v, want %v", took, c.limit)
				}
				slow.Close()
				sending.Wait()
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestSlowReader asks and does not read the answer.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newMemListener()
		stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
		c := ln.dial(t, "12.1.1.1:1024")
		if _, err := c.Write(request(protocol.CheckDID{})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeTimeout + time.Second)
		if _, _, err := answer(c); err == nil {
			t.Error("the answer still came")
		}
		c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestIdleConnections are closed in the end, by the client before the server.
func TestIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newMemListener()
		stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
		c := ln.dial(t, "12.1.1.1:1024")
		for range 2 {
			if status, _, err := exchange(c, request(protocol.CheckDID{})); status != 200 {
				t.Errorf("HTTP status %d, %v", status, err)
			}
			time.Sleep(idleTimeout - time.Second)
		}
		time.Sleep(2 * time.Second)
		if !closed(c) {
			t.Error("still open")
		}
		c.Close()
		client := NewClient(ClientConfig{})
		if client.transport.IdleConnTimeout >= idleTimeout {
			t.Errorf("the client keeps connections for %v, the server for %v",
				client.transport.IdleConnTimeout, idleTimeout)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestLongCall waits in Serve longer than a request may take to arrive: its context must not end.
func TestLongCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newMemListener()
		stop := run(t.Context(), ln, newHandler(func(ctx context.Context, _ Request) Response {
			select {
			case <-ctx.Done():
				return Response{Fault: protocol.Faultf(protocol.Busy, "the context ended")}
			case <-time.After(readTimeout + 5*time.Second):
				return Response{Reply: protocol.Seen(true)}
			}
		}), ServerConfig{Log: quiet})
		c := ln.dial(t, "11.1.1.1:1024")
		if status, body, err := exchange(c, request(protocol.CheckDID{})); status != 200 ||
			!strings.Contains(body, ">seen<") {
			t.Errorf("HTTP status %d, %s, %v", status, body, err)
		}
		c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestGracefulEnd ends the server while calls are under way: one that ends in time is answered, one
// that waits for its context is cut off, and Serve returns after both.
func TestGracefulEnd(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  int
	}{
		"in time":  {2 * time.Second, 200},
		"too long": {time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newMemListener()
				ended := false
				stop := run(t.Context(), ln, newHandler(func(ctx context.Context, _ Request) Response {
					select {
					case <-ctx.Done():
					case <-time.After(c.takes):
					}
					time.Sleep(time.Second) // tidies up
					ended = true
					return Response{Reply: protocol.Seen(true)}
				}), ServerConfig{Log: quiet})
				idle := ln.dial(t, "11.1.1.1:1024")
				half := ln.dial(t, "11.1.1.1:1025")
				busy := ln.dial(t, "11.1.1.1:1026")
				go io.WriteString(half, "POST /RPC2")
				status := make(chan int)
				go func() {
					code, _, _ := exchange(busy, request(protocol.CheckDID{}))
					status <- code
				}()
				synctest.Wait()
				began := time.Now()
				done := make(chan error)
				go func() { done <- stop() }()
				if got := <-status; got != c.want {
					t.Errorf("HTTP status %d, want %d", got, c.want)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if !ended {
					t.Error("Serve returned before the call had ended")
				}
				if took := time.Since(began); took > graceTimeout+2*time.Second {
					t.Errorf("the end took %v", took)
				}
				for _, conn := range []net.Conn{idle, half, busy} {
					if !closed(conn) {
						t.Error("a connection is still open")
					}
					conn.Close()
				}
			})
		})
	}
}

func TestServeReportsListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := Serve(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
}

// TestPanicIsLogged cuts off the call that panicked and nothing else.
func TestPanicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ln := newMemListener()
		first := true
		stop := run(t.Context(), ln, newHandler(func(context.Context, Request) Response {
			if first {
				first = false
				panic("a mistake of ours")
			}
			return Response{Reply: protocol.Seen(true)}
		}), ServerConfig{Log: slog.New(slog.NewTextHandler(&log, nil))})
		c := ln.dial(t, "11.1.1.1:1024")
		if status, _, err := exchange(c, request(protocol.CheckDID{})); err == nil {
			t.Errorf("HTTP status %d, want none", status)
		}
		c.Close()
		c = ln.dial(t, "11.1.1.1:1025")
		if status, _, err := exchange(c, request(protocol.CheckDID{})); status != 200 {
			t.Errorf("the next call: HTTP status %d, %v", status, err)
		}
		c.Close()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), "a mistake of ours") {
			t.Errorf("the log says %q", &log)
		}
	})
}

// TestHugeHeaders are refused by their size.
func TestHugeHeaders(t *testing.T) {
	addr := serveLoopback(t, seenHandler(), ServerConfig{})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	head := "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nX: " + strings.Repeat("x", 1<<20)
	if status, _, err := exchange(c, []byte(head)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("HTTP status %d, %v, want 431", status, err)
	}
}
