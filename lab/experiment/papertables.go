package experiment

import (
	"fmt"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab/report"
	"feedex/lab/trace"
)

// Statements of the paper, by interval. Table 3 names all bundle sizes; the text of §4.4 and the abstract name the
// rest.
var (
	paperBundle = map[time.Duration]float64{every(.5): 2.67, every(1): 2.63, every(2): 2.83, every(4): 2.87,
		every(8): 3.29, every(16): 3.65}
	paperRatio   = map[time.Duration]string{every(.5): "7.0", every(16): "15.2"} // §4.4
	paperXCH     = map[time.Duration]string{every(16): "<22 min"}                // abstract
	paperSLN     = map[time.Duration]string{every(16): "5.7 h"}                  // abstract, §4.4
	paperXCHMiss = map[time.Duration]string{every(16): "<10%"}                   // abstract: captures "more than 90%"
	paperSLNMiss = map[time.Duration]string{every(16): "64%"}                    // abstract: "36% of entry coverage"
	paperGain    = map[time.Duration]string{every(.5): "2%"}                     // §4.4
	// abstract, "only 0.9 document exchange calls
	paperChecks = map[time.Duration]string{every(16): "6.3"}
	// and 6.3 document checking calls per minute"; §4.4
	paperPuts = map[time.Duration]string{every(.5): "2", every(16): "0.9"}
)

// every is an interval of so many hours.
func every(hours float64) time.Duration { return time.Duration(hours * float64(time.Hour)) }

// stated is the paper's figure for an interval, and unknown where there is none.
func stated[V string | float64](table map[time.Duration]V, every time.Duration) string {
	if v, ok := table[every]; ok {
		return fmt.Sprint(v)
	}
	return report.Unknown
}

// PaperResult is the Result of a Paper's Report.
type PaperResult struct {
	Start time.Time  `json:"start"`
	Feeds []string   `json:"feeds"`
	Rows  []PaperRow `json:"networks"` // by interval
}

// follows says what each node follows of the feeds.
func (p Paper) follows(feeds []trace.Timeline) string {
	if p.Interests {
		return p.Lists.String()
	}
	return fmt.Sprintf("%d of %d feeds each", p.Each, len(feeds))
}

// report shows what came of the networks.
func (p Paper) report(feeds []trace.Timeline, start time.Time, rows []PaperRow) *report.Report {
	r := newReport("The evaluation of the FeedEx paper (§4), with nodes of this program in virtual time", p.Seed,
		p.Traces)
	result := PaperResult{Start: start, Rows: rows}
	entries := 0
	for i := range feeds {
		result.Feeds = append(result.Feeds, feeds[i].Name)
		entries += feeds[i].Count(start, start.Add(p.Length))
	}
	r.Result = result
	bound := "the deficit bound of 10 entries"
	switch {
	case p.Bound < 0:
		bound = "no deficit bound"
	case p.Bound > 0:
		bound = fmt.Sprintf("a deficit bound of %d entries", p.Bound)
	}
	r.Setting = []string{
		fmt.Sprintf("%d nodes in each of %d networks, of which %d vanish for good; %s, which publish %d entries",
			p.Nodes, len(p.Intervals), p.Failing, p.follows(feeds), entries),
		fmt.Sprintf("%s from %s; 8 to 10 neighbors, 3 hops, adverts every 300 s, %s", when.Clock(p.Length),
			start.Format("Monday 2006-01-02 15:04 MST"), bound),
		"SLN is what a node's own polls brought, XCH what came by any way; \"paper\" is what the paper states.",
	}
	r.Setting = append(r.Setting, p.Conditions.text()...)
	for _, row := range rows {
		r.Took(row.Hash, row.Steps)
	}
	r.Partial = howFar(each(rows, func(row PaperRow) time.Duration { return row.Ran }), p.Length)
	rows = slices.DeleteFunc(slices.Clone(rows), func(row PaperRow) bool { return row.Nodes == 0 })
	r.Tables = []report.Table{
		lagTable(rows), referenceTable(rows), missTable(rows), callTable(rows), bundleTable(rows),
		costTable(rows, p.NoEncoding), limitTable(rows),
	}
	r.Summary = []report.Table{paperSummary(rows)}
	r.Figures = paperFigures(rows)
	return r
}

func lagTable(rows []PaperRow) report.Table {
	t := report.Table{
		Title:   "Time lag in minutes (Figure 4): mean of the nodes' means, 5th and 95th percentile",
		Columns: []string{"interval h", "SLN", "XCH", "SLN/XCH", "paper: SLN", "XCH", "SLN/XCH"},
		Notes: []string{"Counted from when the entry was published. The paper's lag counts from its reference " +
			"node, as in the next table."},
	}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Alone.Lag.Text(60, "%.1f"), r.Exchange.Lag.Text(60, "%.1f"),
			ratio(r.Alone.Lag, r.Exchange.Lag),
			stated(paperSLN, r.Every), stated(paperXCH, r.Every), stated(paperRatio, r.Every))
	}
	return t
}

