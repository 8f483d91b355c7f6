package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/lab"
	"feedex/lab/baseline"
	"feedex/lab/trace"
	"feedex/polling"
)

// Polling is the evaluation of Urbansky and others, "An Optimized Web Feed Aggregation Approach for Generic
// Feed Types", §4, with the policies of package polling and those of well-known readers: each polls every
// feed by itself, without neighbors. The zero value of each field means its default.
type Polling struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Length time.Duration // from the begin of the traces, a day at least; default all of them
	Least  float64       // leaves out feeds that publish fewer entries a day; default 0, none
}

// A contender is a policy that takes part.
type contender struct {
	name   string
	policy func(rng *rand.Rand) polling.Policy
	// stated is the policy's row in Urbansky's Table 1, by feeds and by polls; nil where it has none.
	stated *[2]Averages
}

// byFrequency is Miniflux with the scheduler that its owner must choose.
const byFrequency = "Miniflux, by frequency"

// contenders are the policies in the order of the tables.
func contenders() []contender {
	is := func(p polling.Policy) func(*rand.Rand) polling.Policy {
		return func(*rand.Rand) polling.Policy { return p }
	}
	usual := polling.Range{Min: polling.DefaultMin, Max: polling.DefaultMax} // of the config file
	const m, h = 60, 3600                                                    // seconds
	return []contender{
		{"Fix 1h", is(polling.Fixed{Every: time.Hour}), &[2]Averages{{30 * m, 222.06, 6662}, {30 * m, 21.02, 179}}},
		{"Fix 1d", is(polling.Fixed{Every: 24 * time.Hour}),
			&[2]Averages{{12*h + 9*m, 9.52, 6931}, {12*h + 25*m, 1.91, 1423}}},
		{"Fix Learned", is(polling.FixLearned{}), &[2]Averages{{54*h + 33*m, 41.90, 137139}, {h + 14*m, 7.77, 570}}},
		{"Post Rate", is(polling.PostRate{}), &[2]Averages{{56*h + 51*m, 3.57, 12174}, {51 * m, 5.88, 300}}},
		{"Moving Average", is(polling.MovingAverage{}), &[2]Averages{{74*h + 37*m, 1.96, 8773}, {4 * m, 1.61, 6}}},
		{"Moving Average, 30m-16h", is(polling.MovingAverage{Range: usual}), nil},
		{"FeedEx", is(polling.FeedEx{}), nil},
		{"FeedEx, literal", is(baseline.Literal{}), nil},
		{"Auto", is(polling.Auto{Range: usual}), nil},
		{"Auto, target 15m", is(polling.Auto{Range: usual, TargetDelay: 15 * time.Minute}), nil},
		{"Miniflux", is(baseline.Miniflux{}), nil},
		{byFrequency, is(baseline.Miniflux{EntryFrequency: true}), nil},
		{"FreshRSS", is(baseline.FreshRSS()), nil},
		{"NewsBlur", func(rng *rand.Rand) polling.Policy { return baseline.NewsBlur{Rand: rng} }, nil},
		{"CommaFeed", is(baseline.CommaFeed{}), nil},
		{"newsboat", is(baseline.Newsboat()), nil},
	}
}

// withDefaults is p with each zero field at its default and the feeds that take part, or what is
// impossible.
func (p Polling) withDefaults() (Polling, []trace.Feed, error) {
	span := p.Traces.To.Sub(p.Traces.From)
	p.Length = cmp.Or(p.Length, span)
	feeds := p.Traces.Busy(p.Least)
	switch {
	case !(p.Least >= 0):
		return p, nil, fmt.Errorf("%w: feeds of %v entries a day; want 0 or more", ErrSetting, p.Least)
	case p.Length < 24*time.Hour || p.Length > span:
		return p, nil, fmt.Errorf("%w: a run of %s; the traces cover %s, so want 24h to that", ErrSetting,
			spell(p.Length), spell(span))
	case len(p.Traces.Feeds) == 0:
		return p, nil, fmt.Errorf("%w: no feeds in the traces; want one or more", ErrSetting)
	case len(feeds) == 0:
		most := p.Traces.Busy(0)[0]
		return p, nil, fmt.Errorf("%w: no feed publishes %v entries a day; the most active one has %.1f",
			ErrSetting, p.Least,
			float64(most.Count(p.Traces.From, p.Traces.To))/(span.Hours()/24))
	}
	return p, feeds, nil
}

