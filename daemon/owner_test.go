package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest"
	"feedex/archive/archivetest/ondisk"
	"feedex/archive/jsonl"
	"feedex/backfill"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/reading"
	"feedex/transport"
)

// The owner may give a question up while the loop answers it. The race detector sees to it that the loop then writes
// nothing that the asker reads.
func TestQuestionsThatAreGivenUp(t *testing.T) {
	core, err := node.New(time.Now(), node.Config{Secret: make([]byte, 32)}, archive.NewMemory(),
		rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(*host, context.Context) (empty bool, err error){
		"status": func(h *host, ctx context.Context) (bool, error) {
			r, err := h.Status(ctx)
			return reflect.DeepEqual(r, control.Report{}), err
		},
		"neighbors": func(h *host, ctx context.Context) (bool, error) {
			list, err := h.Neighbors(ctx)
			return list == nil, err
		},
		"feeds": func(h *host, ctx context.Context) (bool, error) {
			list, err := h.Feeds(ctx)
			return list == nil, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				h := newHost(Config{}.withDefaults(), newDisk(), nil, peers(friendly), unreachable{})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					if empty, err := ask(h, ctx); err != nil && !empty {
						t.Error("an answer beside an error")
					} else if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
				question := <-h.events
				cancel()
				question.look(core)
				<-done
			}
		})
	}
}

// While nothing can be stored the status and whoever wants something done hear why, and nothing else is answered.
func TestQuestionsToANodeThatRests(t *testing.T) {
	runLoop(t, friendly, func(t *testing.T, l *testLoop) {
		full := errors.New("disk is full")
		l.disk.set(diskState{commit: full})
		l.knock()
		if r, err := l.Status(t.Context()); err != nil || r.Storage != "disk is full" || r.Version != Version ||
			r.Status != nil {
			t.Errorf("Status = %+v, %v", r, err)
		}
		if list, err := l.Neighbors(t.Context()); err == nil {
			t.Errorf("Neighbors = %v", list)
		}
		if err := l.Subscribe(t.Context(), following(exampleFeed)); !errors.Is(err, reading.ErrRests) ||
			!errors.Is(err, full) {
			t.Errorf("Subscribe: %v", err)
		}
		if list, err := l.Feeds(t.Context()); err == nil {
			t.Errorf("Feeds = %v", list)
		}
	})
}

// startTree runs a node for each parent, linked with it over loopback; the first has none.
func startTree(t testing.TB, parents []int, config func(i int) Config) []*testNode {
	t.Helper()
	common := startFeed(t, "What all have") // nobody links with a node that follows nothing
	var nodes []*testNode
	for i, parent := range parents {
		c := config(i)
		c.Node.MinNeighbors, c.Node.MaxNeighbors = 1, 32
		c.Subscribe = append(c.Subscribe, common.url)
		if i > 0 {
			c.Node.Peers = []string{nodes[parent].at.Listen}
		}
		nodes = append(nodes, startNode(t, c))
	}
	for i, n := range nodes {
		links := 0
		for child, parent := range parents {
			if child > 0 && (parent == i || child == i) {
				links++
			}
		}
		n.waitNeighbors(links)
	}
	return nodes
}

// waitNeighbors waits until the node has so many.
func (n *testNode) waitNeighbors(count int) {
	n.t.Helper()
	var list []node.NeighborStatus
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		var err error
		if list, err = n.client.Neighbors(n.t.Context()); err != nil {
			n.t.Fatal(err)
		}
		if len(list) == count {
			return
		}
	}
	n.t.Fatalf("%s has %d neighbors, want %d", n.at.Listen, len(list), count)
}

// seek has the node's owner ask the network, and returns how that ended.
func (n *testNode) seek(q control.QueryRequest) control.QueryEnd {
	n.t.Helper()
	yes := true
	q.Network = &yes
	var end *control.QueryEnd
	err := n.client.Query(n.t.Context(), q, func(p control.QueryPart) error { end = p.End; return nil })
	if err != nil {
		n.t.Fatal(err)
	}
	return *end
}

