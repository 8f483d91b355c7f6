package transport

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"feedex/protocol"
)

// crowds are where attackers connect from: the i-th address, of so many.
var crowds = []struct {
	name string
	size int
	addr func(i int) string
}{
	{"one address", 600, func(i int) string { return fmt.Sprintf("12.1.1.1:%d", 1024+i) }},
	{"one /24", 600, func(i int) string { return fmt.Sprintf("12.1.1.%d:%d", i%250, 1024+i) }},
	{"twenty networks", 600, func(i int) string { return fmt.Sprintf("12.%d.1.%d:%d", i%20, i/20%250, 1024+i) }},
	{"one customer of IPv6", 600, func(i int) string { return fmt.Sprintf("[2a00::%x]:1024", i+1) }},
	{"one /48, by /64", 600, func(i int) string { return fmt.Sprintf("[2a00:1:2:%x::1]:1024", i) }},
	{"one /32, by /48", 600, func(i int) string { return fmt.Sprintf("[2a00:1:%x::1]:1024", i) }},
	{"the newcomer's own /24", 600, func(i int) string { return fmt.Sprintf("11.1.1.%d:%d", 2+i%250, 1024+i) }},
	{"the newcomer's own /32", 600, func(i int) string { return fmt.Sprintf("[2b00:1:%x::1]:1024", 2+i) }},
}

// holding are the ways in which attackers hold a connection, until it is closed.
var holding = map[string]func(c net.Conn){
	"silent":      func(net.Conn) {},
	"half a head": func(c net.Conn) { io.WriteString(c, "POST /RPC2 HTTP/1.1\r\nHost:") },
	"no body": func(c net.Conn) {
		io.WriteString(c, "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 1000\r\n\r\n")
	},
	"drips": func(c net.Conn) {
		for _, b := range request(protocol.CheckDID{}) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			<-time.After(300 * time.Millisecond)
		}
	},
	"reads nothing": func(c net.Conn) { c.Write(request(protocol.CheckDID{})) },
	"asked once":    func(c net.Conn) { exchange(c, request(protocol.CheckDID{})) },
}

