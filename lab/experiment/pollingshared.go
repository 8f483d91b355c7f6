package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/polling"
)

// SharedPolling is the experiment on polling policies where nodes share what they poll: networks of several sizes, in
// which all nodes follow the same feeds by the same policy, against as many polite readers. The zero value of each
// field means its default.
type SharedPolling struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Feeds  int           // of those that publish an entry in two days, from the busiest to the quietest; default 12
	Length time.Duration // two days at least, of which the first half does not count; default 10 days
	Sizes  []int         // how many follow each feed, a network each; default 1, 2, 5, 13, 50
	Seeds  int           // how many, from Seed on; default 5
}

// A SharedRow is the outcome of networks of one size and policy: a figure of each seed, in their order. Delays are the
// means of the nodes' means, in seconds.
type SharedRow struct {
	Policy   string    `json:"policy"`
	Nodes    int       `json:"nodes"`
	Delay    []float64 `json:"delay"`
	Own      []float64 `json:"own_delay"` // by own polls alone
	Coverage []float64 `json:"coverage"`
	Requests []float64 `json:"requests"` // a feed and day, of all nodes
	Least    []float64 `json:"least"`    // the same, of the node that made the fewest
	Most     []float64 `json:"most"`     // and the most
	Spared   []float64 `json:"spared"`   // what the nodes count as spared by neighbors, a feed and day, on the mean
	// Alone is the delay of one node alone that makes as many requests as each of these does: between those of two
	// targets. Nil where the policy has no target, or no target leads to so few.
	Alone []float64 `json:"alone_delay,omitempty"`
}

// A sharedRun is the outcome of one network, as in a SharedRow.
type sharedRun struct {
	sharedDelays
	requests, least, most, spared float64
	hash                          string
	steps                         int64
}

// sharedDelays are how late the entries of a network came, in seconds.
type sharedDelays struct{ any, own, coverage float64 }

// sharedLeast is how many entries a day a feed publishes that takes part, at least.
const sharedLeast = 0.5

// sharedShortest is the shortest run.
const sharedShortest = 48 * time.Hour

func (s SharedPolling) withDefaults() (SharedPolling, []trace.Timeline, error) {
	if s.Sizes == nil {
		s.Sizes = []int{1, 2, 5, 13, 50}
	}
	s.Feeds, s.Length, s.Seeds = cmp.Or(s.Feeds, 12), cmp.Or(s.Length, 10*24*time.Hour), cmp.Or(s.Seeds, 5)
	if err := tooShort(s.Traces, sharedShortest); err != nil {
		return s, nil, err
	}
	busy := s.Traces.Busy(sharedLeast)
	span := s.Traces.To.Sub(s.Traces.From)
	switch {
	case s.Length < sharedShortest || s.Length > span:
		return s, nil, impossible("a run of %s; the traces cover %s, so want 48h to that", when.Clock(s.Length),
			when.Clock(span))
	case s.Feeds < 1 || s.Feeds > len(busy):
		return s, nil, impossible("%d feeds; %d publish an entry in two days or more, so want 1 to that", s.Feeds,
			len(busy))
	case s.Seeds < 1 || s.Seeds > maxSeeds:
		return s, nil, impossible("%d seeds; want 1 to %d", s.Seeds, maxSeeds)
	}
	for _, size := range s.Sizes {
		if size < 1 || size > maxCrowd {
			return s, nil, impossible("%d nodes; want 1 to %d", size, maxCrowd)
		}
	}
	feeds := make([]trace.Timeline, s.Feeds)
	for i := range feeds {
		feeds[i] = busy[i*len(busy)/s.Feeds]
	}
	return s, feeds, nil
}

// A sharedCase is a policy, and how many nodes poll by it.
type sharedCase struct {
	name   string
	policy polling.Policy
	nodes  int
	target bool // one node that polls by Auto for another target, for what it has by as many requests as others make
}

// autoName is what Auto is called in tables.
const autoName = "Auto"

// cases are the networks of a seed.
func (s SharedPolling) cases() (list []sharedCase) {
	usual := polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}
	for _, c := range []sharedCase{{name: "Fix 1h", policy: polling.Fixed{Every: time.Hour}},
		{name: "FeedEx", policy: polling.FeedEx{}}, {name: autoName, policy: polling.Auto{Range: usual}}} {
		for _, c.nodes = range s.Sizes {
			list = append(list, c)
		}
	}
	// Twice the target is polls by the root of two more rarely.
	for target := polling.DefaultTargetDelay; target <= 32*polling.DefaultTargetDelay; target *= 2 {
		p := polling.Auto{Range: usual, TargetDelay: target}
		list = append(list, sharedCase{name: autoName, policy: p, nodes: 1, target: true})
	}
	return list
}

