package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"feedex/feed"
)

// A subscriber of this machine that finds the hub in a feed is pushed the next entry.
func TestFeedsArePushed(t *testing.T) {
	pushed, asked := make(chan string, 10), make(chan struct{}, 10)
	subscriber := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, r.URL.Query().Get("hub.challenge"))
			asked <- struct{}{}
			return
		}
		text, _ := io.ReadAll(r.Body)
		pushed <- strings.Join(r.Header["Link"], " ") + string(text)
	}))
	defer subscriber.Close()
	f, g := startFeed(t, "First"), startFeed(t, "Second")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
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
	resp, err = http.PostForm(hub, url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {subscriber.URL + "/"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("the hub answers %d", resp.StatusCode)
	}
	<-asked
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Fatal(err)
	}
	for text := ""; !strings.Contains(text, "Second"); { // at first that there is another feed
		select {
		case text = <-pushed:
		case <-t.Context().Done():
			t.Fatal("nothing was pushed")
		}
		if !strings.HasPrefix(text, links) {
			t.Errorf("pushed was %s", text)
		}
	}
}

// Callbacks are where those are who can read the feeds.
func TestCallbackAddresses(t *testing.T) {
	for text, want := range map[string][2]bool{ // near, and else
		"127.0.0.1": {true, true}, "::1": {true, true}, "::ffff:127.0.0.1": {true, true},
		"192.168.1.2": {false, true}, "10.0.0.1": {false, true}, "172.16.3.4": {false, true}, "fd00::1": {false, true}, "::ffff:10.0.0.1": {false, true},
		"169.254.169.254": {}, "fe80::1": {}, "100.64.0.1": {}, "93.184.216.34": {}, "2606:2800::1": {}, "0.0.0.0": {}, "224.0.0.1": {}, "255.255.255.255": {},
	} {
		for i, near := range []bool{true, false} {
			if err := allowCallback(netip.MustParseAddr(text), near); (err == nil) != want[i] {
				t.Errorf("%s, near %v: %v", text, near, err)
			}
		}
	}
}
