package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"feedex/protocol"
	"feedex/xmlrpc"
)

func TestHTTPStatus(t *testing.T) {
	check := string(protocol.EncodeCall(nil, 7790, protocol.CheckDID{}))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	path := func(p string) func(*http.Request) { return func(r *http.Request) { r.URL.Path = p } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	for _, c := range []struct {
		name string
		edit func(*http.Request)
		want int
	}{
		{"as it should be", func(*http.Request) {}, 200},
		{"no declaration of length", func(r *http.Request) { r.ContentLength = -1 }, 200},
		{"root", path("/"), 404},
		{"lower case", path("/rpc2"), 404},
		{"below", path(Path + "/"), 404},
		{"GET", method("GET"), 405},
		{"PUT", method("PUT"), 405},
		{"a web page whose name was made to lead here", header("Origin", "http://evil.example:7790"), 403},
		{"the same, in a browser that says no more", header("Sec-Fetch-Site", "same-origin"), 403},
		{"OPTIONS, the question of a browser before it posts XML for another site", method("OPTIONS"), 405},
		{"text/xml with charset", header("Content-Type", `text/xml; charset="UTF-8"`), 200},
		{"text/xml in ASCII", header("Content-Type", "text/xml;charset=us-ascii"), 200},
		{"application/xml", header("Content-Type", "Application/XML"), 200},
		{"no type", func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		{"text/plain", header("Content-Type", "text/plain"), 415},
		{"form", header("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"JSON", header("Content-Type", "application/json"), 415},
		{"Latin-1", header("Content-Type", "text/xml; charset=iso-8859-1"), 415},
		{"malformed type", header("Content-Type", "text/xml; charset="), 415},
		{"gzip that is none", header("Content-Encoding", "X-GZIP"), 400},
		{"two codings", header("Content-Encoding", "gzip, gzip"), 415},
		{"deflate", header("Content-Encoding", "deflate"), 415},
		{"identity, which nobody needs to send", header("Content-Encoding", "identity"), 415},
		{"announced too long", func(r *http.Request) {
			r.ContentLength = 5 << 10
			r.Body = io.NopCloser(strings.NewReader(check + strings.Repeat(" ", 1<<10)))
		}, 413},
		{"announced longer than any may be, and nothing came yet", func(r *http.Request) {
			r.ContentLength = 4<<20 + 1
			r.Body = io.NopCloser(iotest.ErrReader(os.ErrDeadlineExceeded))
		}, 413},
		{"shorter than announced", func(r *http.Request) { r.ContentLength++ }, 400},
		{"connection without an IP address", func(r *http.Request) { r.RemoteAddr = "pipe" }, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHandler(func(context.Context, Request) Response { return Response{Reply: protocol.Seen(true)} })
			w := post(h, check, c.edit)
			if w.Code != c.want {
				t.Errorf("HTTP status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			if c.want == 405 && w.Header().Get("Allow") != "POST" {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
		})
	}
}

// TestBodyLimits sends to every method one byte less, as much as, and more than it takes.
func TestBodyLimits(t *testing.T) {
	h := newHandler(unserved(t))
	for _, m := range append(protocol.NodeMethods(),
		protocol.MethodSpec{Name: "no_such_method", Call: protocol.CallLimits("")}) {
		for _, announced := range []bool{true, false} {
			for extra, want := range map[int]int{-1: 200, 0: 200, 1: 413, 1 << 20: 413} {
				// Not well-formed, so that it is a fault if it is read at all.
				body := "<methodCall><methodName>" + m.Name + "</methodName><params>"
				body += strings.Repeat(" ", m.Call.Bytes+extra-len(body))
				w := post(h, body, func(r *http.Request) {
					if !announced {
						r.ContentLength = -1
					}
				})
				if w.Code != want {
					t.Errorf("%s, %+d bytes, announced %v: HTTP status %d, want %d", m.Name, extra, announced,
						w.Code, want)
				}
			}
		}
	}
}

// A counter counts what is read of an endless body.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("<methodCall>"), 1+len(p)/12))
	c.n += len(p)
	return len(p), nil
}

func TestEndlessBodyIsNotRead(t *testing.T) {
	for name, prefix := range map[string]string{
		"no call":        "",
		"unknown method": "<methodCall><methodName>no_such_method</methodName>",
		"check_did":      "<methodCall><methodName>check_did</methodName>",
		"put_entries":    "<methodCall><methodName>put_entries</methodName>",
	} {
		limit := protocol.CallLimits(name).Bytes
		rest := new(counter)
		r := httptest.NewRequest(http.MethodPost, Path, io.MultiReader(strings.NewReader(prefix), rest))
		r.RemoteAddr = "11.1.1.1:40000"
		r.Header.Set("Content-Type", "text/xml")
		w := httptest.NewRecorder()
		newHandler(unserved(t)).ServeHTTP(w, r)
		if w.Code != 413 || rest.n > limit+4<<10 {
			t.Errorf("%s: HTTP status %d after %d bytes, want 413 within %d", name, w.Code, rest.n, limit+4<<10)
		}
	}
}

// TestTrackerReadsNoBundles shows that a handler takes no more than its own methods need.
func TestTrackerReadsNoBundles(t *testing.T) {
	h := NewHandler(HandlerConfig{Methods: protocol.TrackerMethods(), Serve: unserved(t), Log: quiet})
	call := string(protocol.EncodeCall(nil, 7790, protocol.Disconnect{}))
	checkFault(t, post(h, call).Body.Bytes(), protocol.UnknownMethod)
	long := "<methodCall><methodName>put_entries</methodName><params>" + strings.Repeat(" ", 100<<10)
	if w := post(h, long); w.Code != 413 {
		t.Errorf("HTTP status %d, want 413", w.Code)
	}
}

// TestMoreThanKnownIsIgnored: that is how versions grow.
func TestMoreThanKnownIsIgnored(t *testing.T) {
	for _, e := range examples("\r\n") {
		c, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, e.call), xmlrpc.MessageLimits{})
		if err != nil {
			t.Fatal(err)
		}
		if check, ok := e.call.(protocol.CheckDID); ok && check.Feed == "" {
			c.Params = append(c.Params, xmlrpc.Struct{}) // the hint that may stand there
		}
		for i, p := range c.Params {
			if s, ok := p.(xmlrpc.Struct); ok {
				c.Params[i] = append(s, xmlrpc.Member{Name: "future", Value: xmlrpc.Array{int64(1)}})
			}
		}
		c.Params = append(c.Params, xmlrpc.Struct{{Name: "more", Value: "x"}}, "and", int64(1))
		served := false
		h := newHandler(func(_ context.Context, r Request) Response {
			served = sameCall(r.Call, e.call)
			return Response{Reply: e.reply}
		})
		if w := post(h, string(xmlrpc.AppendCall(nil, c.Method, c.Params...))); !served || w.Code != 200 {
			t.Errorf("%s: %s", c.Method, w.Body)
		}
	}
}

func TestCaller(t *testing.T) {
	whoami := string(protocol.EncodeCall(nil, 7791, protocol.WhoAmI{}))
	for remote, want := range map[string]string{
		"11.1.1.1:40000":          "11.1.1.1:7791",
		"[::ffff:11.1.1.1]:40000": "11.1.1.1:7791",
		"[2a00::1]:40000":         "[2a00::1]:7791",
		"[fe80::1%eth0]:40000":    "[fe80::1]:7791",
	} {
		var got protocol.NodeID
		h := newHandler(func(_ context.Context, r Request) Response { got = r.From; return Response{Reply: r.From} })
		post(h, whoami, func(r *http.Request) {
			r.RemoteAddr = remote
			r.Header.Set("X-Forwarded-For", "12.1.1.1") // no proxy is configured: nobody believes it
			r.Header.Set("Forwarded", "for=12.1.1.1")
		})
		if got != nodeID(want) {
			t.Errorf("from %s: caller %s, want %s", remote, got, want)
		}
	}
}

func TestCallerBehindProxy(t *testing.T) {
	whoami := string(protocol.EncodeCall(nil, 7791, protocol.WhoAmI{}))
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		remote               string
		forwarded, xForwaded []string
		want                 string // "" is HTTP status 400
	}{
		{"10.0.0.1:9", nil, nil, "10.0.0.1"},
		{"10.0.0.1:9", nil, []string{"12.1.1.1"}, "12.1.1.1"},
		{"10.0.0.1:9", nil, []string{"12.1.1.1:4711"}, "12.1.1.1"},
		{"10.0.0.1:9", nil, []string{"2a00::1"}, "2a00::1"},
		{"10.0.0.1:9", nil, []string{"::ffff:12.1.1.1"}, "12.1.1.1"},
		{"[::ffff:10.0.0.1]:9", nil, []string{"12.1.1.1"}, "12.1.1.1"},
		{"[fd00::1]:9", nil, []string{"12.1.1.1"}, "12.1.1.1"},
		{"10.0.0.1:9", []string{"for=12.1.1.1;proto=http;by=10.0.0.1"}, nil, "12.1.1.1"},
		{"10.0.0.1:9", []string{`proto=http; For="[2a00::1]:4711"`}, nil, "2a00::1"},
		// Addresses that the client wrote itself stand before those that the proxies added.
		{"10.0.0.1:9", nil, []string{"13.1.1.1, 12.1.1.1"}, "12.1.1.1"},
		{"10.0.0.1:9", nil, []string{"13.1.1.1", "12.1.1.1"}, "12.1.1.1"},
		{"10.0.0.1:9", nil, []string{"13.1.1.1, 12.1.1.1, 10.0.0.7"}, "12.1.1.1"},
		{"10.0.0.1:9", nil, []string{"10.0.0.8, 10.0.0.7"}, "10.0.0.8"},
		{"10.0.0.1:9", []string{"for=13.1.1.1, for=12.1.1.1"}, nil, "12.1.1.1"},
		// A proxy that writes one header passes on the client's lie in the other.
		{"10.0.0.1:9", []string{"for=13.1.1.1"}, []string{"12.1.1.1"}, ""},
		{"10.0.0.1:9", []string{"for=12.1.1.1"}, []string{"12.1.1.1"}, "12.1.1.1"},
		{"10.0.0.1:9", []string{"for=unknown"}, nil, ""},
		{"10.0.0.1:9", []string{"for=_hidden"}, nil, ""},
		{"10.0.0.1:9", []string{"proto=http"}, nil, ""},
		{"10.0.0.1:9", nil, []string{"node.example.org"}, ""},
		{"10.0.0.1:9", nil, []string{""}, ""},
		{"12.9.9.9:9", []string{"for=12.1.1.1"}, []string{"12.1.1.1"}, "12.9.9.9"},
	} {
		var got netip.Addr
		h := NewHandler(HandlerConfig{Methods: protocol.NodeMethods(), TrustedProxies: proxies, Log: quiet,
			Serve: func(_ context.Context, r Request) Response {
				got = r.From.Addr()
				return Response{Reply: r.From}
			}})
		w := post(h, whoami, func(r *http.Request) {
			r.RemoteAddr = c.remote
			r.Header["Forwarded"], r.Header["X-Forwarded-For"] = c.forwarded, c.xForwaded
		})
		switch {
		case c.want == "" && w.Code != 400:
			t.Errorf("%+v: HTTP status %d, want 400; caller %s", c, w.Code, got)
		case c.want != "" && got != netip.MustParseAddr(c.want):
			t.Errorf("%+v: caller %s, want %s", c, got, c.want)
		}
	}
}

func TestSession(t *testing.T) {
	whoami := string(protocol.EncodeCall(nil, 7791, protocol.WhoAmI{}))
	for _, c := range []struct {
		token, answer string
		fault         *protocol.Fault
		code          protocol.Code
	}{
		{"", "", nil, 0},
		{"abc", "def", nil, 0},
		{strings.Repeat("x", protocol.MaxSessionBytes), "", nil, 0},
		{strings.Repeat("x", protocol.MaxSessionBytes+1), "", nil, protocol.TooLong},
		{"abc", "def", protocol.Faultf(protocol.Busy, "come back later"), protocol.Busy},
	} {
		got := "not served"
		h := newHandler(func(_ context.Context, r Request) Response {
			got = r.Session
			return Response{Reply: r.From, Session: c.answer, Fault: c.fault}
		})
		w := post(h, whoami, func(r *http.Request) { r.Header.Set(SessionHeader, c.token) })
		if c.code != 0 {
			checkFault(t, w.Body.Bytes(), c.code)
		} else if got != c.token {
			t.Errorf("token %q, want %q", got, c.token)
		}
		if w.Header().Get(SessionHeader) != c.answer {
			t.Errorf("answered %q, want %q", w.Header().Get(SessionHeader), c.answer)
		}
	}
}

func TestIntrospection(t *testing.T) {
	h := newHandler(unserved(t))
	ask := func(method string, params ...xmlrpc.Value) xmlrpc.Value {
		v, err := xmlrpc.DecodeResponse(post(h, string(xmlrpc.AppendCall(nil, method, params...))).Body.Bytes(),
			xmlrpc.MessageLimits{})
		if err != nil {
			t.Fatalf("%s%v: %v", method, params, err)
		}
		return v
	}
	names := ask("system.listMethods").(xmlrpc.Array)
	for _, m := range protocol.NodeMethods() {
		if !slices.Contains(names, xmlrpc.Value(m.Name)) {
			t.Errorf("%s is not listed", m.Name)
		}
		if help := ask("system.methodHelp", m.Name); help != m.Help {
			t.Errorf("%s: help is %q", m.Name, help)
		}
		if got := fmt.Sprint(ask("system.methodSignature", m.Name)); got != fmt.Sprint(m.Signatures) {
			t.Errorf("%s: signature is %s, want %v", m.Name, got, m.Signatures)
		}
	}
	// An argument more is ignored here, too.
	ask("system.listMethods", int64(7790))
	ask("system.methodHelp", "connect", "x")
}

// TestAnswersDoNotMix answers calls of many sizes at one time from reused buffers.
func TestAnswersDoNotMix(t *testing.T) {
	addr := serveLoopback(t, newHandler(func(_ context.Context, r Request) Response {
		d := r.Call.(protocol.CheckDIDs).DIDs
		seen := make(protocol.SeenList, len(d))
		for i := range d {
			seen[i] = d[i][0] == 1
		}
		return Response{Reply: seen, Session: fmt.Sprint(len(d))}
	}), ServerConfig{})
	client := newClient(t)
	done := make(chan error)
	for worker := range 16 {
		go func() {
			for i := range 50 {
				n := (worker*7+i*3)%protocol.MaxDIDs + 1
				dids := make([]protocol.DID, n)
				for j := range dids {
					dids[j][0] = byte((i + j) % 2)
				}
				result, err := client.Call(deadline(t), addr, "", protocol.CheckDIDs{DIDs: dids})
				if err != nil {
					done <- err
					return
				}
				for j, seen := range result.Reply.(protocol.SeenList) {
					if bool(seen) != (dids[j][0] == 1) || result.Session != fmt.Sprint(n) {
						done <- fmt.Errorf("worker %d, call %d: answer %d is another call's", worker, i, j)
						return
					}
				}
			}
			done <- nil
		}()
	}
	for range 16 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