// aloneAt is the delay, by each seed, of one node alone that makes as many requests as each node of a network:
// between the rows of two targets, from the smallest on, delay and requests follow a power of one another. It is nil
// where no two targets have these requests between them.
func aloneAt(targets []SharedRow, of *SharedRow) (delays []float64) {
	for seed, requests := range of.Requests {
		each := requests / float64(of.Nodes)
		i := slices.IndexFunc(targets, func(t SharedRow) bool { return t.Requests[seed] <= each })
		if i < 0 || i == 0 && targets[0].Requests[seed] < each {
			return nil
		}
		fewer, more := targets[i], targets[max(i-1, 0)]
		part := 0.0 // of the way from more to fewer requests
		if i > 0 {
			part = math.Log(more.Requests[seed]/each) / math.Log(more.Requests[seed]/fewer.Requests[seed])
		}
		delays = append(delays, more.Delay[seed]*math.Pow(fewer.Delay[seed]/more.Delay[seed], part))
	}
	return delays
}

// Run runs every network. If ctx ends before it is done, the Report says so. The error wraps ErrSetting.
func (s SharedPolling) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	s, feeds, err := s.withDefaults()
	if err != nil {
		return nil, err
	}
	cases := s.cases()
	var costs []float64
	for _, c := range cases {
		costs = append(costs, slices.Repeat([]float64{float64(c.nodes)}, s.Seeds)...)
	}
	runs := together(newMeter(progress, costs), func(i int, tell Progress) *sharedRun {
		c := cases[i/s.Seeds]
		return s.network(ctx, s.Seed+lab.Seed(i%s.Seeds), feeds, c.policy, c.nodes, tell)
	})
	r := newReport("Polling policies, where nodes share what they poll", s.Seed, s.Traces)
	var rows, targets []SharedRow
	done := 0
	for i, c := range cases {
		row := SharedRow{Policy: c.name, Nodes: c.nodes}
		for _, run := range runs[i*s.Seeds : (i+1)*s.Seeds] {
			if run != nil {
				done++
				r.Took(run.hash, run.steps)
				row.add(run)
			}
		}
		if c.target {
			targets = append(targets, row)
		} else {
			rows = append(rows, row)
		}
	}
	if done < len(runs) {
		r.Partial = fmt.Sprintf("%d of %d networks", done, len(runs))
	} else {
		for i := range rows {
			if row := &rows[i]; row.Policy == autoName {
				row.Alone = aloneAt(targets, row)
			}
		}
		r.Figures = sharedFigures(rows)
	}
	rows = slices.DeleteFunc(rows, func(row SharedRow) bool { return len(row.Delay) == 0 })
	r.Result, r.Tables = rows, []report.Table{sharedTable(rows), sameRequestsTable(rows)}
	r.Setting = []string{fmt.Sprintf("%d feeds from the busiest to those of an entry in two days, which all nodes "+
		"follow, for %.1f days, of which the second half counts; seeds %d to %d",
		s.Feeds, s.Length.Hours()/24, s.Seed, int(s.Seed)+s.Seeds-1)}
	return r, nil
}

func (r *SharedRow) add(run *sharedRun) {
	r.Delay, r.Own, r.Coverage = append(r.Delay, run.any), append(r.Own, run.own), append(r.Coverage, run.coverage)
	r.Requests = append(r.Requests, run.requests)
	r.Least, r.Most = append(r.Least, run.least), append(r.Most, run.most)
	r.Spared = append(r.Spared, run.spared)
}

// network runs one network; nil where ctx ended before.
func (s SharedPolling) network(ctx context.Context, seed lab.Seed, feeds []trace.Timeline, p polling.Policy,
	nodes int, tell Progress) *sharedRun {
	// The documents have filled up when it starts, where the traces are long enough.
	start := s.Traces.From.Add(min(7*24*time.Hour, s.Traces.To.Sub(s.Traces.From)-s.Length))
	n := network{Seed: seed, Feeds: feeds, Start: start, Length: s.Length, Every: time.Hour, Each: len(feeds),
		Bound: 10, Policy: p, NoEncoding: true}
	g := crowd{network: n, Nodes: nodes, Alike: true}.gather()
	half := s.Length / 2
	if !advance(ctx, g.w, start.Add(half), func(done float64) { tell(done / 2) }) {
		return nil
	}
	before, spared := requestsOf(g), sparedOf(g)
	if !advance(ctx, g.w, start.Add(s.Length), func(done float64) { tell(.5 + done/2) }) {
		return nil
	}
	run := &sharedRun{sharedDelays: delaysOf(g, s.Length), hash: g.w.Hash(), steps: g.w.Steps()}
	feedDays := float64(len(feeds)) * half.Hours() / 24
	run.spared = (sparedOf(g) - spared) / feedDays / float64(nodes)
	for i, n := range requestsOf(g) {
		each := float64(n-before[i]) / feedDays
		run.requests += each
		if run.most = max(run.most, each); i == 0 || each < run.least {
			run.least = each
		}
	}
	return run
}

// requestsOf is how many polls each node has made.
func requestsOf(g *gathering) []int64 {
	return each(g.honest(), func(h *lab.Host) int64 { return h.Node().Status().Counters.Polls })
}

