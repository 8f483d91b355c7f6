package daemon

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"feedex/control"
	"feedex/node"
)

// A metric is one of a node's figures, as Prometheus takes it. None has a label: what a node counts for each feed or
// neighbor would be a series for each. Those that the node counts are left out while it rests.
type metric struct {
	name, help string
	ofNode     bool
	value      func(*control.Report) float64
}

func ofHost(name, help string, value func(*control.Report) int64) metric {
	return metric{name, help, false, func(r *control.Report) float64 { return float64(value(r)) }}
}

func ofNode(name, help string, value func(*node.Status) int) metric {
	return metric{name, help, true, func(r *control.Report) float64 { return float64(value(r.Status)) }}
}

func counted[N int64 | float64](name, help string, value func(*node.Counters) N) metric {
	return metric{name, help, true, func(r *control.Report) float64 { return float64(value(&r.Counters)) }}
}

// gauges are the metrics that may fall.
var gauges = []metric{
	ofNode("feeds", "Feeds that the node follows.", func(s *node.Status) int { return s.Feeds }),
	ofNode("feeds_alone", "Of the feeds, those that no neighbor offers.",
		func(s *node.Status) int { return s.Alone }),
	ofNode("feeds_ended", "Of the feeds, those that are gone for good.",
		func(s *node.Status) int { return s.Ended }),
	ofNode("feeds_with_gaps", "Of the feeds, those of which entries are missing.",
		func(s *node.Status) int { return s.Gaps }),
	ofNode("neighbors", "Neighbors that are linked.", func(s *node.Status) int { return s.Neighbors }),
	ofNode("neighbors_hosted", "Of the neighbors, those that others cannot dial.",
		func(s *node.Status) int { return s.Hosted }),
	ofHost("archive_entries", "Entries that the archive holds.",
		func(r *control.Report) int64 { return r.Archive.Entries }),
	ofHost("archive_bytes", "Size of the archive on disk.", func(r *control.Report) int64 { return r.Archive.Bytes }),
	ofHost("archive_free_bytes", "Of the size of the archive, what holds nothing.",
		func(r *control.Report) int64 { return r.Archive.Free }),
	ofHost("keeping", "1 while entries can be stored, else 0.", func(r *control.Report) int64 {
		if r.Storage != "" {
			return 0
		}
		return 1
	}),
}

