package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// PaperTurns is what it is worth that nodes poll in turn and waive first polls, in the networks of a Paper: against
// nodes that do neither, at as many requests as those make, by the default policy, and where the network is worse. The
// zero value of each field means its default.
type PaperTurns struct {
	Paper
	Seeds int // how many, from Seed on; default 1. Intervals are matched by their means.
}

// A turnsCase is a network that PaperTurns compares.
type turnsCase struct {
	name   string
	change func(*network)
}

// turnsCases are the networks in the order of the table, but for those that take their interval from the first two.
var turnsCases = []turnsCase{
	{"without turns", func(n *network) { n.Alone = true }},
	{"in turn", func(*network) {}},
	{"by auto", func(n *network) { n.Policy = auto }},
	{"20% of messages lost", func(n *network) { n.Links.Loss = .2 }},
	{"60% in earshot", func(n *network) { n.Earshot = .6 }},
	{"17% cannot poll", func(n *network) { n.Unable = .17 }},
}

// A turnsMatch is a network in turn whose interval makes it the equal of the first case in one thing, and what was
// aimed at in the other, by hours between polls in the networks of the paper.
type turnsMatch struct {
	name  string
	ratio func(first, matched TurnsRow) float64 // by which its interval is too short
	aims  map[float64]string
}

var turnsMatches = []turnsMatch{
	{"as many requests",
		func(first, m TurnsRow) float64 { return report.Mean(m.Requests) / report.Mean(first.Requests) },
		map[float64]string{16: "8 min", 8: "4.8 min", 4: "2.5 min", 2: "1.3 min", 1: ".75 min", .5: ".5 min"}},
	{"as late", func(first, m TurnsRow) float64 { return report.Mean(first.Lag) / report.Mean(m.Lag) },
		map[float64]string{16: "35%", 4: "45%"}},
}

// rounds is how often that interval is put right. Neither requests nor lags are quite in proportion to it, as those of
// the start are not: after one round 4% of the requests are missing at 16 hours.
const rounds = 2

// A TurnsRow is the outcome of one case at one interval: a figure of each seed, in their order, but for networks that
// had not begun when somebody interrupted.
type TurnsRow struct {
	Case     string        `json:"case"`
	Interval time.Duration `json:"interval_ns"` // with which it is compared
	Every    time.Duration `json:"every_ns"`    // between polls
	Lag      []float64     `json:"lag"`         // seconds, the mean of the nodes' means
	Wide     []float64     `json:"wide"`        // seconds, from their 5th to their 95th percentile
	Coverage []float64     `json:"coverage"`    // share of what was published
	Calls    []float64     `json:"calls"`       // that a node receives in a minute
	Bytes    []float64     `json:"bytes"`       // of calls, a node and minute; none without encoding
	Requests []float64     `json:"requests"`    // at publishers
}

// Run runs the networks. If ctx ends before they do, the Report says so and shows what there was by then. The error
// wraps ErrSetting.
func (t PaperTurns) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	p, feeds, err := t.withDefaults()
	if err != nil {
		return nil, err
	}
	if t.Paper, t.Seeds = p, cmp.Or(t.Seeds, 1); t.Seeds < 1 || t.Seeds > maxSeeds {
		return nil, impossible("%d seeds; want 1 to %d", t.Seeds, maxSeeds)
	}
	r := newReport("Polls in turn, in the networks of the FeedEx paper (§4)", t.Seed, t.Traces)
	r.Setting = []string{
		fmt.Sprintf("%d nodes in each network, of which %d vanish for good; %s, for %s h; seeds %d to %d", t.Nodes,
			t.Failing, t.follows(feeds), report.Hours(t.Length), t.Seed, int(t.Seed)+t.Seeds-1),
	}
	cases, intervals := len(turnsCases), len(t.Intervals)
	done, runs := 0, float64(intervals*(cases+rounds*len(turnsMatches)))
	part := func(count int) Progress {
		before := float64(done)
		done += count
		return func(share float64) {
			if progress != nil {
				progress((before + share*float64(count)) / runs)
			}
		}
	}
	rows := t.rows(ctx, feeds, turnsCases, t.Intervals, r, part(intervals*cases))
	matched := make([][]TurnsRow, len(turnsMatches)) // by interval each
	for k, m := range turnsMatches {
		for i := range intervals {
			matched[k] = append(matched[k], rows[i*cases+1])
		}
		for range rounds {
			nearer := each(matched[k], func(row TurnsRow) time.Duration { return row.Every })
			for i := range nearer {
				by := m.ratio(rows[i*cases], matched[k][i])
				if by > 0 && by < math.Inf(1) { // both have figures
					nearer[i] = time.Duration(float64(nearer[i]) * by)
				}
			}
			matched[k] = t.rows(ctx, feeds, []turnsCase{{m.name, func(*network) {}}}, nearer, r, part(intervals))
		}
	}
	var all []TurnsRow
	for i, every := range t.Intervals {
		all = append(all, rows[i*cases:(i+1)*cases]...)
		for k := range matched {
			matched[k][i].Interval = every
			all = append(all, matched[k][i])
		}
	}
	r.Result, r.Tables = all, []report.Table{turnsTable(all)}
	return r, nil
}

