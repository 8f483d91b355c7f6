package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive/jsonl"
)

var loopback = flag.Duration("loopback", 0, "how long TestTwentyProcesses takes, such as 1h; 0 leaves it out")

const (
	processes = 20
	// mostUneven is how much the gaps between requests may deviate, in parts of their mean: about 1 at random moments.
	mostUneven = .5
	// mostRequests is how many times as often as one node by itself twenty may ask together with auto.
	mostRequests = 5
	// meanWait is the mean time between two entries of a feed.
	meanWait = 30 * time.Second
	// longestWait is longer than any node waits for its next poll by these policies.
	longestWait = 15 * time.Minute
)

// loopbackPolicies are config files by policy. Auto is given what makes its intervals short enough to be measured, 95
// seconds for a node alone: by default none is below half an hour.
var loopbackPolicies = []struct{ name, config string }{
	{"fixed", "[polling]\npolicy = \"fixed\"\ninterval = \"10m\"\n"},
	{"auto", "[polling]\npolicy = \"auto\"\ntarget_delay = \"150s\"\nmin = \"1m\"\n"},
}

// TestTwentyProcesses measures, by their publisher's log, how evenly twenty nodes poll a feed, each a process of its
// own, and how often, beside a node that is alone with a feed of the same entries. They start one after another in the
// first quarter of the time; only the second half of it counts. All policies are measured at the same time.
func TestTwentyProcesses(t *testing.T) {
	if *loopback <= 0 {
		t.Skip("it measures in real time: make loopback")
	}
	p := startPublisher(t)
	begun := time.Now()
	end := begun.Add(*loopback)
	var together, alone []*measured
	for _, policy := range loopbackPolicies {
		together = append(together, newMeasured(t, p, policy.name, "together", policy.config, begun, end))
		alone = append(alone, newMeasured(t, p, policy.name, "alone", policy.config, begun, end))
	}
	for _, m := range alone {
		m.start(t)
	}
	for i := range processes {
		for _, m := range together {
			m.start(t)
		}
		<-time.After(time.Until(begun.Add(*loopback / 4 * time.Duration(i+1) / processes)))
	}
	<-time.After(time.Until(end))
	p.keepLog(t, "out/loopback.log")
	for i, policy := range loopbackPolicies {
		gap, uneven := together[i].measure(t, p, begun.Add(*loopback/2), end)
		ownGap, _ := alone[i].measure(t, p, begun.Add(*loopback/2), end)
		times := ownGap.Seconds() / gap.Seconds()
		t.Logf("%s: together %.2f times as many requests as one", policy.name, times)
		if !(uneven <= mostUneven) {
			t.Errorf("%s: gaps deviate by %.2f of their mean, want %v at most", policy.name, uneven, mostUneven)
		}
		if policy.name == "auto" && !(times <= mostRequests) {
			t.Errorf("%s: %.2f times as many requests as one, want %v at most", policy.name, times, mostRequests)
		}
	}
}

// A measured network is one whose nodes follow a feed that nobody else follows, and find each other by a tracker.
type measured struct {
	path  string // of the feed
	nodes []*node
	args  []string // of each of them
}

// newMeasured publishes a feed for a network. When its entries come out is a Poisson process, which began three hours
// ago.
func newMeasured(t *testing.T, p *publisher, policy, who, config string, now, end time.Time) *measured {
	t.Helper()
	m := &measured{path: fmt.Sprintf("/%s/%s.xml", policy, who)}
	f, r := &published{title: m.path}, rand.New(rand.NewPCG(1, 2))
	for at := now.Add(-3 * time.Hour); at.Before(end); {
		at = at.Add(time.Duration(r.ExpFloat64() * float64(meanWait)))
		f.entries = append(f.entries, item{fmt.Sprintf("No. %d", len(f.entries)), at.Truncate(time.Second)})
	}
	p.mu.Lock()
	p.feeds[m.path] = f
	p.mu.Unlock()
	m.args = append(configured(t, startTracker(t), config), "--subscribe", p.server.URL+m.path)
	return m
}

// configured are the arguments of a node with that config file that finds others by a tracker.
func configured(t *testing.T, tracker, config string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "feedex.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--allow-private", "--config", file, "--tracker", tracker}
}

// start starts one more node.
func (m *measured) start(t *testing.T) {
	t.Helper()
	m.nodes = append(m.nodes, startNode(t, t.TempDir(), m.args...))
}

// measure returns the mean time between two requests for the feed, and how much these times deviate, in parts of it; a
// NaN if there are not two. It logs them, and after what time entries came, as far as every node polled after them.
func (m *measured) measure(t *testing.T, p *publisher, since, end time.Time) (gap time.Duration, uneven float64) {
	t.Helper()
	log := p.requests(m.path, since, end)
	gaps := float64(len(log) - 1)
	if gaps < 1 {
		return 0, math.NaN()
	}
	gap = time.Duration(float64(log[len(log)-1].Sub(log[0])) / gaps)
	var squares float64
	for i, at := range log[1:] {
		squares += math.Pow((at.Sub(log[i]) - gap).Seconds(), 2)
	}
	uneven = math.Sqrt(squares/gaps) / gap.Seconds()
	t.Logf("%-19s %4d requests, %5.1f an hour; gaps %5.1f s, deviation %.2f; entries come after %.0f s",
		m.path, len(log), time.Hour.Seconds()/gap.Seconds(), gap.Seconds(), uneven,
		m.delay(t, since, end.Add(-longestWait)).Seconds())
	return gap, uneven
}

// delay is the mean time from an entry's publication until it came to a node.
func (m *measured) delay(t *testing.T, since, until time.Time) time.Duration {
	t.Helper()
	var sum, came time.Duration
	for _, n := range m.nodes {
		for _, e := range n.archived(t) {
			if e.Published.After(since) && e.Published.Before(until) {
				sum, came = sum+e.Seen.Sub(e.Published), came+1
			}
		}
	}
	return sum / max(came, 1)
}

// archived are the latest 10,000 entries that the node keeps.
func (n *node) archived(t *testing.T) (entries []jsonl.Entry) {
	t.Helper()
	if err := json.Unmarshal([]byte(n.feedex(t, "query", "--json", "--limit", "10000")), &entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

// requests are the times of the requests for the feed at path within a time.
func (p *publisher) requests(path string, since, until time.Time) (times []time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.log {
		if r.path == path && r.at.After(since) && r.at.Before(until) {
			times = append(times, r.at)
		}
	}
	return times
}

// keepLog writes the publisher's log to a file.
func (p *publisher) keepLog(t *testing.T, file string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, r := range p.log {
		fmt.Fprintf(&b, "%s %s %s\n", r.at.UTC().Format(time.RFC3339Nano), r.path, r.agent)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
