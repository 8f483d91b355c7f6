package daemon

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/archive/jsonl"
	"feedex/backfill"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
)

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
	if len(found) != 1 || !slices.Equal(found[0].Holders, []protocol.NodeID{mustID(t, forger.at.Listen)}) {
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
	return mustID(t, strings.TrimPrefix(s.URL, "http://"))
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
