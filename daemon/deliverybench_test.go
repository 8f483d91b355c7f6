//go:build unix

package daemon

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/polling"
)

// BenchmarkDelivery runs 16 nodes on loopback that follow one feed, with a new entry of 600 bytes every second. One of
// them polls it as often, the others hear of it by their neighbors. All are in this process, each with its archive
// on disk. It takes a minute, and says what a delivery to a node costs with all that goes with it, offers and the
// publisher included: processor time, calls, and bytes of HTTP without TCP and IP; and how long after the poll that
// brought the entry it came to a node.
func BenchmarkDelivery(b *testing.B) {
	const size, settled, lasts = 16, 5 * time.Second, time.Minute
	news := &newsAgency{first: time.Now()}
	srv := httptest.NewServer(news)
	b.Cleanup(srv.Close)
	u := feed.URL(srv.URL + "/feed.xml")
	var wire traffic
	var arrivals arrivals
	var nodes []*testNode
	for i := range size {
		c := Config{Subscribe: []feed.URL{u}, Observe: arrivals.note, metered: wire.listen,
			Node: node.Config{Policy: polling.Fixed{Every: 30 * 24 * time.Hour}}}
		if i == 0 {
			c.Node.Policy = polling.Fixed{Every: time.Second}
		}
		for _, n := range nodes[max(0, i-5):] {
			c.Node.Peers = append(c.Node.Peers, n.at.Listen)
		}
		nodes = append(nodes, startNode(b, c))
		nodes[i].waitArrival(u)
	}
	for b.Loop() {
		<-time.After(settled)
		arrivals.restart()
		used, before := busy(b), wire.load()
		<-time.After(lasts)
		delays := arrivals.stop()
		used, now := busy(b)-used, wire.load()
		n := float64(len(delays))
		b.ReportMetric(float64(used.Microseconds())/1000/n, "cpu-ms/delivery")
		b.ReportMetric(float64(now.bytes-before.bytes)/n, "B/delivery")
		b.ReportMetric(float64(now.answers-before.answers)/n, "calls/delivery")
		b.ReportMetric(n/lasts.Seconds()/(size-1), "delivered/entry")
		slices.Sort(delays)
		b.ReportMetric(float64(delays[len(delays)/2].Milliseconds()), "ms-median")
		b.ReportMetric(float64(delays[len(delays)*95/100].Milliseconds()), "ms-p95")
	}
}

// A newsAgency publishes an entry every second, and lists the latest twenty.
type newsAgency struct{ first time.Time }

func (a *newsAgency) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	latest := int(time.Since(a.first) / time.Second)
	fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Agency</title><id>urn:agency</id>`)
	for i := max(0, latest-19); i <= latest; i++ {
		at := a.first.Add(time.Duration(i) * time.Second).UTC().Format(time.RFC3339)
		fmt.Fprintf(w, `<entry><id>urn:agency:%d</id><updated>%s</updated><title>%d</title>`, i, at, i)
		fmt.Fprintf(w, `<summary>%s</summary></entry>`, strings.Repeat("Some words. ", 50))
	}
	fmt.Fprint(w, `</feed>`)
}

// arrivals are when entries came to nodes, by neighbors, after they had come to the first one by a poll.
type arrivals struct {
	mu     sync.Mutex
	polled map[string]time.Time
	delays []time.Duration
}

func (a *arrivals) note(now time.Time, note node.Note) {
	got, ok := note.(node.Arrived)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range got.Records {
		switch at, known := a.polled[r.Entry.ID]; {
		case got.Source.IsZero() && a.polled != nil:
			a.polled[r.Entry.ID] = now
		case known:
			a.delays = append(a.delays, now.Sub(at))
		}
	}
}

// restart forgets what came before.
func (a *arrivals) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.polled, a.delays = make(map[string]time.Time), nil
}

// stop returns how long entries took.
func (a *arrivals) stop() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.delays)
}

// traffic counts what passes over the connections that nodes accept from each other.
type traffic struct {
	mu    sync.Mutex
	total passed
}

// passed is what passed over connections: bytes, and answers, which are one write each where they are short.
type passed struct{ bytes, answers int }

func (t *traffic) load() passed {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

func (t *traffic) add(bytes, answers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.bytes += bytes
	t.total.answers += answers
}

// listen counts what passes over connections of ln.
func (t *traffic) listen(ln net.Listener) net.Listener { return &meteredListener{ln, t} }

type meteredListener struct {
	net.Listener
	traffic *traffic
}

func (l *meteredListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &meteredConn{c, l.traffic}, nil
}

type meteredConn struct {
	net.Conn
	traffic *traffic
}

func (c *meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.traffic.add(n, 0)
	return n, err
}

func (c *meteredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.traffic.add(n, 1)
	return n, err
}
