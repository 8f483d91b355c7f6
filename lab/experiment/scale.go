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
	"feedex/protocol"
)

// Scaling is the experiment on what a node pays as the network grows: once with as many feeds as it takes for each to
// keep its number of subscribers, and once with the same feeds for all. The zero value of each field means its default.
type Scaling struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Sizes  []int         // nodes, a network each in every series; default 161, 1,000, 4,000, 10,000
	Series Series        // which of the two are run; default both
	Each   int           // feeds a node; default 20
	Length time.Duration // default 24 h
	Every  time.Duration // between polls; default 1 h
	Reach  int           // hops at which interests count, as node.Config has it; default 3, range 1 to 8
	// most feeds that a node relays that follows few, as node.Config.MaxRelayed has it; default 96, range 1 to 10,000
	Relayed int
	// NoEncoding leaves out the codec and the counts of bytes.
	NoEncoding bool
}

// A Series of Scaling says what stays the same while the network grows.
type Series string

// The series of Scaling.
const (
	BothSeries      Series = ""
	SameSubscribers Series = "subscribers" // of a feed
	SameFeeds       Series = "feeds"       // for all
)

// growth is one series.
type growth struct {
	series      Series
	title, line string // of its table, and in the figure
	feeds       func(nodes int) int
}

// growths are the series that are run, with so many feeds where they are the same for all.
func (c Scaling) growths(feeds int) (list []growth) {
	all := []growth{
		{SameSubscribers, fmt.Sprintf("As many feeds as give each %d subscribers", subscribers),
			fmt.Sprintf("%d subscribers a feed", subscribers),
			func(nodes int) int { return max(c.Each, nodes*c.Each/subscribers) }},
		{SameFeeds, "The same feeds for all", "the same feeds", func(int) int { return feeds }},
	}
	for _, g := range all {
		if c.Series == BothSeries || c.Series == g.series {
			list = append(list, g)
		}
	}
	return list
}

// subscribers is how many nodes follow a feed where that is constant, as in Paper §4.3: 161 · 20 / 70.
const subscribers = 46

func (c Scaling) withDefaults() (Scaling, []trace.Timeline, error) {
	c.Each = cmp.Or(c.Each, 20)
	c.Length, c.Every = cmp.Or(c.Length, 24*time.Hour), cmp.Or(c.Every, time.Hour)
	if c.Reach = cmp.Or(c.Reach, 3); c.Reach < 1 || c.Reach > 8 {
		return c, nil, impossible("a reach of %d hops; want 1 to 8", c.Reach)
	}
	if c.Relayed = cmp.Or(c.Relayed, 96); c.Relayed < 1 || c.Relayed > protocol.MaxSubset {
		return c, nil, impossible("%d relayed feeds; want 1 to %d", c.Relayed, protocol.MaxSubset)
	}
	if c.Sizes == nil {
		c.Sizes = []int{161, 1000, 4000, 10000}
	}
	if c.Series != BothSeries && c.Series != SameSubscribers && c.Series != SameFeeds {
		return c, nil, impossible("no series is called %q; want %s or %s", c.Series, SameSubscribers, SameFeeds)
	}
	feeds := busiest(c.Seed, c.Traces, 70)
	for _, size := range c.Sizes {
		if err := possible(c.Traces, feeds, size, c.Each, c.Length, c.Every); err != nil {
			return c, nil, err
		}
	}
	return c, feeds, nil
}

// copies are count feeds made of the given ones: each copy publishes as its original, some minutes later.
func copies(feeds []trace.Timeline, count int) []trace.Timeline {
	list := make([]trace.Timeline, 0, count)
	for i := range count {
		f := feeds[i%len(feeds)]
		if turn := i / len(feeds); turn > 0 {
			f.Name = fmt.Sprintf("%s copy %d", f.Name, turn)
			times := make([]int64, len(f.Times))
			for j, t := range f.Times {
				times[j] = t + int64(turn*97%3600)
			}
			f.Times = times
		}
		list = append(list, f)
	}
	return list
}

// A ScaleRow is the cost of one network.
type ScaleRow struct {
	Nodes   int           `json:"nodes"`
	Feeds   int           `json:"feeds"`
	Ran     time.Duration `json:"ran_ns"`
	Calls   float64       `json:"calls"`       // received, a node a minute
	Checks  float64       `json:"check_calls"` // likewise
	Puts    float64       `json:"put_entries"`
	Bytes   float64       `json:"bytes"` // of calls made and received, with their answers, likewise; 0 without encoding
	Lag     report.Spread `json:"lag"`   // in seconds
	Cover   float64       `json:"coverage"`
	Polls   float64       `json:"polls"` // a feed a minute, at its publisher
	Links   report.Spread `json:"links"` // neighbors
	Heard   float64       `json:"heard"` // feeds in the set of a neighbor, its own and what it passes on
	Steps   int64         `json:"steps"`
	Hash    string        `json:"hash"`
	Seconds float64       `json:"-"` // of real time; differs from run to run
	Heap    uint64        `json:"-"` // bytes, at the end; likewise
}

