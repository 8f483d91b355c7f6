package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/node"
)

func nodeFetch(url string) node.Fetch { return node.Fetch{Feed: feed.URL(url)} }

// inMemory is a client whose connections all lead to peer, which has one end of each until
// it returns. It runs under synctest: no sockets, and time passes only while everybody waits.
func inMemory(t *testing.T, peer func(addr string, conn net.Conn)) *Client {
	c := New(Config{})
	var peers sync.WaitGroup
	c.guarded.DialContext = func(_ context.Context, _, addr string) (net.Conn, error) {
		here, there := net.Pipe()
		peers.Go(func() {
			defer there.Close()
			peer(addr, there)
		})
		return here, nil
	}
	t.Cleanup(func() {
		c.CloseIdle()
		peers.Wait()
	})
	return c
}

// answer reads a request and writes text in its place.
func answer(conn net.Conn, text string) error {
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
		return err
	}
	_, err := fmt.Fprint(conn, text)
	return err
}

func TestSlowPublishers(t *testing.T) {
	drip := func(conn net.Conn, text string) {
		for i := 0; ; i++ {
			if _, err := conn.Write([]byte{text[i%len(text)]}); err != nil {
				return
			}
			<-time.After(time.Second)
		}
	}
	hops := 0
	for name, peer := range map[string]func(string, net.Conn){
		"says nothing": func(_ string, conn net.Conn) {
			answer(conn, "")
			conn.Read(make([]byte, 1))
		},
		"drips its header": func(_ string, conn net.Conn) {
			answer(conn, "HTTP/1.1 200 OK\r\nX-Slow: ")
			drip(conn, "x")
		},
		"drips its body": func(_ string, conn net.Conn) {
			answer(conn, "HTTP/1.1 200 OK\r\n\r\n")
			drip(conn, "<a/>")
		},
		"stops within its body": func(_ string, conn net.Conn) {
			answer(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>")
			conn.Read(make([]byte, 1))
		},
		"redirects slowly": func(_ string, conn net.Conn) {
			<-time.After(12 * time.Second)
			hops++
			answer(conn, fmt.Sprintf("HTTP/1.1 302 Found\r\nLocation: /%d\r\nContent-Length: 0\r\nConnection: "+
				"close\r\n\r\n", hops))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(t, peer)
				start := time.Now()
				got := c.Fetch(t.Context(), nodeFetch("http://example.com/feed"))
				if took := time.Since(start); took != timeout {
					t.Errorf("took %v, want %v", took, timeout)
				}
				if !errors.Is(got.Err, context.DeadlineExceeded) {
					t.Errorf("%v, want DeadlineExceeded", got.Err)
				}
			})
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, func(_ string, conn net.Conn) {
			answer(conn, "")
			conn.Read(make([]byte, 1))
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		got := c.Fetch(ctx, nodeFetch("http://example.com/feed"))
		if !errors.Is(got.Err, context.Canceled) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v", got.Err, time.Since(start))
		}
	})
}

// What waits for a place here is no slow publisher: it has the time that it had.
func TestWaitingHereIsNotThePublishers(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nConnection: close\r\n\r\n"
	for name, body := range map[string]string{
		"for the parser": rss, "for a large body": rss + strings.Repeat(" ", freeBytes)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(t, func(_ string, conn net.Conn) {
					time.Sleep(timeout - time.Second)
					answer(conn, head+body)
				})
				for _, g := range []gate{c.parsing, c.large} {
					for range cap(g) {
						g <- struct{}{}
					}
					time.AfterFunc(10*timeout, func() {
						for range cap(g) {
							g.leave()
						}
					})
				}
				start := time.Now()
				got := c.Fetch(t.Context(), nodeFetch("http://example.com/feed"))
				if took := time.Since(start); got.Err != nil || took < 10*timeout || took > 10*timeout+time.Second {
					t.Errorf("%v after %v", got.Err, took)
				}
			})
		})
	}
}

const notFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// Fetches of one host wait for each other, and the wait is not taken off their time; those of others
// go on beside them.
func TestOneAtATimePerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inside, most atomic.Int32
		c := inMemory(t, func(addr string, conn net.Conn) {
			for n := inside.Add(1); ; {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(20 * time.Second)
			inside.Add(-1)
			answer(conn, notFound)
		})
		start := time.Now()
		done := make(chan error)
		for _, host := range []string{"example.com", "EXAMPLE.com:8080", "example.com.", "example.org", "example.net"} {
			go func() { done <- c.Fetch(t.Context(), nodeFetch("http://"+host+"/feed")).Err }()
		}
		for range 5 {
			var status *StatusError
			if err := <-done; !errors.As(err, &status) {
				t.Errorf("%v, want a StatusError", err)
			}
		}
		if took := time.Since(start); took != 60*time.Second {
			t.Errorf("three fetches of one host took %v, want 60 s", took)
		}
		if most.Load() != 3 {
			t.Errorf("%d connections at a time, want one to each of three hosts", most.Load())
		}
		if len(c.hosts.gates) != 0 {
			t.Errorf("%d hosts are remembered", len(c.hosts.gates))
		}
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hosts
		leave, err := h.enter(t.Context(), "example.com")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := h.enter(ctx, "example.com"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want DeadlineExceeded", err)
		}
		leave()
		leave, err = h.enter(t.Context(), "example.com")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if len(h.gates) != 0 {
			t.Errorf("%d hosts are remembered", len(h.gates))
		}
	})
}
