package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/guard"
	"feedex/protocol"
)

func TestRoundTrip(t *testing.T) {
	var got Request
	var answer Response
	addr := serveLoopback(t, newHandler(func(_ context.Context, r Request) Response {
		got = r
		return answer
	}), ServerConfig{})
	client := newClient(t)
	for _, e := range examples("\r\n") {
		for _, session := range []string{"", "caller's"} {
			answer = Response{Reply: e.reply, Session: strings.Replace(session, "caller", "called", 1)}
			result, err := client.Call(deadline(t), addr, session, e.call)
			if err != nil {
				t.Fatal(err)
			}
			if !sameCall(got.Call, e.call) || got.Session != session || got.From != nodeID("127.0.0.1:7790") {
				t.Errorf("%s: served %+v, want %+v", e.call.Method(), got, e.call)
			}
			if !sameReply(result.Reply, e.reply) || reflect.TypeOf(result.Reply) != reflect.TypeOf(e.reply) {
				t.Errorf("%s: got %+v, want %+v", e.call.Method(), result.Reply, e.reply)
			}
			if result.Session != answer.Session || result.Peer != nodeID(addr) {
				t.Errorf("%s: got session %q of %s, want %q of %s", e.call.Method(), result.Session, result.Peer,
					answer.Session, addr)
			}
		}
	}
	result, err := client.Call(deadline(t), addr, "", protocol.ListMethods{})
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := result.Reply.(protocol.Methods); len(names) != len(protocol.NodeMethods()) {
		t.Errorf("methods: %v", result.Reply)
	}
}

func TestCallFault(t *testing.T) {
	refusal := protocol.Faultf(protocol.UnknownNeighbor, "connect first")
	addr := serveLoopback(t, newHandler(func(context.Context,
		Request) Response {
		return Response{Fault: refusal, Session: "s"}
	}), ServerConfig{})
	result, err := newClient(t).Call(deadline(t), addr, "", protocol.UpdateSubset{})
	remote, ok := errors.AsType[*protocol.RemoteError](err)
	if !ok || remote.Code != refusal.Code || remote.Text != refusal.Text || result.Peer.String() != addr {
		t.Errorf("got %v of %v, want a remote error like %v of %s", err, result.Peer, refusal, addr)
	}
	if _, ours := errors.AsType[*protocol.Fault](err); ours {
		t.Errorf("%v passes for a fault of our own", err)
	}
}

