package experiment

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
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
	Lists     trace.Lists     // of feeds, a node each, with Conditions.Interests; default: made up
	Length    time.Duration   // default 22 h
	Intervals []time.Duration // of polling, a network each; default .5 to 16 h
	Bound     int             // the deficit bound, as incentive.Config has it: 0 its default, negative none
	Conditions
	// NoEncoding leaves out the codec and the counts of bytes.
	NoEncoding bool
}

// paperIntervals are those of the paper's six networks.
func paperIntervals() (list []time.Duration) {
	for hours := .5; hours <= 16; hours *= 2 {
		list = append(list, every(hours))
	}
	return list
}

// withDefaults is p with each zero field at its default, or what is impossible.
func (p Paper) withDefaults() (Paper, []trace.Timeline, error) {
	p.Nodes = cmp.Or(p.Nodes, 189)
	if p.Failing == 0 {
		p.Failing = p.Nodes * 28 / 189
	}
	p.Failing = max(0, p.Failing)
	p.Feeds, p.Each = cmp.Or(p.Feeds, 70), cmp.Or(p.Each, 20)
	p.Length = cmp.Or(p.Length, 22*time.Hour)
	if p.Intervals == nil {
		longer := func(every time.Duration) bool { return every > p.Length }
		p.Intervals = slices.DeleteFunc(paperIntervals(), longer)
	}
	feeds, least := busiest(p.Seed, p.Traces, p.Feeds), p.Each
	if p.Interests {
		var err error
		if p.Lists, feeds, err = interested(p.Seed, p.Traces, p.Lists, p.Nodes); err != nil {
			return p, nil, err
		}
		least = 1
	}
	if p.Failing >= p.Nodes {
		return p, nil, impossible("%d of %d nodes fail; want 0 to %d", p.Failing, p.Nodes, p.Nodes-1)
	}
	if len(p.Intervals) == 0 {
		return p, nil, impossible("a run of %s is too short for polling every 30m; want 30m or more, or other "+
			"intervals", when.Clock(p.Length))
	}
	if !(p.Unable >= 0 && p.Unable <= 1) {
		return p, nil, impossible("%v of the nodes reach no publisher; want 0 to 1", p.Unable)
	}
	for _, every := range p.Intervals {
		if err := possible(p.Traces, feeds, p.Nodes, least, p.Length, every); err != nil {
			return p, nil, err
		}
	}
	_, err := lab.New(lab.Config{Start: p.Traces.From, Links: p.Links, Conduct: p.Conduct,
		ReferenceDown: p.ReferenceDown, NoEncoding: p.NoEncoding})
	return p, feeds, err
}

// Run runs one network for each interval. If ctx ends before they do, the Report says so and shows what
// there was by then. The error wraps ErrSetting.
func (p Paper) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	p, feeds, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	start := weekday(p.Traces, p.Length)
	costs := each(p.Intervals, func(every time.Duration) float64 {
		return 1 + 2*float64(time.Hour)/float64(every+time.Hour)
	})
	rows := together(newMeter(progress, costs), func(i int, tell Progress) PaperRow {
		every := p.Intervals[i]
		return p.run(ctx, p.world(p.network(feeds, start, every)), every, start, tell)
	})
	return p.report(feeds, start, rows), nil
}

// network is the one that polls at an interval.
func (p Paper) network(feeds []trace.Timeline, start time.Time, every time.Duration) network {
	return network{
		Seed: p.Seed, Feeds: feeds, Start: start, Length: p.Length, Each: p.Each, Lists: p.Lists,
		Every: every, Bound: p.Bound, Conditions: p.Conditions, NoEncoding: p.NoEncoding,
	}
}

// world makes a network. Its members follow the same feeds and fail at the same times in all networks: Paper §4.3:
// "each machine runs 6 nodes of different intervals".
func (p Paper) world(n network) *lab.World {
	w := n.world()
	fails := p.Seed.Stream("failures").Perm(p.Nodes)[:p.Failing]
	for i := range p.Nodes {
		n.join(w, i, func(h *lab.Host, rng *rand.Rand) {
			if dies := n.Start.Add(within(rng, p.Length)); slices.Contains(fails, i) {
				w.At(dies, h.Crash)
			}
		})
	}
	return w
}

// settled is when the exchange of what documents held from before is over: calls are counted from then on
// beside those of the whole run.
const settled = 30 * time.Minute

