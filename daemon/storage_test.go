package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/fetch"
	"feedex/grade"
	"feedex/internal/logtest"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/transport"
)

// A testPeer is a neighbor that the test plays.
type testPeer struct {
	t      *testing.T
	client *transport.Client
	node   string
}

// Who waits for an archive that takes long to open, as to be converted, hears of it.
func TestAnArchiveThatOpensForLong(t *testing.T) {
	for took, want := range map[time.Duration]int{longOpening - 1: 0, longOpening + 1: 1} {
		synctest.Test(t, func(t *testing.T) {
			log, said := logtest.Overhear()
			open := func(context.Context, string) (reading.Database, error) {
				time.Sleep(took)
				return nil, archive.ErrFull
			}
			_, err := openArchive(t.Context(), &Config{Data: t.TempDir(), Log: log, Open: open})
			if all := said.Count(); !errors.Is(err, archive.ErrFull) || len(all) != want {
				t.Errorf("after %v it ends with %v, and the log says %v", took, err, all)
			}
		})
	}
}

// A node that is to end while its archive is opened ends at once, and that is no failure.
func TestANodeThatEndsAsItOpens(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	err := Run(ctx, Config{Data: t.TempDir(), Listen: ListenNone, Reader: "127.0.0.1:0",
		Open: func(ctx context.Context, _ string) (reading.Database, error) {
			end()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}})
	if err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// startPeer makes a peer of n, which is friendly and a neighbor once it connects.
func startPeer(t *testing.T, n *testNode) *testPeer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(ctx context.Context, r transport.Request) transport.Response {
			reply, _ := friendly(ctx, "", r.Call)
			return transport.Response{Reply: reply}
		},
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-served })
	p := &testPeer{t: t, node: n.at.Listen,
		client: transport.NewClient(transport.ClientConfig{Port: portOf(ln), AllowLocal: true})}
	t.Cleanup(p.client.CloseIdle)
	return p
}

// call makes a call to the node and returns the code of the fault that is the answer, 0 for none.
func (p *testPeer) call(c protocol.Call) protocol.Code {
	p.t.Helper()
	_, err := p.client.Call(p.t.Context(), p.node, "the peer's", c)
	var refused *protocol.RemoteError
	if err != nil && !errors.As(err, &refused) {
		p.t.Fatal(err)
	}
	if refused == nil {
		return 0
	}
	return refused.Code
}

// An askedFor publisher counts what it is asked for, by requests that the node logs.
type askedFor struct{ atomic.Int32 }

func (p *askedFor) answer(of feed.URL) node.Fetched {
	p.Add(1)
	return node.Fetched{Feed: of, Status: http.StatusOK, Document: &feed.Document{Feed: of},
		Requests: []grade.Request{{At: time.Now(), Feed: string(of), URL: string(of), Status: http.StatusOK}}}
}

func (p *askedFor) Fetch(_ context.Context, f node.Fetch) node.Fetched { return p.answer(f.Feed) }
func (p *askedFor) Get(_ context.Context, w fetch.Want) fetch.Resource {
	return fetch.Resource{URL: w.URL, Type: "text/html", Body: []byte(article), Answer: p.answer(w.For)}
}

// What comes of a request could not be kept: publishers are asked for nothing more until it can be.
func TestNothingIsAskedForThatCannotBeKept(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *testLibrary) error{
		"a picture": func(ctx context.Context, l *testLibrary) error {
			due, err := l.host.store.IconDue(ctx, time.Now())
			if err == nil {
				finder := iconFinder{host: l.host, seen: make(map[feed.URL]seenIcon)}
				_, err = finder.look(ctx, &due)
			}
			return err
		},
		"a full text": func(ctx context.Context, l *testLibrary) error {
			_, err := l.host.texts.get(ctx, 1, true, nobody)
			return err
		},
		"an archive": func(ctx context.Context, l *testLibrary) error {
			_, err := l.host.FetchArchive(ctx, exampleFeed, exampleFeed+"/archive")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			l, asked, said := newAsking(t)
			mend := ondisk.Break(t, l.path)
			for range 3 {
				if err := ask(ctx, l); !errors.Is(err, reading.ErrRests) || asked.Load() != 1 {
					t.Fatalf("on a full disk: %d requests, %v; want the first alone", asked.Load(), err)
				}
			}
			if said.Count()["the node goes on"] > 0 {
				t.Error("entries are said to be stored on a full disk")
			}
			mend()
			said.Wait(t, "the node goes on")
			if err := ask(ctx, l); err != nil || asked.Load() == 1 {
				t.Errorf("once there is room: %d requests in all, %v", asked.Load(), err)
			}
		})
	}
}