// TestCallQueued makes a call while others hold all connections to the peer, and one of a peer that is not there.
func TestCallQueued(t *testing.T) {
	held, free := make(chan struct{}, perPeer), make(chan struct{})
	addr := serveLoopback(t, newHandler(func(_ context.Context, r Request) Response {
		if _, ok := r.Call.(protocol.QueryFeed); ok {
			held <- struct{}{}
			<-free
			return Response{Reply: protocol.Answer{}}
		}
		return Response{Reply: protocol.OK{}}
	}), ServerConfig{})
	client := newClient(t)
	var queries sync.WaitGroup
	for range perPeer {
		queries.Go(func() {
			if _, err := client.Call(deadline(t), addr, "",
				protocol.QueryFeed{Query: protocol.Query{ID: "q"}}); err != nil {
				t.Error(err)
			}
		})
		<-held
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	result, err := client.Call(short, addr, "", protocol.UpdateSubset{})
	if !errors.Is(err, context.DeadlineExceeded) || !result.Unsent || !result.Queued {
		t.Errorf("behind %d queries: %+v, %v; want it queued", perPeer, result, err)
	}
	close(free)
	queries.Wait()
	if result, err := client.Call(deadline(t), addr, "", protocol.UpdateSubset{}); err != nil || result.Queued {
		t.Errorf("after them: %+v, %v", result, err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if result, err := client.Call(deadline(t), ln.Addr().String(), "", protocol.UpdateSubset{}); err == nil ||
		!result.Unsent || result.Queued {
		t.Errorf("of nobody: %+v, %v; want it unsent", result, err)
	}
}

// TestCallUnanswered calls a peer that takes connections and never answers: only those calls that get none are queued.
func TestCallUnanswered(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client := newClient(t)
	call := func(timeout time.Duration, queued bool) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		result, err := client.Call(ctx, ln.Addr().String(), "", protocol.UpdateSubset{})
		if !errors.Is(err, context.DeadlineExceeded) || result.Unsent != queued || result.Queued != queued {
			t.Errorf("%+v, %v; want it queued: %v", result, err, queued)
		}
	}
	var calls sync.WaitGroup
	for range perPeer {
		calls.Go(func() { call(500*time.Millisecond, false) })
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 3 {
		calls.Go(func() { call(50*time.Millisecond, true) })
	}
	calls.Wait()
}

// TestCallTracker calls by URL, with and without a path.
func TestCallTracker(t *testing.T) {
	h := NewHandler(HandlerConfig{Methods: protocol.TrackerMethods(), Log: quiet,
		Serve: func(context.Context, Request) Response {
			return Response{Reply: protocol.NodeList{}}
		}})
	mux := http.NewServeMux()
	mux.Handle(Path, h)
	mux.Handle("/else/where", http.StripPrefix("/else", rewrite(h)))
	addr := serveLoopback(t, mux, ServerConfig{})
	client := newClient(t)
	for _, path := range []string{"", "/", Path, "/else/where"} {
		if _, err := client.Call(deadline(t), "http://"+addr+path, "", protocol.GetNeighbors{}); err != nil {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

// rewrite serves every path as Path.
func rewrite(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = Path
		h.ServeHTTP(w, r)
	})
}

func TestCallBadAddress(t *testing.T) {
	client := newClient(t)
	for addr, want := range map[string]error{
		"127.0.0.1:25": guard.ErrForbidden, "127.0.0.1:1023": guard.ErrForbidden, "127.0.0.1:0": guard.ErrForbidden,
		"127.0.0.1:80/": nil,
		"":              nil, "127.0.0.1": nil, "127.0.0.1:http": nil, "127.0.0.1:70000": nil, "::1:7790": nil,
		"127.0.0.1/x:7790": nil, "127.0.0.1?x:7790": nil,
		"127.0.0.1#:7790": nil, "a@127.0.0.1:7790": nil, "ftp://127.0.0.1:7790/": nil, "http://": nil,
		"file:///etc/passwd": nil, "unix:///x": nil, "http://%zz/": nil,
	} {
		_, err := client.Call(deadline(t), addr, "", protocol.WhoAmI{})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Call(%q): %v, want %v", addr, err, want)
		}
		if _, ok := errors.AsType[*net.OpError](err); ok {
			t.Errorf("Call(%q) went as far as the network: %v", addr, err)
		}
	}
}

// TestNoCallLeavesForLocalAddresses calls every literal and name that means this machine or a private
// network; a listener that would answer sees nobody.
func TestNoCallLeavesForLocalAddresses(t *testing.T) {
	var connects atomic.Int64
	ln, err := net.Listen("tcp", ":0") // all addresses of this machine
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			connects.Add(1)
			c.Close()
		}
	}()
	port := ln.Addr().(*net.TCPAddr).Port
	client := NewClient(ClientConfig{Port: 7790})
	defer client.CloseIdle()
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "localhost", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "169.254.169.254",
		"[::ffff:169.254.169.254]",
		"[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "224.0.0.1", "[ff02::1]",
		"255.255.255.255",
		"198.18.0.1", "192.0.2.1", "240.0.0.1",
	} {
		addr := fmt.Sprintf("%s:%d", host, port)
		for _, addr := range []string{addr, "http://" + addr, "https://" + addr + Path} {
			if _, err := client.Call(deadline(t), addr, "", protocol.GetNeighbors{}); !errors.Is(err,
				guard.ErrForbidden) {
				t.Errorf("Call(%s): %v, want %v", addr, err, guard.ErrForbidden)
			}
		}
	}
	// One connection of our own, after which all that came before it have been accepted.
	c, err := net.Dial("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port)).String())
	if err != nil {
		t.Fatal(err)
	}
	c.Read(make([]byte, 1))
	c.Close()
	ln.Close()
	<-accepted
	if got := connects.Load(); got != 1 {
		t.Errorf("%d connections arrived, want 1, our own", got)
	}
}

// TestProxyIsNotAsked sets the variables that net/http's default transport obeys.
func TestProxyIsNotAsked(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("the proxy was asked")
	}))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	if newClient(t).transport.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