// run runs one network and takes its measures.
func (p Paper) run(ctx context.Context, w *lab.World, every time.Duration, start time.Time, tell Progress) PaperRow {
	begin := make(map[*lab.Host]lab.Traffic)
	w.At(start.Add(settled), func() {
		for _, h := range w.Hosts() {
			begin[h] = h.Received
		}
	})
	advance(ctx, w, start.Add(p.Length), tell)
	return measure(w, every, start, begin)
}

// A PaperRow is the outcome of the network that polls at one interval. Lags are in seconds, misses and gains shares,
// calls and bytes a node a minute, each summed up over the nodes that ran to the end.
type PaperRow struct {
	Every time.Duration `json:"every_ns"`
	Ran   time.Duration `json:"ran_ns"`
	Hash  string        `json:"hash"`
	Steps int64         `json:"steps"`
	Nodes int           `json:"nodes"` // that ran to the end

	Alone    Mode `json:"sln"` // SLN: what own polls brought
	Exchange Mode `json:"xch"` // XCH: with neighbors

	Checks   report.Spread `json:"check_calls"` // check_did and check_dids
	DIDs     report.Spread `json:"check_dids"`  // that they offered
	Puts     report.Spread `json:"put_entries"`
	Other    report.Spread `json:"other_calls"`
	Bytes    report.Spread `json:"bytes"`      // of calls made and received, with their answers
	PollByte report.Spread `json:"poll_bytes"` // of documents
	Settled  Calls         `json:"settled"`    // without the first half hour; none where it ran no longer
	Bundle   float64       `json:"bundle"`     // entries in a put_entries

	Requests    int64 `json:"requests"` // at publishers
	NotModified int64 `json:"not_modified"`
	Refused     int64 `json:"refused"` // answered 429 or 503
	Served      int64 `json:"served_bytes"`

	Random    float64 `json:"limit_random"`    // T/(n+1): n polls at random times within T
	Staggered float64 `json:"limit_staggered"` // T/2n: the same, evenly spaced
	Shared    float64 `json:"limit_shared"`    // the same polls shared out by the square root of demand
}

// A Mode is how entries came with or without neighbors.
type Mode struct {
	Lag          report.Spread `json:"lag"`            // against the truth
	ReferenceLag report.Spread `json:"reference_lag"`  // against the reference node, as in the paper
	Miss         report.Spread `json:"miss"`           // of what was published
	Listed       report.Spread `json:"listed"`         // the part of Miss that the document still lists at the end
	RefMiss      report.Spread `json:"reference_miss"` // of what the reference node has
	RefGain      report.Spread `json:"reference_gain"` // that the reference node has not
}

// Calls are those that a node received, a minute.
type Calls struct {
	Checks float64 `json:"check_calls"`
	DIDs   float64 `json:"check_dids"`
	Puts   float64 `json:"put_entries"`
	Bundle float64 `json:"bundle"`
}

// modes gathers a Mode node by node.
type modes struct{ lag, refLag, miss, listed, refMiss, refGain means }

// means are those of nodes, one each.
type means []float64

// add takes in the mean of a node: sum over count, nothing where there was nothing to count.
func (m *means) add(sum float64, count int) {
	if count > 0 {
		*m = append(*m, sum/float64(count))
	}
}

// add takes in one node, whose entries came at the time that at names.
func (m *modes) add(sights []lab.Sight, at func(lab.Sight) time.Duration) {
	var lag, refLag float64
	var got, both, listed, reference, missed, gained int
	for _, s := range sights {
		came, seen := at(s), s.Reference != lab.Never
		if seen {
			reference++
		}
		if came == lab.Never {
			if seen {
				missed++
			}
			if s.Listed {
				listed++
			}
			continue
		}
		got++
		lag += (came - s.Published).Seconds()
		if seen {
			both++
			refLag += (came - s.Reference).Seconds()
		} else {
			gained++
		}
	}
	if len(sights) > 0 {
		m.miss = append(m.miss, 1-float64(got)/float64(len(sights)))
	}
	m.lag.add(lag, got)
	m.refLag.add(refLag, both)
	m.listed.add(float64(listed), len(sights))
	m.refMiss.add(float64(missed), reference)
	m.refGain.add(float64(gained), reference)
}

func (m *modes) mode() Mode {
	return Mode{report.SpreadOf(m.lag), report.SpreadOf(m.refLag), report.SpreadOf(m.miss), report.SpreadOf(m.listed),
		report.SpreadOf(m.refMiss), report.SpreadOf(m.refGain)}
}

