package daemon

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

const (
	sweepFeeds = 10_000
	sweepHosts = 200
	// sweepEnv tells a child process of the benchmark on which archive to run a node.
	sweepEnv = "FEEDEX_BENCH_SWEEP"
)

// BenchmarkNodeSweep runs a node with 10,000 feeds at 200 hosts, all of which fell due while it was away and none of
// which has changed, in a process of its own: how long until all are polled, of which a minute is that they
// are spread, and how much memory that takes.
func BenchmarkNodeSweep(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("this system has not all of 127.0.0.0/8: run it on Linux")
	}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		w.WriteHeader(http.StatusNotModified)
	})}
	go server.Serve(l)
	defer server.Close()
	var took, resident float64
	for b.Loop() {
		data := b.TempDir()
		fillSweep(b, data, portOf(l))
		cmd := exec.Command(os.Args[0], "-test.run", "^TestNodeSweepChild$")
		cmd.Env = append(os.Environ(), sweepEnv+"="+data)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if text, found := strings.CutPrefix(lines.Text(), "sweep: "); found {
				var seconds, bytes float64
				fmt.Sscan(text, &seconds, &bytes)
				took, resident = max(took, seconds), max(resident, bytes)
			}
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(took, "s-until-all")
	b.ReportMetric(resident/(1<<20), "MiB-resident")
}

// fillSweep makes the archive.
func fillSweep(b *testing.B, data string, port uint16) {
	b.Helper()
	store := ondisk.MustOpen(b, filepath.Join(data, databaseName))
	defer store.Close()
	away := time.Now().Add(-12 * time.Hour)
	for i := range sweepFeeds {
		host := i % sweepHosts
		store.KeepFeed(archive.Feed{
			URL:        feed.URL(fmt.Sprintf("http://127.0.%d.%d:%d/%d", host/250+1, host%250+1, port, i)),
			Title:      fmt.Sprintf("Feed %d", i),
			Subscribed: true, Interval: 4 * time.Hour, NextPoll: away, LastPoll: away, LastSuccess: away, ETag: `"1"`,
		})
	}
	if err := store.Commit(); err != nil {
		b.Fatal(err)
	}
}

// TestNodeSweepChild is the child process of BenchmarkNodeSweep.
func TestNodeSweepChild(t *testing.T) {
	data := os.Getenv(sweepEnv)
	if data == "" {
		t.Skip("runs only as a child process of BenchmarkNodeSweep")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	polls, begun := 0, time.Now()
	done, ended := make(chan time.Duration, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			Data: data, Open: ondisk.Open, Listen: "127.0.0.1:0", Reader: "127.0.0.1:0",
			Node: node.Config{AllowLocal: true, Policy: polling.Fixed{Every: 24 * time.Hour}},
			Observe: func(_ time.Time, note node.Note) {
				if p, ok := note.(node.Polled); ok {
					if p.Problem != "" {
						t.Error(p.Problem)
					}
					if polls++; polls == sweepFeeds {
						done <- time.Since(begun)
					}
				}
			},
		})
	}()
	took := <-done
	fmt.Printf("sweep: %f %d\n", took.Seconds(), peakResident(t))
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
