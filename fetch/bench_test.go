package fetch

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
)

// The size of a sweep: feeds at so many hosts, each one at a time, as many at once as a node has under way.
const (
	sweepFeeds  = 10_000
	sweepHosts  = 200
	sweepAtOnce = 256
)

// BenchmarkSweep asks 200 hosts for 50 feeds each, none of which has changed: with servers that answer at once, and
// with some that take 20 ms, so that no client could be faster than a second. The servers are in a process of
// their own; bare is net/http's client without any of what this package does.
func BenchmarkSweep(b *testing.B) {
	for _, takes := range []time.Duration{0, 20 * time.Millisecond} {
		port := startServers(b, takes)
		urls := make([]string, sweepFeeds)
		for i := range urls {
			host := i % sweepHosts
			urls[i] = fmt.Sprintf("http://127.0.%d.%d:%s/%d", host/250+1, host%250+1, port, i)
		}
		b.Run(fmt.Sprintf("takes=%v/bare", takes), func(b *testing.B) { sweep(b, urls, bare()) })
		b.Run(fmt.Sprintf("takes=%v/feedex", takes), func(b *testing.B) {
			c := New(Config{AllowLocal: true, UserAgent: "feedex/bench"})
			defer c.CloseIdle()
			sweep(b, urls, func(ctx context.Context, u string) error {
				got := c.Fetch(ctx, node.Fetch{Feed: feed.URL(u), ETag: `"1"`,
					LastModified: "Sat, 07 Mar 2026 12:00:00 GMT"})
				if got.Err == nil && got.Status != http.StatusNotModified {
					return fmt.Errorf("status %d", got.Status)
				}
				return got.Err
			})
		})
	}
}

// sweep has the feeds of each host asked for one after another, and many hosts at once.
func sweep(b *testing.B, urls []string, fetch func(ctx context.Context, u string) error) {
	for b.Loop() {
		places := make(gate, sweepAtOnce)
		var hosts sync.WaitGroup
		for host := range sweepHosts {
			hosts.Go(func() {
				for i := host; i < len(urls); i += sweepHosts {
					places <- struct{}{}
					if err := fetch(b.Context(), urls[i]); err != nil {
						b.Error(err)
					}
					<-places
				}
			})
		}
		hosts.Wait()
	}
	b.ReportMetric(float64(len(urls)*b.N)/b.Elapsed().Seconds(), "feeds/s")
	b.ReportMetric(peakMiB(), "MiB-peak")
}

// bare is a client that does nothing but ask.
func bare() func(ctx context.Context, u string) error {
	transport := &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 1, MaxConnsPerHost: 1,
		DisableCompression: true}
	return func(ctx context.Context, u string) error {
		req, err := http.NewRequestWithContext(ctx, "GET", u, nil)
		if err != nil {
			return err
		}
		req.Header.Set("If-None-Match", `"1"`)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return err
	}
}

// startServers runs this test again, as servers at every loopback address, and returns their port.
func startServers(b *testing.B, takes time.Duration) (port string) {
	if runtime.GOOS != "linux" {
		b.Skip("this system has not all of 127.0.0.0/8: run it on Linux")
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestServersOfSweep$")
	c.Env = append(os.Environ(), "FEEDEX_SWEEP="+takes.String())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); c.Wait() })
	if _, err := fmt.Fscan(out, &port); err != nil {
		b.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	return port
}

// TestServersOfSweep is the process that startServers starts. It ends with its input.
func TestServersOfSweep(t *testing.T) {
	takes, err := time.ParseDuration(os.Getenv("FEEDEX_SWEEP"))
	if err != nil {
		t.Skip("runs only as a child process of BenchmarkSweep")
	}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if takes > 0 {
				<-time.After(takes)
			}
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(http.StatusNotModified)
		})}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	fmt.Println(port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	server.Serve(l)
}

// peakMiB is the most memory that this process ever had.
func peakMiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	return 0
}
