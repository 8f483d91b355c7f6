package experiment

import (
	"fmt"

	"feedex/internal/when"
	"feedex/lab/report"
)

// CoronaResult is the Result of a Corona's Report.
type CoronaResult struct {
	Networks   []CoronaRow       `json:"networks"` // the first at the interval of legacy RSS
	Objectives []CoronaObjective `json:"objectives"`
}

// report shows what came of the networks, the first of which polls as legacy RSS does.
func (c Corona) report(rows []CoronaRow) *report.Report {
	r := newReport("Feedex in the setting of Corona's simulations", c.Seed, c.Traces)
	r.Result = CoronaResult{Networks: rows}
	r.Setting = []string{
		fmt.Sprintf("%d nodes, %d channels, %d subscriptions by Zipf 0.5, no more than one a node and channel; what "+
			"came out in %s, up to whole intervals, counts", c.Nodes, c.Channels, c.Subscriptions,
			when.Clock(c.Length)),
		fmt.Sprintf("interests count over %d hops", c.Reach),
		fmt.Sprintf("Corona §5.1 has %d nodes, %d channels and %d subscriptions: this is %.2g of these",
			coronaNodes, coronaChannels, coronaSubscriptions, float64(c.Subscriptions)/coronaSubscriptions),
	}
	for i, row := range rows {
		r.Took(row.Hash, row.Steps)
		r.Aside = append(r.Aside, row.aside())
		if row.Partial {
			r.Partial = fmt.Sprintf("interrupted in network %d after %s of %s h; its figures are of what there was "+
				"by then", i+1, report.Hours(row.Ran), report.Hours(c.span(row.Every)))
		}
	}
	r.Tables = []report.Table{c.summary(rows), coronaStated(), coronaNetworks(rows), coronaTiers(rows[0]),
		coronaOverTime(rows[0])}
	if channels := c.followed(rows[0]); len(channels) > 0 {
		o := objectives(channels, c.Nodes, rows[0].Every.Seconds(), rows[0].Exchange.Lag)
		r.Result = CoronaResult{rows, o}
		r.Tables = append(r.Tables, rankTable(channels, o[1], rows[0]), objectiveTable(o, rows[0]),
			paceTable(channels, o, rows[0]))
	}
	r.Figures = []report.Figure{coronaFigure(rows[0])}
	if base := rows[0]; base.Exchange.Lag > 0 && base.Requests > 0 {
		list := []scheme{{"Legacy RSS", base.Alone.Lag, base.Requests, 0},
			{"feedex", base.Exchange.Lag, base.Requests, 1}}
		if r := rarer(rows); r != nil {
			list = append(list, scheme{"feedex, more rarely", r.Exchange.Lag, r.Requests, 1})
		}
		r.Plots = append(r.Plots, schemesFigure("corona-schemes", "Detection time and load (Table 2)", list))
	}
	return r
}

// summary is Table 2 with feedex in it.
func (c Corona) summary(rows []CoronaRow) report.Table {
	t := report.Table{
		Title: "Detection time and load (Table 2)",
		Columns: []string{"scheme", "poll every", "detection s", "by update s", "coverage", "polls/30 min/channel",
			"of legacy", "kB/30 min/channel", "of legacy"},
	}
	base := rows[0]
	row := func(name string, r CoronaRow, d Detection) {
		t.Row(name, when.Clock(r.Every), report.Known("%.0f", d.Lag), report.Known("%.0f", d.ByUpdate),
			report.Percent(d.Coverage), report.Known("%.2f", r.Requests), partOf(r.Requests, base.Requests),
			report.Known("%.1f", r.Bytes/1e3), partOf(r.Bytes, base.Bytes))
	}
	row("Legacy RSS", base, base.Alone)
	row("feedex, equal load", base, base.Exchange)
	if rarer := rarer(rows); rarer != nil {
		row("feedex, polled more rarely", *rarer, rarer.Exchange)
		t.Notes = append(t.Notes,
			fmt.Sprintf("Polled more rarely: the interval, of those tried, at which the detection time comes nearest "+
				"that of legacy RSS: %s off.",
				report.Percent(rarer.off(base.Alone.Lag))))
	} else if !c.EqualLoad {
		t.Notes = append(t.Notes,
			"Neighbors bring nothing sooner here, or the run ended too soon: nothing is known of rarer polls.")
	}
	t.Notes = append(t.Notes,
		"Detection: the mean over subscriptions to channels with an update, each at the mean of its updates. By "+
			"update: the mean over updates.",
		"Equal load: the same polls, with neighbors. Bytes depend on what came out while it counted, which is longer "+
			"where intervals are.")
	return t
}

