package daemon

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/datadir"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/reading"
	"feedex/tracker/trackerhost"
)

// A server of net/http lingers on a connection that it closes before it has read all.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const exampleFeed = feed.URL("http://example.com/feed")

// following is the wish to follow a feed.
func following(u feed.URL) node.Subscribe { return node.Subscribe{Feeds: []feed.URL{u}} }

// A testNode is a node that runs in this process.
type testNode struct {
	t       testing.TB
	data    string
	at      Addresses
	client  *control.Client
	arrived chan node.Arrived
	stop    func() error // ends it and returns how it ended
}

// password makes a password of that name, of the owner where person is "".
func (n *testNode) password(name, person string, scope reading.Scope) string {
	n.t.Helper()
	p := control.PasswordRequest{Name: name, Person: person, Scope: scope}
	secret, err := n.client.AddPassword(n.t.Context(), p)
	if err != nil {
		n.t.Fatal(err)
	}
	return secret
}

// startNode runs a node on loopback until the test ends.
func startNode(t testing.TB, c Config) *testNode {
	t.Helper()
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	c.Reader = "127.0.0.1:0"
	c.Node.AllowLocal = true
	c.Node.Incentive.TrustLocal = c.Node.Incentive.Gifts >= 0 // or a node without gifts would give to local ones
	return startNodeAt(t, c)
}

