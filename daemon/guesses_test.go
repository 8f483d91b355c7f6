package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/reading"
)

// clientAt is a client at an address of this machine.
func clientAt(t *testing.T, addr string) *http.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// waysIn are the ways in which a program shows a name and a password: each makes a request.
func waysIn(t *testing.T, base string, f feed.URL) map[string]func(c *http.Client, name,
	password string) *http.Request {
	request := func(method, target string, form url.Values) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r
	}
	basic := func(path string) func(*http.Client, string, string) *http.Request {
		return func(_ *http.Client, name, password string) *http.Request {
			r := request("GET", base+path, nil)
			r.SetBasicAuth(name, password)
			return r
		}
	}
	return map[string]func(c *http.Client, name, password string) *http.Request{
		"a feed": func(c *http.Client, name, password string) *http.Request {
			r := basic("/feed/"+string(f))(c, name, password)
			r.Header.Set("X-Forwarded-Proto", "http") // by a web server: a client on this machine needs no password
			return r
		},
		"the proxy": func(_ *http.Client, name, password string) *http.Request {
			r := request("GET", base+"/feed/", nil)
			r.URL.Opaque = string(f)
			r.SetBasicAuth(name, password)
			r.Header["Proxy-Authorization"] = r.Header["Authorization"]
			r.Header.Del("Authorization")
			r.Header.Set("X-Forwarded-Proto", "http")
			return r
		},
		"Google Reader's login": func(_ *http.Client, name, password string) *http.Request {
			return request("POST", base+"/accounts/ClientLogin", url.Values{"Email": {name}, "Passwd": {password}})
		},
		"Google Reader's token": func(_ *http.Client, _, password string) *http.Request {
			r := request("GET", base+"/api/greader.php/reader/api/0/user-info", nil)
			r.Header.Set("Authorization", "GoogleLogin auth="+password)
			return r
		},
		"Fever": func(_ *http.Client, name, password string) *http.Request {
			return request("POST", base+"/fever/?api", url.Values{"api_key": {reading.FeverKey(name, password)}})
		},
		"Miniflux's key": func(_ *http.Client, _, password string) *http.Request {
			r := request("GET", base+"/v1/me", nil)
			r.Header.Set("X-Auth-Token", password)
			return r
		},
		"Miniflux": basic("/v1/me"), "Nextcloud": basic("/index.php/apps/news/api/v1-3/user"),
		"the page": func(c *http.Client, _, password string) *http.Request {
			resp, err := c.Get(base + "/login")
			_, text := statusOf(t, resp, err)
			token := ""
			if m := formToken.FindStringSubmatch(text); m != nil {
				token = m[1]
			}
			return request("POST", base+"/login", url.Values{"token": {token}, "password": {password}})
		},
	}
}

// An attacker who guesses at passwords is slowed down, however they are shown, and nobody else is: not the owner
// elsewhere, nor the owner's program at the same address.
func TestGuessesAreSlowed(t *testing.T) {
	f := startFeed(t, "First")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Proxy: ProxyKnown})
	n.waitArrival(f.url)
	secret, err := n.client.AddPassword(t.Context(), "phone")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for name, ask := range waysIn(t, "http://"+n.at.Reader, f.url) {
		t.Run(name, func(t *testing.T) {
			at++
			guesser, owner := clientAt(t, fmt.Sprintf("127.0.%d.1", at)), clientAt(t, fmt.Sprintf("127.0.%d.2", at))
			do := func(c *http.Client, password string) (*http.Response, string) {
				resp, err := c.Do(ask(c, "phone", password))
				_, text := statusOf(t, resp, err)
				return resp, text
			}
			in := func(c *http.Client, password string) bool {
				resp, text := do(c, password)
				return resp.StatusCode == http.StatusOK && !strings.Contains(text, `"auth":0`) &&
					!strings.Contains(text, `"auth": 0`) ||
					resp.StatusCode == http.StatusSeeOther && resp.Header.Get("Location") == "/"
			}
			if !in(guesser, secret) {
				t.Fatal("the password does not let in")
			}
			looked := 0
			for i := range 100 {
				if in(guesser, fmt.Sprintf("%032d", i)) {
					t.Fatal("a guess lets in")
				}
				resp, text := do(guesser, fmt.Sprintf("%032x", i))
				if resp.StatusCode != http.StatusTooManyRequests {
					looked++
				} else if resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "too many wrong passwords") {
					t.Fatalf("they are told to wait by %v %s", resp.Header, text)
				}
			}
			if looked > 10 {
				t.Errorf("%d guesses of 100 were looked at", looked)
			}
			if !in(guesser, secret) {
				t.Error("a program that came in by a password there before is locked out")
			}
			if !in(owner, secret) {
				t.Error("the owner is locked out elsewhere")
			}
		})
	}
}

// Behind a web server that the owner trusts to name its clients, the client that guesses is slowed down; what others
// write into its header is not believed.
func TestGuessesByAServer(t *testing.T) {
	for trusted, want := range map[bool][2]bool{true: {true, false}, false: {false, false}} {
		c := Config{Subscribe: nil}
		if trusted {
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}
		n := startNode(t, c)
		secret, err := n.client.AddPassword(t.Context(), "phone")
		if err != nil {
			t.Fatal(err)
		}
		ask := func(forwarded, password string) int {
			r, err := http.NewRequestWithContext(context.Background(), "GET", "http://"+n.at.Reader+"/v1/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Auth-Token", password)
			r.Header.Set("X-Forwarded-For", forwarded)
			resp, err := http.DefaultClient.Do(r)
			status, _ := statusOf(t, resp, err)
			return status
		}
		for i := range 50 {
			ask(fmt.Sprintf("192.0.2.%d, 198.51.100.7", i), "wrong")
		}
		if in := ask("198.51.100.8", secret) == http.StatusOK; in != want[0] {
			t.Errorf("trusted %v: the owner comes in: %v", trusted, in)
		}
		if in := ask("198.51.100.7", secret) == http.StatusOK; in != want[1] {
			t.Errorf("trusted %v: a guess of the client that guesses is looked at: %v", trusted, in)
		}
	}
}
