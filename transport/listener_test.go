package transport

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"feedex/protocol"
)

// TestHalfOpen lets one address open 1,000 connections and say nothing, or not enough: a neighbor
// elsewhere is served at once, and soon the silent ones are gone.
func TestHalfOpen(t *testing.T) {
	for name, start := range map[string]string{
		"silent":      "",
		"half a head": "POST /RPC2 HTTP/1.1\r\nHost:",
		"no body":     "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 1000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newMemListener()
				stop := run(t.Context(), ln, seenHandler(), ServerConfig{Log: quiet})
				began := time.Now()
				var held []net.Conn
				for i := range 1000 {
					c := ln.dial(t, fmt.Sprintf("12.1.1.1:%d", 10_000+i))
					go io.WriteString(c, start)
					held = append(held, c)
				}
				open := 0
				for _, c := range held {
					if !closed(c) {
						open++
					}
				}
				if open != hostConns {
					t.Errorf("%d connections of one address are open, want %d", open, hostConns)
				}

				neighbor := ln.dial(t, "11.1.1.1:10000")
				if status, _, err := exchange(neighbor, request(protocol.CheckDID{})); status != 200 {
					t.Errorf("neighbor: HTTP status %d, %v", status, err)
				}
				if waited := time.Since(began); waited > time.Second {
					t.Errorf("the neighbor waited %v", waited)
				}

				time.Sleep(readTimeout + time.Second)
				for _, c := range held {
					if status, _, err := answer(c); status == 0 && err == nil || status == 200 {
						t.Errorf("HTTP status %d, %v after the time-out", status, err)
					}
					c.Close()
				}
				// The address may connect again.
				again := ln.dial(t, "12.1.1.1:9999")
				if status, _, err := exchange(again, request(protocol.CheckDID{})); status != 200 {
					t.Errorf("later: HTTP status %d, %v", status, err)
				}
				again.Close()
				neighbor.Close()
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestHalfOpenSockets is TestHalfOpen over real sockets, with two addresses of this machine.
func TestHalfOpenSockets(t *testing.T) {
	from := func(ip string) *net.Dialer { return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}} }
	addr := serveLoopback(t, seenHandler(), ServerConfig{})
	neighbor, err := from("127.0.0.2").DialContext(deadline(t), "tcp", addr)
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	neighbor.Close()
	for range 1000 {
		c, err := from("127.0.0.1").DialContext(deadline(t), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if neighbor, err = from("127.0.0.2").DialContext(deadline(t), "tcp", addr); err != nil {
		t.Fatal(err)
	}
	defer neighbor.Close()
	if status, _, err := exchange(neighbor, request(protocol.CheckDID{})); status != 200 {
		t.Errorf("neighbor: HTTP status %d, %v", status, err)
	}
}

func TestConnectionBounds(t *testing.T) {
	count := func(n int, addr func(i int) string) []string {
		addrs := make([]string, n)
		for i := range addrs {
			addrs[i] = addr(i)
		}
		return addrs
	}
	for _, c := range []struct {
		name  string
		cfg   ServerConfig
		addrs []string
		want  int
	}{
		{"one address", ServerConfig{}, count(100, func(i int) string { return fmt.Sprintf("11.1.1.1:%d", 1024+i) }), hostConns},
		{"one address, mapped", ServerConfig{}, count(100, func(i int) string { return fmt.Sprintf("[::ffff:11.1.1.1]:%d", 1024+i) }), hostConns},
		{"one IPv6 customer", ServerConfig{}, count(100, func(i int) string { return fmt.Sprintf("[2a00::%x]:1024", i+1) }), hostConns},
		{"one /24", ServerConfig{}, count(256, func(i int) string { return fmt.Sprintf("11.1.1.%d:1024", i) }), networkConns},
		{"one /48", ServerConfig{}, count(256, func(i int) string { return fmt.Sprintf("[2a00:1:2:%x::1]:1024", i) }), networkConns},
		{"everywhere", ServerConfig{MaxConns: 50}, count(256, func(i int) string { return fmt.Sprintf("11.%d.1.1:1024", i) }), 50},
		{"this machine", ServerConfig{}, count(100, func(i int) string { return fmt.Sprintf("127.0.0.1:%d", 1024+i) }), hostConns},
		{"this machine, allowed", ServerConfig{AllowLocal: true}, count(100, func(i int) string { return fmt.Sprintf("127.0.0.1:%d", 1024+i) }), 100},
		{"public, local allowed", ServerConfig{AllowLocal: true}, count(100, func(i int) string { return fmt.Sprintf("11.1.1.1:%d", 1024+i) }), hostConns},
		{"proxy", ServerConfig{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}, count(100, func(i int) string { return fmt.Sprintf("10.0.0.1:%d", 1024+i) }), 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ln := newMemListener()
				c.cfg.Log = quiet
				stop := run(t.Context(), ln, seenHandler(), c.cfg)
				for range 2 { // once more, when all are closed: places are given back
					var conns []net.Conn
					open := 0
					for _, addr := range c.addrs {
						conns = append(conns, ln.dial(t, addr))
					}
					for _, conn := range conns {
						if !closed(conn) {
							open++
						}
						conn.Close()
					}
					if open != c.want {
						t.Errorf("%d of %d connections are open, want %d", open, len(conns), c.want)
					}
					synctest.Wait()
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