// startNodeAt runs a node until the test ends.
func startNodeAt(t testing.TB, c Config) *testNode {
	t.Helper()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	if c.Node.Policy == nil {
		c.Node.Policy = polling.Fixed{Every: time.Hour}
	}
	c.Open = ondisk.Open
	n := &testNode{t: t, data: c.Data, arrived: make(chan node.Arrived, 1000)}
	observe := c.Observe
	c.Observe = func(now time.Time, note node.Note) {
		if observe != nil {
			observe(now, note)
		}
		if a, ok := note.(node.Arrived); ok {
			n.arrived <- a
		}
	}
	ready := make(chan Addresses, 1)
	c.Ready = func(a Addresses) { ready <- a }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c) }()
	n.stop = sync.OnceValue(func() error {
		cancel()
		if n.client != nil {
			n.client.Close()
		}
		return <-ended
	})
	t.Cleanup(func() {
		if err := n.stop(); err != nil {
			t.Errorf("node ended: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	select {
	case n.at = <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("node did not start: %v", err)
	}
	var err error
	if n.client, err = control.Dial(c.Data); err != nil {
		t.Fatal(err)
	}
	return n
}

// patience is how long tests wait for what must happen. It only bounds a failing test.
const patience = 10 * time.Minute

// breathe leaves the processors to the nodes between two looks at them.
func breathe() { <-time.After(5 * time.Millisecond) }

// waitArrival waits until entries of the feed arrive.
func (n *testNode) waitArrival(u feed.URL) node.Arrived {
	n.t.Helper()
	for {
		select {
		case a := <-n.arrived:
			if a.Feed == u {
				return a
			}
		case <-n.t.Context().Done():
			n.t.Fatal("nothing arrived")
		}
	}
}

// A testFeed is a feed server whose feed grows when the test says so.
type testFeed struct {
	url     feed.URL
	mu      sync.Mutex
	titles  []string
	updated time.Time // all entries
	allowed func(*http.Request) bool
}

func startFeed(t testing.TB, titles ...string) *testFeed {
	t.Helper()
	f := &testFeed{titles: titles, updated: time.Now()} // what is older the first poll keeps to itself
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	u, err := feed.ParseURL(srv.URL + "/feed.xml")
	if err != nil {
		t.Fatal(err)
	}
	f.url = u
	return f
}

func (f *testFeed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.allowed != nil && !f.allowed(r) {
		http.Error(w, "not for you", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/atom+xml")
	fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Test</title><id>urn:test</id>`)
	for i, title := range f.titles {
		fmt.Fprintf(w, `<entry><id>urn:test:%d</id><updated>%s</updated><title>`, i,
			f.updated.UTC().Format(time.RFC3339))
		xml.EscapeText(w, []byte(title))
		fmt.Fprint(w, `</title><summary>Some text</summary></entry>`)
	}
	fmt.Fprint(w, `</feed>`)
}

// only lets the first n programs that ask have the feed, later requests of theirs apart.
func (f *testFeed) onlyOnce(n int) {
	f.allowed = func(*http.Request) bool { n--; return n >= 0 }
}

// startTracker runs a tracker on loopback until the test ends, and returns its URL.
func startTracker(t *testing.T) (url string) {
	t.Helper()
	ready, data := make(chan string, 1), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- trackerhost.Run(ctx, trackerhost.Config{Data: data, Listen: "127.0.0.1:0", AllowLocal: true,
			Ready: func(a string) { ready <- a }})
	}()
	select {
	case address := <-ready:
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("tracker ended: %v", err)
			}
			http.DefaultClient.CloseIdleConnections()
		})
		return "http://" + address + "/"
	case err := <-ended:
		cancel()
		t.Fatalf("tracker did not start: %v", err)
	}
	return ""
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	return statusOf(t, resp, err)
}

// statusOf is the status of an answer, and its text.
func statusOf(t *testing.T, resp *http.Response, err error) (status int, text string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// Three nodes and a tracker: a feed that only one of them can reach is read by all.
func TestNodesExchangeWhatOnlyOneCanReach(t *testing.T) {
	tracker := startTracker(t)
	f := startFeed(t, "First", "Second <b>bold</b> & more")
	f.onlyOnce(1)
	var nodes []*testNode
	for range 3 {
		nodes = append(nodes, startNode(t,
			Config{Subscribe: []feed.URL{f.url}, Node: node.Config{Trackers: []string{tracker}}}))
	}
	bySomebodyElse := 0
	for _, n := range nodes {
		a := n.waitArrival(f.url)
		if len(a.Records) != 2 {
			t.Errorf("%d entries arrived, want 2", len(a.Records))
		}
		if !a.Source.IsZero() {
			bySomebodyElse++
		}
		found, err := n.client.Search(t.Context(), feed.Filter{Words: []string{"second"}})
		if err != nil || len(found) != 1 || found[0].Entry.Title != "Second <b>bold</b> & more" {
			t.Errorf("search found %+v, %v", found, err)
		}
		status, atom := get(t, "http://"+n.at.Reader+"/feed/"+string(f.url))
		if status != 200 || !strings.Contains(atom, "First") {
			t.Errorf("the reader's feed is answered %d\n%s", status, atom)
		}
	}
	if bySomebodyElse != 2 {
		t.Errorf("%d nodes got the entries from a neighbor, want 2", bySomebodyElse)
	}
}

func TestEverythingSurvivesARestart(t *testing.T) {
	f := startFeed(t, "First")
	a := startNode(t, Config{})
	data := t.TempDir()
	b := startNode(t, Config{Data: data, Node: node.Config{Peers: []string{a.at.Listen}}, Subscribe: []feed.URL{f.url}})
	if err := a.client.Subscribe(t.Context(), following(f.url)); err != nil {
		t.Fatal(err)
	}
	b.waitArrival(f.url)
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Dial(data); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("a node that ended is reached: %v", err)
	}
	again := startNode(t, Config{Data: data})
	feeds, err := again.client.Feeds(t.Context())
	if err != nil || len(feeds) != 1 || feeds[0].URL != f.url || feeds[0].NextPoll.Before(time.Now()) {
		t.Errorf("after a restart the node follows %+v, %v", feeds, err)
	}
	found, err := again.client.Search(t.Context(), feed.Filter{})
	if err != nil || len(found) != 1 {
		t.Errorf("after a restart %d entries are found, %v", len(found), err)
	}
	report, err := again.client.Status(t.Context())
	if err != nil || report.Archive.Entries != 1 || report.Feeds != 1 || report.Version != Version {
		t.Errorf("after a restart the status is %+v, %v", report, err)
	}
}

func TestOneNodeToADirectory(t *testing.T) {
	n := startNode(t, Config{})
	err := Run(t.Context(), Config{Data: n.data, Open: ondisk.Open, Listen: "127.0.0.1:0", Reader: "127.0.0.1:0"})
	if !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("a second node on one data directory: %v", err)
	}
}

func TestAddressesInUseAreNamed(t *testing.T) {
	n := startNode(t, Config{})
	for _, c := range []struct {
		flag           string
		listen, reader string
	}{
		{"--listen", n.at.Listen, "127.0.0.1:0"},
		{"--reader", "127.0.0.1:0", n.at.Reader},
	} {
		err := Run(t.Context(), Config{Data: t.TempDir(), Open: ondisk.Open, Listen: c.listen, Reader: c.reader})
		if err == nil || !strings.Contains(err.Error(), c.flag) {
			t.Errorf("a port in use: %v; want a word about %s", err, c.flag)
		}
	}
}

func TestUnsubscribingStops(t *testing.T) {
	f := startFeed(t, "First")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
	n.waitArrival(f.url)
	if err := n.client.Unsubscribe(t.Context(), f.url); err != nil {
		t.Fatal(err)
	}
	feeds, err := n.client.Feeds(t.Context())
	if err != nil || len(feeds) != 0 {
		t.Errorf("still follows %+v, %v", feeds, err)
	}
}

// A feed of a host that the owner calls private is read where no other would be, and stays here.
func TestPrivateHosts(t *testing.T) {
	f := startFeed(t, "First")
	n := startNode(t, Config{Subscribe: []feed.URL{f.url}, Node: node.Config{PrivateHosts: []string{f.url.Host()}}})
	n.waitArrival(f.url)
	feeds, err := n.client.Feeds(t.Context())
	if err != nil || len(feeds) != 1 || !feeds[0].Private {
		t.Errorf("the node follows %+v, %v; want a private feed", feeds, err)
	}
}

// A node that leaves waits until the last of its neighbors has heard of it, but not for long.
func TestLeave(t *testing.T) {
	for _, tt := range []struct {
		name      string
		neighbors int
		hear      time.Duration // until a neighbor has heard, for the second twice as long and so on
		full      bool
		want      time.Duration
		told      int32
	}{
		{"alone", 0, 0, false, 0, 0},
		{"neighbors that listen", 3, 100 * time.Millisecond, false, 300 * time.Millisecond, 3},
		{"a neighbor that does not", 3, 400 * time.Millisecond, false, leaveTime, 2},
		{"nothing can be stored", 3, 100 * time.Millisecond, true, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var goodbyes, told atomic.Int32
			listen := func(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error) {
				if !isGoodbye(call) {
					return friendly(ctx, addr, call)
				}
				select {
				case <-time.After(time.Duration(goodbyes.Add(1)) * tt.hear):
					told.Add(1)
					return protocol.OK{}, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			runLoop(t, listen, func(t *testing.T, l *testLoop) {
				l.follow()
				l.link(tt.neighbors)
				if tt.full {
					l.disk.set(diskState{commit: errors.New("disk is full")})
				}
				begun := time.Now()
				l.leave(t.Context())
				if took := time.Since(begun); took != tt.want || told.Load() != tt.told {
					t.Errorf("left after %v, %d neighbors had heard; want %v, %d", took, told.Load(), tt.want, tt.told)
				}
			})
		})
	}
}
