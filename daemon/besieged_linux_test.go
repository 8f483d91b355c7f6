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

// A publicFeed is a feed at a public address, with what the test says in it.
type publicFeed struct {
	url     feed.URL
	mu      sync.Mutex
	entries []feed.Entry
	at      time.Time // of the latest that was written
	asked   int
	once    bool // it is answered once, and refused from then on
}

// publishFeed serves a feed at the address until the test ends.
func publishFeed(t *testing.T, ip string, ids ...string) *publicFeed {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(ip, "8080"))
	if err != nil {
		t.Fatal(err)
	}
	f := &publicFeed{url: feed.URL("http://" + ln.Addr().String() + "/feed"),
		at: time.Now().UTC().Truncate(time.Second).Add(-2 * time.Hour)}
	for _, id := range ids {
		f.publish(f.written(id))
	}
	srv := &http.Server{Handler: f}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return f
}

// written is an entry that nobody has published.
func (f *publicFeed) written(id string) feed.Entry {
	f.at = f.at.Add(7 * time.Second) // what has one date for all has none, as nodes see it
	return feed.Entry{
		Feed: f.url, ID: "urn:" + id, Title: "Title of " + id, Link: "http://example.com/" + id, Published: f.at,
		Updated: f.at,
		Summary: "genuine",
	}
}

// publish adds entries.
func (f *publicFeed) publish(entries ...feed.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = append(f.entries, entries...)
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
	if f.asked++; f.once && f.asked > 1 {
		http.Error(w, "not for you", http.StatusForbidden)
		return
	}
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
		fmt.Fprintf(w, `<entry><id>%s</id><published>%s</published><updated>%s</updated><link href="%s"/><title>`, e.ID,
			at, at, e.Link)
		xml.EscapeText(w, []byte(e.Title))
		fmt.Fprintf(w, `</title><summary>%s</summary></entry>`, e.Summary)
	}
	fmt.Fprint(w, `</feed>`)
}

// A besieged node is one that strangers attack.
type besieged struct {
	*testNode
	config Config
	polled map[feed.URL]chan node.Polled
}

// besiege starts a node at a public address that follows feeds, and waits until it has read them.
func besiege(t *testing.T, feeds ...*publicFeed) *besieged {
	t.Helper()
	b := &besieged{polled: make(map[feed.URL]chan node.Polled)}
	b.config = Config{
		Data: t.TempDir(), Listen: "20.1.0.1:7790", Reader: "127.0.0.1:0",
		Node: node.Config{Policy: polling.Fixed{Every: time.Second}},
		Observe: func(_ time.Time, note node.Note) {
			if p, ok := note.(node.Polled); ok {
				b.polled[p.Feed] <- p
			}
		},
	}
	for _, f := range feeds {
		b.config.Subscribe = append(b.config.Subscribe, f.url)
		b.polled[f.url] = make(chan node.Polled, 10_000)
	}
	b.start(t)
	for _, f := range feeds {
		b.waitPoll(f)
	}
	return b
}

func (b *besieged) start(t *testing.T) { b.testNode = startNodeAt(t, b.config) }

// restart ends the node and starts it anew.
func (b *besieged) restart(t *testing.T) {
	t.Helper()
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	b.start(t)
}

// waitPoll waits until the next poll of a feed has ended, after those that the test has seen.
func (b *besieged) waitPoll(f *publicFeed) {
	b.t.Helper()
	select {
	case p := <-b.polled[f.url]:
		if p.Problem != "" {
			b.t.Fatal(p.Problem)
		}
	case <-b.t.Context().Done():
		b.t.Fatal("it does not poll")
	}
}

// waitWhole waits until a poll of each feed has ended that began after now.
func (b *besieged) waitWhole(feeds ...*publicFeed) {
	b.t.Helper()
	for _, f := range feeds {
		for len(b.polled[f.url]) > 0 {
			<-b.polled[f.url]
		}
	}
	for range 2 { // the first may have begun before
		for _, f := range feeds {
			b.waitPoll(f)
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
		b.t.Fatalf("%s: it is shown as %+v, confirmed %v", what, got, confirmed)
	}
}

// altered is another version of an entry that looks like a revision of its publisher.
func altered(e feed.Entry, updated time.Time) feed.Entry {
	e.Title, e.Link, e.Summary = "Altered", "http://evil.example/", "altered"
	e.Updated = updated
	return e
}

// newID is the node at an address.
func newID(ip string) protocol.NodeID {
	id, err := protocol.ParseNodeID(ip + ":7790")
	if err != nil {
		panic(err)
	}
	return id
}

// hear has each stranger bring some entries of a feed of its own before the node finds them with its publisher. Then
// they are witnesses, and have some credit. They are not linked with it before or after that.
func (b *besieged) hear(feeds []*publicFeed, strangers ...*stranger) {
	b.t.Helper()
	var brought []feed.Entry
	for i, s := range strangers {
		s.connect(feeds[i].url)
		for n := range 5 { // no more earn in a day
			e := feeds[i].written(fmt.Sprint("brought-", i, "-", n))
			s.put(feeds[i].url, nil, e)
			brought = append(brought, e)
		}
		s.leave()
		feeds[i].publish(brought[len(brought)-5:]...)
	}
	b.waitWhole(feeds[:len(strangers)]...)
	for _, e := range brought {
		b.wantGenuine("what a stranger brought and the publisher has", e)
	}
}

// publishFeeds serves feeds of one entry, each from an address of its own.
func publishFeeds(t *testing.T, n int) (feeds []*publicFeed) {
	t.Helper()
	for i := range n {
		feeds = append(feeds, publishFeed(t, fmt.Sprint("20.2.1.", 1+i), "old"))
	}
	return feeds
}
