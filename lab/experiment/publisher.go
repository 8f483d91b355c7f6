package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/polling"
)

// Publishers is the experiment on what the publisher of a feed sees of the nodes that follow it: networks of several
// sizes, in which all nodes follow the same feeds, and one in which many times as many come to follow them within an
// hour. The zero value of each field means its default.
type Publishers struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Feeds  int           // of those that publish an entry in two days, from the busiest to the quietest; default 4
	Length time.Duration // two days at least, of which the second half counts; default 3 days
	Sizes  []int         // default 1, 10, 100, 1000
	Times  int           // as many times more followers a flash crowd makes of a hundredth of the largest; default 100
}

// A PublisherRow is what the publisher of a feed sees of so many nodes.
type PublisherRow struct {
	Policy    string  `json:"policy"`
	Nodes     int     `json:"nodes"`
	Hash      string  `json:"hash"`      // "" of FeedTree's rule, for which no world is run
	Requests  float64 `json:"requests"`  // a feed and day, of all nodes
	Silent    float64 `json:"silent"`    // the same at a feed that publishes nothing
	Unchanged float64 `json:"unchanged"` // share of the requests answered 304
	Most      int     `json:"most"`      // requests at a feed in one minute
	Delay     float64 `json:"delay"`     // of entries, in seconds: the mean of the nodes' means
	steps     int64
}

// A FlashRow is what the publisher of a feed sees whose followers become many times as many within an hour.
type FlashRow struct {
	Waived bool    `json:"waived"` // newcomers may do without their first polls
	Nodes  int     `json:"nodes"`
	Hash   string  `json:"hash"`
	Before float64 `json:"before"` // requests a feed and hour before, the mean of half a day
	During float64 `json:"during"` // in the hour in which they come, and the two minutes after
	Most   int     `json:"most"`   // in one minute, until a day after
	After  float64 `json:"after"`  // a feed in the day after
	steps  int64
}

const (
	// flashPart is by how much smaller than the largest network the one is to which a flash crowd comes.
	flashPart = 100
	// flashWithin is the time within which they come, and flashSettled until the last of them has made its first poll.
	flashWithin  = time.Hour
	flashSettled = flashWithin + 2*time.Minute
	// day is for how long a flash crowd's feed is watched before and after.
	day = 24 * time.Hour
)

// PublisherResult is the outcome.
type PublisherResult struct {
	Steady []PublisherRow `json:"steady"`
	Flash  []FlashRow     `json:"flash"`
}

// habits are how all nodes of a network poll, and for how long publishers say that they need not be asked.
var habits = []struct {
	name   string
	policy polling.Policy
	maxAge time.Duration
}{
	{"Auto", auto, 0},
	{"Fix 1h", polling.Fixed{Every: time.Hour}, 0},
	{"Auto, told 4h", auto, 4 * time.Hour},
	{"Auto, told 24h", auto, day},
}

var auto = polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}}

func (p Publishers) withDefaults() (Publishers, []trace.Timeline, error) {
	if p.Sizes == nil {
		p.Sizes = []int{1, 10, 100, 1000}
	}
	p.Feeds, p.Length, p.Times = cmp.Or(p.Feeds, 4), cmp.Or(p.Length, 3*day), cmp.Or(p.Times, 100)
	s, feeds, err := SharedPolling{Traces: p.Traces, Feeds: p.Feeds, Length: p.Length, Sizes: p.Sizes}.withDefaults()
	if err == nil && s.Traces.To.Sub(s.Traces.From) < 2*day+flashSettled {
		err = impossible("traces of less than %s", when.Clock(2*day+flashSettled))
	}
	return p, append(slices.Clone(feeds), trace.Timeline{Name: "silent", Window: 1}), err
}

