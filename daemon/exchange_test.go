package daemon

import (
	"fmt"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/incentive"
	"feedex/node"
	"feedex/protocol"
)

// Nodes that are no neighbors, and of which none gives anything away, wish each for what the one before has: nobody
// gets anything until the ring is closed, and then all of them get everything. (Paper §3.6)
func TestStrangersServeEachOtherInRings(t *testing.T) {
	for size := 2; size <= 3; size++ {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()                               // turns are seconds apart
			serveInRing(t, size, incentive.Quantum+10) // more than one turn
		})
	}
}

func serveInRing(t *testing.T, size, count int) {
	nodes, wishes := make([]*testNode, size), make([][]control.Remote, size)
	for i := range nodes {
		nodes[i] = startNode(t, Config{Node: node.Config{Incentive: incentive.Config{Gifts: -1}}})
		wishes[(i+1)%size] = nodes[i].holdPast(feed.URL(fmt.Sprintf("https://%d.example.com/feed", i)), count)
	}
	for i, n := range nodes {
		got, err := n.client.Pull(t.Context(), wishes[i])
		if err != nil || i < size-1 && (len(got.Stored) != 0 || len(got.Missing) != count) {
			t.Fatalf("%d got %d entries before the ring was closed, %v", i, len(got.Stored), err)
		}
	}
	for i, n := range nodes {
		n.waitEntries(wishes[i][0].Feed, count)
	}
}

// holdPast has the node hold so many entries of a feed's past, and returns what others may wish for.
func (n *testNode) holdPast(u feed.URL, count int) (wishes []control.Remote) {
	n.t.Helper()
	holder, err := protocol.ParseNodeID(n.at.Listen)
	if err != nil {
		n.t.Fatal(err)
	}
	var lines []jsonl.Line
	for i := range count {
		e := feed.Entry{Feed: u, ID: fmt.Sprint(i), Title: fmt.Sprint("Entry ", i),
			Published: time.Date(2025, 1, 1, 0, i, 0, 0, time.UTC)}
		r := archive.NewRecord(e, e.Published, protocol.NodeID{})
		lines = append(lines, jsonl.NewLine(&r, false))
		wishes = append(wishes, control.Remote{ID: r.ID.String(), Digest: r.Digest.String(),
			Feed: u, Holders: []protocol.NodeID{holder}})
	}
	if added, err := n.client.Import(n.t.Context(), lines); err != nil || added != count {
		n.t.Fatalf("%d of %d added, %v", added, count, err)
	}
	return wishes
}

// waitEntries waits until the node has so many entries of a feed.
func (n *testNode) waitEntries(u feed.URL, count int) {
	n.t.Helper()
	var got int
	for end := time.Now().Add(patience); time.Now().Before(end); breathe() {
		records, err := n.client.Search(n.t.Context(), feed.Filter{Feed: u, Limit: count + 1})
		if err != nil {
			n.t.Fatal(err)
		}
		if got = len(records); got == count {
			return
		}
	}
	n.t.Fatalf("%s has %d entries of %s, want %d", n.at.Listen, got, u, count)
}
