package experiment

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"feedex/lab"
	"feedex/lab/trace"
)

// Corona is the setting that the authors of Corona simulate (§5.1), with feedex in the place of Corona:
// legacy RSS, in which every subscriber polls alone, against the exchange with the same polls, and with so
// many fewer that updates are detected as late as by legacy RSS. The zero value of each field means its
// default.
//
// "We perform simulations for a system of 1024 nodes, 100,000 channels, and 5,000,000 subscriptions. [...]
// We run the simulations for six hours with a polling interval of 30 minutes".
type Corona struct {
	Seed          lab.Seed
	Traces        *trace.Set    // channels publish as its feeds do; default trace.Surveyed
	Nodes         int           // default 128
	Channels      int           // default 100
	Subscriptions int           // of all nodes; default 50 a channel
	Length        time.Duration // that counts, up to whole intervals; default 6 h
	Every         time.Duration // between polls; default 30 min
	Reach         int           // hops over which interests count, as node.Config.MaxSubsetHops has it; default 3
	// EqualLoad leaves out the networks that poll more rarely, which are most of the work.
	EqualLoad bool
	// NoEncoding leaves out the codec and the counts of bytes between nodes.
	NoEncoding bool
}

// The size of the simulation in §5.1.
const (
	coronaNodes         = 1024
	coronaChannels      = 100_000
	coronaSubscriptions = 5_000_000
)

const (
	// rarest is the longest interval that is tried.
	rarest = 24 * time.Hour
	// linking is how long nodes have to find neighbors, beside the interval in which each polls first.
	linking = 10 * time.Minute
	// closeEnough is how far from that of legacy RSS a detection time may be to be called as late.
	closeEnough = .05
)

// span is how long a world with that interval runs: until all polls have their phase, while it counts, and
// until everybody has polled once more.
func (c Corona) span(every time.Duration) time.Duration {
	return c.settled(every) + c.counted(every) + every
}

// counted is the time in which counts what is published: Length, up to whole intervals, as the phases of
// polls are not spread evenly over an interval.
func (c Corona) counted(every time.Duration) time.Duration {
	return (c.Length + every - 1) / every * every
}

// settled is when what is published begins to count.
func (c Corona) settled(every time.Duration) time.Duration { return linking + every }

// withDefaults is c with each zero field at its default, and the longest interval that there is time for,
// or what is impossible.
func (c Corona) withDefaults() (Corona, time.Duration, error) {
	c.Nodes, c.Channels = cmp.Or(c.Nodes, 128), cmp.Or(c.Channels, 100)
	c.Subscriptions = cmp.Or(c.Subscriptions, coronaSubscriptions/coronaChannels*c.Channels)
	c.Length, c.Every, c.Reach = cmp.Or(c.Length, 6*time.Hour), cmp.Or(c.Every, 30*time.Minute), cmp.Or(c.Reach, 3)
	switch {
	case c.Nodes < 2 || c.Nodes > maxNodes:
		return c, 0, fmt.Errorf("%w: %d nodes; want 2 to %d", ErrSetting, c.Nodes, maxNodes)
	case c.Channels < 1 || c.Channels > coronaChannels:
		return c, 0, fmt.Errorf("%w: %d channels; want 1 to %d", ErrSetting, c.Channels, coronaChannels)
	case c.Subscriptions < c.Nodes || c.Subscriptions > c.Nodes*c.Channels:
		return c, 0, fmt.Errorf("%w: %d subscriptions of %d nodes to %d channels; as a node follows a channel once, "+
			"and at least one, want %d to %d",
			ErrSetting, c.Subscriptions, c.Nodes, c.Channels, c.Nodes, c.Nodes*c.Channels)
	case c.Length < 30*time.Minute || c.Length > 7*24*time.Hour:
		return c, 0, fmt.Errorf("%w: a run of %s; want 30m to a week", ErrSetting, spell(c.Length))
	case c.Reach < 1 || c.Reach > 8:
		return c, 0, fmt.Errorf("%w: a reach of %d hops; want 1 to 8", ErrSetting, c.Reach)
	case c.Every < time.Minute || c.Every > rarest:
		return c, 0, fmt.Errorf("%w: polling every %s; want 1m to %s", ErrSetting, spell(c.Every), spell(rarest))
	}
	if c.Traces == nil {
		c.Traces = trace.Surveyed(uint64(c.Seed), trace.Survey{Feeds: c.Channels, Length: c.span(rarest)})
		return c, rarest, nil
	}
	covered := c.Traces.To.Sub(c.Traces.From)
	longest := min(rarest, (covered-c.Length-linking)/3)
	if longest < c.Every || len(c.Traces.Feeds) == 0 {
		return c, 0, fmt.Errorf("%w: a run of %s with polls every %s takes traces of one feed or more over %s; these "+
			"are %d over %s",
			ErrSetting, spell(c.Length), spell(c.Every), spell(linking+c.Length+3*c.Every), len(c.Traces.Feeds),
			spell(covered))
	}
	return c, longest, nil
}