// TestRedirectsAreNotFollowed has a peer send calls on to a third party, which must hear of none.
func TestRedirectsAreNotFollowed(t *testing.T) {
	third := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("the third party was called")
	}))
	defer third.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		peer := httptest.NewServer(http.RedirectHandler(third.URL+"/RPC2", code))
		if _, err := newClient(t).Call(deadline(t), peer.Listener.Addr().String(), "",
			protocol.ListMethods{}); err == nil {
			t.Errorf("%d was an answer", code)
		}
		peer.Close()
	}
}

const emptyResponse = `<?xml version="1.0"?><methodResponse><params><param><value>%s</value></param></params>` +
	`</methodResponse>`

func TestCallGarbage(t *testing.T) {
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+r.Host+Path)
			w.WriteHeader(code)
			fmt.Fprintf(w, emptyResponse, "seen")
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"empty":         answer(""),
		"HTML":          answer("<!DOCTYPE html><html><body>It works!</body></html>"),
		"truncated":     answer(emptyResponse[:60]),
		"wrong type":    answer(fmt.Sprintf(emptyResponse, "<int>1</int>")),
		"wrong word":    answer(fmt.Sprintf(emptyResponse, "maybe")),
		"nil":           answer(fmt.Sprintf(emptyResponse, "<nil/>")),
		"a call":        answer(string(protocol.EncodeCall(nil, 7790, protocol.WhoAmI{}))),
		"too long":      answer(fmt.Sprintf(emptyResponse, strings.Repeat(" ", 4<<10))),
		"much too long": answer(fmt.Sprintf(emptyResponse, strings.Repeat("x", 10<<20))),
		"deep":          answer(fmt.Sprintf(emptyResponse, strings.Repeat("<array><data><value>", 40))),
		"301":           status(301),
		"302":           status(302),
		"307":           status(307),
		"308":           status(308),
		"204":           status(204),
		"404":           status(404),
		"500":           status(500),
		"a coding that nobody asked for": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write([]byte("\x1f\x8b\x08"))
		},
		"no gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, fmt.Sprintf(emptyResponse, ""))
		},
		"gzip that breaks off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("\x1f\x8b\x08"))
		},
		"gzip of nothing, without an end": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			for r.Context().Err() == nil {
				io.WriteString(w, gzipped(""))
			}
		},
		"a gzip bomb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, gzipped(fmt.Sprintf(emptyResponse, strings.Repeat(" ", 10<<20))))
		},
		"another protocol, in silence": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			io.WriteString(conn, "HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			conn.Read(make([]byte, 1))
		},
		"endless, no length":   func(w http.ResponseWriter, r *http.Request) { endless(w, r) },
		"fault without a code": answer(`<methodResponse><fault><value>no</value></fault></methodResponse>`),
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			addr := serveLoopback(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				h(w, r)
			}), ServerConfig{})
			_, err := newClient(t).Call(deadline(t), addr, "", protocol.CheckDID{})
			if !errors.Is(err, ErrNotXMLRPC) {
				t.Errorf("got %v, want %v", err, ErrNotXMLRPC)
			}
			if requests != 1 {
				t.Errorf("%d requests, want 1", requests)
			}
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	chunk := []byte(strings.Repeat("<!-- -->", 128))
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// TestCallConnection covers peers that do not even speak HTTP.
func TestCallConnection(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"vanishes":       func(c net.Conn) {},
		"resets":         func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) },
		"other protocol": func(c net.Conn) { fmt.Fprint(c, "220 mail.example.org ESMTP\r\n") },
		"headers only":   func(c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<?xml") },
		"huge headers": func(c net.Conn) {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nX: %s\r\n\r\n",
				strings.Repeat("x", 64<<10))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				c, err := ln.Accept()
				if err != nil {
					return
				}
				c.Read(make([]byte, 4<<10))
				serve(c)
				c.Close()
			}()
			if _, err := newClient(t).Call(deadline(t), ln.Addr().String(), "", protocol.CheckDID{}); err == nil {
				t.Error("no error")
			}
			ln.Close()
			<-done
		})
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	addr := serveLoopback(t, newHandler(func(ctx context.Context, _ Request) Response {
		close(entered)
		<-ctx.Done() // the caller went away, and we learn of it
		close(left)
		return Response{Reply: protocol.Seen(true)}
	}), ServerConfig{})
	ctx, cancel := context.WithCancel(deadline(t))
	go func() {
		<-entered
		cancel()
	}()
	if _, err := newClient(t).Call(ctx, addr, "", protocol.CheckDID{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	<-left
}

// Who is called without a session learns which program calls. A neighbor, which knows, is not told each time.
func TestWhoIsToldTheUserAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := make(map[string][]string) // by session
		inner := newHandler(func(context.Context, Request) Response { return Response{Reply: protocol.Seen(true)} })
		ln := newMemListener()
		stop := run(t.Context(), ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			agents[r.Header.Get(SessionHeader)] = r.Header["User-Agent"]
			inner.ServeHTTP(w, r)
		}), ServerConfig{Log: quiet})
		defer stop()
		client := newClient(t)
		client.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return ln.dial(t, "11.1.1.1:1024"), nil
		}
		for _, session := range []string{"", "neighbor"} {
			if _, err := client.Call(deadline(t), "11.0.0.1:7790", session, protocol.CheckDID{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := agents[""]; !slices.Equal(got, []string{"feedex"}) {
			t.Errorf("a stranger is told %q, want feedex", got)
		}
		if got, called := agents["neighbor"]; !called || got != nil {
			t.Errorf("a neighbor is told %q, want nothing", got)
		}
	})
}

