package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/fetch"
	"feedex/guard"
	"feedex/internal/logtest"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/tracker/trackerhost"
	"feedex/transport"
)

// Where a newcomer, the node or tracker that it comes to, and a publisher are.
const (
	hereAt, here6, newcomerAt, publisherAt = "11.1.0.1", "2a00:ffff::1", "11.2.0.1", "11.3.0.1"
	herePort, newcomerPort                 = 7790, 7791
)

// here is where a caller at from connects to the node or tracker that is attacked.
func here(from netip.Addr) string {
	if from.Is6() {
		return fmt.Sprintf("[%s]:%d", here6, herePort)
	}
	return fmt.Sprintf("%s:%d", hereAt, herePort)
}

const publishedFeed = feed.URL("http://" + publisherAt + "/feed.xml")

// publish serves a feed at publisherAt.
func publish(tb testing.TB) {
	ln, err := net.Listen("tcp", publisherAt+":80")
	if err != nil {
		tb.Fatal(err)
	}
	srv := &http.Server{Handler: &testFeed{titles: []string{"First"}, updated: time.Now()}}
	var served sync.WaitGroup
	served.Go(func() { srv.Serve(ln) })
	tb.Cleanup(func() { srv.Close(); served.Wait() })
}

// runAt runs a node with default settings until the function that it returns is called. polled is closed after its
// first poll, linked when it has a neighbor at the address.
func runAt(tb testing.TB, c Config, with string) (polled, linked <-chan struct{}, stop func()) {
	p, l := make(chan struct{}), make(chan struct{})
	var first, second sync.Once
	c.Data, c.Reader, c.Subscribe = cmp.Or(c.Data, tb.TempDir()), "127.0.0.1:0", []feed.URL{publishedFeed}
	c.Node.Policy, c.Open = polling.Fixed{Every: time.Hour}, ondisk.Open
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
	return p, l, runUntil(tb, func(ctx context.Context) error { return Run(ctx, c) })
}

// runUntil has f run until the function that it returns is called.
func runUntil(tb testing.TB, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	}
}

// joinIn has a node come to one that is attacked, and returns how long it took from its start until they were
// neighbors.
func joinIn(tb testing.TB, a attack, underWay time.Duration) time.Duration {
	polled, met, stop := runAt(tb, Config{Listen: fmt.Sprintf(":%d", herePort)}, newcomerAt)
	defer stop()
	<-polled
	defer a.begin(tb, here)()
	wait(tb.Context(), underWay)
	begun := time.Now()
	_, linked, end := runAt(tb, Config{
		Listen: fmt.Sprintf("%s:%d", newcomerAt, newcomerPort), Node: node.Config{Peers: []string{here(netip.Addr{})}},
	}, hereAt)
	defer end()
	return happened(tb, begun, linked, met)
}

// happened waits for all of these and returns how long that took.
func happened(tb testing.TB, begun time.Time, all ...<-chan struct{}) time.Duration {
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for _, one := range all {
		select {
		case <-one:
		case <-ctx.Done():
			tb.Errorf("a newcomer is kept out for %v", patience)
			return time.Since(begun)
		}
	}
	return time.Since(begun)
}

// register has a node come to a tracker that is attacked, and returns how long it took until others were told of it.
func register(tb testing.TB, a attack, underWay time.Duration) time.Duration {
	data := tb.TempDir()
	ready := make(chan string, 1)
	defer runUntil(tb, func(ctx context.Context) error {
		return trackerhost.Run(ctx, trackerhost.Config{Data: data, Listen: fmt.Sprintf("%s:%d", hereAt, herePort),
			Ready: func(s string) { ready <- s }})
	})()
	<-ready
	defer a.begin(tb, here)()
	wait(tb.Context(), underWay)
	ln, err := net.Listen("tcp", fmt.Sprintf("%s:%d", newcomerAt, newcomerPort))
	if err != nil {
		tb.Fatal(err)
	}
	defer runUntil(tb, func(ctx context.Context) error {
		return transport.Serve(ctx, ln, transport.NewHandler(transport.HandlerConfig{Methods: protocol.NodeMethods()}),
			transport.ServerConfig{})
	})()
	client := transport.NewClient(transport.ClientConfig{Port: newcomerPort})
	defer client.CloseIdle()
	newcomer, listed, begun := protocol.NewNodeID(netip.MustParseAddr(newcomerAt), newcomerPort),
		make(chan struct{}), time.Now()
	ctx, cancel := context.WithCancel(tb.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		asker := transport.NewClient(transport.ClientConfig{Port: newcomerPort + 1}) // it is not told of itself
		defer asker.CloseIdle()
		for ; ctx.Err() == nil; wait(ctx, 100*time.Millisecond) {
			client.Call(ctx, "http://"+here(netip.Addr{})+"/", "", protocol.GetNeighbors{})
			r, err := asker.Call(ctx, "http://"+here(netip.Addr{})+"/", "", protocol.GetNeighbors{})
			if list, ok := r.Reply.(protocol.NodeList); err == nil && ok && slices.Contains(list, newcomer) {
				close(listed)
				return
			}
		}
	})
	defer asking.Wait()
	defer cancel()
	return happened(tb, begun, listed)
}

