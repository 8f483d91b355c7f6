package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/internal/sleep"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/transport"
)

const (
	// floodEnv tells a child process of the benchmark where to run a node, and which feed it follows.
	floodEnv = "FEEDEX_BENCH_FLOOD"
	// floodLasts is for how long the neighbors of BenchmarkFlood flood the node, before it is killed.
	floodLasts = 40 * time.Second
	// floodRate is how many bytes a minute one of them sends: as many as are read.
	floodRate = 64 << 20
)

// BenchmarkFlood has neighbors flood a node in a process of its own with large entries of a busy feed that it follows,
// each from a network of its own and as fast as the node reads. It measures how long an honest neighbor waits for
// answers meanwhile, and by how much the archive grows. At last the node is killed without a warning, and everything
// must be there that it acknowledged to the honest one. TMPDIR is best on a disk without syncs, /dev/shm: those are the
// disk's matter.
func BenchmarkFlood(b *testing.B) {
	for _, flooders := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("flooders=%d", flooders), func(b *testing.B) {
			for b.Loop() {
				flood(b, flooders)
			}
		})
	}
}

func flood(b *testing.B, flooders int) {
	data := b.TempDir()
	u := publishBusyFeed(b)
	at, kill := startFlooded(b, data, "127.10.0.1:0", u)
	before := sizeOf(b, data)

	ctx, cancel := context.WithTimeout(b.Context(), floodLasts)
	defer cancel()
	var sent, stored, refused atomic.Int64
	var running sync.WaitGroup
	for i := range flooders {
		p := newFloodPeer(b, fmt.Sprintf("127.%d.0.1", 30+i), at, u)
		running.Go(func() { p.flood(ctx, uint64(i), &sent, &stored, &refused) })
	}
	honest := newFloodPeer(b, "127.20.0.1", at, u)
	var checks, puts []time.Duration
	var acknowledged []feed.EntryID
	for i := 0; ctx.Err() == nil; i++ {
		e := feed.Entry{Feed: u, ID: fmt.Sprint("urn:honest:", i), Title: "honest",
			Published: time.Now().Truncate(time.Second).UTC(), Summary: "some words of an honest neighbor"}
		bundle := protocol.NewBundle(u, []feed.Entry{e})
		bundle.Path = []protocol.NodeID{peerID(3)}
		for _, call := range []protocol.Call{
			protocol.CheckDID{DID: bundle.DID, Feed: u}, protocol.PutEntries{Bundle: bundle},
			protocol.CheckDID{DID: bundle.DID, Feed: u},
		} {
			begun := time.Now()
			if _, err := honest.call(call); err != nil {
				b.Fatalf("%s is answered with %v", call.Method(), err)
			}
			if took := time.Since(begun); call.Method() == (protocol.PutEntries{}).Method() {
				puts = append(puts, took)
			} else {
				checks = append(checks, took)
			}
		}
		acknowledged = append(acknowledged, e.EntryID())
		_ = sleep.For(ctx, 310*time.Millisecond) // 600 calls a minute are answered
	}
	kill() // in the middle of what the flooders send
	running.Wait()
	_, kill = startFlooded(b, data, at, u)
	client, err := control.Dial(data)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	for ids := range slices.Chunk(acknowledged, 50) {
		if found, err := client.Search(b.Context(), feed.Filter{IDs: ids}); err != nil || len(found) != len(ids) {
			b.Fatalf("of %d entries that were acknowledged %d are there, %v", len(ids), len(found), err)
		}
	}
	kill()
	if err := foldLog(data); err != nil {
		b.Fatal(err)
	}
	grown := sizeOf(b, data) - before
	slices.Sort(checks)
	slices.Sort(puts)
	for what, list := range map[string][]time.Duration{"check": checks, "put": puts} {
		b.ReportMetric(list[len(list)*99/100].Seconds()*1000, "ms/"+what+"-p99")
		b.ReportMetric(list[len(list)-1].Seconds()*1000, "ms/"+what+"-max")
	}
	b.ReportMetric(float64(len(acknowledged)), "acknowledged")
	b.ReportMetric(float64(sent.Load())/1e6, "MB-sent")
	b.ReportMetric(float64(grown)/1e6, "MB-grown")
	b.Logf("of %d flooders %d bundles were stored and %d refused", flooders, stored.Load(), refused.Load())
}