// rows runs each case at each interval with each seed: by interval, then by case.
func (t PaperTurns) rows(ctx context.Context, feeds []trace.Timeline, cases []turnsCase, intervals []time.Duration,
	r *report.Report, progress Progress) []TurnsRow {
	start := weekday(t.Traces, t.Length)
	runs := len(intervals) * len(cases) * t.Seeds
	networks := together(newMeter(progress, equal(runs)), func(i int, tell Progress) PaperRow {
		p, every := t.Paper, intervals[i/t.Seeds/len(cases)]
		p.Seed += lab.Seed(i % t.Seeds)
		n := p.network(feeds, start, every)
		cases[i/t.Seeds%len(cases)].change(&n)
		return p.run(ctx, p.world(n), every, start, tell)
	})
	var rows []TurnsRow
	for i, n := range networks {
		r.Took(n.Hash, n.Steps)
		if i%t.Seeds == 0 {
			every := intervals[i/t.Seeds/len(cases)]
			rows = append(rows, TurnsRow{Case: cases[i/t.Seeds%len(cases)].name, Interval: every, Every: every})
		}
		if n.Ran == 0 {
			continue // it was interrupted before it began
		}
		row := &rows[len(rows)-1]
		lag := n.Exchange.Lag
		row.Lag, row.Wide = append(row.Lag, lag.Mean), append(row.Wide, lag.P95-lag.P5)
		row.Coverage = append(row.Coverage, 1-n.Exchange.Miss.Mean)
		row.Calls = append(row.Calls, n.Checks.Mean+n.Puts.Mean+n.Other.Mean)
		row.Bytes = append(row.Bytes, n.Bytes.Mean)
		row.Requests = append(row.Requests, float64(n.Requests))
	}
	r.Partial = cmp.Or(r.Partial, howFar(each(networks, func(n PaperRow) time.Duration { return n.Ran }), t.Length))
	return rows
}

func turnsTable(rows []TurnsRow) report.Table {
	t := report.Table{
		Title: "Mean over seeds, and from the least to the most",
		Columns: []string{"interval h", "every h", "lag min", "spread", "coverage", "calls", "bytes", "requests",
			"of those without", "aim"},
		Notes: []string{"Lag is the mean of the nodes' means, from when an entry was published; spread, from their " +
			"5th to their 95th percentile, in minutes. Calls that a node receives, and bytes of those and its own, a " +
			"minute. The aims, for lag and for requests of those without turns, are those of 189 nodes."},
	}
	first := 0.
	for _, r := range rows {
		if len(r.Lag) == 0 {
			continue
		}
		bytes, aim := report.Unknown, report.Unknown
		if b := report.Mean(r.Bytes); b > 0 {
			bytes = fmt.Sprintf("%.0f", b)
		}
		for _, m := range turnsMatches {
			if r.Case == m.name {
				aim = cmp.Or(m.aims[r.Interval.Hours()], aim)
			}
		}
		if r.Case == turnsCases[0].name {
			first = report.Mean(r.Requests)
		}
		t.Row(report.Hours(r.Interval)+", "+r.Case, report.Hours(r.Every), report.RangeOf(r.Lag).Text(60, "%.1f"),
			report.Minutes(report.Mean(r.Wide)), report.Percent(report.Mean(r.Coverage)), report.Mean(r.Calls), bytes,
			report.RangeOf(r.Requests).Text(1, "%.0f"), report.Percent(report.Mean(r.Requests)/max(1, first)), aim)
	}
	return t
}