// sparedOf is how many polls the nodes say that neighbors made needless.
func sparedOf(g *gathering) (sum float64) {
	for _, h := range g.honest() {
		sum += h.Node().Status().Counters.PollsSpared
	}
	return sum
}

// delaysOf measures how late the entries came that were published in the second half of a run, but for the last eighth:
// a node that polls rarely comes to them too.
func delaysOf(g *gathering, length time.Duration) sharedDelays {
	var delays, own, coverage means
	for _, h := range g.honest() {
		var came, polled arrived
		for _, sight := range h.Sights(g.w.Now()) {
			if sight.Published < length/2 || sight.Published >= length*7/8 {
				continue
			}
			came.add(sight.Published, sight.Any)
			polled.add(sight.Published, sight.Own)
		}
		// A node to which nothing came counts as well, without a delay.
		delays.add(came.late, max(1, came.count))
		own.add(polled.late, max(1, polled.count))
		coverage.add(float64(came.count), max(1, came.of))
	}
	return sharedDelays{report.Mean(delays), report.Mean(own), report.Mean(coverage)}
}

func sharedTable(rows []SharedRow) report.Table {
	t := report.Table{
		Columns: []string{"policy", "followers", "delay min", "sooner", "by own polls", "coverage",
			"requests/feed/day", "a node", "fewest", "most", "spared"},
		Notes: []string{
			"Delay: from an entry's publication until it comes, by any way; the mean over seeds, and the least and " +
				"the most. Sooner: how many times, than one node alone. By own polls: of what they show, whether it " +
				"was there or not.",
			"Requests are those of all nodes. A polite reader that asks every hour makes 24. Spared: what a " +
				"node's first page says that neighbors spared it; one alone made about so many more.",
		},
	}
	alone := make(map[string]float64)
	for _, r := range rows {
		delay, sooner := report.Mean(r.Delay), report.Unknown
		if r.Nodes == 1 {
			alone[r.Policy] = delay
		}
		if first := alone[r.Policy]; first > 0 && delay > 0 {
			sooner = fmt.Sprintf("%.1f", first/delay)
		}
		t.Row(r.Policy, r.Nodes, report.RangeOf(r.Delay).Text(60, "%.1f"), sooner, report.Minutes(report.Mean(r.Own)),
			report.Percent(report.Mean(r.Coverage)), report.Mean(r.Requests), report.Mean(r.Requests)/float64(r.Nodes),
			report.Mean(r.Least), report.Mean(r.Most), report.Mean(r.Spared))
	}
	return t
}

// sameRequestsTable compares networks with one node alone that asks as often as each of their nodes.
func sameRequestsTable(rows []SharedRow) report.Table {
	t := report.Table{
		Title:   "Against one alone that asks as often as each of them",
		Columns: []string{"policy", "followers", "requests a node", "delay min", "alone", "sooner"},
		Notes: []string{"Alone: the delay of a node without neighbors by Auto, with the target by which it makes as " +
			"many requests; between those of two targets, of which the second is twice the first."},
	}
	for _, r := range rows {
		if r.Policy != autoName {
			continue
		}
		alone, sooner := report.Unknown, report.Unknown
		if r.Alone != nil {
			ratios := make([]float64, len(r.Alone))
			for i := range ratios {
				ratios[i] = r.Alone[i] / r.Delay[i]
			}
			alone, sooner = report.RangeOf(r.Alone).Text(60, "%.1f"), report.RangeOf(ratios).Text(1, "%.1f")
		}
		t.Row(r.Policy, r.Nodes, report.Mean(r.Requests)/float64(r.Nodes), report.RangeOf(r.Delay).Text(60, "%.1f"),
			alone, sooner)
	}
	return t
}

// sharedFigures are the delay, and what it costs the publisher, by how many follow a feed.
func sharedFigures(rows []SharedRow) []report.Figure {
	delay := report.Figure{Name: "followers-delay", Title: "How late entries come, by how many follow the feed",
		X: "Nodes that follow the feed", Y: "Delay (minutes)", Log: true}
	load := report.Figure{Name: "followers-requests", Title: "What the publisher gets of them",
		X: delay.X, Y: "Requests a day, of all of them", Log: true}
	for i, r := range rows {
		if i == 0 || r.Policy != rows[i-1].Policy {
			delay.Lines = append(delay.Lines, report.Curve{Name: r.Policy})
			load.Lines = append(load.Lines, report.Curve{Name: r.Policy})
		}
		if len(delay.Lines) == 1 {
			delay.Points = append(delay.Points, fmt.Sprint(r.Nodes))
		}
		curve, requests := &delay.Lines[len(delay.Lines)-1], &load.Lines[len(load.Lines)-1]
		minutes := report.RangeOf(r.Delay)
		curve.Values = append(curve.Values, minutes.Mean/60)
		curve.Low, curve.High = append(curve.Low, minutes.P5/60), append(curve.High, minutes.P95/60)
		requests.Values = append(requests.Values, report.Mean(r.Requests))
	}
	load.Points = delay.Points
	return []report.Figure{delay, load}
}
