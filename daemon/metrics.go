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
// neighbor would be a series for each.
type metric struct {
	name, help string
	value      float64
}

func figure[N int | int64 | float64](name, help string, value N) metric {
	return metric{name, help, float64(value)}
}

// gauges are the metrics that may fall. Those of the node are left out while it rests.
func gauges(r *control.Report) []metric {
	keeping := 1
	if r.Storage != "" {
		keeping = 0
	}
	list := []metric{
		figure("archive_entries", "Entries that the archive holds.", r.Archive.Entries),
		figure("archive_bytes", "Size of the archive on disk.", r.Archive.Bytes),
		figure("archive_free_bytes", "Of the size of the archive, what holds nothing.", r.Archive.Free),
		figure("keeping", "1 while entries can be stored, else 0.", keeping),
	}
	if r.Status == nil {
		return list
	}
	return append(list,
		figure("feeds", "Feeds that the node follows.", r.Feeds),
		figure("feeds_alone", "Of the feeds, those that no neighbor offers.", r.Alone),
		figure("feeds_ended", "Of the feeds, those that are gone for good.", r.Ended),
		figure("feeds_with_gaps", "Of the feeds, those of which entries are missing.", r.Gaps),
		figure("neighbors", "Neighbors that are linked.", r.Neighbors),
		figure("neighbors_hosted", "Of the neighbors, those that others cannot dial.", r.Hosted),
	)
}

// counters are the metrics that only rise, until the node starts anew. Those of the node are left out while it rests.
func counters(r *control.Report) []metric {
	list := []metric{
		figure("calls_made_total", "Calls to other nodes and trackers that had an answer.", r.Traffic.Made),
		figure("calls_answered_total", "Calls of other nodes.", r.Traffic.Answered),
		figure("calls_bytes_total",
			"Bytes in both directions between the node and others, publishers left out.", r.Traffic.Bytes),
		figure("hosting_bytes_total", "Bytes in both directions to hosted neighbors.", r.Reach.HostedBytes),
	}
	if r.Status == nil {
		return list
	}
	c := &r.Counters
	return append(list,
		figure("polls_total", "Polls that publishers answered.", c.Polls),
		figure("polls_failed_total", "Polls that ended in an error.", c.PollsFailed),
		figure("polls_not_modified_total", "Polls that were answered \"not modified\".", c.NotModified),
		figure("polls_waived_total", "First polls that were left to neighbors.", c.PollsWaived),
		figure("polls_spared_total", "Polls that what neighbors bring made needless.", c.PollsSpared),
		figure("entries_polled_total", "Entries that an own poll brought first.", c.Polled),
		figure("entries_backlog_total",
			"Entries that the first poll of a feed brought, of those that own polls did.", c.Backlog),
		figure("entries_delivered_total", "Entries that a neighbor brought first.", c.Delivered),
		figure("entries_confirmed_total",
			"Entries that a neighbor brought first and an own poll then showed.", c.Confirmed),
		figure("entries_duplicate_total", "Entries received that were known already.", c.Duplicates),
		figure("entries_forged_total", "Entries that a neighbor claimed and the publisher never listed.", c.Forged),
		figure("entries_altered_total", "Versions that a neighbor brought and the publisher never had.", c.Altered),
		figure("entries_unkept_total", "Entries refused for the quota of what no own poll has shown.", c.Unkept),
		figure("entries_forwarded_total", "Entries delivered to neighbors.", c.Forwarded),
		figure("checks_sent_total", "Bundles offered to neighbors.", c.ChecksSent),
		figure("checks_seen_total", "Of the bundles offered, those that were answered \"seen\".", c.ChecksSeen),
		figure("checks_received_total", "Bundles that neighbors offered.", c.ChecksAsked),
		figure("notices_sent_total", "Polls of which neighbors were told.", c.NoticesSent),
		figure("notices_received_total", "Polls of which neighbors told.", c.NoticesHeard),
		figure("bundles_sent_total", "Bundles delivered.", c.PutsSent),
		figure("bundles_received_total", "Bundles received.", c.PutsReceived),
		figure("bundles_refused_total", "Bundles received and refused.", c.PutsRefused),
		figure("bundles_broken_total", "Bundles that neighbors offered and did not have.", c.Broken),
		figure("bundles_tampered_total", "Bundles whose path named this node without cause.", c.PathsTampered),
		figure("audits_total", "Offers answered \"unseen\" to see whether they are true.", c.Audits),
		figure("calls_failed_total", "Calls to other nodes and trackers that ended in an error.", c.CallsFailed),
	)
}

// reported is a node's report as metrics.
type reported struct{ control.Report }

// Describe implements prometheus.Collector. To say nothing is allowed: the registry looks at what Collect tells.
func (reported) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r reported) Collect(to chan<- prometheus.Metric) {
	tell := func(list []metric, kind prometheus.ValueType) {
		for _, m := range list {
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc("feedex_"+m.name, m.help, nil, nil), kind, m.value)
		}
	}
	tell(gauges(&r.Report), prometheus.GaugeValue)
	tell(counters(&r.Report), prometheus.CounterValue)
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