// Run runs the networks one after the other, the smallest first: the largest need all memory. The error
// wraps ErrSetting.
func (c Scaling) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, feeds, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	series := c.growths(len(feeds))
	costs := slices.Repeat(each(c.Sizes, func(size int) float64 { return float64(size) }), len(series))
	m := newMeter(progress, costs)
	start := weekday(c.Traces, c.Length)
	rows := make([]ScaleRow, len(costs))
	for i := range rows {
		if ctx.Err() != nil {
			break
		}
		size := c.Sizes[i%len(c.Sizes)]
		n := network{Seed: c.Seed, Feeds: copies(feeds, series[i/len(c.Sizes)].feeds(size)), Start: start,
			Length: c.Length, Each: c.Each, Every: c.Every, Reach: c.Reach, Relayed: c.Relayed,
			NoEncoding: c.NoEncoding}
		w := n.world()
		for j := range size {
			n.join(w, j, nil)
		}
		began := time.Now()
		n.run(ctx, w, m.of(i))
		rows[i] = scaled(w, len(n.Feeds))
		rows[i].Seconds = time.Since(began).Seconds()
	}
	return c.report(series, rows, start), nil
}

// scaled sums up a network.
func scaled(w *lab.World, feeds int) ScaleRow {
	now := w.Now()
	row := ScaleRow{Nodes: len(w.Hosts()), Feeds: feeds, Ran: now.Sub(w.Start()), Steps: w.Steps(), Hash: w.Hash()}
	var m modes
	var all, made lab.Traffic
	var links, heard []float64
	for _, h := range w.Hosts() {
		m.add(h.Sights(now), func(s lab.Sight) time.Duration { return s.Any })
		all, made = all.Plus(h.Received), made.Plus(h.Made)
		links = append(links, float64(h.Links()))
		for _, peer := range h.Node().Neighbors() {
			heard = append(heard, float64(peer.Feeds))
		}
	}
	per := float64(max(1, row.Nodes)) * max(1, row.Ran.Minutes())
	row.Calls = float64(all.Total().Calls) / per
	row.Checks = float64(checked(all).Calls) / per
	row.Puts = float64(all[lab.PutEntries].Calls) / per
	row.Bytes = float64(all.Total().Bytes+made.Total().Bytes) / per
	row.Lag, row.Cover, row.Links = report.SpreadOf(m.lag), 1-report.Mean(m.miss), report.SpreadOf(links)
	row.Heard = report.Mean(heard)
	var polls int64
	for _, p := range w.Publishers() {
		polls += p.Requests
	}
	row.Polls = float64(polls) / float64(feeds) / max(1, row.Ran.Minutes())
	row.Heap = heapNow()
	runtime.KeepAlive(w) // which nothing uses from here on: it would not count
	return row
}

func (c Scaling) report(series []growth, rows []ScaleRow, start time.Time) *report.Report {
	r := newReport("What a node pays as the network grows", c.Seed, c.Traces)
	r.Result = rows
	r.Setting = []string{
		fmt.Sprintf("%d feeds a node, polled every %s, %s from %s, %d hops, %d feeds relayed at most, or four for "+
			"each of one's own", c.Each, when.Clock(c.Every), when.Clock(c.Length),
			start.Format("Monday 2006-01-02 15:04 MST"), c.Reach, c.Relayed),
	}
	for _, row := range rows {
		r.Took(row.Hash, row.Steps)
		if row.Nodes > 0 {
			r.Aside = append(r.Aside, cost(row.Nodes, row.Feeds, row.Steps, row.Heap, row.Seconds))
		}
	}
	r.Partial = howFar(each(rows, func(row ScaleRow) time.Duration { return row.Ran }), c.Length)
	f := report.Figure{Name: "scale-calls", Title: "Calls that a node receives as the network grows", X: "Nodes",
		Y: "Calls per node and minute"}
	for i, g := range series {
		part := rows[i*len(c.Sizes):][:len(c.Sizes)]
		r.Tables = append(r.Tables, scaleTable(g.title, part))
		f.Lines = append(f.Lines, report.Curve{Name: g.line})
	}
	for i, size := range c.Sizes {
		if rows[len(rows)-len(c.Sizes)+i].Nodes == 0 {
			break // interrupted before it began
		}
		f.Points = append(f.Points, fmt.Sprint(size))
		for k := range f.Lines {
			f.Lines[k].Values = append(f.Lines[k].Values, rows[k*len(c.Sizes)+i].Calls)
		}
	}
	r.Figures = []report.Figure{f}
	return r
}

// cost tells what a network took of the machine.
func cost(nodes, feeds int, steps int64, heap uint64, seconds float64) string {
	return fmt.Sprintf("%d nodes, %d feeds: %.1f s, %.0f steps a second, %.0f MB", nodes, feeds, seconds,
		float64(steps)/seconds, float64(heap)/1e6)
}

func scaleTable(title string, rows []ScaleRow) report.Table {
	t := report.Table{Title: title, Columns: []string{"nodes", "feeds", "calls/node/min", "checks", "put_entries",
		"B/node/min", "lag min", "coverage", "polls/feed/min", "neighbors", "feeds of one", "steps", "ran h", "hash"}}
	for _, r := range rows {
		if r.Nodes == 0 {
			continue // interrupted before it began
		}
		t.Row(r.Nodes, r.Feeds, fmt.Sprintf("%.2f", r.Calls), fmt.Sprintf("%.2f", r.Checks),
			fmt.Sprintf("%.2f", r.Puts), report.Known("%.0f", r.Bytes), r.Lag.Text(60, "%.1f"), report.Percent(r.Cover),
			fmt.Sprintf("%.2f", r.Polls), r.Links.Text(1, "%.1f"), fmt.Sprintf("%.0f", r.Heard), r.Steps,
			report.Hours(r.Ran), r.Hash)
	}
	return t
}

// heapNow is how many bytes are in use.
func heapNow() uint64 {
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	return mem.HeapAlloc
}
