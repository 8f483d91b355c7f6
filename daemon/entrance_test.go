package daemon

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

type listenerAt struct {
	net.Listener
	ip string
}

func (l listenerAt) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip)} }

// Readers need no password where only this machine can connect, and one everywhere else.
func TestEntrance(t *testing.T) {
	for ip, open := range map[string]bool{"127.0.0.1": true, "127.0.0.53": true, "::1": true, "0.0.0.0": false, "::": false, "192.168.1.2": false, "": false} {
		if got := new(host).entrance(listenerAt{ip: ip}, nil); (got == nil) != open {
			t.Errorf("%q: entrance %v, want everybody let in: %v", ip, got, open)
		}
	}
}

// Who comes by a web server in front of the loopback address comes from anywhere, and needs a password.
func TestEntranceBehindAServer(t *testing.T) {
	n := startNode(t, Config{})
	v := newVisitor(t, n)
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{"/all.atom", "/opml", "/archive?q=a", "/", "/feeds", "/settings"} {
		for _, header := range []string{"", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
			r, err := http.NewRequest(http.MethodGet, v.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if header != "" {
				r.Header[header] = []string{"", "192.0.2.1"} // the visitor sent one that is empty, to which the server added its own
			}
			resp, err := v.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			in := resp.StatusCode == http.StatusOK
			toLogin := resp.StatusCode == http.StatusUnauthorized || strings.HasPrefix(resp.Header.Get("Location"), "/login?")
			if in != (header == "") || toLogin != (header != "") {
				t.Errorf("%s with %q: %s to %q", path, header, resp.Status, resp.Header.Get("Location"))
			}
		}
	}
}
