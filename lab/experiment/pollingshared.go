package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
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
	Sizes  []int         // default 1, 2, 4, 8, 16
}

// A SharedRow is the outcome of one network. Delays are the means of the nodes' means, in seconds.
type SharedRow struct {
	Policy   string  `json:"policy"`
	Nodes    int     `json:"nodes"`
	Hash     string  `json:"hash"`
	Delay    float64 `json:"delay"`
	Own      float64 `json:"own_delay"` // by own polls alone
	Coverage float64 `json:"coverage"`
	Requests float64 `json:"requests"` // a feed and day, of all nodes
	Least    float64 `json:"least"`    // the same, of the node that made the fewest
	Most     float64 `json:"most"`     // and the most
	steps    int64
}

// sharedLeast is how many entries a day a feed publishes that takes part, at least.
const sharedLeast = 0.5

// sharedShortest is the shortest run.
const sharedShortest = 48 * time.Hour

func (s SharedPolling) withDefaults() (SharedPolling, []trace.Timeline, error) {
	if s.Sizes == nil {
		s.Sizes = []int{1, 2, 4, 8, 16}
	}
	s.Feeds, s.Length = cmp.Or(s.Feeds, 12), cmp.Or(s.Length, 10*24*time.Hour)
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

// Run runs every network. If ctx ends before it is done, the Report says so. The error wraps ErrSetting.
func (s SharedPolling) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	s, feeds, err := s.withDefaults()
	if err != nil {
		return nil, err
	}
	policies := []struct {
		name   string
		policy polling.Policy
	}{
		{"Fix 1h", polling.Fixed{Every: time.Hour}},
		{"FeedEx", polling.FeedEx{}},
		{"Auto", polling.Auto{Range: polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax}}},
	}
	var costs []float64
	for range policies {
		for _, size := range s.Sizes {
			costs = append(costs, float64(size))
		}
	}
	rows := together(newMeter(progress, costs), func(i int, tell Progress) *SharedRow {
		p := policies[i/len(s.Sizes)]
		return s.network(ctx, feeds, p.name, p.policy, s.Sizes[i%len(s.Sizes)], tell)
	})
	return s.report(rows), nil
}

// network runs one network; nil where ctx ended before.
func (s SharedPolling) network(ctx context.Context, feeds []trace.Timeline, name string, p polling.Policy, nodes int,
	tell Progress) *SharedRow {
	// The documents have filled up when it starts, where the traces are long enough.
	start := s.Traces.From.Add(min(7*24*time.Hour, s.Traces.To.Sub(s.Traces.From)-s.Length))
	n := network{Seed: s.Seed, Feeds: feeds, Start: start, Length: s.Length, Every: time.Hour, Each: len(feeds),
		Bound: 10, Policy: p, NoEncoding: true}
	g := crowd{network: n, Nodes: nodes, Alike: true}.gather()
	half := s.Length / 2
	if !advance(ctx, g.w, start.Add(half), func(done float64) { tell(done / 2) }) {
		return nil
	}
	before := requestsOf(g)
	if !advance(ctx, g.w, start.Add(s.Length), func(done float64) { tell(.5 + done/2) }) {
		return nil
	}
	row := &SharedRow{Policy: name, Nodes: nodes, Hash: g.w.Hash(), steps: g.w.Steps()}
	feedDays := float64(len(feeds)) * half.Hours() / 24
	for i, n := range requestsOf(g) {
		each := float64(n-before[i]) / feedDays
		row.Requests += each
		if row.Most = max(row.Most, each); i == 0 || each < row.Least {
			row.Least = each
		}
	}
	s.delays(g, row)
	return row
}

// requestsOf is how many polls each node has made.
func requestsOf(g *gathering) []int64 {
	var list []int64
	for _, h := range g.honest() {
		list = append(list, h.Node().Status().Counters.Polls)
	}
	return list
}

// delays measures how late the entries came that were published in the second half, but for the last eighth: a node
// that polls rarely comes to them too.
func (s SharedPolling) delays(g *gathering, row *SharedRow) {
	var delays, own, coverage means
	for _, h := range g.honest() {
		var came, polled arrived
		for _, sight := range h.Sights(g.w.Now()) {
			if sight.Published < s.Length/2 || sight.Published >= s.Length*7/8 {
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
	row.Delay, row.Own, row.Coverage = report.Mean(delays), report.Mean(own), report.Mean(coverage)
}

// report makes the Report of the rows, of which those that did not come to their end are nil.
func (s SharedPolling) report(rows []*SharedRow) *report.Report {
	r := newReport("Polling policies, where nodes share what they poll", s.Seed, s.Traces)
	r.Setting = []string{fmt.Sprintf("%d feeds from the busiest to those of an entry in two days, which all nodes "+
		"follow, for %.1f days, of which the second half counts",
		s.Feeds, s.Length.Hours()/24)}
	t := report.Table{
		Columns: []string{"policy", "nodes", "delay min", "by own polls", "coverage", "requests/feed/day", "a node",
			"fewest", "most", "hash"},
		Notes: []string{
			"Delay: from an entry's publication until it comes, by any way. By own polls: of what they show, whether " +
				"it was there or not.",
			"Requests are those of all nodes. A polite reader that asks every hour makes 24.",
		},
	}
	var done []SharedRow
	for _, row := range rows {
		if row == nil {
			continue
		}
		done = append(done, *row)
		r.Took(row.Hash, row.steps)
		number := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
		t.Row(row.Policy, fmt.Sprint(row.Nodes), number(row.Delay/60), number(row.Own/60), report.Percent(row.Coverage),
			number(row.Requests), number(row.Requests/float64(row.Nodes)), number(row.Least),
			number(row.Most), row.Hash)
	}
	if len(done) < len(rows) {
		r.Partial = fmt.Sprintf("%d of %d networks", len(done), len(rows))
	}
	r.Result, r.Tables = done, []report.Table{t}
	return r
}
