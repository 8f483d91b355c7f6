package experiment

import (
	"time"

	"feedex/lab"
)

// A CrowdRow is what came of one crowd.
type CrowdRow struct {
	Name    string         `json:"name"`
	Hash    string         `json:"hash"`
	Steps   int64          `json:"steps"`
	Partial bool           `json:"partial,omitempty"`
	Groups  [classes]Group `json:"groups"` // ordinary, slow, few feeds, few links, dishonest
	Honest  Group          `json:"honest"` // the first four
}

// A Group is the nodes of one kind. Lags are the means of the nodes' means, in seconds.
type Group struct {
	Nodes    int     `json:"nodes"`
	Reading  int     `json:"reading"`  // of these, in whose feeds something came out
	Coverage float64 `json:"coverage"` // share of the entries of own feeds that came, the mean of the nodes
	Lag      float64 `json:"lag"`
	Alone    float64 `json:"sln_lag"` // of own polls
	Calls    float64 `json:"calls"`   // made, a node a minute
	Served   float64 `json:"entries"` // delivered to it, a node an hour, whatever feed they are of
}

// window is which entries count: those that came out when links were made and strangers had shown what they
// are worth, and so early that a node that polls every c.Every has polled by the end. The slow, which poll half as
// often, may lack some of the last for that reason alone.
func (c *crowd) window() (from, to time.Duration) {
	return min(c.Length/4, 12*time.Hour), c.Length - c.Every
}

// measure sums up the crowd.
func (g *gathering) measure(c crowd) CrowdRow {
	row := CrowdRow{Hash: g.w.Hash(), Steps: g.w.Steps()}
	var parts [classes]members
	var honest members
	for i, h := range g.hosts {
		parts[g.class[i]].add(c, g.w, h)
		if g.class[i] != bad {
			honest.add(c, g.w, h)
		}
	}
	for i := range parts {
		row.Groups[i] = parts[i].group()
	}
	row.Honest = honest.group()
	return row
}

// members gathers a Group node by node.
type members struct {
	nodes                                int
	coverage, lags, alone, calls, served []float64
}

// add takes in a host, nil for one that has not joined.
func (m *members) add(c crowd, w *lab.World, h *lab.Host) {
	if h == nil {
		return
	}
	m.nodes++
	ran := w.Now().Sub(c.Start)
	m.calls = append(m.calls, float64(h.Made.Total().Calls)/ran.Minutes())
	m.served = append(m.served, float64(h.Received[lab.PutEntries].Items)/ran.Hours())
	from, to := c.window()
	var lag, alone float64
	var all, came, polled int
	for _, s := range h.Sights(w.Now()) {
		if s.Published < from || s.Published >= to {
			continue
		}
		all++
		if s.Any != lab.Never {
			came++
			lag += (s.Any - s.Published).Seconds()
		}
		if s.Own != lab.Never {
			polled++
			alone += (s.Own - s.Published).Seconds()
		}
	}
	if all > 0 {
		m.coverage = append(m.coverage, float64(came)/float64(all))
	}
	if came > 0 {
		m.lags = append(m.lags, lag/float64(came))
	}
	if polled > 0 {
		m.alone = append(m.alone, alone/float64(polled))
	}
}

func (m *members) group() Group {
	return Group{
		Nodes: m.nodes, Reading: len(m.coverage), Coverage: mean(m.coverage), Lag: mean(m.lags), Alone: mean(m.alone),
		Calls: mean(m.calls), Served: mean(m.served),
	}
}