// Run runs every network. If ctx ends before it is done, the Report says so. The error wraps ErrSetting.
func (p Publishers) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	p, feeds, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	costs := slices.Repeat(each(p.Sizes, func(size int) float64 { return float64(size) }), len(habits))
	steady := len(costs)
	flash := max(1, slices.Max(p.Sizes)/flashPart)
	for range 2 { // first polls waived, and made
		costs = append(costs, float64(p.Times*flash)/2)
	}
	parts := together(newMeter(progress, costs), func(i int, tell Progress) (part PublisherResult) {
		if i < steady {
			part.Steady = p.steady(ctx, feeds, i/len(p.Sizes), p.Sizes[i%len(p.Sizes)], tell)
		} else {
			part.Flash = p.flash(ctx, feeds, i == steady, flash, tell)
		}
		return part
	})
	var result PublisherResult
	for _, part := range parts {
		result.Steady, result.Flash = append(result.Steady, part.Steady...), append(result.Flash, part.Flash...)
	}
	done := len(result.Steady) + len(result.Flash)
	for _, size := range p.Sizes {
		result.Steady = append(result.Steady, p.feedTree(feeds, size))
	}
	r := p.report(result)
	if done < len(parts) {
		r.Partial = fmt.Sprintf("%d of %d networks", done, len(parts))
	}
	return r, nil
}

// network is a network whose nodes poll by a habit, for so long.
func (p Publishers) network(feeds []trace.Timeline, habit int, length time.Duration) network {
	// The documents have filled up when it starts, where the traces are long enough.
	start := p.Traces.From.Add(min(7*day, p.Traces.To.Sub(p.Traces.From)-length))
	return network{Seed: p.Seed, Feeds: feeds, Start: start, Length: length, Every: time.Hour, Each: len(feeds),
		Bound: 10, Policy: habits[habit].policy, NoEncoding: true,
		Conditions: Conditions{Conduct: lab.Conduct{MaxAge: habits[habit].maxAge}}}
}

// steady runs a network whose nodes are there from its start, and returns its row; none where ctx ended before.
func (p Publishers) steady(ctx context.Context, feeds []trace.Timeline, habit, nodes int,
	tell Progress) []PublisherRow {
	g := crowd{network: p.network(feeds, habit, p.Length), Nodes: nodes, Alike: true}.gather()
	half := p.Length / 2
	if !advance(ctx, g.w, g.w.Start().Add(half), func(done float64) { tell(done / 2) }) {
		return nil
	}
	before := answered(spoken(g.w))
	if !advance(ctx, g.w, g.w.Start().Add(p.Length), func(done float64) { tell(.5 + done/2) }) {
		return nil
	}
	after, days := answered(spoken(g.w)), half.Hours()/24
	return []PublisherRow{{Policy: habits[habit].name, Nodes: nodes, Hash: g.w.Hash(), steps: g.w.Steps(),
		Requests:  asked(spoken(g.w), half, p.Length) / days,
		Silent:    asked(g.w.Publishers()[len(feeds)-1:], half, p.Length) / days,
		Unchanged: Fraction{after.Part - before.Part, after.Whole - before.Whole}.of(),
		Most:      busiestMinute(spoken(g.w), half, p.Length),
		Delay:     delaysOf(g, p.Length).any}}
}

// spoken are the publishers of the world whose feeds are not silent.
func spoken(w *lab.World) []*lab.Publisher { return w.Publishers()[:len(w.Publishers())-1] }

// answered is which part of all requests so far the publishers answered 304.
func answered(publishers []*lab.Publisher) (unchanged Fraction) {
	for _, p := range publishers {
		unchanged.Part, unchanged.Whole = unchanged.Part+int(p.NotModified), unchanged.Whole+int(p.Requests)
	}
	return unchanged
}

// asked is how many requests a feed its publishers got between two times since the start of the world.
func asked(publishers []*lab.Publisher, from, to time.Duration) float64 {
	all := 0
	for _, p := range publishers {
		all += sum(minutes(p, from, to))
	}
	return float64(all) / float64(len(publishers))
}

// busiestMinute is the most requests that one of the publishers got in a minute between two times.
func busiestMinute(publishers []*lab.Publisher, from, to time.Duration) (most int) {
	for _, p := range publishers {
		for _, n := range minutes(p, from, to) {
			most = max(most, n)
		}
	}
	return most
}

// minutes are the requests of each minute in which the publisher got any, between two times, and of some others.
func minutes(p *lab.Publisher, from, to time.Duration) []int {
	last := min(int(to/time.Minute), len(p.Minutes))
	return p.Minutes[min(int(from/time.Minute), last):last]
}