// Of twelve nodes only one that is three hops away has the entry.
func TestTwelveNodesFindWhatOneHas(t *testing.T) {
	news := startFeed(t, "Walrus sighted")
	nodes := startTree(t, []int{-1, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6}, func(i int) Config {
		if i == 9 {
			return Config{Subscribe: []feed.URL{news.url}}
		}
		return Config{}
	})
	nodes[9].waitArrival(news.url)
	for name, f := range map[string]feed.Filter{"by words": {Words: []string{"walrus"}}, "by feed": {Feed: news.url}} {
		if end := nodes[0].seek(control.QueryRequest{Filter: f, Hops: 2}); len(end.Found) != 0 {
			t.Errorf("%s: found within two hops: %+v", name, end)
		}
		end := nodes[0].seek(control.QueryRequest{Filter: f, Wait: protocol.MaxWait})
		if len(end.Found) != 1 || end.Found[0].Title != "Walrus sighted" || end.Cut != nil {
			t.Fatalf("%s: %+v", name, end)
		}
		want := []protocol.NodeID{archivetest.NodeID(t, nodes[9].at.Listen)}
		if got := end.Found[0]; !slices.Equal(got.Holders, want) || got.Here {
			t.Errorf("%s: held by %v, want %v", name, got.Holders, want)
		}
	}
}

// Every second node takes calls and answers none.
func TestAStalledHalfIsNotWaitedFor(t *testing.T) {
	news := startFeed(t, "Walrus sighted")
	trap := startFeed(t, "A trap")
	release, stalled := make(chan struct{}), make(chan struct{}, 7)
	nodes := startTree(t, []int{-1, 0, 0, 0, 1, 1, 2}, func(i int) Config {
		c := Config{}
		if i == 6 {
			c.Subscribe = []feed.URL{news.url}
		}
		if i%2 == 1 {
			c.Observe = func(_ time.Time, note node.Note) {
				if p, is := note.(node.Polled); is && p.Feed == trap.url {
					stalled <- struct{}{}
					<-release // the loop stands still
				}
			}
		}
		return c
	})
	t.Cleanup(func() { close(release) }) // before the nodes end
	nodes[6].waitArrival(news.url)
	for i := 1; i < 7; i += 2 {
		if err := nodes[i].client.Subscribe(t.Context(), following(trap.url)); err != nil {
			t.Fatal(err)
		}
		<-stalled
	}
	var end control.QueryEnd
	// a slow machine needs longer
	for wait := 2 * time.Second; len(end.Found) == 0 && wait <= protocol.MaxWait; wait *= 2 {
		begun := time.Now()
		end = nodes[0].seek(control.QueryRequest{Filter: feed.Filter{Words: []string{"walrus"}}, Wait: wait})
		if took := time.Since(begun); took < wait/2 || !slices.Contains(end.Cut, "time") {
			t.Errorf("took %v, cut %v: nobody was stalled", took, end.Cut)
		}
	}
	if len(end.Found) != 1 {
		t.Errorf("found %+v, want what the neighbors that answer have", end.Found)
	}
}

// Whether neighbors are asked is the owner's setting, unless the owner says so each time.
func TestTheSettingDecidesAboutTheNetwork(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		setting node.QueryNetwork
		network *bool
		want    control.QueryEnd
	}{
		{node.AskNetwork, nil, control.QueryEnd{}},
		{node.AskNetwork, &yes, control.QueryEnd{Network: true, Found: []control.Remote{}}},
		{node.AlwaysNetwork, nil, control.QueryEnd{Network: true, Found: []control.Remote{}}},
		{node.AlwaysNetwork, &no, control.QueryEnd{}},
		{node.NeverNetwork, nil, control.QueryEnd{}},
		{node.NeverNetwork, &yes, control.QueryEnd{Network: true, Problem: node.ErrNeverNetwork.Error(),
			Found: []control.Remote{}}},
	} {
		runLoop(t, friendly, func(t *testing.T, l *testLoop) {
			l.inspect(func(h *host) {
				h.config.Node.QueryNetwork = c.setting
				if err := h.revive(); err != nil {
					t.Error(err)
				}
			})
			var got control.QueryEnd
			err := l.Query(t.Context(), control.QueryRequest{Network: c.network}, func(p control.QueryPart) error {
				if p.End != nil {
					got = *p.End
				}
				return nil
			})
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %v: %+v, %v; want %+v", c.setting, c.network, got, err, c.want)
			}
		})
	}
}