// counters are the metrics that only rise, until the node starts anew.
var counters = []metric{
	counted("polls_total", "Polls that publishers answered.", func(c *node.Counters) int64 { return c.Polls }),
	counted("polls_failed_total", "Polls that ended in an error.",
		func(c *node.Counters) int64 { return c.PollsFailed }),
	counted("polls_not_modified_total", "Polls that were answered \"not modified\".",
		func(c *node.Counters) int64 { return c.NotModified }),
	counted("polls_waived_total", "First polls that were left to neighbors.",
		func(c *node.Counters) int64 { return c.PollsWaived }),
	counted("polls_spared_total", "Polls that what neighbors bring made needless.",
		func(c *node.Counters) float64 { return c.PollsSpared }),
	counted("entries_polled_total", "Entries that an own poll brought first.",
		func(c *node.Counters) int64 { return c.Polled }),
	counted("entries_backlog_total", "Entries that the first poll of a feed brought, of those that own polls did.",
		func(c *node.Counters) int64 { return c.Backlog }),
	counted("entries_delivered_total", "Entries that a neighbor brought first.",
		func(c *node.Counters) int64 { return c.Delivered }),
	counted("entries_confirmed_total", "Entries that a neighbor brought first and an own poll then showed.",
		func(c *node.Counters) int64 { return c.Confirmed }),
	counted("entries_duplicate_total", "Entries received that were known already.",
		func(c *node.Counters) int64 { return c.Duplicates }),
	counted("entries_forged_total", "Entries that a neighbor claimed and the publisher never listed.",
		func(c *node.Counters) int64 { return c.Forged }),
	counted("entries_altered_total", "Versions that a neighbor brought and the publisher never had.",
		func(c *node.Counters) int64 { return c.Altered }),
	counted("entries_unkept_total", "Entries refused for the quota of what no own poll has shown.",
		func(c *node.Counters) int64 { return c.Unkept }),
	counted("entries_forwarded_total", "Entries delivered to neighbors.",
		func(c *node.Counters) int64 { return c.Forwarded }),
	counted("checks_sent_total", "Bundles offered to neighbors.", func(c *node.Counters) int64 { return c.ChecksSent }),
	counted("checks_seen_total", "Of the bundles offered, those that were answered \"seen\".",
		func(c *node.Counters) int64 { return c.ChecksSeen }),
	counted("checks_received_total", "Bundles that neighbors offered.",
		func(c *node.Counters) int64 { return c.ChecksAsked }),
	counted("notices_sent_total", "Polls of which neighbors were told.",
		func(c *node.Counters) int64 { return c.NoticesSent }),
	counted("notices_received_total", "Polls of which neighbors told.",
		func(c *node.Counters) int64 { return c.NoticesHeard }),
	counted("bundles_sent_total", "Bundles delivered.", func(c *node.Counters) int64 { return c.PutsSent }),
	counted("bundles_received_total", "Bundles received.", func(c *node.Counters) int64 { return c.PutsReceived }),
	counted("bundles_refused_total", "Bundles received and refused.",
		func(c *node.Counters) int64 { return c.PutsRefused }),
	counted("bundles_broken_total", "Bundles that neighbors offered and did not have.",
		func(c *node.Counters) int64 { return c.Broken }),
	counted("bundles_tampered_total", "Bundles whose path named this node without cause.",
		func(c *node.Counters) int64 { return c.PathsTampered }),
	counted("audits_total", "Offers answered \"unseen\" to see whether they are true.",
		func(c *node.Counters) int64 { return c.Audits }),
	counted("calls_failed_total", "Calls to other nodes and trackers that ended in an error.",
		func(c *node.Counters) int64 { return c.CallsFailed }),
	ofHost("calls_made_total", "Calls to other nodes and trackers that had an answer.",
		func(r *control.Report) int64 { return r.Traffic.Made }),
	ofHost("calls_answered_total", "Calls of other nodes.",
		func(r *control.Report) int64 { return r.Traffic.Answered }),
	ofHost("calls_bytes_total", "Bytes in both directions between the node and others, publishers left out.",
		func(r *control.Report) int64 { return r.Traffic.Bytes }),
	ofHost("hosting_bytes_total", "Bytes in both directions to hosted neighbors.",
		func(r *control.Report) int64 { return r.Reach.HostedBytes }),
}

// reported is a node's report as metrics.
type reported struct{ control.Report }

// Describe implements prometheus.Collector. To say nothing is allowed: the registry looks at what Collect tells.
func (reported) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r reported) Collect(to chan<- prometheus.Metric) {
	tell := func(list []metric, kind prometheus.ValueType) {
		for _, m := range list {
			if m.ofNode && r.Status == nil {
				continue
			}
			desc := prometheus.NewDesc("feedex_"+m.name, m.help, nil, nil)
			to <- prometheus.MustNewConstMetric(desc, kind, m.value(&r.Report))
		}
	}
	tell(gauges, prometheus.GaugeValue)
	tell(counters, prometheus.CounterValue)
}

// metrics serves the node's figures to Prometheus: all of one answer are of one moment.
func (h *host) metrics(w http.ResponseWriter, r *http.Request) {
	report, err := h.Status(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(reported{report})
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

const (
	// turnTime is how long the loop may take to answer before it counts as one that hangs.
	turnTime = 5 * time.Second
	// healthTime is for how long an answer about the node's health holds: whoever asks all the time, which takes no
	// password, costs the loop one look in that time.
	healthTime = time.Second
)

// health is what was last found out about whether the node works. The zero value is ready.
type health struct {
	mu      sync.Mutex
	problem string // in a word or two, "" for none
	at      time.Time
}

// healthOf is why the node does not work, "" where it does.
func (h *host) healthOf(ctx context.Context) string {
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	if !h.health.at.IsZero() && time.Since(h.health.at) < healthTime {
		return h.health.problem
	}
	// Others wait for the answer, whatever becomes of the request that asked first.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), turnTime)
	defer cancel()
	problem, err := look(asking, h.loop, func(*node.Node) (string, error) {
		if h.storage.problem != nil {
			return "nothing is kept", nil
		}
		return "", nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		problem = "the loop hangs"
	}
	h.health.problem, h.health.at = problem, time.Now()
	return problem
}

// healthz tells whoever watches over the node whether it works. Why it does not, its status tells its owner.
func (h *host) healthz(w http.ResponseWriter, r *http.Request) {
	if problem := h.healthOf(r.Context()); problem != "" {
		http.Error(w, problem, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // whoever has gone away is no concern of ours
}