func ratio(a, b report.Spread) string {
	if b.Mean <= 0 {
		return report.Unknown
	}
	return fmt.Sprintf("%.1f", a.Mean/b.Mean)
}

func referenceTable(rows []PaperRow) report.Table {
	t := report.Table{
		Title:   "The same against a reference node that polls every two minutes (§4.2)",
		Columns: []string{"interval h", "SLN", "XCH", "SLN/XCH"},
		Notes:   []string{"Below zero where nodes that poll at other times had entries before the reference node."},
	}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Alone.ReferenceLag.Text(60, "%.1f"), r.Exchange.ReferenceLag.Text(60, "%.1f"),
			ratio(r.Alone.ReferenceLag, r.Exchange.ReferenceLag))
	}
	return t
}

func missTable(rows []PaperRow) report.Table {
	t := report.Table{
		Title: "Missing entries (Figure 5): mean of the nodes, 5th and 95th percentile",
		Columns: []string{"interval h", "SLN miss", "XCH miss", "XCH coverage", "of the reference: SLN miss",
			"XCH miss", "SLN gain", "XCH gain",
			"paper: SLN miss", "XCH miss", "XCH gain"},
		Notes: []string{"The first three columns are shares of what was published, the next four of what the " +
			"reference node has."},
	}
	const cent = .01
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Alone.Miss.Text(cent, "%.1f"), r.Exchange.Miss.Text(cent, "%.2f"),
			r.Exchange.coverage(), r.Alone.RefMiss.Percent(), r.Exchange.RefMiss.Percent(),
			r.Alone.RefGain.Percent(), r.Exchange.RefGain.Percent(), stated(paperSLNMiss, r.Every),
			stated(paperXCHMiss, r.Every), stated(paperGain, r.Every))
	}
	return t
}

// coverage writes the share of the entries that came.
func (m Mode) coverage() string {
	if m.Miss.Count == 0 {
		return report.Unknown
	}
	return report.Percent(1 - m.Miss.Mean)
}

// whenSettled writes one of the Settled figures.
func (row PaperRow) whenSettled(v float64) string {
	if row.Ran <= settled {
		return report.Unknown
	}
	return fmt.Sprintf("%.2f", v)
}

func callTable(rows []PaperRow) report.Table {
	t := report.Table{
		Title: "Calls that a node receives in a minute (Figure 6): mean, 5th and 95th percentile",
		Columns: []string{"interval h", "checks", "dids in them", "put_entries", "others", "settled: checks", "dids",
			"puts", "paper: checks", "puts"},
		Notes: []string{
			"A check is a check_did or a check_dids; the latter offers up to 64 bundles.",
			"settled: without the first half hour, in which nodes exchange what the documents held from before.",
		},
	}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Checks.Text(1, "%.1f"), r.DIDs.Text(1, "%.1f"), r.Puts.Text(1, "%.1f"),
			r.Other.Mean, r.whenSettled(r.Settled.Checks), r.whenSettled(r.Settled.DIDs), r.whenSettled(r.Settled.Puts),
			stated(paperChecks, r.Every), stated(paperPuts, r.Every))
	}
	return t
}

func bundleTable(rows []PaperRow) report.Table {
	t := report.Table{Title: "Average entries in a bundle (Table 3)",
		Columns: []string{"interval h", "whole run", "settled", "paper"}}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), fmt.Sprintf("%.2f", r.Bundle), r.whenSettled(r.Settled.Bundle),
			stated(paperBundle, r.Every))
	}
	return t
}

func costTable(rows []PaperRow, noEncoding bool) report.Table {
	t := report.Table{
		Title: "Bytes, and requests at publishers",
		Columns: []string{"interval h", "calls B/node/min", "polls B/node/min", "requests", "of these 304", "served MB",
			"SLN needs for XCH's lag"},
		Notes: []string{
			"Bytes of calls made and received with their answers and HTTP headers, without TCP and IP.",
			"Requests are the same in both modes. The last column: how many more requests a stand-alone node would " +
				"make to be as timely (T over twice the lag).",
		},
	}
	refused := slices.ContainsFunc(rows, func(r PaperRow) bool { return r.Refused > 0 })
	if refused {
		t.Columns = slices.Insert(t.Columns, 5, "refused")
	}
	for _, r := range rows {
		calls := r.Bytes.Text(1, "%.0f")
		if noEncoding {
			calls = report.Unknown
		}
		more := report.Unknown
		if r.Exchange.Lag.Mean > 0 {
			more = fmt.Sprintf("%.0fx", r.Every.Seconds()/(2*r.Exchange.Lag.Mean))
		}
		share := func(n int64) string { return report.Percent(float64(n) / float64(max(1, r.Requests))) }
		var refusals []string
		if refused {
			refusals = []string{share(r.Refused)}
		}
		t.Row(report.Hours(r.Every), calls, fmt.Sprintf("%.0f", r.PollByte.Mean), r.Requests, share(r.NotModified),
			refusals, float64(r.Served)/1e6, more)
	}
	return t
}

