package daemon

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"feedex/control"
	"feedex/feed"
	"feedex/internal/logtest"
	"feedex/reader/websub/websubtest"
	"feedex/reading"
)

// A subscriber of this machine that finds the hub in a feed is pushed the next entry.
func TestFeedsArePushed(t *testing.T) {
	subscriber := websubtest.Start(t)
	f, g := startFeed(t, "First"), startFeed(t, "Second")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, PushTo: []string{subscriber.Listener.Addr().String()}})
	n.waitArrival(f.url)

	topic := "http://" + n.at.Reader + "/all.json"
	resp, err := http.Head(topic)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	hub := "http://" + n.at.Reader + "/hub"
	links := strings.Join(resp.Header["Link"], " ")
	if !strings.Contains(links, "<"+topic+`>; rel="self"`) || !strings.Contains(links, "<"+hub+`>; rel="hub"`) {
		t.Fatalf("links are %s", links)
	}
	subscriber.Subscribe(t, topic)
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Fatal(err)
	}
	for p := (websubtest.Push{}); !strings.Contains(p.Text, "Second"); { // at first that there is another feed
		select {
		case p = <-subscriber.Pushed:
		case <-t.Context().Done():
			t.Fatal("nothing was pushed")
		}
		if p.Links != links {
			t.Errorf("pushed was %+v", p)
		}
	}
}

// A service is a program on this machine that listens for others than the node. It counts requests.
type service struct {
	*httptest.Server
	visits atomic.Int32
}

func startService(t *testing.T, answer http.HandlerFunc) *service {
	s := new(service)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.visits.Add(1)
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) port() string { return s.URL[strings.LastIndex(s.URL, ":")+1:] }

// A subscriber cannot have the hub call what listens on the node's machine, by whatever name or address, nor by a
// redirect of a program that the owner named, nor by a name of which the address changes.
func TestCallbacksReachNothingUnnamed(t *testing.T) {
	victim := startService(t, nil)
	named := startService(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, victim.URL, http.StatusTemporaryRedirect)
	})
	f := startFeed(t, "First")
	log, said := logtest.Overhear()
	n := startNode(t, Config{
		Subscribe: []feed.URL{f.url}, PushTo: []string{named.Listener.Addr().String()}, Log: log,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	})
	n.waitArrival(f.url)
	subscribe := func(callback, from string) int {
		form := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {"http://" + n.at.Reader + "/all.atom"},
			"hub.callback": {callback}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.at.Reader+"/hub",
			strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if from != "" {
			secret, err := n.client.AddPassword(t.Context(), control.PasswordRequest{
				Name: "proxied" + strings.ReplaceAll(from, ":", "."), Scope: reading.ReaderScope})
			if err != nil {
				t.Fatal(err)
			}
			defer n.client.RemovePassword(t.Context(), "proxied"+strings.ReplaceAll(from, ":", "."))
			r.SetBasicAuth("proxied"+strings.ReplaceAll(from, ":", "."), secret)
			r.Header.Set("X-Forwarded-For", from)
		}
		resp, err := http.DefaultClient.Do(r)
		status, text := statusOf(t, resp, err)
		if status == http.StatusForbidden && !strings.Contains(text, "reader_push") {
			t.Errorf("%s: %s", callback, text)
		}
		return status
	}
	_, peersPort, _ := net.SplitHostPort(n.at.Listen)
	_, readerPort, _ := net.SplitHostPort(n.at.Reader)
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "2130706433", "0x7f.1", "127.1",
	} {
		for _, port := range []string{victim.port(), peersPort, readerPort} {
			if code := subscribe("http://"+host+":"+port+"/", ""); code != http.StatusForbidden {
				t.Errorf("%s:%s: %d", host, port, code)
			}
		}
		// For all that the hub knows before it calls, a machine of the owner's network is there.
		if code := subscribe("http://"+host+":"+victim.port()+"/", "192.168.77.5"); code == http.StatusAccepted {
			said.Wait(t, "subscription not verified")
		} else if code != http.StatusBadRequest {
			t.Errorf("%s, from elsewhere: %d", host, code)
		}
	}
	if code := subscribe(named.URL+"/", ""); code != http.StatusAccepted {
		t.Errorf("what the owner named: %d", code)
	}
	said.Wait(t, "subscription not verified")
	if named.visits.Load() != 1 || victim.visits.Load() != 0 {
		t.Errorf("what the owner named was called %d times, what listens beside it %d times", named.visits.Load(),
			victim.visits.Load())
	}
}

// Callbacks are at the address from which the subscription came, where that is in a private network and not here.
func TestCallbackAddresses(t *testing.T) {
	for _, c := range []struct {
		at, from string
		want     bool
	}{
		{"192.168.77.2", "192.168.77.2", true}, {"10.77.0.1", "10.77.0.1", true}, {"fd77::1", "fd77::1", true},
		{"::ffff:10.77.0.1", "10.77.0.1", true}, {"10.77.0.1", "::ffff:10.77.0.1", true},
		{"192.168.77.3", "192.168.77.2", false}, {"10.77.0.1", "192.168.77.2", false},
		{"192.168.77.2", "127.0.0.1", false},
		{"127.0.0.1", "127.0.0.1", false}, {"::1", "::1", false}, {"::ffff:127.0.0.1", "127.0.0.1", false},
		{"0.0.0.0", "0.0.0.0", false},
		{"169.254.169.254", "169.254.169.254", false}, {"fe80::1", "fe80::1", false},
		{"100.64.0.1", "100.64.0.1", false},
		{"93.184.216.34", "93.184.216.34", false}, {"2606:2800::1", "2606:2800::1", false},
		{"224.0.0.1", "224.0.0.1", false}, {"255.255.255.255", "255.255.255.255", false},
	} {
		if err := allowCallback(netip.AddrPortFrom(netip.MustParseAddr(c.at), 8080),
			netip.MustParseAddr(c.from)); (err == nil) != c.want {
			t.Errorf("at %s for %s: %v", c.at, c.from, err)
		}
	}
	if allowCallback(netip.MustParseAddrPort("192.168.77.2:8080"), netip.Addr{}) == nil {
		t.Error("a callback is called for an unknown subscriber")
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range own { // its private ones among them
		a, _ := netip.AddrFromSlice(n.(*net.IPNet).IP)
		if allowCallback(netip.AddrPortFrom(a, 8080), a) == nil {
			t.Errorf("%s is called, which is this machine", a)
		}
	}
}