// newAsking is a library with an entry whose node counts what it asks publishers for, and tries again at once where
// nothing can be kept.
func newAsking(t *testing.T) (l *testLibrary, asked *askedFor, heard logtest.Said) {
	t.Helper()
	l, asked = newLibrary(t), new(askedFor)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	e := feed.Entry{Feed: exampleFeed, ID: "1", Title: "Ferry", Link: "https://example.com/ferry"}
	l.holds([]archive.Record{archive.NewRecord(e, time.Now(), protocol.NodeID{})})
	log, heard := logtest.Overhear()
	if _, err := look(t.Context(), l.host.loop, func(*node.Node) (bool, error) {
		h := l.host
		h.config.Log, h.config.revival = log, time.Millisecond
		h.fetcher, h.getter, h.texts = asked, asked, newFullTexts(t.Context(), h)
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	return l, asked, heard
}

// A disk that was full has to have room for more than a row before entries are stored again; a full text that was asked
// for until then is had afterwards.
func TestADiskHasRoomAgain(t *testing.T) {
	ctx := t.Context()
	l, asked, said := newAsking(t)
	var room atomic.Int64
	room.Store(stepBytes - 1)
	if _, err := look(ctx, l.host.loop, func(*node.Node) (bool, error) {
		l.host.config.roomOn = func(string) (free, size int64) { return room.Load(), 1 << 40 }
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	mend := ondisk.Break(t, l.path)
	const full = "the node rests; nothing was acknowledged"
	_, err := l.host.texts.get(ctx, 1, true, theOwner)
	mend()
	said.Wait(t, full)
	for range 3 {
		if !errors.Is(err, reading.ErrRests) || asked.Load() != 1 {
			t.Fatalf("while the node rests: %d requests, %v", asked.Load(), err)
		}
		said.Wait(t, full)
		_, err = l.host.texts.get(ctx, 1, true, theOwner)
	}
	if said.Count()["the node goes on"] > 0 {
		t.Error("entries are said to be stored on a full disk")
	}
	room.Store(stepBytes)
	said.Wait(t, "the node goes on")
	if _, err := l.host.texts.get(ctx, 1, true, theOwner); errors.Is(err, reading.ErrRests) || asked.Load() != 2 {
		t.Errorf("once there is room: %d requests, %v", asked.Load(), err)
	}
}

// A disk that is full refuses, says so, and loses nothing that was acknowledged; when it is mended the
// node goes on, and believes in nothing that was refused.
func TestStorageFaults(t *testing.T) {
	f, g := startFeed(t, "First"), startFeed(t, "Other")
	log, said := logtest.Overhear()
	n := startNode(t, Config{Log: log, Subscribe: []feed.URL{f.url}, revival: time.Millisecond})
	n.waitArrival(f.url)
	p := startPeer(t, n)
	connect := protocol.Connect{Subset: protocol.Subset{{Feed: f.url}}}
	if code := p.call(connect); code != 0 {
		t.Fatalf("connect: fault %d", code)
	}
	put := protocol.PutEntries{Bundle: protocol.NewBundle(f.url,
		[]feed.Entry{{Feed: f.url, ID: "urn:test:late", Title: "Late"}})}
	late := feed.Filter{Title: []string{"late"}}

	mend := ondisk.Break(t, DatabasePath(n.data))
	if code := p.call(put); code != protocol.Unavailable {
		t.Errorf("delivery to a full disk: fault %d, want %d", code, protocol.Unavailable)
	}
	if err := n.client.Subscribe(t.Context(), following(g.url)); err == nil ||
		!strings.Contains(err.Error(), "disk is full") {
		t.Errorf("subscribing on a full disk: %v", err)
	}
	report, err := n.client.Status(t.Context())
	if err != nil || !strings.Contains(report.Storage, "disk is full") {
		t.Errorf("status says %q, %v", report.Storage, err)
	}
	if status, _ := get(t, "http://"+n.at.Reader+"/feed/"+string(f.url)); status != 200 {
		t.Errorf("readers are answered %d", status)
	}
	if found, err := n.client.Search(t.Context(), late); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v, which was refused", found, err)
	}

	mend()
	said.Wait(t, "the node goes on")
	if code := p.call(put); code != protocol.UnknownNeighbor {
		t.Errorf("delivery over a link that was forgotten: fault %d, want %d", code, protocol.UnknownNeighbor)
	}
	for _, c := range []protocol.Call{connect, put} {
		if code := p.call(c); code != 0 {
			t.Errorf("%s after all was mended: fault %d", c.Method(), code)
		}
	}
	if found, err := n.client.Search(t.Context(), late); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; want what was delivered again", found, err)
	}
	if err := n.client.Subscribe(t.Context(), following(g.url)); err != nil {
		t.Error(err)
	}
	n.waitArrival(g.url)
	if report, _ := n.client.Status(t.Context()); report.Storage != "" {
		t.Errorf("status still says %q", report.Storage)
	}

	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	again := startNode(t, Config{Data: n.data})
	if feeds, err := again.client.Feeds(t.Context()); err != nil || len(feeds) != 2 {
		t.Errorf("after a restart the node follows %v, %v; want both feeds", feeds, err)
	}
}