// flash runs a network to which a flash crowd comes after a day, and returns its row; none where ctx ended before.
func (p Publishers) flash(ctx context.Context, feeds []trace.Timeline, waived bool, nodes int,
	tell Progress) []FlashRow {
	n := p.network(feeds, 0, 2*day+flashSettled)
	w := n.world()
	for i := range nodes * p.Times {
		m, rng := n.member(w, i)
		base := n.node()
		if !waived {
			base.QueryNetwork = node.NeverNetwork
		}
		m.Node, m.Feeds = &base, everything(w)
		joins := w.Start().Add(within(rng, joinWithin))
		if i >= nodes {
			joins = w.Start().Add(day + within(rng, flashWithin))
		}
		w.At(joins, func() { joinNow(w, m) })
	}
	if !n.run(ctx, w, tell) {
		return nil
	}
	return []FlashRow{{Waived: waived, Nodes: len(w.Hosts()), Hash: w.Hash(),
		Before: asked(spoken(w), day/2, day) / (day / 2).Hours(), During: asked(spoken(w), day, day+flashSettled),
		Most:  busiestMinute(spoken(w), day, n.Length),
		After: asked(spoken(w), day+flashSettled, n.Length), steps: w.Steps()}}
}

// report makes the Report of the networks that came to their end.
func (p Publishers) report(result PublisherResult) *report.Report {
	r := newReport("What the publisher of a feed sees of the nodes that follow it", p.Seed, p.Traces)
	r.Result = result
	r.Setting = []string{fmt.Sprintf("%d feeds from the busiest to those of an entry in two days, and one that is "+
		"silent, which all nodes follow, for %.1f days, of which the second half counts", p.Feeds, p.Length.Hours()/24)}
	for _, row := range result.Steady {
		if row.Hash != "" { // of FeedTree's no world was run
			r.Took(row.Hash, row.steps)
		}
	}
	for _, row := range result.Flash {
		r.Took(row.Hash, row.steps)
	}
	r.Tables = []report.Table{steadyTable(result.Steady), p.flashTable(result.Flash)}
	return r
}

func steadyTable(rows []PublisherRow) report.Table {
	t := report.Table{Title: "Requests at a feed by how many nodes follow it",
		Columns: []string{"policy", "nodes", "requests/day", "a node", "a node, silent feed", "readers", "floor", "304",
			"most a minute", "delay min", "hash"},
		Notes: []string{
			"Requests of all nodes at a feed on a day; a node's part of them, and of those at the feed that " +
				"publishes nothing. Readers: as many that ask every hour. Floor: one request a node and day.",
			"Most a minute: in any minute, at any of the feeds. Delay: from an entry's publication until it comes, " +
				"by any way.",
			"FeedTree: who hears of fewer than an event in ten minutes polls every thirty (its §4.2.3), and all " +
				"hear of each poll at once. It states that polls are constant, and entries three times sooner than " +
				"by polls every thirty minutes, which would be 144 requests, and 5.0 in place of 15.0 minutes.",
		}}
	for _, row := range rows {
		t.Row(row.Policy, row.Nodes, row.Requests, row.Requests/float64(row.Nodes), row.Silent/float64(row.Nodes),
			24*row.Nodes, row.Nodes, report.Percent(row.Unchanged), row.Most, report.Minutes(row.Delay),
			cmp.Or(row.Hash, report.Unknown))
	}
	return t
}

func (p Publishers) flashTable(rows []FlashRow) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("A flash crowd: %d times as many nodes follow a feed within an hour", p.Times),
		Columns: []string{"first polls", "nodes", "an hour before", "that hour", "a newcomer", "most a minute",
			"the day after", "a node", "readers", "hash"},
		Notes: []string{"Requests at a feed, by the policy Auto. First polls are waived where what a newcomer " +
			"follows comes in a list, and made where it may ask nothing of the network. Readers: as many that " +
			"ask every hour, in the day after."}}
	for _, row := range rows {
		how := "made"
		if row.Waived {
			how = "waived"
		}
		newcomers := float64(row.Nodes - row.Nodes/p.Times)
		t.Row(how, row.Nodes, row.Before, row.During, fmt.Sprintf("%.2f", (row.During-row.Before)/newcomers), row.Most,
			row.After, row.After/float64(row.Nodes), 24*row.Nodes, row.Hash)
	}
	return t
}
