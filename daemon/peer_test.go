package daemon

import (
	"os/exec"
	"strings"
	"testing"

	"feedex/feed"
)

// Any XML-RPC client can be a neighbor: here one of a few lines of Python, written from the
// specification. A home is one that cannot be dialled: it listens nowhere.
func TestPythonPlaysANeighbor(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing: apt-get install python3")
	}
	for _, way := range []string{"dialled", "home"} {
		t.Run(way, func(t *testing.T) {
			f := startFeed(t, "From the publisher")
			n := startNode(t, Config{Subscribe: []feed.URL{f.url}})
			n.waitArrival(f.url)
			out, err := exec.CommandContext(t.Context(), python, "testdata/peer.py", n.at.Listen, string(f.url),
				way).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "ok" {
				t.Fatalf("the neighbor in Python ended with %v:\n%s", err, out)
			}
			a := n.waitArrival(f.url)
			if a.Source.IsZero() || a.Source.Hosted() != (way == "home") ||
				a.Records[0].Entry.Title != "From Python <with> & markup" {
				t.Errorf("arrived: %+v", a)
			}
		})
	}
}
