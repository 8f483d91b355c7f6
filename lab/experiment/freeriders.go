package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/incentive"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/protocol"
)

// FreeRiders is about nodes that take without giving (Paper §3.5): networks in which some of the nodes are free riders,
// echoers, rejoiners or liars, over a range of the deficit bound, without each rule of package incentive in turn, and
// where some share one address. The zero value of each field means its default.
//
// Of the honest, a fifth is slow and polls half as often, a tenth follows few feeds, and a tenth has no more
// than three neighbors. The dishonest poll nothing: what they have is what neighbors brought.
type FreeRiders struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Nodes  int           // default 40
	Feeds  int           // at most so many of those that publish 5 entries a day; default 30
	Each   int           // feeds a node; default 15
	Every  time.Duration // between polls; default 4 h
	Length time.Duration // default 24 h
	Shares []float64     // of the nodes that are dishonest; default .1, .25, .5
	Bounds []int         // deficit bounds, as incentive.Config has them; default 1, 5, 50, negative for none
}

func (f FreeRiders) withDefaults() (FreeRiders, crowd, error) {
	f.Nodes, f.Feeds, f.Each = cmp.Or(f.Nodes, 40), cmp.Or(f.Feeds, 30), cmp.Or(f.Each, 15)
	f.Every, f.Length = cmp.Or(f.Every, 4*time.Hour), cmp.Or(f.Length, 24*time.Hour)
	if f.Shares == nil {
		f.Shares = []float64{.1, .25, .5}
	}
	if f.Bounds == nil {
		f.Bounds = []int{1, 5, 50, -1}
	}
	c, err := newCrowd(f.Seed, f.Traces, f.Nodes, f.Feeds, f.Each, f.Every, f.Length)
	switch {
	case err != nil:
	case f.Feeds > len(c.Feeds):
		err = impossible("%d feeds to follow; there are %d of %d entries a day or more, so want %d to that", f.Feeds,
			len(c.Feeds), leastRate, f.Each)
	case f.Length < 3*f.Every:
		err = impossible("a run of %s with polls every %s; want three times as long or more", when.Clock(f.Length),
			when.Clock(f.Every))
	}
	return f, c, err
}

// newCrowd is a crowd of honest nodes with those settings, checked.
func newCrowd(seed lab.Seed, set *trace.Set, nodes, most, each int, every, length time.Duration) (crowd, error) {
	busy := busiest(seed, set, most)
	err := possible(set, busy, nodes, each, length, every)
	if nodes < 10 || nodes > maxCrowd {
		err = impossible("%d nodes; want 10 to %d", nodes, maxCrowd)
	}
	n := network{Seed: seed, Feeds: busy, Start: weekday(set, length), Length: length, Every: every, Each: each,
		NoEncoding: true}
	return crowd{network: n, Nodes: nodes}, err
}

// maxCrowd is how many members have a network of their own.
const maxCrowd = 25_000

// A freeriderNetwork is one network of the experiment.
type freeriderNetwork struct {
	Name  string
	Kind  kind
	Share float64
	Bound int
	Rules *incentive.Rules
	// At is what some at one address do; nil where nobody shares one.
	At func(c crowd) *sharing
}

// cells are all networks, by table.
func (f FreeRiders) cells(start time.Time) (kinds, bounds, rules, addresses []freeriderNetwork) {
	kinds = []freeriderNetwork{{Name: "nobody"}}
	for _, k := range []kind{freeRiders, echoers, keyRejoiners, addressRejoiners, liars} {
		for _, share := range f.Shares {
			name := fmt.Sprintf("%s %g%%", k.name, 100*share)
			kinds = append(kinds, freeriderNetwork{Name: name, Kind: k, Share: share})
		}
	}
	const quarter = .25
	for _, b := range f.Bounds {
		name := fmt.Sprintf("D = %d", b)
		if b < 0 {
			name = "no bound"
		}
		bounds = append(bounds, freeriderNetwork{Name: name, Kind: freeRiders, Share: quarter, Bound: b})
	}
	padders := forgers(padsAnHour, start)
	rules = []freeriderNetwork{
		{Name: `no credit for "seen" offers, free riders`, Kind: freeRiders, Share: quarter, Rules: noSeenCredit},
		{Name: "no audits, echoers", Kind: echoers, Share: quarter, Rules: noAudits},
		{Name: "an account for each port, rejoiners", Kind: keyRejoiners, Share: quarter, Rules: portAccounts},
		{Name: "no limit for strangers, rejoiners elsewhere", Kind: addressRejoiners, Share: quarter,
			Rules: noStrangerLimit},
		{Name: "all rules, padders", Kind: padders, Share: padderShare},
		{Name: "no daily cap, padders", Kind: padders, Share: padderShare, Rules: noDailyCap},
	}
	addresses = []freeriderNetwork{
		{Name: "under its own key", At: func(c crowd) *sharing { return c.oneMachine(false) }},
		{Name: "under another each time", At: func(c crowd) *sharing { return c.oneMachine(true) }},
		{Name: "honest nodes and a forger", At: crowd.twentyHomes},
	}
	return kinds, bounds, rules, addresses
}

// The rules without one of them.
var (
	noSeenCredit = incentive.Altered(func(r *incentive.Rules) { r.SeenEarns = func(func() int) int { return 0 } })
	noAudits     = incentive.Altered(func(r *incentive.Rules) { r.Audit = func(*rand.Rand, int) bool { return false } })
	portAccounts = incentive.Altered(func(r *incentive.Rules) {
		r.HolderOf = func(id protocol.NodeID) incentive.Holder {
			h, _ := incentive.ParseHolder(id.String()) // there is one for each address with a port
			return h
		}
	})
	noStrangerLimit = incentive.Altered(func(r *incentive.Rules) { r.StrangerLimit = 1 << 20 * incentive.Entry })
	noDailyCap      = incentive.Altered(func(r *incentive.Rules) { r.CapFree = math.MaxInt32 })
)

