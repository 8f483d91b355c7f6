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

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// Where a newcomer, those whom it comes to and a publisher are.
const (
	hereAt, newcomerAt, publisherAt = "11.1.0.1", "11.2.0.1", "11.3.0.1"
	herePort, newcomerPort          = 7790, 7791
	attackerPort                    = 8000 // and above
	here6                           = "2a00:ffff::1"
)

// attackNetworks is in how many networks attackers are.
const attackNetworks = 20

// attackers are addresses of theirs, so many in each network.
func attackers(each int) (list []netip.Addr) {
	for i := range attackNetworks {
		for j := range each {
			list = append(list, netip.AddrFrom4([4]byte{20, byte(i), 7, byte(1 + j)}))
		}
	}
	return list
}

// attackers6 are so many addresses of one /32, each of a /64 and of each /48 in turn.
func attackers6(n, networks int) (list []netip.Addr) {
	for i := range n {
		list = append(list, netip.AddrFrom16([16]byte{0x2a, 0, 0, 7, byte(i % networks >> 8), byte(i % networks), byte(i >> 8), byte(i), 15: 1}))
	}
	return list
}

func dialFrom(ctx context.Context, from netip.Addr, to string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}
	c, err := d.DialContext(ctx, "tcp", to)
	if c, ok := c.(*net.TCPConn); ok { // the kernel's memory for their side of it is not here
		c.SetReadBuffer(4 << 10)
		c.SetWriteBuffer(4 << 10)
	}
	return c, err
}

// hold keeps so many connections from each address, which say what drip writes to them, and reads nothing.
func hold(ctx context.Context, at func(netip.Addr) string, from []netip.Addr, each int, drip func(context.Context, net.Conn)) {
	var all sync.WaitGroup
	for _, a := range from {
		for range each {
			all.Go(func() {
				for ctx.Err() == nil {
					c, err := dialFrom(ctx, a, at(a))
					if err == nil {
						stop := context.AfterFunc(ctx, func() { c.Close() })
						drip(ctx, c)
						stop()
						c.Close()
					}
					wait(ctx, 200*time.Millisecond)
				}
			})
		}
	}
	all.Wait()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
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
	const body = "<?xml version=\"1.0\"?><methodCall><methodName>system.listMethods</methodName><params></params></methodCall>"
	for ctx.Err() == nil {
		if _, err := fmt.Fprintf(c, "POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return
		}
	}
}

// call makes a call in the name of a node at from, whatever comes of it.
func call(ctx context.Context, from netip.Addr, at string, nid uint16, c protocol.Call) {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, to string) (net.Conn, error) { return dialFrom(ctx, from, to) },
	}}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+"/RPC2", strings.NewReader(string(protocol.EncodeCall(nil, nid, c))))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "text/xml")
	r.Header.Set("Feedex-Session", "token")
	if resp, err := client.Do(r); err == nil {
		resp.Body.Close()
	}
}

// repeat has each of the addresses make the call again and again, so many at a time.
func repeat(ctx context.Context, at func(netip.Addr) string, from []netip.Addr, each int, pause time.Duration, c protocol.Call) {
	var all sync.WaitGroup
	for _, a := range from {
		for i := range each {
			all.Go(func() {
				for ctx.Err() == nil {
					call(ctx, a, at(a), uint16(attackerPort+i), c)
					wait(ctx, pause)
				}
			})
		}
	}
	all.Wait()
}

// takeCalls takes connections at the ports of each address and never answers.
func takeCalls(ctx context.Context, tb testing.TB, from []netip.Addr, each int) {
	for _, a := range from {
		for i := range each {
			ln, err := net.Listen("tcp", netip.AddrPortFrom(a, uint16(attackerPort+i)).String())
			if err != nil {
				tb.Error(err)
				return
			}
			context.AfterFunc(ctx, func() { ln.Close() })
			go func() {
				for {
					c, err := ln.Accept()
					if err != nil {
						return
					}
					context.AfterFunc(ctx, func() { c.Close() })
				}
			}()
		}
	}
}

// An attack is what strangers do so that nobody else gets in. It goes on until ctx ends.
type attack struct {
	name string
	on   func(ctx context.Context, tb testing.TB, at func(netip.Addr) string)
}