func limitTable(rows []PaperRow) report.Table {
	t := report.Table{
		Title: "Lag in minutes against what the same polls allow",
		Columns: []string{"interval h", "XCH", "random phases T/(n+1)", "staggered T/2n", "shared out by sqrt(demand)",
			"ran h", "nodes", "hash"},
		Notes: []string{"Limits for n nodes that poll a feed and hear of an entry as soon as one of them does, an " +
			"entry and subscriber each counting once.",
			"Nodes that vanish count as polling for as long as they were there."},
	}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Exchange.Lag.Minutes(), report.Minutes(r.Random), report.Minutes(r.Staggered),
			report.Minutes(r.Shared), report.Hours(r.Ran), r.Nodes, r.Hash)
	}
	return t
}

// paperSummary is what is summed up over seeds, to as many digits as tell losses and bounds apart.
func paperSummary(rows []PaperRow) report.Table {
	t := report.Table{
		Columns: []string{"interval h", "SLN lag min", "XCH lag min", "SLN/XCH", "SLN miss %", "XCH miss %", "checks",
			"puts", "bundle", "requests"},
	}
	for _, r := range rows {
		t.Row(report.Hours(r.Every), r.Alone.Lag.Mean/60, fmt.Sprintf("%.2f", r.Exchange.Lag.Mean/60),
			ratio(r.Alone.Lag, r.Exchange.Lag), 100*r.Alone.Miss.Mean, fmt.Sprintf("%.2f", 100*r.Exchange.Miss.Mean),
			r.Checks.Mean, r.Puts.Mean, fmt.Sprintf("%.2f", r.Bundle), r.Requests)
	}
	return t
}

// paperFigures draws Figures 4 to 6.
func paperFigures(rows []PaperRow) []report.Figure {
	points := each(rows, func(r PaperRow) string { return report.Hours(r.Every) })
	pick := func(name string, unit float64, of func(PaperRow) report.Spread) report.Curve {
		return report.Curve{
			Name:   name,
			Values: each(rows, func(r PaperRow) float64 { return of(r).Mean / unit }),
			Low:    each(rows, func(r PaperRow) float64 { return of(r).P5 / unit }),
			High:   each(rows, func(r PaperRow) float64 { return of(r).P95 / unit }),
		}
	}
	plain := func(name string, of func(PaperRow) float64) report.Curve {
		return report.Curve{Name: name, Thin: true, Values: each(rows, of)}
	}
	const interval = "Fetching interval (hours)"
	minute, cent := time.Minute.Seconds(), .01
	return []report.Figure{
		{Name: "paper-lag", Title: "Time lag of the nodes: mean, 5th to 95th percentile (Figure 4)", X: interval,
			Y: "Time lag (hours)", Points: points, Lines: []report.Curve{
				pick("SLN: stand-alone", 3600, func(r PaperRow) report.Spread { return r.Alone.Lag }),
				pick("XCH: exchange", 3600, func(r PaperRow) report.Spread { return r.Exchange.Lag }),
			}},
		{Name: "paper-lag-limits", Title: "Time lag of exchange against what the same polls allow", X: interval,
			Y: "Time lag (minutes)", Points: points, Lines: []report.Curve{
				pick("XCH: exchange", minute, func(r PaperRow) report.Spread { return r.Exchange.Lag }),
				plain("random phases, T/(n+1)", func(r PaperRow) float64 { return r.Random / minute }),
				plain("staggered, T/2n", func(r PaperRow) float64 { return r.Staggered / minute }),
				plain("staggered, shared by demand", func(r PaperRow) float64 { return r.Shared / minute }),
			}},
		{Name: "paper-miss", Title: "Missing entries, of those of the reference node (Figure 5)", X: interval,
			Y: "Entries (%); gain below zero", Points: points, Lines: []report.Curve{
				pick("SLN miss", cent, func(r PaperRow) report.Spread { return r.Alone.RefMiss }),
				pick("XCH miss", cent, func(r PaperRow) report.Spread { return r.Exchange.RefMiss }),
				pick("SLN gain", -cent, func(r PaperRow) report.Spread { return r.Alone.RefGain }),
				pick("XCH gain", -cent, func(r PaperRow) report.Spread { return r.Exchange.RefGain }),
				plain("SLN miss, median", func(r PaperRow) float64 { return r.Alone.RefMiss.Median / cent }),
			}},
		{Name: "paper-bundles", Title: "Entries in a bundle (Table 3)", X: interval, Y: "Entries", Points: points,
			Lines: []report.Curve{{Name: "feedex", Values: each(rows, func(r PaperRow) float64 { return r.Bundle })}}},
		{Name: "paper-calls", Title: "Calls that a node receives (Figure 6)", X: interval,
			Y: "Calls per node and minute", Points: points, Lines: []report.Curve{
				pick("check_did and check_dids", 1, func(r PaperRow) report.Spread { return r.Checks }),
				pick("put_entries", 1, func(r PaperRow) report.Spread { return r.Puts }),
				plain("checks, settled", func(r PaperRow) float64 { return r.Settled.Checks }),
				plain("put_entries, settled", func(r PaperRow) float64 { return r.Settled.Puts }),
			}},
	}
}
