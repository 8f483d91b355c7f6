package daemon

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

func mustID(t *testing.T, text string) protocol.NodeID {
	t.Helper()
	id, err := protocol.ParseNodeID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
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
		if want := []protocol.NodeID{mustID(t, nodes[9].at.Listen)}; !slices.Equal(end.Found[0].Holders, want) ||
			end.Found[0].Here {
			t.Errorf("%s: held by %v, want %v", name, end.Found[0].Holders, want)
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
			l.inspect(func(h *host) { n = len(h.querying) })
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
		if err := <-ended; err == nil || err.Error() != control.ErrRests.Error() {
			t.Errorf("the core is gone: %v", err)
		}
		go ask()
		if err := <-ended; err == nil || err.Error() != control.ErrRests.Error() {
			t.Errorf("asked while there is no core: %v", err)
		}
	})
}