// channels are what nodes can follow, the most popular first.
func (c Corona) channels() []trace.Feed {
	feeds := slices.Clone(c.Traces.Feeds)
	c.Seed.Stream("popularity").Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
	return copies(feeds, c.Channels)
}

// Run runs the network with the given interval, from which the figures of legacy RSS come as well, and then
// up to two more, until one detects updates as late as legacy RSS, unless EqualLoad leaves them out. The error wraps
// ErrSetting.
func (c Corona) Run(ctx context.Context, progress Progress) (*Report, error) {
	c, longest, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	feeds := c.channels()
	costs := []float64{1, 4, 4} // about: rarer polls take a longer run
	if c.EqualLoad {
		costs = costs[:1]
	}
	m := newMeter(progress, costs)
	var rows []CoronaRow
	run := func(every time.Duration) error {
		row, err := c.run(ctx, feeds, every, func(done float64) { m.set(len(rows), done) })
		rows = append(rows, row)
		return err
	}
	if err := run(c.Every); err != nil {
		return nil, err
	}
	target := rows[0].Alone.Lag
	for len(rows) < len(costs) && ctx.Err() == nil && rows[0].Exchange.Lag > 0 && rows[0].Exchange.Lag < target {
		every := min(nextInterval(rows, target), longest)
		if slices.ContainsFunc(rows, func(r CoronaRow) bool {
			return r.Every == every ||
				r.off(target) < closeEnough
		}) {
			break
		}
		if err := run(every); err != nil {
			return nil, err
		}
	}
	return c.report(rows), nil
}

// nextInterval is the interval, in whole minutes, at which the detection time is to be expected at target:
// in proportion to the first one, then on the line through two.
func nextInterval(rows []CoronaRow, target float64) time.Duration {
	first, last := rows[0], rows[len(rows)-1]
	every := float64(first.Every) * (target / first.Exchange.Lag)
	if rise := last.Exchange.Lag - first.Exchange.Lag; len(rows) > 1 && rise > 0 {
		part := (target - first.Exchange.Lag) / rise
		every = float64(first.Every) + float64(float64(last.Every-first.Every)*part)
	}
	every = min(every, float64(rarest))
	return max(first.Every, time.Duration(every).Round(time.Minute))
}

// run runs one network and takes its measures.
func (c Corona) run(ctx context.Context, feeds []trace.Feed, every time.Duration,
	progress func(float64)) (CoronaRow, error) {
	start := c.Traces.From
	n := network{
		Seed: c.Seed, Feeds: feeds, Start: start, Length: c.settled(every) + c.counted(every), Every: every,
		Reach: c.Reach, NoEncoding: c.NoEncoding,
	}
	w, err := n.world()
	if err != nil {
		return CoronaRow{}, err
	}
	for i := range c.Nodes {
		each := c.Subscriptions / c.Nodes
		if i < c.Subscriptions%c.Nodes {
			each++
		}
		rng := c.Seed.Stream(fmt.Sprintf("machine %d", i))
		m := lab.Member{Name: fmt.Sprintf("node %d", i)}
		for _, rank := range drawByRank(rng, len(feeds), each) {
			m.Feeds = append(m.Feeds, w.Publishers()[rank].URL)
		}
		joinSoon(w, rng, m, func(*lab.Host) {})
	}
	begin := c.settled(every)
	end := begin + c.counted(every)
	var at [2]*coronaCounts
	w.At(start.Add(begin), func() { at[0] = countCorona(w) })
	w.At(start.Add(end), func() { at[1] = countCorona(w) })
	began := time.Now()
	whole := advance(ctx, w, start.Add(c.span(every)), progress)
	row := measureCorona(w, every, begin, end, at, whole)
	row.seconds, row.heap = time.Since(began).Seconds(), heapNow()
	runtime.KeepAlive(w)
	return row, nil
}
