package daemon

import (
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// What strangers can do to entries, tried over HTTP on a node whose settings are the defaults, but that it polls every second.

// A publicFeed is a feed at a public address, with what the test says in it.
type publicFeed struct {
	url     feed.URL
	mu      sync.Mutex
	entries []feed.Entry
	edits   int
}

// publishFeed serves a feed at the address until the test ends.
func publishFeed(t *testing.T, ip string, ids ...string) *publicFeed {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(ip, "8080"))
	if err != nil {
		t.Fatal(err)
	}
	f := &publicFeed{url: feed.URL("http://" + ln.Addr().String() + "/feed")}
	for _, id := range ids {
		f.publish(id)
	}
	srv := &http.Server{Handler: f}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return f
}

// publish adds an entry, and returns it as a node has it.
func (f *publicFeed) publish(id string) feed.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := time.Now().UTC().Truncate(time.Second)
	e := feed.Entry{
		Feed: f.url, ID: "urn:" + id, Title: "Title of " + id, Link: "http://example.com/" + id, Published: at, Updated: at,
		Summary: "genuine",
	}
	f.entries = append(f.entries, e)
	return e
}

// drop takes the oldest entry out of the document.
func (f *publicFeed) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = f.entries[1:]
}

func (f *publicFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tag := fmt.Sprintf("%q", fmt.Sprint(len(f.entries), f.entries[0].ID))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml")
	fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Test</title><id>urn:test</id>`)
	for i := len(f.entries) - 1; i >= 0; i-- {
		e := &f.entries[i]
		at := e.Published.Format(time.RFC3339)
		fmt.Fprintf(w, `<entry><id>%s</id><published>%s</published><updated>%s</updated><link href="%s"/><title>`, e.ID, at, at, e.Link)
		xml.EscapeText(w, []byte(e.Title))
		fmt.Fprintf(w, `</title><summary>%s</summary></entry>`, e.Summary)
	}
	fmt.Fprint(w, `</feed>`)
}

// A besieged node is one that strangers attack.
type besieged struct {
	*testNode
	config Config
	polled chan node.Polled
}

// besiege starts a node at a public address that follows the feed, and waits until it has read it.
func besiege(t *testing.T, f *publicFeed) *besieged {
	t.Helper()
	b := &besieged{polled: make(chan node.Polled, 100_000)}
	b.config = Config{
		Data: t.TempDir(), Listen: "20.1.0.1:7790", Reader: "127.0.0.1:0", Subscribe: []feed.URL{f.url},
		Node: node.Config{Policy: polling.Fixed{Every: time.Second}},
		Observe: func(_ time.Time, note node.Note) {
			if p, ok := note.(node.Polled); ok {
				b.polled <- p
			}
		},
	}
	b.start(t)
	b.waitPoll()
	return b
}

func (b *besieged) start(t *testing.T) { b.testNode = startNodeAt(t, b.config) }

// restart ends the node and starts it anew.
func (b *besieged) restart() {
	b.t.Helper()
	if err := b.stop(); err != nil {
		b.t.Fatal(err)
	}
	b.start(b.t.(*testing.T))
}

// waitPoll waits until a poll that began after now has ended.
func (b *besieged) waitPoll() {
	b.t.Helper()
	for len(b.polled) > 0 {
		<-b.polled
	}
	for range 2 { // the first may have begun before
		select {
		case p := <-b.polled:
			if p.Problem != "" {
				b.t.Fatal(p.Problem)
			}
		case <-b.t.Context().Done():
			b.t.Fatal("it does not poll")
		}
	}
}

// shown is the entry as the node shows it, and whether it says that it is confirmed.
func (b *besieged) shown(e feed.Entry) (feed.Entry, bool) {
	b.t.Helper()
	found, err := b.client.Search(b.t.Context(), feed.Filter{IDs: []feed.EntryID{e.EntryID()}})
	if err != nil || len(found) != 1 {
		b.t.Fatalf("%d entries are %s, %v", len(found), e.ID, err)
	}
	return found[0].Entry, found[0].Confirmed
}

// wantGenuine fails the test where the entry is not shown as its publisher has it.
func (b *besieged) wantGenuine(what string, e feed.Entry) {
	b.t.Helper()
	if got, confirmed := b.shown(e); !got.Equal(&e) || !confirmed {
		b.t.Errorf("%s: it is shown as %+v, confirmed %v", what, got, confirmed)
	}
}

// altered is another version of an entry that looks like a revision of its publisher.
func altered(e feed.Entry, updated time.Time) feed.Entry {
	e.Title, e.Link, e.Summary = "Altered", "http://evil.example/", "altered"
	e.Updated = updated
	return e
}

// earns has a stranger bring what the publisher publishes before the node polls it, once its own poll has shown it.
func (b *besieged) earns(f *publicFeed, s *stranger, id string) feed.Entry {
	b.t.Helper()
	e := f.publish(id)
	s.put(f.url, nil, e)
	b.waitPoll()
	b.wantGenuine("what a stranger brought and the publisher has", e)
	return e
}

// Strangers who agree on everything bring another version of what the node polled itself: two of one network, ten of it
// one after the other, and ten of as many networks, who all brought true entries before. Whatever they say of its date, it
// is never shown, however long the entry is gone from its publisher's document, and whether the node was started anew.
func TestStrangersCannotChangeAPolledEntry(t *testing.T) {
	inPublic(t, func(t *testing.T) {
		f := publishFeed(t, "20.2.0.1", "first", "second")
		b := besiege(t, f)
		gone, listed := f.entries[0], f.entries[1]
		dates := func() map[string]time.Time {
			now := time.Now().UTC().Truncate(time.Second)
			return map[string]time.Time{
				"five seconds ago": now.Add(-5 * time.Second), "none": {}, "in a while": now.Add(50 * time.Minute),
				"in years": now.AddDate(20, 0, 0), "long ago": now.AddDate(-1, 0, 0), "the same": listed.Updated,
			}
		}
		attack := func(who string, network func(i int) string, count int, earn bool) {
			for i := range count {
				s := newStranger(t, network(i), b.at.Listen)
				s.connect(f.url)
				if earn {
					b.earns(f, s, fmt.Sprint(who, " ", i))
				}
				for name, updated := range dates() {
					for _, e := range []feed.Entry{gone, listed} {
						s.put(f.url, nil, altered(e, updated))
						b.wantGenuine(fmt.Sprintf("%s, the %dth, updated %s", who, i, name), e)
						s.put(f.url, []protocol.NodeID{newID(addressed(200+i, 9))}, altered(e, updated))
						b.wantGenuine(fmt.Sprintf("%s, the %dth, as a relay, updated %s", who, i, name), e)
					}
				}
				s.leave()
			}
			for range 3 {
				b.waitPoll()
			}
			b.wantGenuine(who+", after three polls", listed)
			b.wantGenuine(who+", after three polls", gone)
		}
		attack("two of one network", func(i int) string { return addressed(1, 1+i) }, 2, false)
		attack("two of two networks", func(i int) string { return addressed(2+i, 1) }, 2, false)
		f.drop()
		f.publish("third")
		b.waitPoll()
		attack("ten of one network, the entry being gone", func(i int) string { return addressed(1, 11+i) }, 10, false)
		b.restart()
		attack("ten of ten networks, after a restart", func(i int) string { return addressed(11+i, 1) }, 10, true)
	})
}

// newID is the node at an address.
func newID(ip string) protocol.NodeID {
	id, err := protocol.ParseNodeID(ip + ":7790")
	if err != nil {
		panic(err)
	}
	return id
}
