package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What processes use is what Linux says of them under /proc, where a tick is a hundredth of a second (proc(5)).
const tick = time.Second / 100

// spent is the processor time of the node so far.
func (n *node) spent(t *testing.T) time.Duration {
	t.Helper()
	f := n.proc(t, "stat", 14)
	return time.Duration(number(t, f[11])+number(t, f[12])) * tick // utime and stime
}

// A count is what a node has used and exchanged so far.
type count struct{ at, cpu, calls, bytes, delivered float64 } // at and cpu in seconds

// counted is what the node counts.
func (n *node) counted(t *testing.T) (c count) {
	t.Helper()
	status, text := ask(t, http.MethodGet, n.url("/metrics"), "")
	if status != http.StatusOK {
		t.Fatalf("metrics: %d", status)
	}
	c.at, c.cpu = float64(time.Now().UnixMicro())/1e6, n.spent(t).Seconds()
	for line := range strings.Lines(text) {
		name, figure, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, _ := strconv.ParseFloat(figure, 64)
		switch name {
		case "feedex_calls_made_total", "feedex_calls_answered_total":
			c.calls += v
		case "feedex_calls_bytes_total":
			c.bytes = v
		case "feedex_entries_delivered_total":
			c.delivered = v
		}
	}
	return c
}

// since is what it comes to a minute since an earlier count.
func (c count) since(e count) count {
	minutes := (c.at - e.at) / 60
	return count{at: minutes, cpu: (c.cpu - e.cpu) / minutes, calls: (c.calls - e.calls) / minutes,
		bytes: (c.bytes - e.bytes) / minutes, delivered: (c.delivered - e.delivered) / minutes}
}

// A steady network is one whose nodes follow a feed with an entry in every period, which the first of them polls as
// often; the others poll once a month.
type steady struct {
	url     string
	tracker string
	period  time.Duration
	nodes   []*node
}

// newSteady publishes a feed for a network until then; a period of 0 is that of a feed without news.
func newSteady(t *testing.T, p *publisher, period time.Duration, until time.Time) *steady {
	t.Helper()
	path := fmt.Sprintf("/every/%s.xml", period)
	f := &published{title: path, window: 10, entries: []item{{"The first", time.Now().Add(-time.Hour)}}}
	for at := time.Now(); period > 0 && at.Before(until); at = at.Add(period) {
		f.entries = append(f.entries, item{fmt.Sprintf("No. %d", len(f.entries)), at})
	}
	p.mu.Lock()
	p.feeds[path] = f
	p.mu.Unlock()
	return &steady{url: p.server.URL + path, tracker: startTracker(t), period: period}
}

// grow starts nodes until there are so many.
func (s *steady) grow(t *testing.T, size int) {
	t.Helper()
	for len(s.nodes) < size {
		every := 30 * 24 * time.Hour
		if len(s.nodes) == 0 && s.period > 0 {
			every = s.period
		}
		config := fmt.Sprintf("[polling]\npolicy = \"fixed\"\ninterval = \"%ds\"\n", int(every.Seconds()))
		s.nodes = append(s.nodes,
			startNode(t, t.TempDir(), append(configured(t, s.tracker, config), "--subscribe", s.url)...))
	}
}

// held is the memory that nodes hold, in bytes.
func held(t *testing.T, nodes []*node) (sum int64) {
	t.Helper()
	for _, n := range nodes {
		sum += number(t, n.proc(t, "statm", 2)[1]) * int64(os.Getpagesize())
	}
	return sum
}

// spentBy is the processor time of several nodes so far.
func spentBy(t *testing.T, nodes []*node) (sum time.Duration) {
	t.Helper()
	for _, n := range nodes {
		sum += n.spent(t)
	}
	return sum
}

// proc are the fields of a file about the node's process, behind its name where there is one, and at least so many.
func (n *node) proc(t *testing.T, file string, least int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", n.pid, file))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
	if len(fields) < least {
		t.Fatalf("%s of %d has %d fields", file, n.pid, len(fields))
	}
	return fields
}

// number is a number as the kernel writes it.
func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// machineLoad is the load of the whole machine, others' programs included.
func machineLoad(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	return "load average of the machine " + strings.Join(strings.Fields(string(text))[:3], ", ")
}

// A mean is that of the values added.
type mean struct{ sum, n float64 }

func (m *mean) add(v float64)  { m.sum, m.n = m.sum+v, m.n+1 }
func (m *mean) value() float64 { return m.sum / m.n }
