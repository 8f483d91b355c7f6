// Package websubtest has a program for tests to which a hub pushes.
package websubtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A Subscriber is a program on this machine to which feeds are pushed.
type Subscriber struct {
	*httptest.Server
	Pushed chan Push
	asked  chan struct{} // whether it subscribes
}

// A Push is what comes: the links in its header, and the document.
type Push struct{ Links, Text string }

// Start starts one, which runs until the test ends.
func Start(t *testing.T) *Subscriber {
	s := &Subscriber{Pushed: make(chan Push, 1000), asked: make(chan struct{}, 10)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, r.URL.Query().Get("hub.challenge"))
			s.asked <- struct{}{}
			return
		}
		text, _ := io.ReadAll(r.Body)
		s.Pushed <- Push{strings.Join(r.Header["Link"], " "), string(text)}
	}))
	t.Cleanup(s.Close)
	return s
}

// Subscribe subscribes at the node's hub to the feed at an address, whatever its address for subscribers is.
func (s *Subscriber) Subscribe(t *testing.T, at string) {
	t.Helper()
	head, err := http.Head(at)
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	self, _, _ := strings.Cut(strings.TrimPrefix(head.Header["Link"][0], "<"), ">")
	hub, err := head.Request.URL.Parse("/hub")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.PostForm(hub.String(), url.Values{"hub.mode": {"subscribe"}, "hub.topic": {self},
		"hub.callback": {s.URL + "/"}})
	if err != nil || resp.StatusCode != http.StatusAccepted {
		t.Fatalf("the hub answers %v, %v", resp, err)
	}
	resp.Body.Close()
	<-s.asked
}