// Run polls every feed by every policy. If ctx ends before it is done, the Report says so and shows what
// there was by then. The error wraps ErrSetting.
func (p Polling) Run(ctx context.Context, progress Progress) (*Report, error) {
	p, feeds, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	policies := contenders()
	runs := make([][]feedRun, len(feeds)) // by feed, then by policy
	costs := make([]float64, len(feeds))
	for i := range feeds {
		costs[i] = 50 + float64(len(feeds[i].Times))
	}
	m := newMeter(progress, costs)
	together(len(feeds), func(i int) {
		if ctx.Err() == nil {
			runs[i] = p.runFeed(&feeds[i], policies)
			m.set(i, 1)
		}
	})
	return p.report(feeds, runs), nil
}

// runFeed polls one feed by every policy. The first poll is the same for all, at some time of the first day:
// a policy must not gain or lose by when it begins.
func (p Polling) runFeed(f *trace.Feed, policies []contender) []feedRun {
	first := p.Traces.From.Add(within(p.Seed.Stream("first poll of "+f.Name), min(24*time.Hour, p.Length/2)))
	first = first.Truncate(time.Second)
	runs := make([]feedRun, len(policies))
	for i, c := range policies {
		policy := c.policy(p.Seed.Stream(c.name + " polls " + f.Name))
		runs[i] = runFeed(f, policy, first, p.Traces.From.Add(p.Length))
	}
	return runs
}

// report makes the Report of the runs, of which those that did not take place are nil.
func (p Polling) report(feeds []trace.Feed, runs [][]feedRun) *Report {
	var done [][]feedRun
	var of []trace.Feed
	sum := sha256.New()
	r := &Report{Title: "Polling policies, each by itself (Urbansky and others, §4)", Seed: p.Seed,
		Traces: p.Traces.Hash()}
	for i := range runs {
		if runs[i] == nil {
			continue
		}
		done, of = append(done, runs[i]), append(of, feeds[i])
		for j := range runs[i] {
			sum.Write(runs[i][j].sum[:])
			r.Steps += int64(runs[i][j].polls)
		}
	}
	r.Hash = hex.EncodeToString(sum.Sum(nil)[:8])
	if len(done) < len(runs) {
		r.Partial = fmt.Sprintf("%d of %d feeds", len(done), len(runs))
	}
	silent, hasty, bare := 0, 0, 0
	for i := range of {
		if of[i].Count(p.Traces.From, p.Traces.From.Add(p.Length)) == 0 {
			silent++
		}
		if of[i].Count(time.Unix(0, 0), p.Traces.From) < 2 {
			bare++
		}
		hasty += unseeable(&of[i], p.Traces.From, p.Traces.From.Add(p.Length))
	}
	r.Setting = []string{
		fmt.Sprintf("%d feeds, %d of them silent, from %s for %.1f days", len(of), silent,
			p.Traces.From.Format("2006-01-02 15:04"), p.Length.Hours()/24),
		fmt.Sprintf("%d entries come and go within a second and are missed by everybody", hasty),
		fmt.Sprintf("%d feeds begin with less than two entries, as no older ones are recorded: what learns from "+
			"documents waits an hour there", bare),
	}
	rows := pollingRows(done)
	r.Result = rows
	r.Tables = pollingTables(rows)
	r.Drawings = pollingFigures(rows)
	return r
}

// unseeable is how many entries of a span left the document in the second in which they came.
func unseeable(f *trace.Feed, from, to time.Time) int {
	n := 0
	for i, t := range f.Times {
		if t >= from.Unix() && t < to.Unix() && i+f.Window < len(f.Times) && f.Times[i+f.Window] == t {
			n++
		}
	}
	return n
}
