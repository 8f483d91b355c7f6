package daemon

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"feedex/feed"
)

type listenerAt struct {
	net.Listener
	ip string
}

func (l listenerAt) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip)} }

// Readers need no password where only this machine can connect, and one everywhere else.
func TestEntrance(t *testing.T) {
	for ip, open := range map[string]bool{"127.0.0.1": true, "127.0.0.53": true, "::1": true, "0.0.0.0": false,
		"::": false, "192.168.1.2": false, "": false} {
		if got := openAt(listenerAt{ip: ip})(new(http.Request)); got != open {
			t.Errorf("%q: everybody is let in: %v, want %v", ip, got, open)
		}
	}
}

// A client that comes by a web server in front of the loopback address may be anywhere, and needs a password.
func TestEntranceBehindAServer(t *testing.T) {
	n := startNode(t, Config{})
	v := newVisitor(t, n)
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{"/all.atom", "/opml", "/archive?q=a", "/", "/feeds", "/settings"} {
		for _, header := range []string{"", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
			"X-Real-Ip"} {
			r, err := http.NewRequest(http.MethodGet, v.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				// the visitor sent one that is empty, to which the server added its own
				r.Header[header] = []string{"", "192.0.2.1"}
			}
			resp, err := v.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			in := resp.StatusCode == http.StatusOK
			toLogin := resp.StatusCode == http.StatusUnauthorized ||
				strings.HasPrefix(resp.Header.Get("Location"), "/login?")
			if in != (header == "") || toLogin != (header != "") {
				t.Errorf("%s with %q: %s to %q", path, header, resp.Status, resp.Header.Get("Location"))
			}
		}
	}
}

// Nor is the proxy for those: some web servers pass requests in absolute form on as they are.
func TestProxyBehindAServer(t *testing.T) {
	f, g := startFeed(t, "First"), startFeed(t, "Second")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Proxy: ProxySubscribe})
	n.waitArrival(f.url)
	secret, err := n.client.AddPassword(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse("http://" + n.at.Reader)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return at, nil }}}
	defer client.CloseIdleConnections()
	for _, u := range []feed.URL{f.url, g.url} {
		for _, want := range []int{http.StatusProxyAuthRequired, http.StatusOK} {
			r, err := http.NewRequest(http.MethodGet, string(u), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Forwarded-For", "192.0.2.1")
			if want == http.StatusOK {
				r.SetBasicAuth("phone", secret)
				r.Header["Proxy-Authorization"] = r.Header["Authorization"]
			}
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %s, want %d", u, resp.Status, want)
			}
		}
	}
}
