package daemon

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"feedex/feed"
)

// Any XML-RPC client can be a neighbor: here one of a few lines of Python, written from the
// specification. A home is one that cannot be dialled: it listens nowhere. One that is named is dialled by the node,
// whose owner knows its address: it answers what it does not know with a fault.
func TestPythonPlaysANeighbor(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing: apt-get install python3")
	}
	for _, way := range []string{"dialled", "home", "named"} {
		t.Run(way, func(t *testing.T) {
			f := startFeed(t, "From the publisher")
			c := Config{Subscribe: []feed.URL{f.url}}
			var n *testNode
			at := ""
			if way != "named" {
				n = startNode(t, c)
				n.waitArrival(f.url)
				at = n.at.Listen
			}
			var problems strings.Builder
			peer := exec.CommandContext(t.Context(), python, "testdata/peer.py", at, string(f.url), way)
			peer.Stderr = &problems
			out, err := peer.StdoutPipe()
			if err == nil {
				err = peer.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			says := bufio.NewReader(out)
			if way == "named" {
				address, _ := says.ReadString('\n')
				c.Node.Peers = []string{strings.TrimSpace(address)}
				n = startNode(t, c)
				n.waitArrival(f.url)
			}
			end, _ := says.ReadString('\n')
			if err := peer.Wait(); err != nil || end != "ok\n" {
				t.Fatalf("the neighbor in Python ended with %q, %v:\n%s", end, err, problems.String())
			}
			a := n.waitArrival(f.url)
			if a.Source.IsZero() || a.Source.Hosted() != (way == "home") ||
				a.Records[0].Entry.Title != "From Python <with> & markup" {
				t.Errorf("arrived: %+v", a)
			}
		})
	}
}
