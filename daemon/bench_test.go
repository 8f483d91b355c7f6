package daemon

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/transport"
)

// Benchmarks of a whole node over loopback HTTP. Figures that are compared are taken in turn within one
// run, so that a machine that is busy slows both; docs/PERFORMANCE.md has the results.

// A benchNode is a node with one neighbor, in whose name requests are made.
type benchNode struct {
	feed    feed.URL // that it follows
	url     string
	nid     uint16
	session string
}

// startBenchNode runs a node and links a neighbor that wants nothing with it.
func startBenchNode(b *testing.B) *benchNode {
	b.Helper()
	return startBenchNodeFor(b, nil)
}

// startBenchNodeFor is startBenchNode where the neighbor proves a key, nil for none.
func startBenchNodeFor(b *testing.B, key ed25519.PrivateKey) *benchNode {
	b.Helper()
	publisher := httptest.NewServer(http.NotFoundHandler())
	b.Cleanup(publisher.Close)
	follows := feed.URL(publisher.URL + "/feed")
	ready, polled := make(chan Addresses, 1), make(chan struct{})
	var once sync.Once
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			Data: b.TempDir(), Open: ondisk.Open, Listen: "127.0.0.1:0", Reader: "127.0.0.1:0",
			Subscribe: []feed.URL{follows},
			Node: node.Config{AllowLocal: true, Incentive: incentive.Config{TrustLocal: true},
				Policy: polling.Fixed{Every: time.Hour}},
			Ready: func(a Addresses) { ready <- a },
			Observe: func(_ time.Time, note node.Note) {
				if _, ok := note.(node.Polled); ok {
					once.Do(func() { close(polled) })
				}
			},
		})
	}()
	b.Cleanup(func() { cancel(); <-ended })
	at := <-ready

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	n := &benchNode{feed: follows, url: "http://" + at.Listen + transport.Path, nid: portOf(ln),
		session: "the neighbor's"}
	srv := &http.Server{Handler: transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(_ context.Context, r transport.Request) transport.Response {
			switch c := r.Call.(type) {
			case protocol.Vouch:
				if key != nil {
					return transport.Response{Reply: protocol.ProveKey(key, protocol.ProvesLink, c.Key, c.Challenge,
						protocol.NewNodeID(r.From.Addr(), n.nid))}
				}
				return transport.Response{Reply: protocol.Vouched(true)}
			case protocol.CheckDID:
				return transport.Response{Reply: protocol.Seen(true)}
			case protocol.WhoAmI:
				return transport.Response{Reply: r.From}
			case protocol.StateAccount:
				return transport.Response{Reply: protocol.Statement{Bound: -1}}
			}
			return transport.Response{Reply: protocol.OK{}}
		},
	})}
	go srv.Serve(ln)
	b.Cleanup(func() { srv.Close() })
	client := transport.NewClient(transport.ClientConfig{Port: n.nid, AllowLocal: true})
	b.Cleanup(client.CloseIdle)
	subset := protocol.Subset{{Feed: follows}}
	<-polled // before that the node has nothing to offer, and declines
	connect := protocol.Connect{Subset: subset}
	if key != nil {
		connect.Key, connect.Challenge = protocol.NodeKeyOf(key), protocol.ChallengeOf([32]byte{1})
	}
	r, err := client.Call(b.Context(), at.Listen, n.session, connect)
	if theirs, _ := r.Reply.(protocol.Subset); err != nil || len(theirs) == 0 {
		b.Fatalf("connect was answered %v, %v", r.Reply, err)
	}
	return n
}

// A load makes requests over a fixed number of connections.
type load struct {
	client  http.Client
	url     string
	session string
	conns   int
}

func newLoad(b *testing.B, url, session string, conns int) *load {
	t := &http.Transport{MaxIdleConnsPerHost: conns, MaxConnsPerHost: conns}
	b.Cleanup(t.CloseIdleConnections)
	return &load{client: http.Client{Transport: t}, url: url, session: session, conns: conns}
}

// run makes n requests, the bodies by number, and returns how long that took.
func (l *load) run(b *testing.B, n int, body func(i int) []byte) time.Duration {
	var workers sync.WaitGroup
	begun := time.Now()
	for w := range l.conns {
		workers.Go(func() {
			for i := w; i < n; i += l.conns {
				if err := l.post(body(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return time.Since(begun)
}

func (l *load) post(body []byte) error {
	req, err := http.NewRequest("POST", l.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "text/xml")
	req.Header.Set(transport.SessionHeader, l.session)
	resp, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != 200 || bytes.Contains(answer, []byte("<fault>")) {
		return fmt.Errorf("answered %s: %s", resp.Status, answer)
	}
	return nil
}

// emptyServer reads the body and answers with nothing.
func emptyServer(b *testing.B) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		io.Copy(io.Discard, r.Body)
	})}
	go srv.Serve(ln)
	b.Cleanup(func() { srv.Close() })
	return "http://" + ln.Addr().String() + transport.Path
}

// BenchmarkCheckDID compares check_did with an empty net/http handler that reads the same body.
func BenchmarkCheckDID(b *testing.B) {
	for _, conns := range []int{8, 64} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			n := startBenchNode(b)
			stored := n.bundle(0)
			if err := newLoad(b, n.url, n.session,
				1).post(protocol.EncodeCall(nil, n.nid, protocol.PutEntries{Bundle: stored})); err != nil {
				b.Fatal(err)
			}
			body := protocol.EncodeCall(nil, n.nid, protocol.CheckDID{DID: stored.DID})
			same := func(int) []byte { return body }
			ours := newLoad(b, n.url, n.session, conns)
			empty := newLoad(b, emptyServer(b), n.session, conns)
			const round = 4000
			var oursTook, emptyTook time.Duration
			for b.Loop() {
				emptyTook += empty.run(b, round, same)
				oursTook += ours.run(b, round, same)
			}
			total := float64(b.N * round)
			b.ReportMetric(total/oursTook.Seconds(), "checks/s")
			b.ReportMetric(total/emptyTook.Seconds(), "empty/s")
			b.ReportMetric(100*emptyTook.Seconds()/oursTook.Seconds(), "%of-empty")
		})
	}
}