// Attackers with twenty networks, or a /32 of IPv6, may do anything: a newcomer becomes a neighbor, and a tracker lists
// it.
func TestNewcomersComeIn(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	makeNetwork(t, [2]string{hereAt, newcomerAt})
	publish(t)
	for _, a := range nodeAttacks()[1:] {
		t.Run(a.name, func(t *testing.T) { joinIn(t, a, 0) })
	}
	for _, a := range trackerAttacks()[1:] {
		t.Run("tracker, "+a.name, func(t *testing.T) { register(t, a, 0) })
	}
}

// regions are attackers in so many regions.
func regions(n int) (list []netip.Addr) {
	for i := range n {
		list = append(list, netip.AddrFrom4([4]byte{byte(11 + 9*(i/250)), byte(5 + i%250), 7, 1}))
	}
	return list
}

// Strangers of more regions than there are places fill a node that has just been started anew: an earlier neighbor
// comes in at once, each time.
func TestWhoIsRememberedComesInAtOnce(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	makeNetwork(t)
	publish(t)
	at := here(netip.Addr{})
	ready := make(chan Addresses, 2)
	c := Config{Data: t.TempDir(), Listen: at, Ready: func(a Addresses) { ready <- a }}
	polled, linked, stop := runAt(t, c, newcomerAt)
	<-ready
	<-polled
	s := newStranger(t, newcomerAt, at)
	s.connect(publishedFeed)
	<-linked
	stop()
	_, _, stop = runAt(t, c, newcomerAt)
	defer stop()
	<-ready
	defer attack{"", regions(500), 2, holding(say("POST /RPC2 HTTP/1.1\r\nHost:"))}.begin(t, here)()
	for range 50 {
		s.http.CloseIdleConnections()
		if _, err := s.call(protocol.WhoAmI{}); err != nil {
			t.Fatal(err)
		}
	}
	s.connect(publishedFeed)
}

// BenchmarkNewcomer measures how long that takes, in seconds, when the attack has gone on for 15.
func BenchmarkNewcomer(b *testing.B) {
	if !inNamespace(b) {
		return
	}
	makeNetwork(b, [2]string{hereAt, newcomerAt})
	publish(b)
	measure := func(name string, come func(testing.TB, attack, time.Duration) time.Duration, a attack) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.ReportMetric(come(b, a, 15*time.Second).Seconds(), "s/newcomer")
			}
		})
	}
	for _, a := range nodeAttacks() {
		measure("node/"+a.name, joinIn, a)
	}
	for _, a := range trackerAttacks() {
		measure("tracker/"+a.name, register, a)
	}
}

// A caller from a public address of the machine that a node or a tracker runs on has nothing else there called
// back.
func TestThisMachineIsNotCalledBack(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	const own, port = "11.9.0.1", 9200
	makeNetwork(t, [2]string{hereAt, newcomerAt})
	if out, err := exec.CommandContext(t.Context(), "ip", "addr", "add", own+"/32", "dev",
		"lo").CombinedOutput(); err != nil {
		t.Fatalf("ip addr add: %v: %s", err, out)
	}
	publish(t)
	ln, err := net.Listen("tcp", fmt.Sprintf("%s:%d", own, port))
	if err != nil {
		t.Fatal(err)
	}
	var visits atomic.Int32
	private := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) })}
	var served sync.WaitGroup
	served.Go(func() { private.Serve(ln) })
	defer served.Wait()
	defer private.Close()

	ready := make(chan string, 1)
	log, said := logtest.Overhear()
	data := t.TempDir()
	defer runUntil(t, func(ctx context.Context) error {
		return trackerhost.Run(ctx, trackerhost.Config{Data: data, Listen: hereAt + ":7788",
			Log: log, Ready: func(s string) { ready <- s }})
	})()
	polled, _, stop := runAt(t, Config{Listen: fmt.Sprintf("%s:%d", hereAt, herePort)}, "")
	defer stop()
	<-ready
	<-polled
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, to string) (net.Conn, error) {
			return dialFrom(ctx, netip.MustParseAddr(own), to)
		},
	}}
	for at, c := range map[string]protocol.Call{
		hereAt + ":7788":   protocol.GetNeighbors{},
		here(netip.Addr{}): protocol.Connect{Subset: protocol.Subset{{Feed: publishedFeed}}},
	} {
		resp, err := client.Post("http://"+at+"/RPC2", "text/xml", bytes.NewReader(protocol.EncodeCall(nil, port, c)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s is answered %s, %v", c.Method(), resp.Status, err)
		}
		if _, asks := c.(protocol.Connect); asks && !bytes.Contains(text, []byte(">103<")) {
			t.Errorf("connect is answered %s", text)
		}
	}
	said.Wait(t, "call back failed")
	// Nor is it polled; a blog of the owner's at its own address is.
	blog, err := net.Listen("tcp", own+":80")
	if err != nil {
		t.Fatal(err)
	}
	public := &http.Server{Handler: &testFeed{titles: []string{"First"}, updated: time.Now()}}
	served.Go(func() { public.Serve(blog) })
	defer public.Close()
	poller := fetch.New(fetch.Config{UserAgent: "feedex"})
	defer poller.CloseIdle()
	for u, want := range map[feed.URL]error{"http://" + own + "/feed.xml": nil,
		"http://" + own + ":9200/feed.xml": guard.ErrForbidden} {
		if got := poller.Fetch(t.Context(), node.Fetch{Feed: u}); !errors.Is(got.Err, want) {
			t.Errorf("%s: %v", u, got.Err)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("what listens on the machine was called %d times", n)
	}
}
