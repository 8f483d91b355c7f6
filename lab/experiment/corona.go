package experiment

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
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
		return c, 0, impossible("%d nodes; want 2 to %d", c.Nodes, maxNodes)
	case c.Channels < 1 || c.Channels > coronaChannels:
		return c, 0, impossible("%d channels; want 1 to %d", c.Channels, coronaChannels)
	case c.Subscriptions < c.Nodes || c.Subscriptions > c.Nodes*c.Channels:
		return c, 0, impossible("%d subscriptions of %d nodes to %d channels; as a node follows a channel once, and "+
			"at least one, want %d to %d", c.Subscriptions, c.Nodes, c.Channels, c.Nodes, c.Nodes*c.Channels)
	case c.Length < 30*time.Minute || c.Length > 7*24*time.Hour:
		return c, 0, impossible("a run of %s; want 30m to a week", when.Clock(c.Length))
	case c.Reach < 1 || c.Reach > 8:
		return c, 0, impossible("a reach of %d hops; want 1 to 8", c.Reach)
	case c.Every < time.Minute || c.Every > rarest:
		return c, 0, impossible("polling every %s; want 1m to %s", when.Clock(c.Every), when.Clock(rarest))
	}
	if c.Traces == nil {
		c.Traces = trace.Surveyed(uint64(c.Seed), c.Channels, c.span(rarest))
		return c, rarest, nil
	}
	covered := c.Traces.To.Sub(c.Traces.From)
	longest := min(rarest, (covered-c.Length-linking)/3)
	if longest < c.Every || len(c.Traces.Feeds) == 0 {
		return c, 0, impossible("a run of %s with polls every %s takes traces of one feed or more over %s; these are "+
			"%d over %s", when.Clock(c.Length), when.Clock(c.Every), when.Clock(linking+c.Length+3*c.Every),
			len(c.Traces.Feeds), when.Clock(covered))
	}
	return c, longest, nil
}

// channels returns the feeds that nodes can follow, the most popular first.
func (c Corona) channels() []trace.Timeline {
	feeds := slices.Clone(c.Traces.Feeds)
	c.Seed.Stream("popularity").Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
	return copies(feeds, c.Channels)
}