// A query ends with its asker, and with the core that works on it.
func TestQueriesEnd(t *testing.T) {
	silent := func(ctx context.Context, addr string, call protocol.Call) (protocol.Reply, error) {
		if _, is := call.(protocol.QueryFeed); is {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return friendly(ctx, addr, call)
	}
	yes := true
	q := control.QueryRequest{Network: &yes, Wait: time.Minute}
	runLoop(t, silent, func(t *testing.T, l *testLoop) {
		l.follow()
		l.link(1)
		running := func() (n int) {
			l.inspect(func(h *host) { n = len(h.heard) })
			return n
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		ask := func() {
			ended <- l.Query(ctx, q, func(p control.QueryPart) error {
				if p.End != nil && p.End.Problem != "" {
					return errors.New(p.End.Problem)
				}
				return nil
			})
		}
		go ask()
		l.pass(time.Second)
		if running() != 1 {
			t.Fatal("the query does not run")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || running() != 0 {
			t.Errorf("given up: %v, %d queries run", err, running())
		}
		ctx = t.Context()
		go ask()
		l.pass(time.Second)
		l.disk.set(diskState{commit: errors.New("disk is full")})
		l.knock()
		if err := <-ended; err == nil || err.Error() != reading.ErrRests.Error() {
			t.Errorf("the core is gone: %v", err)
		}
		go ask()
		if err := <-ended; err == nil || err.Error() != reading.ErrRests.Error() {
			t.Errorf("asked while there is no core: %v", err)
		}
	})
}

// Of twelve nodes only one that is three hops away has the entry: it is found, downloaded from there, verified and
// stored.
func TestTwelveNodesFetchWhatOneHas(t *testing.T) {
	news := startFeed(t, "Walrus sighted")
	nodes := startTree(t, []int{-1, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6}, func(i int) Config {
		if i == 9 {
			return Config{Subscribe: []feed.URL{news.url}}
		}
		return Config{}
	})
	nodes[9].waitArrival(news.url)
	found := nodes[0].seek(control.QueryRequest{Filter: feed.Filter{Words: []string{"walrus"}},
		Wait: protocol.MaxWait}).Found
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}

	// A node that is named as a holder, and sends another version under the same id.
	forger := startForger(t, feed.Entry{Feed: news.url, Title: "Walrus sighted", Summary: "forged"})
	lie := found[0]
	lie.Holders = []protocol.NodeID{forger}
	got, err := nodes[0].client.Pull(t.Context(), []control.Remote{lie})
	if err != nil || len(got.Stored) != 0 || !slices.Equal(got.Missing, []string{lie.ID}) || len(got.Refused) != 1 ||
		!got.Refused[0].Lied || got.Refused[0].Holder != forger {
		t.Errorf("from a forger came %+v, %v", got, err)
	}

	if got, err = nodes[0].client.Pull(t.Context(), found); err != nil ||
		!slices.Equal(got.Stored, []string{found[0].ID}) {
		t.Fatalf("got %+v, %v", got, err)
	}
	records, err := nodes[0].client.Search(t.Context(), feed.Filter{Words: []string{"walrus"}})
	if err != nil || len(records) != 1 {
		t.Fatalf("stored is %+v, %v", records, err)
	}
	if r := records[0]; r.Digest.String() != found[0].Digest || r.Seq >= 0 || r.Confirmed ||
		r.Source.String() != nodes[9].at.Listen {
		t.Errorf("stored is %+v", r)
	}
	if again, err := nodes[0].client.Pull(t.Context(), found); err != nil || len(again.Stored)+len(again.Missing) != 0 {
		t.Errorf("what is here was downloaded again: %+v, %v", again, err)
	}
}

// The same where the node that has it, as far away, forges it: it tells of what the publisher wrote, and sends
// something else.
func TestNodesRefuseWhatOneForges(t *testing.T) {
	news := startFeed(t, "Walrus sighted")
	nodes := startTree(t, []int{-1, 0, 1, 2}, func(i int) Config {
		if i == 3 {
			return Config{Subscribe: []feed.URL{news.url}}
		}
		return Config{}
	})
	forger := nodes[3]
	forger.waitArrival(news.url)
	ondisk.Forge(t, DatabasePath(forger.data), "Walrus sighted", "forged")
	found := nodes[0].seek(control.QueryRequest{Filter: feed.Filter{Words: []string{"walrus"}},
		Wait: protocol.MaxWait}).Found
	if len(found) != 1 || !slices.Equal(found[0].Holders, []protocol.NodeID{archivetest.NodeID(t, forger.at.Listen)}) {
		t.Fatalf("found %+v", found)
	}
	got, err := nodes[0].client.Pull(t.Context(), found)
	if err != nil || len(got.Stored) != 0 || !slices.Equal(got.Missing, []string{found[0].ID}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(got.Refused) != 1 || !got.Refused[0].Lied || got.Refused[0].Holder.String() != forger.at.Listen {
		t.Errorf("reported is %+v", got.Refused)
	}
	if records, err := nodes[0].client.Search(t.Context(), feed.Filter{Words: []string{"walrus"}}); err != nil ||
		len(records) != 0 {
		t.Errorf("stored is %+v, %v", records, err)
	}
}

// startForger plays a node that answers get_entries with the entry, whatever it is asked for.
func startForger(t *testing.T, e feed.Entry) protocol.NodeID {
	t.Helper()
	s := httptest.NewServer(transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(),
		Serve: func(context.Context, transport.Request) transport.Response {
			return transport.Response{Reply: protocol.Batch{Entries: []protocol.Archived{{Entry: e}}}}
		},
	}))
	t.Cleanup(s.Close)
	return archivetest.NodeID(t, strings.TrimPrefix(s.URL, "http://"))
}

func TestPullRefusesNonsense(t *testing.T) {
	n := startNode(t, Config{})
	good := control.Remote{ID: strings.Repeat("a", 40), Digest: strings.Repeat("b", 40), Feed: exampleFeed}
	for name, change := range map[string]func(r *control.Remote){
		"no id":            func(r *control.Remote) { r.ID = "" },
		"no digest":        func(r *control.Remote) { r.Digest = "x" },
		"too many holders": func(r *control.Remote) { r.Holders = make([]protocol.NodeID, protocol.MaxHolders+1) },
	} {
		r := good
		change(&r)
		if _, err := n.client.Pull(t.Context(), []control.Remote{r}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := n.client.Pull(t.Context(), slices.Repeat([]control.Remote{good}, node.MaxWishes+1)); err == nil {
		t.Error("too many: no error")
	}
	if got, err := n.client.Pull(t.Context(), []control.Remote{good}); err != nil ||
		!slices.Equal(got.Missing, []string{good.ID}) {
		t.Errorf("an entry that nobody has: %+v, %v", got, err)
	}
}

// A backfill that is broken off, and whose node dies, is finished by the next: nothing is lost and nothing doubled.
func TestABrokenBackfillIsFinishedByTheNext(t *testing.T) {
	common := startFeed(t, "What both have")
	holder := startNode(t, Config{Subscribe: []feed.URL{common.url}, Node: node.Config{MinNeighbors: 1}})
	var lines []jsonl.Line
	const past = 430
	for i := range past {
		e := feed.Entry{Feed: exampleFeed, ID: fmt.Sprint(i), Title: fmt.Sprint("Entry ", i),
			Published: time.Date(2025, 1, 1, 0, i, 0, 0, time.UTC)}
		r := archive.NewRecord(e, e.Published, protocol.NodeID{})
		lines = append(lines, jsonl.NewLine(&r, false))
	}
	slices.Reverse(lines)
	if _, err := holder.client.Import(t.Context(), lines); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	start := func() *testNode {
		n := startNode(t, Config{Data: data, Subscribe: []feed.URL{common.url},
			Node: node.Config{MinNeighbors: 1, Peers: []string{holder.at.Listen}}})
		n.waitNeighbors(1)
		return n
	}
	n := start()
	ctx, cancel := context.WithCancel(t.Context())
	fill := backfill.Span{Feed: exampleFeed, Network: true, Pause: time.Millisecond}
	first, err := fill.Run(ctx, n.client, func(backfill.Report) { cancel() })
	if err == nil || first.Network == 0 || first.Network >= past {
		t.Fatalf("broken off after %d, %v", first.Network, err)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	n = start()
	second, err := fill.Run(t.Context(), n.client, func(backfill.Report) {})
	if err != nil || len(second.Missing) != 0 || second.Network == 0 || second.Network > past-first.Network {
		t.Errorf("first %d, then %d of %d, %d missing, %v, %v", first.Network, second.Network, past,
			len(second.Missing), second.Refused, err)
	}
	records, err := n.client.Search(t.Context(), feed.Filter{Feed: exampleFeed, Limit: 1000})
	if err != nil || len(records) != past {
		t.Errorf("%d entries in the end, want %d; %v", len(records), past, err)
	}
}