// rarer is the network that polls more rarely than legacy RSS and comes nearest to its detection time, nil
// if none ran to its end.
func rarer(rows []CoronaRow) *CoronaRow {
	var best *CoronaRow
	for i := range rows[1:] {
		r := &rows[1+i]
		if target := rows[0].Alone.Lag; !r.Partial && (best == nil || r.off(target) < best.off(target)) {
			best = r
		}
	}
	return best
}

func partOf(part, whole float64) string {
	if whole == 0 {
		return report.Unknown
	}
	return report.Percent(part / whole)
}

// coronaStated is the table of the paper's figures. It counts clients, which are not nodes: a channel has 50 on
// average.
func coronaStated() report.Table {
	t := report.Table{Title: "The same as Corona's authors state it, at full size (Table 2)",
		Columns: []string{"scheme", "detection s", "polls/30 min/channel"}}
	for _, s := range coronaSchemes() {
		t.Row(s.name, fmt.Sprintf("%.0f", s.detection), fmt.Sprintf("%.2f", s.load))
	}
	return t
}

// coronaNetworks is the table of each network's figures.
func coronaNetworks(rows []CoronaRow) report.Table {
	t := report.Table{Title: "The networks", Columns: []string{
		"poll every", "legacy s", "feedex s", "limit s", "by neighbors first", "offered by a neighbor", "304",
		"calls/node/min", "kB/node/min", "neighbors", "hash"}}
	for _, r := range rows {
		if r.Partial {
			t.Row(when.Clock(r.Every))
			continue
		}
		t.Row(when.Clock(r.Every), fmt.Sprintf("%.0f", r.Alone.Lag), fmt.Sprintf("%.0f", r.Exchange.Lag),
			fmt.Sprintf("%.0f", r.Limit), report.Percent(r.First), report.Percent(r.Offered),
			report.Percent(r.NotModified), r.Calls, report.Known("%.1f", r.CallBytes/1e3), r.Links.Text(1, "%.1f"),
			r.Hash)
	}
	t.Notes = []string{
		"Legacy: the same nodes without what neighbors brought. Limit: T/(n+1), if all n subscribers knew at once " +
			"what the first of them polled.",
		"Offered by a neighbor: the share of subscriptions whose channel some neighbor has in its set at the end.",
	}
	return t
}

// coronaTiers shows what popularity brings.
func coronaTiers(row CoronaRow) report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("By popularity, polling every %s (Figures 5 and 6)", when.Clock(row.Every)),
		Columns: []string{"subscribers", "channels", "polls/30 min/channel", "legacy s", "feedex s", "limit s"},
	}
	for _, tier := range row.Tiers {
		seconds := func(v float64) string {
			if tier.Channels == 0 || tier.Alone == 0 {
				return report.Unknown
			}
			return fmt.Sprintf("%.0f", v)
		}
		t.Row(tier.name(), tier.Channels, report.Known("%.1f", tier.Requests), seconds(tier.Alone), seconds(tier.Lag),
			seconds(tier.Limit))
	}
	return t
}

func (t Tier) name() string {
	switch t.To {
	case 0:
		return fmt.Sprintf("%d or more", t.From)
	case t.From:
		return fmt.Sprint(t.From)
	}
	return fmt.Sprintf("%d-%d", t.From, t.To)
}

func coronaFigure(row CoronaRow) report.Figure {
	f := report.Figure{Name: "corona-popularity", Title: fmt.Sprintf("Detection of updates, polling every %s",
		when.Clock(row.Every)), X: "Subscribers of the channel", Y: "Detection time (seconds)", Log: true,
		Lines: []report.Curve{{Name: "legacy RSS"}, {Name: "feedex, the same polls"},
			{Name: "random phases, T/(n+1)", Thin: true}}}
	for _, t := range row.Tiers {
		if t.Alone > 0 {
			f.Points = append(f.Points, t.name())
			for i, v := range []float64{t.Alone, t.Lag, t.Limit} {
				f.Lines[i].Values = append(f.Lines[i].Values, v)
			}
		}
	}
	return f
}

// aside is the line about the time and memory that a network took.
func (r CoronaRow) aside() string {
	each := float64(max(1, r.subscriptions))
	return fmt.Sprintf("polls every %s: %.1f s, %.0f MB in use at the end; %.1f kB a subscription, %.0f µs a "+
		"subscription and hour of virtual time",
		when.Clock(r.Every), r.seconds, float64(r.heap)/1e6, float64(r.heap)/each/1e3,
		r.seconds*1e6/each/max(.01, r.Ran.Hours()))
}
