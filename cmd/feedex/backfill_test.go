package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"feedex/control"
	"feedex/daemon"
)

// A nodeProcess is a node in a process of its own, to be killed.
type nodeProcess struct {
	cmd    *exec.Cmd
	client *control.Client
	listen string
}

// startNodeProcess runs a node on a data directory.
func startNodeProcess(t *testing.T, data string, flags ...string) *nodeProcess {
	t.Helper()
	cmd := feedexProcess(t, append([]string{"node", "--data", data, "--listen", "127.0.0.1:0", "--reader",
		"127.0.0.1:0", "--allow-private", "--poll", "1h", "--log-level", "error"}, flags...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := &nodeProcess{cmd: cmd}
	t.Cleanup(n.kill)
	for end := time.Now().Add(scriptPatience); ; { // it only bounds a failing test
		client, err := control.Dial(data)
		if err == nil {
			n.client = client
			break
		}
		if !errors.Is(err, control.ErrNotRunning) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
	r, err := n.client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n.listen = r.Listen
	return n
}

// kill ends it at once.
func (n *nodeProcess) kill() {
	if n.client != nil {
		n.client.Close()
		n.client = nil
	}
	_ = n.cmd.Process.Kill() // fails where it was killed before
	_ = n.cmd.Wait()
}

// waitStatus waits until the node is as is wanted.
func (n *nodeProcess) waitStatus(t *testing.T, want func(r *control.Report) bool) {
	t.Helper()
	for end := time.Now().Add(scriptPatience); ; { // it only bounds a failing test
		r, err := n.client.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want(&r) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the node stays at %+v", r)
		}
		<-time.After(10 * time.Millisecond) // leaves the processors to the node
	}
}

// A node that is killed again and again while it fills in a feed's past loses nothing, doubles nothing, and goes on
// from where it was.
func TestKilledBackfill(t *testing.T) {
	common := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>What both have</title></channel></rss>`)
	}))
	defer common.Close()
	const n = 500 // all of it takes less than the queries that a neighbor answers in a minute
	holding, taking := t.TempDir(), t.TempDir()
	in := feedexProcess(t, "archive", "import", "--data", holding)
	in.Stdin = strings.NewReader(exportOf(t, n, 10))
	if out, err := in.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	holder := startNodeProcess(t, holding, "--subscribe", common.URL)
	file, before := daemon.DatabasePath(taking), 0
	for kills := 2; kills > 0 && before < n; kills-- {
		taker := startNodeProcess(t, taking, "--subscribe", common.URL, "--peer", holder.listen)
		taker.waitStatus(t, func(r *control.Report) bool { return r.Neighbors == 1 })
		fill := feedexProcess(t, "backfill", "https://example.com/feed", "--data", taking, "--no-publisher")
		fill.Stderr = nil
		if err := fill.Start(); err != nil {
			t.Fatal(err)
		}
		taker.waitStatus(t, func(r *control.Report) bool { return int(r.Archive.Entries) > before })
		taker.kill()
		err := fill.Wait()
		got := entriesIn(t, file)
		if err == nil && got < n { // else it was done before the kill came
			t.Fatalf("the node was killed with %d of %d entries, and the backfill did not notice", got, n)
		}
		if got <= before || got > n {
			t.Fatalf("%d entries after %d, of %d", got, before, n)
		}
		t.Logf("killed with %d of %d entries", got, n)
		before = got
	}
	taker := startNodeProcess(t, taking, "--subscribe", common.URL, "--peer", holder.listen)
	taker.waitStatus(t, func(r *control.Report) bool { return r.Neighbors == 1 })
	out := feedexOutput(t, "backfill", "https://example.com/feed", "--data", taking, "--no-publisher")
	if want := counted(n-before) + " from the network\n"; !strings.HasPrefix(out, want) {
		t.Errorf("the last backfill says %q, want %q", out, want)
	}
	taker.kill()
	if got := entriesIn(t, file); got != n {
		t.Errorf("%d entries, want %d", got, n)
	}
}
