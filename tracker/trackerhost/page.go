package trackerhost

import (
	"html/template"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"feedex/tracker"
)

// page is the status page: plain, readable without a style sheet, safe to show to strangers.
var page = template.Must(template.New("tracker").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>feedex tracker</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
td { padding: .1rem 1rem .1rem 0 } td + td { text-align: right; font-variant-numeric: tabular-nums }
</style>
<h1>feedex tracker</h1>
<p>This server tells <b>feedex</b> nodes of each other, so that they can exchange the entries of the feeds
they follow. It sees no feeds and no entries. To use it, start a node with
<code>feedex node --tracker http://{{.Host}}/</code>.</p>
<table>
<tr><td>Nodes on the list<td>{{.Listed}}
<tr><td>Hosts they are on<td>{{.Hosts}}
<tr><td>Nodes known<td>{{.Known}}{{if .Full}}, which is all that fit{{end}}
<tr><td>Callers turned away<td>{{.TurnedAway}}
<tr><td>Calls answered<td>{{.Calls}}
<tr><td>Addresses handed out<td>{{.Handed}}
<tr><td>Running for<td>{{.Uptime}}
</table>
<p>Figures count since the start. <a href="/metrics">Metrics</a> are in the Prometheus format.</p>
`))

// page shows how the tracker is doing.
func (t *registryHost) page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	// A browser that has gone away is no concern of ours.
	_ = page.Execute(w, struct {
		tracker.Status
		Host   string
		Uptime time.Duration
	}{t.status(), r.Host, time.Since(t.started).Round(time.Second)})
}

// metrics serves the tracker's figures to Prometheus.
func (t *registryHost) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	gauge := func(name, help string, value func(tracker.Status) float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "feedex", Subsystem: "tracker",
			Name: name, Help: help},
			func() float64 { return value(t.status()) }))
	}
	counter := func(name, help string, value func(tracker.Status) int64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "feedex",
			Subsystem: "tracker", Name: name, Help: help},
			func() float64 { return float64(value(t.status())) }))
	}
	gauge("nodes_known", "Nodes remembered.", func(s tracker.Status) float64 { return float64(s.Known) })
	gauge("nodes_listed", "Nodes that may be handed out.", func(s tracker.Status) float64 { return float64(s.Listed) })
	gauge("hosts_listed", "Hosts of the nodes that may be handed out.",
		func(s tracker.Status) float64 { return float64(s.Hosts) })
	gauge("call_backs_pending", "Call backs under way.", func(s tracker.Status) float64 { return float64(s.Pending) })
	counter("calls_total", "Calls answered.", func(s tracker.Status) int64 { return s.Calls })
	counter("call_backs_total", "Nodes called back.", func(s tracker.Status) int64 { return s.CallBacks })
	counter("call_backs_confirmed_total", "Call backs that a node answered.",
		func(s tracker.Status) int64 { return s.Confirmed })
	counter("call_backs_failed_total", "Call backs that nobody answered.",
		func(s tracker.Status) int64 { return s.Failed })
	counter("turned_away_total", "Callers that could not be remembered.",
		func(s tracker.Status) int64 { return s.TurnedAway })
	counter("addresses_handed_total", "Addresses handed out.", func(s tracker.Status) int64 { return s.Handed })
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// healthz tells whoever watches over the tracker whether it works, as a node's does. Why the list is not saved, the log
// says.
func (t *registryHost) healthz(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	unsaved := t.unsaved
	t.mu.Unlock()
	if unsaved {
		http.Error(w, "the list is not saved", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // whoever has gone away is no concern of ours
}
