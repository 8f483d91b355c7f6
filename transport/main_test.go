package transport

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"feedex/feed"
	"feedex/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// newHandler makes a handler for a node's methods.
func newHandler(serve func(context.Context, Request) Response) *handler {
	return NewHandler(HandlerConfig{Methods: protocol.NodeMethods(), Serve: serve, Log: quiet}).(*handler)
}

// unserved fails the test if a call gets through to it.
func unserved(t testing.TB) func(context.Context, Request) Response {
	return func(_ context.Context, r Request) Response {
		t.Errorf("a call got through: %#v", r)
		return Response{Reply: protocol.OK{}}
	}
}

// serveLoopback runs h on a loopback port until the test ends and returns its address.
func serveLoopback(t testing.TB, h http.Handler, cfg ServerConfig) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, ln, h, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// newClient makes a client of a node on port 7790 that may call this machine.
func newClient(t testing.TB) *Client {
	c := NewClient(ClientConfig{Port: 7790, AllowLocal: true, UserAgent: "feedex"})
	t.Cleanup(c.CloseIdle)
	return c
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// post gives h one request from 11.1.1.1 and returns the answer.
func post(h http.Handler, body string, edit ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
	r.RemoteAddr = "11.1.1.1:40000"
	r.Header.Set("Content-Type", "text/xml")
	for _, e := range edit {
		e(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const exampleFeed = feed.URL("http://example.org/feed.xml?a=1&b=2")

// An example is a call and an answer to it.
type example struct {
	call  protocol.Call
	reply protocol.Reply
}

// examples holds a call of every method and an answer to it; newline ends a line in a text.
func examples(newline string) []example {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	entries := []feed.Entry{
		{Feed: exampleFeed, ID: "urn:1", Title: "First <b>&amp;</b> ]]> \U0001F600", Link: "http://example.org/1",
			Published: at, Summary: "line" + newline + "line\ttab",
			Authors: []string{"Ann", "Bo"}, Categories: []string{"x", ""},
			Enclosures: []feed.Enclosure{{URL: "http://example.org/1.mp3", Type: "audio/mpeg", Length: 1 << 20}}},
		{Feed: exampleFeed, Title: " kept spaces ", Content: strings.Repeat("long ", 100_000)},
	}
	bundle := protocol.NewBundle(exampleFeed, entries)
	bundle.Path = []protocol.NodeID{nodeID("11.2.3.4:7790"), nodeID("[2a00::1]:7791")}
	subset := protocol.Subset{{Feed: exampleFeed}, {Feed: "https://example.net/", Hops: 3}}
	var dids []protocol.DID
	var seen protocol.SeenList
	for i := range protocol.MaxDIDs {
		dids = append(dids, protocol.DID{byte(i)})
		seen = append(seen, i%3 == 0)
	}
	return []example{
		{protocol.GetNeighbors{}, protocol.NodeList{nodeID("11.2.3.4:7790"), nodeID("[2a00::1]:7791")}},
		{protocol.Connect{Subset: subset}, subset},
		{protocol.Connect{Subset: subset}, protocol.Subset{}},
		{protocol.UpdateSubset{Changes: protocol.Subset{{Feed: exampleFeed, Hops: protocol.Withdrawn}}}, protocol.OK{}},
		{protocol.CheckDID{DID: bundle.DID}, protocol.Seen(true)},
		{protocol.CheckDID{DID: bundle.DID, Feed: exampleFeed}, protocol.Seen(false)},
		{protocol.CheckDIDs{DIDs: dids}, seen},
		{protocol.PutEntries{Bundle: bundle}, protocol.OK{}},
		{protocol.QueryFeed{Query: protocol.Query{ID: "q1", Hops: 3, Wait: 4 * time.Second,
			Filter: feed.Filter{Feed: exampleFeed, Words: []string{"a", "b*"}, Since: at, Limit: 7}}},
			protocol.Answer{Cut: protocol.CutLimit,
				Found: []protocol.Found{{ID: entries[0].EntryID(), Digest: entries[0].Digest(), Feed: exampleFeed,
					Title: "First", Link: "http://example.org/1", Published: at, Seen: at}}}},
		{protocol.GetEntries{Wanted: []protocol.Wanted{{ID: entries[1].EntryID(), Digest: entries[1].Digest()}}},
			protocol.Batch{Entries: []protocol.Archived{{Entry: entries[1], Seen: at}}, Left: 3}},
		{protocol.GetBundle{DID: bundle.DID}, protocol.NewBundle(exampleFeed, entries[1:])},
		{protocol.WhoAmI{}, nodeID("127.0.0.1:7790")},
		{protocol.Vouch{Session: "token"}, protocol.Vouched(true)},
		{protocol.Disconnect{Reason: "leaving"}, protocol.OK{}},
	}
}

func nodeID(text string) protocol.NodeID {
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// sameCall and sameReply compare by what goes over the wire.
func sameCall(a, b protocol.Call) bool {
	return bytes.Equal(protocol.EncodeCall(nil, 1, a), protocol.EncodeCall(nil, 1, b))
}

func sameReply(a, b protocol.Reply) bool {
	return bytes.Equal(protocol.EncodeReply(nil, a), protocol.EncodeReply(nil, b))
}