const (
	// padsAnHour is how many entries a padder invents an hour.
	padsAnHour = 20
	// padderShare is how many of the nodes are padders: more of them than that, and the network carries little
	// else.
	padderShare = .05
)

// Run runs all networks. If ctx ends before they do, the Report says so and shows what there was by then.
// The error wraps ErrSetting.
func (f FreeRiders) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	f, c, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	kinds, bounds, rules, addresses := f.cells(c.Start)
	cells := slices.Concat(kinds, bounds, rules, addresses)
	rows := together(newMeter(progress, equal(len(cells))), func(i int, tell Progress) CrowdRow {
		x, c := cells[i], c
		c.Kind, c.Bad, c.Bound, c.Rules = x.Kind, int(x.Share*float64(c.Nodes)+.5), x.Bound, x.Rules
		var at *sharing
		if x.At != nil {
			at = x.At(c)
			c = at.crowd
		}
		g := c.gather() // here, not before: some thirty worlds at once would need memory for nothing
		if at != nil {
			at.begin(g)
		}
		partial := !c.run(ctx, g.w, tell)
		row := g.measure(c)
		if at != nil {
			row.Address = at.outcome(g)
		}
		row.Name, row.Partial = x.Name, partial
		return row
	})
	return f.report(c, rows, len(kinds), len(bounds), len(rules)), nil
}

// report shows what came of the networks; so many of the first are about kinds, the next about bounds, and about rules.
func (f FreeRiders) report(c crowd, rows []CrowdRow, kinds, bounds, rules int) *report.Report {
	r := newReport("Those who take without giving (Paper §3.5), among nodes of this program in virtual time", f.Seed,
		f.Traces)
	r.Result = rows
	from, to := c.window()
	r.Setting = []string{
		fmt.Sprintf("%d nodes in each of %d networks, polling every %s h; %d of %d feeds each", f.Nodes, len(rows),
			report.Hours(f.Every), f.Each, len(c.Feeds)),
		fmt.Sprintf("%s from %s; entries published from hour %s to hour %s count", when.Clock(f.Length),
			c.Start.Format("Monday 2006-01-02 15:04 MST"), report.Hours(from), report.Hours(to)),
		"Of the honest a fifth polls half as often (slow), a tenth follows a quarter of the feeds, a tenth has 3 " +
			"neighbors.",
		"Cells: share of the entries that came, and how late in minutes. The others poll nothing: theirs came from " +
			"neighbors alone.",
		"Calls: what an honest node makes in a minute, and what one of the others does.",
	}
	ended := 0
	for i := range rows {
		r.Took(rows[i].Hash, rows[i].Steps)
		if !rows[i].Partial {
			ended++
		}
	}
	if ended < len(rows) {
		r.Partial = fmt.Sprintf("interrupted; %d of %d networks came to their end, of the others there is what was "+
			"by then", ended, len(rows))
	}
	r.Tables = []report.Table{
		crowdTable("Who is dishonest, and how many of the nodes (D = 10, all rules)", rows[:kinds]),
		crowdTable("The deficit bound D, 25% free riders", rows[kinds:kinds+bounds]),
		crowdTable("One rule switched off, and 25% of those whom it is against (padders: 5%)",
			rows[kinds+bounds:kinds+bounds+rules]),
	}
	r.Tables[2].Notes = append(r.Tables[2].Notes,
		fmt.Sprintf("A padder polls like the honest and invents %d entries an hour, so what it has is not from "+
			"neighbors alone.", padsAnHour))
	r.Tables = append(r.Tables, addressTables(rows[kinds+bounds+rules:])...)
	if len(f.Shares) > 1 {
		r.Figures = []report.Figure{f.shareFigure(rows[:kinds])}
	}
	return r
}

func crowdTable(title string, rows []CrowdRow) report.Table {
	t := report.Table{Title: title, Columns: []string{
		"network", "ordinary", "slow", "few feeds", "3 links", "others", "calls/min", "hash",
	}}
	cell := func(g Group) string {
		if g.Reading == 0 {
			return report.Unknown
		}
		if g.Coverage == 0 {
			return report.Percent(0)
		}
		return report.Percent(g.Coverage) + " " + report.Minutes(g.Lag)
	}
	for _, r := range rows {
		calls := func(g Group) string {
			if g.Nodes == 0 {
				return report.Unknown
			}
			return fmt.Sprintf("%.1f", g.Calls)
		}
		t.Row(r.title(), cell(r.Groups[ordinary]), cell(r.Groups[slow]), cell(r.Groups[fewFeeds]),
			cell(r.Groups[fewLinks]), cell(r.Groups[bad]), calls(r.Honest)+" / "+calls(r.Groups[bad]), r.Hash)
	}
	return t
}

// shareFigure draws what the dishonest get of the entries, by their share.
func (f FreeRiders) shareFigure(rows []CrowdRow) report.Figure {
	fig := report.Figure{Name: "freeriders", Title: "What those who give nothing get (D = 10, all rules)",
		X: "Share of the nodes (%)", Y: "Entries that came (%)",
		Points: each(f.Shares, func(s float64) string { return fmt.Sprintf("%g", 100*s) })}
	rest := rows[1:] // the first has none of them
	for _, k := range []kind{freeRiders, echoers, keyRejoiners, addressRejoiners, liars} {
		l := report.Curve{Name: k.name}
		for range f.Shares {
			l.Values = append(l.Values, 100*rest[0].Groups[bad].Coverage)
			rest = rest[1:]
		}
		fig.Lines = append(fig.Lines, l)
	}
	return fig
}