// besiege keeps a connection from each address of a crowd, and connects again half a second after it was closed.
func besiege(ctx context.Context, t *testing.T, ln *memListener, size int, addr func(int) string,
	do func(net.Conn)) *sync.WaitGroup {
	var all sync.WaitGroup
	for i := range size {
		all.Go(func() {
			for ctx.Err() == nil {
				c := ln.dial(t, addr(i))
				stop := context.AfterFunc(ctx, func() { c.Close() })
				if do(c); ctx.Err() == nil {
					io.Copy(io.Discard, holdUp{ctx, c})
				}
				stop()
				c.Close()
				select {
				case <-ctx.Done():
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
	}
	synctest.Wait()
	return &all
}

// holdUp reads a byte in a minute.
type holdUp struct {
	ctx context.Context
	net.Conn
}

func (h holdUp) Read(p []byte) (int, error) {
	select {
	case <-h.ctx.Done():
	case <-time.After(time.Minute):
	}
	return h.Conn.Read(p[:1])
}

// Whatever others do with a thousand connections, a newcomer is served soon.
func TestNewcomersAreServed(t *testing.T) {
	for _, crowd := range crowds {
		for name, do := range holding {
			t.Run(crowd.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ln := newMemListener()
					stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
					ctx, cancel := context.WithCancel(t.Context())
					all := besiege(ctx, t, ln, crowd.size, crowd.addr, do)
					for _, from := range []string{"11.1.1.1:1024", "[2b00:1:1::1]:1024"} {
						served := false
						for began := time.Now(); !served &&
							time.Since(began) < 5*time.Second; <-time.After(100 * time.Millisecond) {
							c := ln.dial(t, from)
							status, _, err := exchange(c, request(protocol.CheckDID{}))
							served = err == nil && status == http.StatusOK
							c.Close()
						}
						if !served {
							t.Errorf("%s is not served within five seconds", from)
						}
					}
					cancel()
					all.Wait()
					if err := stop(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// count says how many of the connections the server keeps open.
func countOpen(conns []net.Conn) (open int) {
	for _, c := range conns {
		if !closed(c) {
			open++
		}
	}
	return open
}

func dialAll(t *testing.T, ln *memListener, n int, addr func(i int) string) (conns []net.Conn) {
	for i := range n {
		conns = append(conns, ln.dial(t, addr(i)))
	}
	return conns
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// There are as many connections as places, whichever callers have them, and places are given back.
func TestConnectionsAreBounded(t *testing.T) {
	for _, crowd := range crowds {
		t.Run(crowd.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newMemListener()
				stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
				for range 2 {
					conns := dialAll(t, ln, crowd.size, crowd.addr)
					if open := countOpen(conns); open != strangerConns {
						t.Errorf("%d of %d connections are open, want %d", open, len(conns), strangerConns)
					}
					closeAll(conns)
					synctest.Wait()
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Neighbors and the owner keep their connections and get new ones, whatever strangers do; and neither takes the places
// of others.
func TestReservedPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := NewLimiter(LimiterConfig{
			Neighbor: func(a netip.Addr) bool { return netip.MustParsePrefix("14.0.0.0/8").Contains(a) },
			Reader:   func(a netip.Addr) bool { return a.IsLoopback() || a.IsPrivate() },
		})
		peers, readers := newMemListener(), newMemListener()
		endPeers := run(t.Context(), peers, seenHandler(), ServerConfig{Limiter: limiter, Log: quiet})
		endReaders := run(t.Context(), readers, seenHandler(), ServerConfig{Limiter: limiter, Owner: true, Log: quiet})
		kept := []net.Conn{peers.dial(t, "14.1.1.1:1024"), readers.dial(t, "127.0.0.1:1024"),
			readers.dial(t, "192.168.1.2:1024")}
		many := func(ln *memListener, pattern string) []net.Conn {
			return dialAll(t, ln, 1000, func(i int) string { return fmt.Sprintf(pattern, i%200, i) })
		}
		strangers := many(peers, "12.%d.1.1:%d")
		strangers = append(strangers, many(readers, "13.%d.1.1:1%03d")...)
		if open := countOpen(strangers); open != strangerConns {
			t.Errorf("strangers have %d connections", open)
		}
		time.Sleep(2 * patience)
		for name, c := range map[string]net.Conn{
			"a neighbor":             kept[0],
			"a reader":               kept[1],
			"another reader":         kept[2],
			"a neighbor, once more":  peers.dial(t, "14.1.1.1:1025"),
			"a reader, once more":    readers.dial(t, "127.0.0.1:1025"),
			"a newcomer":             peers.dial(t, "11.1.1.1:1024"),
			"a newcomer among those": readers.dial(t, "15.1.1.1:1024"),
		} {
			if status, _, err := exchange(c, request(protocol.CheckDID{})); status != http.StatusOK {
				t.Errorf("%s: HTTP status %d, %v", name, status, err)
			}
			defer c.Close()
		}
		greedy := many(peers, "14.1.%d.1:1%03d")
		c := peers.dial(t, "14.2.1.1:1024")
		defer c.Close()
		if status, _, err := exchange(c, request(protocol.CheckDID{})); status != http.StatusOK {
			t.Errorf("a neighbor of a greedy one: HTTP status %d, %v", status, err)
		}
		if open := countOpen(greedy); open > neighborConns+strangerConns {
			t.Errorf("a greedy neighbor has %d connections", open)
		}
		closeAll(greedy)
		closeAll(strangers)
		if err := endPeers(); err != nil {
			t.Error(err)
		}
		if err := endReaders(); err != nil {
			t.Error(err)
		}
	})
}

// A thousand clients of a proxy that ask and do not read keep no other client of it away: requests count for the
// clients that the proxy speaks for.
func TestClientsOfAProxyShareItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits, release := make(chan struct{}, 2000), make(chan struct{})
		h := NewHandler(HandlerConfig{
			Methods:        protocol.NodeMethods(),
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}, Log: quiet,
			Serve: func(ctx context.Context, r Request) Response {
				if r.From.Addr() == netip.MustParseAddr("12.1.1.1") { // its answers take as long as it likes
					waits <- struct{}{}
					select {
					case <-ctx.Done():
					case <-release:
					}
				}
				return Response{Reply: protocol.Seen(true)}
			},
		})
		ln := newMemListener()
		stop := run(t.Context(), ln, h,
			ServerConfig{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}, Log: quiet})
		through := func(client string) []byte {
			return []byte(strings.Replace(string(request(protocol.CheckDID{})), "Host: x",
				"Host: x\r\nX-Forwarded-For: "+client, 1))
		}
		conns := dialAll(t, ln, strangerConns, func(i int) string { return fmt.Sprintf("10.0.0.1:%d", 1024+i) })
		for i, c := range conns {
			client := "12.1.1.1"
			if i%2 == 0 {
				client = "11.1.1.1"
			}
			if client == "11.1.1.1" { // somebody honest, whose connection the proxy keeps
				if status, _, err := exchange(c, through(client)); status != http.StatusOK {
					t.Fatalf("HTTP status %d, %v", status, err)
				}
				continue
			}
			c.Write(through(client))
			<-waits
		}
		time.Sleep(2 * patience)
		c := ln.dial(t, "10.0.0.1:9999")
		defer c.Close()
		if status, _, err := exchange(c, through("11.1.1.2")); status != http.StatusOK {
			t.Errorf("another client: HTTP status %d, %v", status, err)
		}
		close(release)
		closeAll(conns)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestHalfOpenSockets lets one address of this machine open 1,000 connections and say nothing: another one is served.
func TestHalfOpenSockets(t *testing.T) {
	from := func(ip string) *net.Dialer { return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}} }
	addr := serveLoopback(t, seenHandler(), ServerConfig{})
	neighbor, err := from("127.1.0.2").DialContext(deadline(t), "tcp", addr)
	if err != nil {
		t.Skipf("this system has no second loopback address, run it on Linux: %v", err)
	}
	neighbor.Close()
	for range 1000 {
		c, err := from("127.0.0.1").DialContext(deadline(t), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if neighbor, err = from("127.1.0.2").DialContext(deadline(t), "tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer neighbor.Close()
	if status, _, err := exchange(neighbor, request(protocol.CheckDID{})); status != 200 {
		t.Errorf("neighbor: HTTP status %d, %v", status, err)
	}
}
