package daemon

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
	"time"

	"feedex/protocol"
)

// Attackers want all others kept out of a node or a tracker. They have twenty networks of IPv4, or one /32 of IPv6.

// attackerPort is the first at which attackers listen.
const attackerPort = 8000

// attackers are so many addresses in each of twenty networks, of a region of its own each.
func attackers(each int) (list []netip.Addr) {
	for i := range 20 {
		for j := range each {
			list = append(list, netip.AddrFrom4([4]byte{20, byte(i), 7, byte(1 + j)}))
		}
	}
	return list
}

// attackers6 are so many addresses of one /32, on a /64 each, in so many /48s.
func attackers6(n, networks int) (list []netip.Addr) {
	for i := range n {
		list = append(list, netip.AddrFrom16([16]byte{0x2a, 0, 0, 7, byte(i % networks >> 8), byte(i % networks),
			byte(i >> 8), byte(i), 15: 1}))
	}
	return list
}

// An attack goes on until ctx ends. at is where an attacker connects, and begun is called once by each when it has
// begun.
type attack struct {
	name string
	from []netip.Addr
	each int // attackers at each address
	on   func(ctx context.Context, at string, from netip.Addr, nid uint16, begun func())
}

// begin has all attackers begin, and returns when they have. The function that it returns ends the attack.
func (a attack) begin(tb testing.TB, at func(from netip.Addr) string) (end func()) {
	ctx, cancel := context.WithCancel(tb.Context())
	var all, begun sync.WaitGroup
	for _, from := range a.from {
		for i := range a.each {
			begun.Add(1)
			all.Go(func() { a.on(ctx, at(from), from, uint16(attackerPort+i), sync.OnceFunc(begun.Done)) })
		}
	}
	begun.Wait()
	return func() { cancel(); all.Wait() }
}

func nodeAttacks() []attack {
	nobody := attack{"nobody", nil, 0, nil}
	return []attack{
		nobody,
		{"idle", attackers(8), 4, holding(say(""))},
		{"half-open", attackers(8), 4, holding(say("POST /RPC2 HTTP/1.1\r\nHost:"))},
		{"slow bodies", attackers(8), 4, holding(drip)},
		{"slow readers", attackers(8), 4, holding(neverRead)},
		{"idle, one /32 of IPv6", attackers6(700, 700), 1, holding(say(""))},
		{"idle, one /48 of IPv6", attackers6(700, 1), 1, holding(say(""))},
		{"whoami", attackers(4), 1, calling(protocol.WhoAmI{}, 300*time.Millisecond, false)},
		{"slow vouchers", attackers(2), 2, calling(protocol.Connect{Subset: protocol.Subset{{Feed: publishedFeed}}},
			100*time.Millisecond, true)},
	}
}

func trackerAttacks() []attack {
	return []attack{
		{"nobody", nil, 0, nil},
		{"idle", attackers(8), 4, holding(say(""))},
		{"slow call backs", attackers(16), 8, calling(protocol.GetNeighbors{}, time.Second, true)},
	}
}

func dialFrom(ctx context.Context, from netip.Addr, to string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
	c, err := d.DialContext(ctx, "tcp", to)
	if tcp, ok := c.(*net.TCPConn); ok { // the kernel's memory for their side of it is not here
		tcp.SetReadBuffer(4 << 10)
		tcp.SetWriteBuffer(4 << 10)
	}
	return c, err
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// holding keeps a connection and does something with it until that is over, and then makes another one.
func holding(do func(context.Context, net.Conn)) func(context.Context, string, netip.Addr, uint16, func()) {
	return func(ctx context.Context, at string, from netip.Addr, _ uint16, begun func()) {
		for ctx.Err() == nil {
			c, err := dialFrom(ctx, from, at)
			begun()
			if err == nil {
				stop := context.AfterFunc(ctx, func() { c.Close() })
				do(ctx, c)
				stop()
				c.Close()
			}
			wait(ctx, 200*time.Millisecond)
		}
	}
}

// say writes text to a connection and then waits until that is closed.
func say(text string) func(context.Context, net.Conn) {
	return func(_ context.Context, c net.Conn) {
		io.WriteString(c, text)
		io.Copy(io.Discard, c)
	}
}

// drip announces a long body and sends some of it each second.
func drip(ctx context.Context, c net.Conn) {
	io.WriteString(c, "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: 4000000\r\n\r\n"+
		"<?xml version=\"1.0\"?><methodCall><methodName>connect</methodName><params>")
	for ctx.Err() == nil {
		if _, err := io.WriteString(c, strings.Repeat(" ", 20_000)); err != nil {
			return
		}
		wait(ctx, 300*time.Millisecond)
	}
}

// neverRead asks again and again, and reads no answer.
func neverRead(ctx context.Context, c net.Conn) {
	const body = "<?xml version=\"1.0\"?><methodCall><methodName>system.listMethods</methodName><params></params>" +
		"</methodCall>"
	text := fmt.Sprintf("POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	for ctx.Err() == nil {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// calling makes a call again and again, whatever comes of it. listens says that something takes connections at the
// attacker's port meanwhile, and never says anything.
func calling(c protocol.Call, pause time.Duration, listens bool) func(context.Context, string, netip.Addr,
	uint16, func()) {
	return func(ctx context.Context, at string, from netip.Addr, nid uint16, begun func()) {
		if listens {
			ln, err := net.Listen("tcp", netip.AddrPortFrom(from, nid).String())
			if err != nil {
				panic(err)
			}
			var taking sync.WaitGroup
			taking.Go(func() { takeConnections(ctx, ln) })
			defer taking.Wait()
			defer ln.Close()
		}
		client := http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, to string) (net.Conn,
				error) {
				return dialFrom(ctx, from, to)
			},
		}}
		for ctx.Err() == nil {
			begun()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+"/RPC2",
				strings.NewReader(string(protocol.EncodeCall(nil, nid, c))))
			if err != nil {
				panic(err)
			}
			r.Header.Set("Content-Type", "text/xml")
			r.Header.Set("Feedex-Session", "token")
			if resp, err := client.Do(r); err == nil {
				resp.Body.Close()
			}
			wait(ctx, pause)
		}
	}
}

// takeConnections takes connections until ctx ends or ln is closed.
func takeConnections(ctx context.Context, ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		context.AfterFunc(ctx, func() { c.Close() })
	}
}