// BenchmarkCheckDIDWithKey compares check_did of a neighbor that proved a key with that of one that has none.
func BenchmarkCheckDIDWithKey(b *testing.B) {
	var loads []*load
	var bodies [][]byte
	for _, key := range []ed25519.PrivateKey{nil, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))} {
		n := startBenchNodeFor(b, key)
		stored := n.bundle(0)
		if err := newLoad(b, n.url, n.session,
			1).post(protocol.EncodeCall(nil, n.nid, protocol.PutEntries{Bundle: stored})); err != nil {
			b.Fatal(err)
		}
		loads = append(loads, newLoad(b, n.url, n.session, 8))
		bodies = append(bodies, protocol.EncodeCall(nil, n.nid, protocol.CheckDID{DID: stored.DID}))
	}
	const round = 4000
	var took [2]time.Duration
	for b.Loop() {
		for i := range took {
			took[i] += loads[i].run(b, round, func(int) []byte { return bodies[i] })
		}
	}
	b.ReportMetric(100*took[0].Seconds()/took[1].Seconds(), "%of-without")
}

// BenchmarkCheckDIDs offers 64 bundles at once.
func BenchmarkCheckDIDs(b *testing.B) {
	n := startBenchNode(b)
	var dids []protocol.DID
	for i := range protocol.MaxDIDs {
		bundle := n.bundle(i)
		dids = append(dids, bundle.DID)
		if err := newLoad(b, n.url, n.session,
			1).post(protocol.EncodeCall(nil, n.nid, protocol.PutEntries{Bundle: bundle})); err != nil {
			b.Fatal(err)
		}
	}
	body := protocol.EncodeCall(nil, n.nid, protocol.CheckDIDs{DIDs: dids})
	l := newLoad(b, n.url, n.session, 8)
	const round = 1000
	var took time.Duration
	for b.Loop() {
		took += l.run(b, round, func(int) []byte { return body })
	}
	b.ReportMetric(float64(b.N*round*protocol.MaxDIDs)/took.Seconds(), "ids/s")
}

// BenchmarkPutEntries delivers bundles of three entries of 600 bytes, each durable before it is answered.
// Beside it stands how often the disk itself can sync.
func BenchmarkPutEntries(b *testing.B) {
	for _, conns := range []int{1, 8} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) {
			n := startBenchNode(b)
			l := newLoad(b, n.url, n.session, conns)
			const round = 2000
			count := 0
			var took time.Duration
			for b.Loop() {
				bodies := make([][]byte, round)
				for i := range bodies {
					bodies[i] = protocol.EncodeCall(nil, n.nid, protocol.PutEntries{Bundle: n.bundle(count)})
					count++
				}
				took += l.run(b, round, func(i int) []byte { return bodies[i] })
			}
			b.ReportMetric(float64(b.N*round)/took.Seconds(), "bundles/s")
			b.ReportMetric(syncsPerSecond(b), "syncs/s")
		})
	}
}

// bundle is the i-th bundle: three entries with a summary of 600 bytes each.
func (n *benchNode) bundle(i int) *protocol.Bundle {
	var entries []feed.Entry
	for j := range 3 {
		entries = append(entries, feed.Entry{
			Feed: n.feed, ID: fmt.Sprintf("urn:bench:%d:%d", i, j), Title: fmt.Sprintf("Entry %d of bundle %d", j, i),
			Link: fmt.Sprintf("http://127.0.0.1:9/%d/%d", i, j), Published: time.Unix(1790000000+int64(i), 0).UTC(),
			Summary: benchText(uint64(3*i+j), 600),
		})
	}
	return protocol.NewBundle(n.feed, entries)
}

// benchText is text of about n bytes whose words are as unequally common as those of a language.
func benchText(seed uint64, n int) string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(seed, 7)), 1.1, 4, 60_000)
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "w%x ", zipf.Uint64())
	}
	return b.String()
}

// syncsPerSecond is how often a small write can be made durable on this disk, one after the other.
func syncsPerSecond(b *testing.B) float64 {
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	begun := time.Now()
	const syncs = 300
	for range syncs {
		_, err := f.Write(page)
		if err = errors.Join(err, f.Sync()); err != nil {
			b.Fatal(err)
		}
	}
	return syncs / time.Since(begun).Seconds()
}