// connectAttacks are about connections.
func connectAttacks() []attack {
	held := func(name string, from []netip.Addr, each int, drip func(context.Context, net.Conn)) attack {
		return attack{name, func(ctx context.Context, _ testing.TB, at func(netip.Addr) string) { hold(ctx, at, from, each, drip) }}
	}
	return []attack{
		{"nobody", func(ctx context.Context, _ testing.TB, _ func(netip.Addr) string) { <-ctx.Done() }},
		held("idle", attackers(8), 4, say("")),
		held("half-open", attackers(8), 4, say("POST /RPC2 HTTP/1.1\r\nHost:")),
		held("slow bodies", attackers(8), 4, drip),
		held("slow readers", attackers(8), 4, neverRead),
		held("one /32 of IPv6, idle, by /48", attackers6(700, 700), 1, say("")),
		held("one /48 of IPv6, idle, by /64", attackers6(700, 1), 1, say("")),
	}
}

// callAttacks are about calls.
func callAttacks() []attack {
	return []attack{
		{"whoami", func(ctx context.Context, _ testing.TB, at func(netip.Addr) string) {
			repeat(ctx, at, attackers(4), 1, 300*time.Millisecond, protocol.WhoAmI{})
		}},
		{"slow vouchers", func(ctx context.Context, tb testing.TB, at func(netip.Addr) string) {
			from := attackers(2)
			takeCalls(ctx, tb, from, 2)
			repeat(ctx, at, from, 2, 100*time.Millisecond, protocol.Connect{Subset: protocol.Subset{{Feed: publishedFeed}}})
		}},
	}
}

const publishedFeed = feed.URL("http://" + publisherAt + "/feed.xml")

// publish serves a feed at publisherAt.
func publish(tb testing.TB) {
	ln, err := net.Listen("tcp", publisherAt+":80")
	if err != nil {
		tb.Fatal(err)
	}
	f := &testFeed{titles: []string{"First"}, updated: time.Now()}
	srv := &http.Server{Handler: f}
	var served sync.WaitGroup
	served.Go(func() { srv.Serve(ln) })
	tb.Cleanup(func() { srv.Close(); served.Wait() })
}

// runAt runs a node with default settings until the function that it returns is called. polled is closed after its first
// poll, linked when it has a neighbor at the address.
func runAt(tb testing.TB, c Config, with string) (polled, linked <-chan struct{}, stop func()) {
	p, l := make(chan struct{}), make(chan struct{})
	var first, second sync.Once
	c.Data, c.Reader, c.Subscribe = tb.TempDir(), "127.0.0.1:0", []feed.URL{publishedFeed}
	c.Node.Policy = polling.Fixed{Every: time.Hour}
	c.Observe = func(_ time.Time, note node.Note) {
		switch note := note.(type) {
		case node.Polled:
			first.Do(func() { close(p) })
		case node.Linked:
			if note.Peer.Addr().String() == with {
				second.Do(func() { close(l) })
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c) }()
	return p, l, func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	}
}

// BenchmarkNewcomer measures how long a node takes to become a neighbor of one that strangers in twenty networks want to
// keep all others out of, from its start.
func BenchmarkNewcomer(b *testing.B) {
	if !inNamespace(b) {
		return
	}
	makeNetwork(b, [2]string{hereAt, newcomerAt})
	publish(b)
	for _, a := range append(connectAttacks(), callAttacks()...) {
		b.Run(a.name, func(b *testing.B) {
			polled, met, stop := runAt(b, Config{Listen: fmt.Sprintf(":%d", herePort)}, newcomerAt)
			defer stop()
			<-polled
			ctx, cancel := context.WithCancel(b.Context())
			var attacking sync.WaitGroup
			attacking.Go(func() {
				a.on(ctx, b, func(from netip.Addr) string {
					if from.Is6() {
						return fmt.Sprintf("[%s]:%d", here6, herePort)
					}
					return fmt.Sprintf("%s:%d", hereAt, herePort)
				})
			})
			defer attacking.Wait()
			defer cancel()
			wait(ctx, 15*time.Second) // until it is under way
			begun := time.Now()
			_, linked, end := runAt(b, Config{
				Listen: fmt.Sprintf("%s:%d", newcomerAt, newcomerPort),
				Node:   node.Config{Peers: []string{fmt.Sprintf("%s:%d", hereAt, herePort)}},
			}, hereAt)
			defer end()
			select {
			case <-linked:
				<-met
				b.ReportMetric(time.Since(begun).Seconds(), "s/link")
			case <-time.After(time.Minute):
				b.ReportMetric(60, "s/link")
			}
		})
	}
}