// measure sums up a network. begin is what its hosts had received when the time settled was over.
func measure(w *lab.World, every time.Duration, start time.Time, begin map[*lab.Host]lab.Traffic) PaperRow {
	now := w.Now()
	row := PaperRow{Every: every, Ran: now.Sub(start), Hash: w.Hash(), Steps: w.Steps()}
	var alone, exchange modes
	var checks, dids, puts, other, bytes, polls []float64
	var all, later lab.Traffic
	minutes := row.Ran.Minutes()
	for _, h := range w.Hosts() {
		if !h.Running() {
			continue
		}
		row.Nodes++
		sights := h.Sights(now)
		alone.add(sights, func(s lab.Sight) time.Duration { return s.Own })
		exchange.add(sights, func(s lab.Sight) time.Duration { return s.Any })
		r := h.Received
		all, later = all.Plus(r), later.Plus(r.Minus(begin[h]))
		rate := func(n int64) float64 { return float64(n) / minutes }
		check, put := checked(r), r[lab.PutEntries].Calls
		checks = append(checks, rate(check.Calls))
		dids = append(dids, rate(check.Items))
		puts = append(puts, rate(put))
		other = append(other, rate(r.Total().Calls-check.Calls-put))
		bytes = append(bytes, rate(r.Total().Bytes+h.Made.Total().Bytes))
		polls = append(polls, rate(h.Polls.Bytes))
	}
	row.Alone, row.Exchange = alone.mode(), exchange.mode()
	row.Checks, row.DIDs, row.Puts, row.Other = report.SpreadOf(checks), report.SpreadOf(dids), report.SpreadOf(puts),
		report.SpreadOf(other)
	row.Bytes, row.PollByte = report.SpreadOf(bytes), report.SpreadOf(polls)
	row.Bundle = bundle(all)
	if row.Ran > settled && row.Nodes > 0 {
		per := float64(row.Nodes) * (row.Ran - settled).Minutes()
		row.Settled = Calls{
			Checks: float64(checked(later).Calls) / per,
			DIDs:   float64(checked(later).Items) / per,
			Puts:   float64(later[lab.PutEntries].Calls) / per,
			Bundle: bundle(later),
		}
	}
	for _, p := range w.Publishers() {
		row.Requests += p.Requests
		row.NotModified += p.NotModified
		row.Refused += p.Refused
		row.Served += p.Bytes
	}
	row.limits(w)
	return row
}

// checked counts the offers, one by one and many at a time.
func checked(t lab.Traffic) lab.Count {
	one, many := t[lab.CheckDID], t[lab.CheckDIDs]
	return lab.Count{Calls: one.Calls + many.Calls, Items: one.Items + many.Items}
}

// bundle is the mean number of entries in a put_entries.
func bundle(t lab.Traffic) float64 {
	return float64(t[lab.PutEntries].Items) / float64(max(1, t[lab.PutEntries].Calls))
}

// limits works out what lag the polls of all nodes allow those that ran to the end, if whatever one of them
// finds is with the others at once. Each entry that one of those is to get counts once. With n nodes that poll
// a feed every T, of which those that vanish count for as long as they were there: at random phases an entry
// waits T/(n+1) on average, evenly spaced T/2n. Were the polls of all feeds together shared out in proportion
// to the square root of deliveries, which minimizes the mean, p polls a second would make it wait 1/2p.
func (row *PaperRow) limits(w *lab.World) {
	type demand struct{ n, deliveries, root float64 }
	var list []demand
	subscribers := make([]int, len(w.Publishers()))
	polling := make([]float64, len(w.Publishers()))
	for _, h := range w.Hosts() {
		there := 1.
		if !h.Running() {
			there = float64(h.Sessions()[0].To) / float64(row.Ran)
		}
		for _, i := range h.Follows() {
			polling[i] += there
			if h.Running() {
				subscribers[i]++
			}
		}
	}
	for i, p := range w.Publishers() {
		if deliveries := float64(subscribers[i] * p.Feed.Count(w.Now().Add(-row.Ran), w.Now())); deliveries > 0 {
			list = append(list, demand{polling[i], deliveries, math.Sqrt(deliveries)})
		}
	}
	period := row.Every.Seconds()
	var weight, polls, roots float64
	for _, d := range list {
		weight += d.deliveries
		polls += d.n / period
		roots += d.root
	}
	for _, d := range list {
		share := d.deliveries / weight
		row.Random += share * period / (d.n + 1)
		row.Staggered += share * period / (2 * d.n)
		row.Shared += share / (2 * polls * d.root / roots)
	}
}