// publishBusyFeed serves a feed of a thousand entries a day.
func publishBusyFeed(b *testing.B) feed.URL {
	now := time.Now().UTC()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/atom+xml")
		fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Test</title><id>urn:test</id>`)
		for i := range 1000 {
			at := now.Add(-time.Duration(i) * 86 * time.Second).Format(time.RFC3339)
			fmt.Fprintf(w, `<entry><id>urn:test:%d</id><updated>%s</updated><title>Genuine %d</title><summary>Some `+
				`text</summary></entry>`, i, at, i)
		}
		fmt.Fprint(w, `</feed>`)
	}))
	b.Cleanup(srv.Close)
	return feed.URL(srv.URL + "/feed")
}

// startFlooded starts a node in a process of its own, which has read its feed once it returns, and what kills it.
func startFlooded(b *testing.B, data, listen string, u feed.URL) (at string, kill func()) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFloodChild$")
	cmd.Env = append(os.Environ(), strings.Join([]string{floodEnv + "=" + data, listen, string(u)}, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	kill = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	b.Cleanup(kill)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), "flood: "); found {
			return text, kill
		}
	}
	b.Fatal("the node does not start")
	return "", nil
}

// TestFloodChild is the child process of BenchmarkFlood.
func TestFloodChild(t *testing.T) {
	args := strings.Fields(os.Getenv(floodEnv))
	if len(args) != 3 {
		t.Skip("runs only as a child process of BenchmarkFlood")
	}
	ready, polled := make(chan Addresses, 1), make(chan struct{})
	var once sync.Once
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Config{
			Data: args[0], Open: ondisk.Open, Listen: args[1], Reader: "127.0.0.1:0",
			Subscribe: []feed.URL{feed.URL(args[2])},
			Node:      node.Config{AllowLocal: true, Policy: polling.Fixed{Every: 24 * time.Hour}},
			Ready:     func(a Addresses) { ready <- a },
			Observe: func(_ time.Time, note node.Note) {
				if _, ok := note.(node.Polled); ok {
					once.Do(func() { close(polled) })
				}
			},
		})
	}()
	at := <-ready
	if strings.HasSuffix(args[1], ":0") { // else the feed is known from an earlier run
		<-polled
	}
	fmt.Println("flood:", at.Listen)
	t.Fatal(<-ended)
}

// sizeOf is how much room a node's files take, without the reserve, which is for a full disk.
func sizeOf(b *testing.B, data string) (bytes int64) {
	err := filepath.WalkDir(data, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "reserve" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

// foldLog brings the log that a killed node left into the archive, so that sizes can be compared.
func foldLog(data string) error {
	store, err := ondisk.Open(context.Background(), DatabasePath(data))
	if err != nil {
		return err
	}
	return store.Close()
}

// A floodPeer is a neighbor that says what the benchmark says, over HTTP, from an address of its own.
type floodPeer struct {
	nid    uint16
	node   string
	feed   feed.URL
	client *http.Client
}

// newFloodPeer links a neighbor with the node.
func newFloodPeer(b *testing.B, ip, at string, u feed.URL) *floodPeer {
	b.Helper()
	ln, err := net.Listen("tcp", ip+":0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(_ context.Context, r transport.Request) transport.Response {
			switch c := r.Call.(type) {
			case protocol.Vouch:
				return transport.Response{Reply: protocol.Vouched(true)}
			case protocol.CheckDID:
				return transport.Response{Reply: protocol.Seen(true)}
			case protocol.CheckDIDs:
				seen := make(protocol.SeenList, len(c.DIDs))
				for i := range seen {
					seen[i] = true
				}
				return transport.Response{Reply: seen}
			case protocol.WhoAmI:
				return transport.Response{Reply: r.From}
			case protocol.StateAccount:
				return transport.Response{Reply: protocol.Statement{Bound: -1}}
			}
			return transport.Response{Reply: protocol.OK{}}
		},
	})}
	go srv.Serve(ln)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	carrier := &http.Transport{DialContext: dialer.DialContext, MaxConnsPerHost: 2, MaxIdleConnsPerHost: 2}
	b.Cleanup(func() { carrier.CloseIdleConnections(); srv.Close() })
	p := &floodPeer{nid: portOf(ln), node: "http://" + at + transport.Path, feed: u,
		client: &http.Client{Transport: carrier}}
	if _, err := p.call(protocol.Connect{Subset: protocol.Subset{{Feed: u}}}); err != nil {
		b.Fatalf("%s is not taken for a neighbor: %v", ip, err)
	}
	return p
}

// call makes a call of the node.
func (p *floodPeer) call(c protocol.Call) (protocol.Reply, error) {
	return callByHand(context.Background(), p.client, p.node, "a session", p.nid, c)
}

// flood delivers bundles of all kinds of hostile text, by two connections, until ctx ends.
func (p *floodPeer) flood(ctx context.Context, seed uint64, sent, stored, refused *atomic.Int64) {
	begun := time.Now()
	var mine atomic.Int64
	var running sync.WaitGroup
	for k := range uint64(2) {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, k))
			for i := 0; ctx.Err() == nil; i++ {
				size := []struct{ entries, bytes int }{{3, 1 << 20}, {100, 30 << 10}, {100, 3000}}[i%3]
				kind := hostileKinds[i/3%len(hostileKinds)]
				if kind == "tags" {
					size.bytes /= 4 // it takes more on the wire
				}
				bundle := hostileBundle(r, p.feed, kind, size.entries, size.bytes)
				n := int64(bundle.WireBytes())
				due := begun.Add(time.Duration(float64(mine.Add(n)) / floodRate * float64(time.Minute)))
				sent.Add(n)
				if _, err := p.call(protocol.PutEntries{Bundle: bundle}); err == nil {
					stored.Add(1)
				} else {
					refused.Add(1)
				}
				if sleep.For(ctx, time.Until(due)) != nil {
					return
				}
			}
		})
	}
	running.Wait()
}
