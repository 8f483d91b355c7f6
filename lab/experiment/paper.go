package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/lab"
	"feedex/lab/trace"
)

// Paper is the evaluation of Paper §4, on the product's own code. The zero value of each field means its
// default, which is the paper's setting.
//
// Paper §4.3: "we ran our prototype on 189 PlanetLab machines for about 22 hours on a weekday. [...] 28
// machines were shut down or rebooted, and we report the results from the remaining 161 [...] one FeedEx
// network consists of the nodes having the same interval. [...] We run 6 networks [...] Out of these 70
// feeds, each node puts 20 feeds independently and randomly into its direct subscription set."
type Paper struct {
	Seed      lab.Seed
	Traces    *trace.Set      // no default
	Nodes     int             // that start; default 189
	Failing   int             // of these, how many vanish at a random time for good; default 28 of 189, negative none
	Feeds     int             // at most so many of those that publish 5 entries a day; default 70
	Each      int             // feeds a node; default 20
	Length    time.Duration   // default 22 h
	Intervals []time.Duration // of polling, a network each; default .5 to 16 h
	Bound     int             // the deficit bound, as incentive.Config has it: 0 its default, negative none
	Links     lab.Links
	// NoEncoding leaves out the codec and the counts of bytes.
	NoEncoding bool
}

// withDefaults is p with each zero field at its default, or what is impossible.
func (p Paper) withDefaults() (Paper, []trace.Feed, error) {
	p.Nodes = cmp.Or(p.Nodes, 189)
	if p.Failing == 0 {
		p.Failing = p.Nodes * 28 / 189
	}
	p.Failing = max(0, p.Failing)
	p.Feeds, p.Each = cmp.Or(p.Feeds, 70), cmp.Or(p.Each, 20)
	p.Length = cmp.Or(p.Length, 22*time.Hour)
	if p.Intervals == nil {
		for i := range 6 {
			if every := 30 * time.Minute << i; every <= p.Length {
				p.Intervals = append(p.Intervals, every)
			}
		}
	}
	busy := busiest(p.Seed, p.Traces, p.Feeds)
	if p.Failing >= p.Nodes {
		return p, nil, fmt.Errorf("%w: %d of %d nodes fail; want 0 to %d", ErrSetting, p.Failing, p.Nodes, p.Nodes-1)
	}
	if len(p.Intervals) == 0 {
		return p, nil, fmt.Errorf("%w: a run of %s is too short for polling every 30m; want 30m or more, or other "+
			"intervals", ErrSetting, spell(p.Length))
	}
	for _, every := range p.Intervals {
		if err := possible(p.Traces, busy, p.Nodes, p.Each, p.Length, every); err != nil {
			return p, nil, err
		}
	}
	return p, busy, nil
}

// Run runs one network for each interval. If ctx ends before they do, the Report says so and shows what
// there was by then. The error wraps ErrSetting.
func (p Paper) Run(ctx context.Context, progress Progress) (*Report, error) {
	p, feeds, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	start := weekday(p.Traces, p.Length)
	rows := make([]PaperRow, len(p.Intervals))
	errs := make([]error, len(rows))
	var costs []float64
	for _, every := range p.Intervals {
		costs = append(costs, 1+2*float64(time.Hour)/float64(every+time.Hour))
	}
	m := newMeter(progress, costs)
	together(len(rows), func(i int) {
		w, err := p.world(feeds, start, p.Intervals[i])
		if err != nil {
			errs[i] = err
			return
		}
		rows[i] = p.run(ctx, w, p.Intervals[i], start, func(done float64) { m.set(i, done) })
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return p.report(feeds, start, rows), nil
}

// world makes the network that polls at one interval. What its members follow and when they fail is the
// same in all networks: Paper §4.3: "each machine runs 6 nodes of different intervals".
func (p Paper) world(feeds []trace.Feed, start time.Time, every time.Duration) (*lab.World, error) {
	n := network{
		Seed: p.Seed, Feeds: feeds, Start: start, Length: p.Length, Each: p.Each, Every: every,
		Bound: p.Bound, Links: p.Links, NoEncoding: p.NoEncoding,
	}
	w, err := n.world()
	if err != nil {
		return nil, err
	}
	fails := p.Seed.Stream("failures").Perm(p.Nodes)[:p.Failing]
	for i := range p.Nodes {
		n.join(w, i, func(h *lab.Host, rng *rand.Rand) {
			if dies := start.Add(within(rng, p.Length)); slices.Contains(fails, i) {
				w.At(dies, h.Crash)
			}
		})
	}
	return w, nil
}

// settled is when the exchange of what documents held from before is over: calls are counted from then on
// beside those of the whole run.
const settled = 30 * time.Minute

// run runs one network and takes its measures.
func (p Paper) run(ctx context.Context, w *lab.World, every time.Duration, start time.Time,
	progress func(float64)) PaperRow {
	begin := make(map[*lab.Host]lab.Traffic)
	if p.Length > settled {
		w.At(start.Add(settled), func() {
			for _, h := range w.Hosts() {
				begin[h] = h.Received
			}
		})
	}
	advance(ctx, w, start.Add(p.Length), progress)
	return measure(w, every, start, begin)
}