// Run runs the network with the given interval, from which the figures of legacy RSS come as well, and then
// up to two more, until one detects updates as late as legacy RSS, unless EqualLoad leaves them out. The error wraps
// ErrSetting.
func (c Corona) Run(ctx context.Context, progress Progress) (*report.Report, error) {
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
	run := func(every time.Duration) { rows = append(rows, c.run(ctx, feeds, every, m.of(len(rows)))) }
	run(c.Every)
	target := rows[0].Alone.Lag
	for len(rows) < len(costs) && ctx.Err() == nil && rows[0].Exchange.Lag > 0 && rows[0].Exchange.Lag < target {
		every := min(nextInterval(rows, target), longest)
		tried := func(r CoronaRow) bool { return r.Every == every || r.off(target) < closeEnough }
		if slices.ContainsFunc(rows, tried) {
			break
		}
		run(every)
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
func (c Corona) run(ctx context.Context, feeds []trace.Timeline, every time.Duration, tell Progress) CoronaRow {
	start := c.Traces.From
	n := network{
		Seed: c.Seed, Feeds: feeds, Start: start, Length: c.settled(every) + c.counted(every), Every: every,
		Reach: c.Reach, NoEncoding: c.NoEncoding,
	}
	w := n.world()
	for i := range c.Nodes {
		each := c.Subscriptions / c.Nodes
		if i < c.Subscriptions%c.Nodes {
			each++
		}
		rng := c.Seed.Stream(fmt.Sprintf("machine %d", i))
		urls := picked(w, trace.DrawByRank(rng, len(feeds), each))
		joinSoon(w, rng, lab.MemberConfig{Name: fmt.Sprintf("node %d", i), Feeds: urls}, nil)
	}
	begin := c.settled(every)
	end := begin + c.counted(every)
	var at [2]*coronaCounts
	w.At(start.Add(begin), func() { at[0] = countCorona(w) })
	w.At(start.Add(end), func() { at[1] = countCorona(w) })
	began := time.Now()
	whole := advance(ctx, w, start.Add(c.span(every)), tell)
	row := measureCorona(w, every, begin, end, at, whole)
	row.seconds, row.heap = time.Since(began).Seconds(), heapNow()
	runtime.KeepAlive(w)
	return row
}

// A CoronaRow is the outcome of one network. Lags are detection times in seconds.
type CoronaRow struct {
	Every   time.Duration `json:"every_ns"`
	Hash    string        `json:"hash"`
	Steps   int64         `json:"steps"`
	Ran     time.Duration `json:"ran_ns"`
	Partial bool          `json:"partial,omitempty"`

	Requests    float64 `json:"requests"`        // at a channel in 30 minutes
	NotModified float64 `json:"not_modified"`    // the share answered 304
	Bytes       float64 `json:"publisher_bytes"` // that a channel sends in 30 minutes
	Calls       float64 `json:"calls"`           // that a node receives in a minute
	CallBytes   float64 `json:"call_bytes"`      // likewise, answers included; 0 without encoding

	Alone    Detection     `json:"legacy"`
	Exchange Detection     `json:"exchange"`
	First    float64       `json:"first"`   // the share of entries that a neighbor brought before the own poll
	Offered  float64       `json:"offered"` // the share of subscriptions that a neighbor offers, at the end
	Limit    float64       `json:"limit"`   // the lag at random phases, T/(n+1), by subscriptions
	Links    report.Spread `json:"links"`
	Tiers    []Tier        `json:"tiers"`
	Hours    []CoronaHour  `json:"hours"` // since the start

	subscriptions int
	subscribers   []int          // of each channel
	channels      []meanLateness // the detection time of each channel
	seconds       float64        // of real time
	heap          uint64         // bytes, at the end
}

// off is how far the detection time is from target, as a share of that.
func (r CoronaRow) off(target float64) float64 {
	return max(r.Exchange.Lag-target, target-r.Exchange.Lag) / target
}

// A Detection is how updates are detected.
type Detection struct {
	// Lag is the mean over subscriptions to whose channel there was an update, each at the mean of its
	// updates. Corona §3.1: "taking an average of the update detection time of each channel weighted by the
	// number of clients subscribed".
	Lag float64 `json:"lag"`
	// ByUpdate is the mean over all updates of all subscriptions.
	ByUpdate float64 `json:"lag_by_update"`
	// Coverage is the share of those updates that came at all.
	Coverage float64 `json:"coverage"`
}

// A Tier is the channels that have so many subscribers.
type Tier struct {
	From     int     `json:"from"` // subscribers
	To       int     `json:"to"`   // likewise, included; 0 for no end
	Channels int     `json:"channels"`
	Lag      float64 `json:"lag"`    // with neighbors, by subscriptions
	Alone    float64 `json:"legacy"` // without
	Limit    float64 `json:"limit"`
	Requests float64 `json:"requests"` // at a channel in 30 minutes
}

// tiers are the bounds that channels are divided by.
func tiers() []Tier {
	return []Tier{{From: 1, To: 1}, {From: 2, To: 9}, {From: 10, To: 29}, {From: 30, To: 99}, {From: 100}}
}

// coronaCounts holds the counts up to some time.
type coronaCounts struct {
	at       time.Duration
	requests []int64 // by channel
	total    lab.PollTraffic
	received lab.Count
}

func countCorona(w *lab.World) *coronaCounts {
	c := &coronaCounts{at: w.Now().Sub(w.Start())}
	for _, p := range w.Publishers() {
		c.requests = append(c.requests, p.Requests)
		c.total.Requests += p.Requests
		c.total.NotModified += p.NotModified
		c.total.Bytes += p.Bytes
	}
	for _, h := range w.Hosts() {
		n := h.Received.Total()
		c.received.Calls += n.Calls
		c.received.Bytes += n.Bytes
	}
	return c
}

// detections gathers lags.
type detections struct {
	subscriptions, updates []float64
	all                    int
	now                    []float64 // of the subscription at hand
}

func (d *detections) add(published, seen time.Duration) {
	if d.all++; seen != lab.Never {
		d.now = append(d.now, (seen - published).Seconds())
	}
}

// done ends a subscription. It returns its mean lag, if it has one.
func (d *detections) done() (lag float64, ok bool) {
	if len(d.now) == 0 {
		return 0, false
	}
	lag = report.Mean(d.now)
	d.subscriptions, d.updates, d.now = append(d.subscriptions, lag), append(d.updates, d.now...), d.now[:0]
	return lag, true
}

func (d *detections) detection() Detection {
	return Detection{Lag: report.Mean(d.subscriptions), ByUpdate: report.Mean(d.updates),
		Coverage: float64(len(d.updates)) / float64(max(1, d.all))}
}

// measureCorona sums up a network: what was published between begin and end, and what was counted there.
func measureCorona(w *lab.World, every, begin, end time.Duration, at [2]*coronaCounts, whole bool) CoronaRow {
	row := CoronaRow{Every: every, Hash: w.Hash(), Steps: w.Steps(), Ran: w.Now().Sub(w.Start()), Partial: !whole,
		Tiers: tiers()}
	subscribers, tier := row.divide(w)
	row.subscribers = subscribers
	limit := func(channel int) float64 { return every.Seconds() / float64(subscribers[channel]+1) }

	var alone, exchange detections
	var limits, links []float64
	lags := make([]tierLags, len(row.Tiers))
	channels := make([]lateness, len(subscribers))
	hours := make([]lateness, (end+time.Hour-1)/time.Hour)
	first, offered := 0, 0
	for _, h := range w.Hosts() {
		links = append(links, float64(h.Links()))
		offered += len(h.Follows()) - h.Node().Status().Alone
		sights := h.Sights(w.Now())
		for i, s := range sights {
			if s.Published < end {
				hours[s.Published/time.Hour].add(s)
			}
			if s.Published >= begin && s.Published < end {
				alone.add(s.Published, s.Own)
				exchange.add(s.Published, s.Any)
				channels[s.Feed].add(s)
				if s.Any < s.Own {
					first++
				}
			}
			if i+1 < len(sights) && sights[i+1].Feed == s.Feed {
				continue
			}
			of := &lags[tier[s.Feed]]
			if lag, ok := alone.done(); ok {
				of.alone = append(of.alone, lag)
			}
			if lag, ok := exchange.done(); ok {
				of.exchange, of.limit, limits = append(of.exchange, lag), append(of.limit, limit(s.Feed)),
					append(limits, limit(s.Feed))
			}
		}
	}
	row.Alone, row.Exchange = alone.detection(), exchange.detection()
	row.channels, row.Hours = each(channels, lateness.mean), hoursOf(w, each(hours, lateness.mean))
	row.First = float64(first) / float64(max(1, exchange.all))
	row.Offered = float64(offered) / float64(max(1, row.subscriptions))
	row.Limit, row.Links = report.Mean(limits), report.SpreadOf(links)
	for t := range row.Tiers {
		row.Tiers[t].Lag, row.Tiers[t].Alone, row.Tiers[t].Limit = report.Mean(lags[t].exchange),
			report.Mean(lags[t].alone), report.Mean(lags[t].limit)
	}
	for i, n := range row.count(w, at) {
		if t := &row.Tiers[tier[i]]; subscribers[i] > 0 {
			t.Requests += n / float64(t.Channels)
		}
	}
	return row
}

// tierLags are the lags of the subscriptions to a tier's channels.
type tierLags struct{ alone, exchange, limit []float64 }

// divide counts subscriptions and the channels of each tier. It returns how many subscribe to each channel, and to
// which tier it belongs.
func (r *CoronaRow) divide(w *lab.World) (subscribers, tier []int) {
	subscribers, tier = make([]int, len(w.Publishers())), make([]int, len(w.Publishers()))
	for _, h := range w.Hosts() {
		for _, i := range h.Follows() {
			subscribers[i]++
			r.subscriptions++
		}
	}
	for i, n := range subscribers {
		for t := range r.Tiers {
			if n >= r.Tiers[t].From {
				tier[i] = t
			}
		}
		if n > 0 {
			r.Tiers[tier[i]].Channels++
		}
	}
	return subscribers, tier
}

// count fills in what was counted between two times, or until now where the second did not come. It returns
// the requests in 30 minutes by channel.
func (r *CoronaRow) count(w *lab.World, at [2]*coronaCounts) []float64 {
	if at[0] == nil {
		return nil
	}
	from, to := at[0], at[1]
	if to == nil {
		to = countCorona(w)
	}
	minutes := max(1, (to.at - from.at).Minutes())
	halves, channels := minutes/30, float64(len(w.Publishers()))
	polls := float64(to.total.Requests - from.total.Requests)
	r.Requests = polls / channels / halves
	r.NotModified = float64(to.total.NotModified-from.total.NotModified) / max(1, polls)
	r.Bytes = float64(to.total.Bytes-from.total.Bytes) / channels / halves
	perNode := minutes * float64(max(1, len(w.Hosts())))
	r.Calls = float64(to.received.Calls-from.received.Calls) / perNode
	r.CallBytes = float64(to.received.Bytes-from.received.Bytes) / perNode
	requests := make([]float64, len(from.requests))
	for i := range requests {
		requests[i] = float64(to.requests[i]-from.requests[i]) / halves
	}
	return requests
}
