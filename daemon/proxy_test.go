package daemon

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"feedex/feed"
	"feedex/node"
)

// Ten readers that poll each minute by way of the node cost the publisher nothing, be the feed followed before or
// because they ask for it, by whatever name.
func TestReadersBehindTheProxyCostNothing(t *testing.T) {
	var requests atomic.Int64
	f, g, moved, page := startFeed(t, "First"), startFeed(t, "Second"), startFeed(t, "Third"), startFeed(t)
	count := func(*http.Request) bool { requests.Add(1); return true }
	f.allowed, g.allowed, moved.allowed = count, count, count
	mux := http.NewServeMux()
	mux.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.Redirect(w, r, "/old/", http.StatusMovedPermanently)
	})
	mux.Handle("/old/", moved)
	elsewhere := httptest.NewServer(mux)
	defer elsewhere.Close()
	old := feed.URL(elsewhere.URL + "/old")
	page.allowed = func(*http.Request) bool { requests.Add(1); return false }
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Proxy: ProxyFeeds, ProxySubscribe: true})
	n.waitArrival(f.url)
	at, err := url.Parse("http://" + n.at.Reader)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return at, nil }}}
	defer client.CloseIdleConnections()
	ask := func(u feed.URL) (int, string) {
		resp, err := client.Get(string(u))
		return statusOf(t, resp, err)
	}
	if code, text := ask(g.url); code != 200 || !strings.Contains(text, "Second") {
		t.Errorf("a feed that was not followed: %d %s", code, text)
	}
	n.waitArrival(g.url)
	if code, text := ask(old); code != 200 || !strings.Contains(text, "Third") {
		t.Errorf("a feed that has moved: %d %s", code, text)
	}
	n.waitArrival(old + "/")
	if code, _ := ask(page.url); code != http.StatusBadGateway {
		t.Errorf("what is refused: %d", code)
	}
	before := requests.Load()
	// a poll of the first, a look at the second, which is its first poll as well, the same of that which has moved, and
	// a look at the page
	if before != 5 {
		t.Errorf("%d requests until now, want 5", before)
	}
	for range 10 * 60 {
		for u, want := range map[feed.URL]string{f.url: "First", g.url: "Second", old: "Third"} {
			if code, text := ask(u); code != 200 || !strings.Contains(text, want) {
				t.Fatalf("%s: %d %s", u, code, text)
			}
		}
		ask(page.url)
	}
	if after := requests.Load(); after != before {
		t.Errorf("%d requests in an hour of ten readers", after-before)
	}
	// Followed no more and asked for again it is where it was.
	if err := n.client.Unsubscribe(t.Context(), old+"/"); err != nil {
		t.Fatal(err)
	}
	if code, text := ask(old); code != 200 || !strings.Contains(text, "Third") {
		t.Errorf("a feed that has moved, asked for again: %d %s", code, text)
	}
	n.waitFeed(old+"/", func(*node.FeedStatus) bool { return true })
}

// Without a proxy, requests for one are requests under a name that is not the node's.
func TestNoProxy(t *testing.T) {
	n := startNode(t, Config{})
	r, err := http.NewRequest(http.MethodGet, "http://"+n.at.Reader+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = "http://example.com/feed.xml"
	r.Host = "example.com"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// A proxy for everything leads nowhere but to the web of the public Internet, however a place is spelled, and although
// the node itself may call this machine.
func TestTheProxyLeadsToThePublicWebAlone(t *testing.T) {
	n := startNode(t, Config{Proxy: ProxyAll})
	for _, place := range []string{
		"127.0.0.1:443", "127.8.9.10:80", "localhost:80", "[::1]:443", "[::ffff:127.0.0.1]:80", "0.0.0.0:80",
		"[::]:443", "127.0.0.1:https", n.at.Reader, n.at.Listen, // this machine
		"10.0.0.1:443", "192.168.1.1:80", "172.16.0.1:443", "169.254.169.254:80", "[fe80::1%25lo]:443", "[fd00::1]:80",
		"[64:ff9b::7f00:1]:443", "[2002:7f00:1::]:443", "100.64.0.1:443", "224.0.0.1:80",
		"8.8.8.8:25", "8.8.8.8:smtp", "8.8.8.8:22", "[2606:4700:4700::1111]:53", "8.8.8.8:8443", "8.8.8.8:0",
	} {
		for _, request := range []string{"CONNECT " + place, "GET http://" + place + "/"} {
			name, own := request, strings.HasPrefix(request, "GET") && place == n.at.Reader
			if strings.HasPrefix(request, "GET") && (strings.HasSuffix(place, "s") || strings.HasSuffix(place, "p")) {
				continue // no URL has such a port
			}
			c, err := net.Dial("tcp", n.at.Reader)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", request, place)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			code, text := statusOf(t, resp, nil)
			c.Close()
			if want := http.StatusForbidden; !own && code != want && code != http.StatusBadRequest {
				t.Errorf("%s: %d %s, want %d", name, code, text, want)
			}
		}
	}
}