// TestCallReusesConnections makes calls of every outcome that leaves a connection usable, one after
// the other: they all go over the same one. A machine that stalls for 50 ms where the client has just
// written would cost a connection (net/http), so time stands still.
func TestCallReusesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := 0
		inner := newHandler(func(context.Context, Request) Response {
			if served++; served%2 == 0 {
				return Response{Fault: protocol.Faultf(protocol.Busy, "later")}
			}
			return Response{Reply: protocol.Seen(true)}
		})
		ln := newMemListener()
		stop := run(t.Context(), ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(SessionHeader) == "404" {
				http.Error(w, "not here", http.StatusNotFound)
				return
			}
			inner.ServeHTTP(w, r)
		}), ServerConfig{Log: quiet})
		var dials atomic.Int32
		client := newClient(t)
		client.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return ln.dial(t, "11.1.1.1:1024"), nil
		}
		for i := range 20 {
			client.Call(deadline(t), "11.0.0.1:7790", []string{"", "404"}[i%2], protocol.CheckDID{})
		}
		if dials.Load() != 1 || served != 10 {
			t.Errorf("%d connections for 20 calls, of which %d were served; want 1 and 10", dials.Load(), served)
		}
		client.CloseIdle()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestCallSurvivesClosedConnection closes the kept connection between two calls: the second is made
// again on a fresh one.
func TestCallSurvivesClosedConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reply := protocol.EncodeReply(nil, protocol.Seen(true))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for answers := range 2 { // the second connection gets one answer more
			c, err := ln.Accept()
			if err != nil {
				return
			}
			for range 1 + answers {
				c.Read(make([]byte, 4<<10))
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
			}
			if answers == 0 {
				c.Read(make([]byte, 4<<10)) // the second call comes in, and is not answered
			}
			c.Close()
		}
	}()
	client := newClient(t)
	for range 3 {
		if _, err := client.Call(deadline(t), ln.Addr().String(), "", protocol.CheckDID{}); err != nil {
			t.Fatal(err)
		}
	}
	ln.Close()
	<-done
}

// TestRemoteErrorText sees to it that a peer's words cannot forge lines in our log.
func TestRemoteErrorText(t *testing.T) {
	addr := serveLoopback(t, newHandler(func(context.Context, Request) Response {
		return Response{Fault: protocol.Faultf(99, "%s", "\u0085x\u009b"+strings.Repeat("ä", 1000))}
	}), ServerConfig{})
	_, err := newClient(t).Call(deadline(t), addr, "", protocol.WhoAmI{})
	remote, ok := errors.AsType[*protocol.RemoteError](err)
	if !ok || len(remote.Text) > maxFaultText+4 || strings.ContainsAny(remote.Text, "\u0085\u009b") {
		t.Errorf("got %v", err)
	}
}
