package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/control"
	"feedex/feed"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

const (
	largeFeeds   = 1_000
	largeEntries = 200_000
	// largeEnv tells a child process of the benchmark on which archive to run a node.
	largeEnv = "FEEDEX_BENCH_LARGE"
)

// BenchmarkLargeNode runs a node with 1,000 feeds and 200,000 entries in a process of its own: how long it
// takes to serve, how much memory it holds after a while of searching, how long a search takes.
func BenchmarkLargeNode(b *testing.B) {
	data := b.TempDir()
	fillLarge(b, data)
	var starts, searches []time.Duration
	var resident int64
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestLargeNodeChild$")
		cmd.Env = append(os.Environ(), largeEnv+"="+data)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			text, found := strings.CutPrefix(lines.Text(), "large: ")
			if !found {
				continue
			}
			var report largeReport
			if text == "ready" {
				starts = append(starts, time.Since(begun))
			} else if err := json.Unmarshal([]byte(text), &report); err != nil {
				b.Fatal(err)
			} else {
				resident = max(resident, report.Resident)
				searches = append(searches, report.Searches...)
			}
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(median(starts).Seconds()*1000, "ms-to-serve")
	b.ReportMetric(float64(resident)/(1<<20), "MiB-resident")
	b.ReportMetric(median(searches).Seconds()*1000, "ms/search-median")
	b.ReportMetric(searches[len(searches)*99/100].Seconds()*1000, "ms/search-p99")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// largeReport holds the measurements of the child process.
type largeReport struct {
	Resident int64           // bytes, at most, as the system counts them
	Searches []time.Duration // through the control socket
}

// TestLargeNodeChild is the child process of BenchmarkLargeNode.
func TestLargeNodeChild(t *testing.T) {
	data := os.Getenv(largeEnv)
	if data == "" {
		t.Skip("runs only as a child process of BenchmarkLargeNode")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ready := make(chan bool, 1)
	go func() {
		ended <- Run(ctx, Config{
			Data: data, Open: ondisk.Open, Listen: "127.0.0.1:0", Reader: "127.0.0.1:0",
			Node:  node.Config{AllowLocal: true, Policy: polling.Fixed{Every: 24 * time.Hour}},
			Ready: func(Addresses) { ready <- true },
		})
	}()
	<-ready
	fmt.Println("large: ready")
	client, err := control.Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	var report largeReport
	for i := range 300 {
		// Words from the commonest to such as occur a few times.
		begun := time.Now()
		if _, err := client.Search(ctx, feed.Filter{Words: []string{fmt.Sprintf("w%x", i*i/3)}}); err != nil {
			t.Fatal(err)
		}
		report.Searches = append(report.Searches, time.Since(begun))
	}
	report.Resident = peakResident(t)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("large: %s\n", text)
	client.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// peakResident is the most memory that this process held.
func peakResident(t *testing.T) (bytes int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("this system does not tell the memory of a process, run it on Linux: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); err == nil {
			return bytes << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}

// fillLarge makes the archive.
func fillLarge(b *testing.B, data string) {
	b.Helper()
	store := ondisk.MustOpen(b, filepath.Join(data, databaseName))
	defer store.Close()
	seen := time.Now().Add(-30 * 24 * time.Hour)
	for i := range largeFeeds {
		u := largeURL(i)
		store.KeepFeed(archive.Feed{
			URL: u, Title: fmt.Sprintf("Feed %d", i), Subscribed: true, Since: seen, Interval: 24 * time.Hour,
			NextPoll: time.Now().Add(12 * time.Hour), LastPoll: time.Now(), LastSuccess: time.Now(), ETag: `"1"`,
		})
		var records []archive.Record
		for j := range largeEntries / largeFeeds {
			e := feed.Entry{
				Feed: u, ID: fmt.Sprintf("%s#%d", u, j), Title: benchText(uint64(i*1000+j), 40),
				Link:      fmt.Sprintf("%s/%d", u, j),
				Published: seen.Add(time.Duration(j) * time.Hour).Truncate(time.Second),
				Summary:   benchText(uint64(i*7919+j), 600),
			}
			records = append(records, archive.NewRecord(e, seen, protocol.NodeID{}))
		}
		store.Keep(records)
		if err := store.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	for left := 1; left > 0; {
		var err error
		if left, err = store.Index(2000); err != nil {
			b.Fatal(err)
		}
	}
}

func largeURL(i int) feed.URL { return feed.URL(fmt.Sprintf("http://127.0.0.1:9/feed/%d", i)) }
