package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/feed"
	"feedex/reader/proxy"
)

// leading leads to one place, whatever is asked for.
func leading(to string) *proxy.Passage {
	return &proxy.Passage{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, to)
	}}
}

// A client that uses the proxy for everything gets pictures at https:// through a tunnel.
func TestTunnel(t *testing.T) {
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d bytes to %s%s", len(text), r.Host, r.URL)
	}))
	defer site.Close()
	server := httptest.NewServer(proxy.New(proxy.Config{Reader: reader{}, Feeds: follows(),
		Pass: leading(site.Listener.Addr().String())}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(site.Certificate())
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at),
		TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	const size = 1 << 20
	said := strings.NewReader(strings.Repeat("x", size))
	resp, err := client.Post("https://example.com/picture?a=1", "text/plain", said)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); string(text) != fmt.Sprintf("%d bytes to example.com/picture?a=1", size) {
		t.Errorf("got %q", text)
	}
}

// echo is a server that says what it heard once its client has said all.
func echo(t *testing.T) (address string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				text, _ := io.ReadAll(c)
				fmt.Fprintf(c, "heard %s", text)
			}()
		}
	}()
	return ln.Addr().String()
}

// What a client says before it has heard that the tunnel is open reaches the other end, and so does its end.
func TestTunnelCarriesWhatIsSaidEarly(t *testing.T) {
	server := httptest.NewServer(proxy.New(proxy.Config{Reader: reader{}, Feeds: follows(), Pass: leading(echo(t))}))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\nearly ")
	answer := bufio.NewReader(c)
	if line, err := answer.ReadString('\n'); err != nil || line != "HTTP/1.1 200 Connection established\r\n" {
		t.Fatalf("answered %q, %v", line, err)
	}
	fmt.Fprint(c, "and late")
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer); err != nil || string(text) != "\r\nheard early and late" {
		t.Errorf("the other end said %q, %v", text, err)
	}
}

// Only so many go through at a time, and a place is free again once one has gone.
func TestTunnelsAreBounded(t *testing.T) {
	server := httptest.NewServer(proxy.New(proxy.Config{Reader: reader{}, Feeds: follows("http://example.com/feed"),
		Pass: leading(echo(t))}))
	defer server.Close()
	connect := func() (net.Conn, *bufio.Reader, string) {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
		answer := bufio.NewReader(c)
		line, err := answer.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return c, answer, strings.Fields(line)[1]
	}
	first, said, _ := connect()
	for i := range 63 {
		if _, _, code := connect(); code != "200" {
			t.Fatalf("tunnel %d: %s", i+2, code)
		}
	}
	if _, _, code := connect(); code != "503" {
		t.Errorf("one more: %s", code)
	}
	if w := ask(server.Config.Handler, "GET", "http://example.com/feed"); w.Code != 200 {
		t.Errorf("a feed meanwhile: %d", w.Code)
	}
	if err := first.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(said); err != nil { // its end is that of the tunnel
		t.Fatal(err)
	}
	for code := ""; code != "200"; { // the place is given back right after that
		_, _, code = connect()
	}
}

// hijacked lets a handler have a pipe for the client's connection.
type hijacked struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// A tunnel ends where nothing is said for two minutes, but not while one end speaks, and when the node stops.
func TestSilentTunnelsEnd(t *testing.T) {
	for _, stops := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client, near := net.Pipe()
			far, site := net.Pipe()
			h := proxy.New(proxy.Config{Reader: reader{}, Feeds: follows(), Pass: &proxy.Passage{
				Dial: func(context.Context, string, string) (net.Conn, error) { return far, nil }}})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			r := httptest.NewRequestWithContext(ctx, http.MethodConnect, "example.com:443", nil)
			begun, ended := time.Now(), time.Time{}
			go func() {
				h.ServeHTTP(hijacked{httptest.NewRecorder(), near}, r)
				ended = time.Now()
			}()
			go io.Copy(io.Discard, client)
			for range 10 {
				time.Sleep(time.Minute)
				if _, err := site.Write([]byte("still here")); err != nil {
					t.Fatal(err)
				}
			}
			want := 12 * time.Minute
			if stops {
				stop()
				want = 10 * time.Minute
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := ended.Sub(begun); got != want {
				t.Errorf("the tunnel ended after %v, want %v", got, want)
			}
		})
	}
}

// dated is an answer whose writer has a deadline.
type dated struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *dated) SetWriteDeadline(t time.Time) error { d.until = t; return nil }

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An answer takes as long as something comes, whatever the server's own deadline is, and ends where nothing comes for
// two minutes.
func TestLongAnswersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, site := io.Pipe()
		h := proxy.New(proxy.Config{Reader: reader{}, Feeds: follows(), Pass: &proxy.Passage{
			Fetch: roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Upgrade") != "" {
					t.Error("it may turn to another protocol")
				}
				context.AfterFunc(r.Context(), func() { site.CloseWithError(r.Context().Err()) })
				return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
			})}})
		begun, w := time.Now(), &dated{ResponseRecorder: httptest.NewRecorder()}
		ended := make(chan time.Time, 1)
		go func() {
			r := httptest.NewRequest(http.MethodGet, "http://example.com/long", nil)
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			h.ServeHTTP(w, r)
			ended <- time.Now()
		}()
		for range 10 {
			time.Sleep(time.Minute)
			if _, err := site.Write([]byte("more ")); err != nil {
				t.Fatal(err)
			}
		}
		if got := (<-ended).Sub(begun); got != 12*time.Minute {
			t.Errorf("the answer ended after %v", got)
		}
		if got := w.until.Sub(begun); got != 12*time.Minute || w.Body.Len() != 50 {
			t.Errorf("%d bytes may be written until %v after the beginning", w.Body.Len(), got)
		}
	})
}

// Who may not read feeds opens no tunnel, and where tunnels are not wanted nobody does.
func TestWhoOpensTunnels(t *testing.T) {
	f := follows(feed.URL("http://example.com/feed"))
	dialed := 0
	pass := &proxy.Passage{Dial: func(context.Context, string, string) (net.Conn, error) {
		dialed++
		return nil, io.ErrUnexpectedEOF
	}}
	for _, c := range []struct {
		name  string
		login string
		known bool
		code  int
	}{
		{"nobody", "", false, 407}, {"a guess", "phone:wrong", false, 407},
		{"the name of another", "other:secret", false, 407}, {"a reader", "phone:secret", false, 502},
		{"this machine", "", true, 502},
	} {
		before := dialed
		h := proxy.New(proxy.Config{Reader: reader{}, Feeds: f, Pass: pass, Entrance: entrance{},
			Known: func(*http.Request) bool { return c.known }})
		r := httptest.NewRequest(http.MethodConnect, "example.com:443", nil)
		if name, password, ok := strings.Cut(c.login, ":"); ok {
			r.SetBasicAuth(name, password)
			r.Header["Proxy-Authorization"] = r.Header["Authorization"]
			r.Header.Del("Authorization")
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.code || (dialed > before) != (c.code == 502) {
			t.Errorf("%s: %d, want %d; %d dialed", c.name, w.Code, c.code, dialed-before)
		}
	}
}
