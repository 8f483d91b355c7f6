package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/protocol"
)

// Interests is the experiment on what a network is worth to people whose feeds hardly anybody else follows: most of
// those on real subscription lists. The zero value of each field means its default.
type Interests struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Lists  trace.Lists   // default: as many as Nodes, made up
	Nodes  int           // default 251, or as many as there are Lists, which are drawn from where they are more
	Length time.Duration // default 24 h
	Every  time.Duration // between polls; default 4 h
	// Volunteer is how many feeds each node polls for others; default none.
	Volunteer int
	// NoEncoding leaves out the codec and the counts of bytes.
	NoEncoding bool
}

// followings are the classes of feeds by their number of followers, the last without end.
var followings = []struct {
	name  string
	least int
}{{"1", 1}, {"2-4", 2}, {"5-19", 5}, {"20 and more", 20}}

// An InterestRow is what came of the feeds of one class. Lags are means over the entries as their followers had them,
// in seconds.
type InterestRow struct {
	Followers     string  `json:"followers"`
	Feeds         int     `json:"feeds"`
	Subscriptions int     `json:"subscriptions"`
	Entries       int     `json:"entries"` // counted once a follower
	Coverage      float64 `json:"coverage"`
	Lag           float64 `json:"lag"`
	Alone         float64 `json:"sln_lag"`  // of own polls
	Even          float64 `json:"even"`     // where the followers' polls are evenly spaced: T/2n
	Requests      float64 `json:"requests"` // a feed and day
}

// InterestResult is the outcome.
type InterestResult struct {
	Rows []InterestRow `json:"rows"`
	// Near is the share of a node's feeds that a neighbor follows, Best that which its ten best others do, and Any that
	// which anybody else does.
	Near report.Spread `json:"near"`
	Best report.Spread `json:"best"`
	Any  report.Spread `json:"any"`
	// Polled is the share of a node's feeds that anybody else polls, for itself or for others.
	Polled report.Spread `json:"polled"`
	Links  report.Spread `json:"links"` // neighbors
	Calls  float64       `json:"calls"` // received, a node a minute
	Bytes  float64       `json:"bytes"` // of calls made and received, with their answers, likewise
	Ran    time.Duration `json:"ran_ns"`
}

func (c Interests) withDefaults() (Interests, error) {
	c.Length, c.Every = cmp.Or(c.Length, 24*time.Hour), cmp.Or(c.Every, 4*time.Hour)
	c.Nodes = cmp.Or(c.Nodes, len(c.Lists), 251)
	if c.Volunteer < 0 || c.Volunteer > 1000 {
		return c, impossible("%d feeds polled for others; want 0 to 1000", c.Volunteer)
	}
	if c.Length < 3*c.Every {
		return c, impossible("a run of %s; want three times the %s between polls", when.Clock(c.Length),
			when.Clock(c.Every))
	}
	return c, possible(c.Traces, c.Traces.Feeds, c.Nodes, 1, c.Length, c.Every)
}

// interested draws which of the lists so many nodes have, made-up ones where there are none, and which feeds of the
// traces are on them: each of these over and over, as more feeds are followed than there are traces of.
func interested(seed lab.Seed, s *trace.Set, lists trace.Lists, nodes int) (trace.Lists, []trace.Timeline, error) {
	if len(s.Feeds) == 0 {
		return nil, nil, errNoFeeds
	}
	if lists == nil {
		lists = trace.SyntheticLists(uint64(seed), min(max(nodes, 0), maxNodes))
	}
	if nodes < 2 || nodes > len(lists) {
		return nil, nil, impossible("%d nodes; there are %d lists, so want 2 to that", nodes, len(lists))
	}
	lists = lists.Of(seed.Stream("lists").Perm(len(lists))[:nodes])
	feeds := slices.Clone(s.Feeds)
	seed.Stream("feeds").Shuffle(len(feeds), func(i, j int) { feeds[i], feeds[j] = feeds[j], feeds[i] })
	return lists, copies(feeds, len(lists.Followers())), nil
}

// Run runs the network. The error wraps ErrSetting.
func (c Interests) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	lists, feeds, err := interested(c.Seed, c.Traces, c.Lists, c.Nodes)
	if err != nil {
		return nil, err
	}
	followers := lists.Followers()
	n := network{Seed: c.Seed, Feeds: feeds, Start: weekday(c.Traces, c.Length), Length: c.Length, Lists: lists,
		Every: c.Every, Volunteer: c.Volunteer, NoEncoding: c.NoEncoding}
	w := n.world()
	readers := make([]reader, len(lists))
	for i, list := range lists {
		n.join(w, i, func(h *lab.Host, _ *rand.Rand) { readers[i] = reader{h, list} })
	}
	n.run(ctx, w, newMeter(progress, equal(1)).of(0))
	r := c.report(w, lists, c.measure(w, lists, slices.DeleteFunc(readers, reader.absent)))
	slices.SortFunc(followers, func(a, b int) int { return b - a })
	if p := popularityFigure(followers); p != nil {
		r.Plots = append(r.Plots, p)
	}
	return r, nil
}

// classOf is the class of a feed.
func classOf(followers int) int {
	i := len(followings) - 1
	for followings[i].least > followers {
		i--
	}
	return i
}

// A reader is a host with its list.
type reader struct {
	*lab.Host
	list []int
}

// absent reports whether it has not joined.
func (r reader) absent() bool { return r.Host == nil }

// measure sums up the network.
func (c Interests) measure(w *lab.World, lists trace.Lists, readers []reader) InterestResult {
	r := InterestResult{Rows: make([]InterestRow, len(followings)), Ran: w.Now().Sub(w.Start())}
	followers := lists.Followers()
	for i, f := range followings {
		r.Rows[i].Followers = f.name
	}
	for f, n := range followers {
		row := &r.Rows[classOf(n)]
		row.Feeds++
		row.Subscriptions += n
		row.Requests += float64(w.Publishers()[f].Requests) * 24 / max(1, r.Ran.Hours())
	}
	came, own := make([]arrived, len(followings)), make([]arrived, len(followings))
	var received, made lab.Traffic
	var links []float64
	for _, h := range readers {
		for _, s := range h.Sights(w.Now()) {
			if s.Published < c.Every || s.Published >= c.Length-c.Every*3/2 {
				continue // before every feed was polled, or so late that not all are polled once more
			}
			n := followers[s.Feed]
			k := classOf(n)
			came[k].add(s.Published, s.Any)
			own[k].add(s.Published, s.Own)
			r.Rows[k].Even += c.Every.Seconds() / float64(2*n)
		}
		received, made = received.Plus(h.Received), made.Plus(h.Made)
		links = append(links, float64(h.Links()))
	}
	for i := range r.Rows {
		row, a, o := &r.Rows[i], &came[i], &own[i]
		row.Entries, row.Coverage = a.of, Fraction{a.count, a.of}.of()
		row.Lag, row.Alone = a.mean(), o.mean()
		row.Even /= float64(max(1, a.of))
		row.Requests /= float64(max(1, row.Feeds))
	}
	per := float64(max(1, len(readers))) * max(1, r.Ran.Minutes())
	r.Calls = float64(received.Total().Calls) / per
	r.Bytes = float64(received.Total().Bytes+made.Total().Bytes) / per
	r.Links = report.SpreadOf(links)
	r.Near, r.Best, r.Any = held(readers, len(followers))
	r.Polled = polledElsewhere(w, readers)
	return r
}

// polledElsewhere is which share of the readers' feeds somebody else polls.
func polledElsewhere(w *lab.World, readers []reader) report.Spread {
	pollers, urls := make(map[feed.URL]int), everything(w)
	for _, r := range readers {
		for _, f := range r.list {
			pollers[urls[f]]++
		}
		for _, u := range r.Node().Status().Volunteered {
			pollers[u]++
		}
	}
	var shares []float64
	for _, r := range readers {
		var second Fraction
		for _, f := range r.list {
			second.count(pollers[urls[f]] > 1)
		}
		shares = append(shares, second.of())
	}
	return report.SpreadOf(shares)
}

// held is of the readers' feeds which share a neighbor follows, which share the ten best others do, and which anybody.
func held(readers []reader, feeds int) (near, best, anybody report.Spread) {
	index := make(map[protocol.NodeID]int)
	followers := make([][]int, feeds)
	for i, r := range readers {
		index[r.ID] = i
		for _, f := range r.list {
			followers[f] = append(followers[f], i)
		}
	}
	var nears, bests, anys []float64
	for i, r := range readers {
		linked := make(map[int]bool)
		for _, s := range r.Node().Neighbors() {
			linked[index[s.ID]] = true
		}
		shared := slices.DeleteFunc(slices.Clone(r.list), func(f int) bool { return len(followers[f]) < 2 })
		share := func(covered int) float64 { return float64(covered) / float64(len(r.list)) }
		missed := slices.DeleteFunc(slices.Clone(shared), func(f int) bool {
			return slices.ContainsFunc(followers[f], func(j int) bool { return linked[j] })
		})
		nears = append(nears, share(len(shared)-len(missed)))
		bests = append(bests, share(tenBest(followers, i, shared)))
		anys = append(anys, share(len(shared)))
	}
	return report.SpreadOf(nears), report.SpreadOf(bests), report.SpreadOf(anys)
}

// tenBest is how many of the feeds those ten readers follow, other than i, of whom each adds most to those before.
func tenBest(followers [][]int, i int, feeds []int) (covered int) {
	left := slices.Clone(feeds)
	for range 10 {
		adds := make(map[int]int)
		best := -1
		for _, f := range left {
			for _, j := range followers[f] {
				if j != i {
					adds[j]++
				}
			}
		}
		for j, n := range adds {
			if best < 0 || n > adds[best] || n == adds[best] && j < best {
				best = j
			}
		}
		left = slices.DeleteFunc(left, func(f int) bool { return slices.Contains(followers[f], best) })
	}
	return len(feeds) - len(left)
}

func (c Interests) report(w *lab.World, lists trace.Lists, result InterestResult) *report.Report {
	r := newReport("What a network is worth where interests are those of real people", c.Seed, c.Traces)
	r.Result = result
	r.Took(w.Hash(), w.Steps())
	r.Setting = []string{
		fmt.Sprintf("%s, a node each, polling every %s, %s from %s; each feed publishes as one of %d of the traces",
			lists, when.Clock(c.Every), when.Clock(c.Length), w.Start().Format("Monday 2006-01-02 15:04 MST"),
			len(c.Traces.Feeds)),
	}
	if c.Volunteer > 0 {
		r.Setting = append(r.Setting, fmt.Sprintf("Each node polls up to %d feeds for others.", c.Volunteer))
	}
	r.Partial = howFar([]time.Duration{result.Ran}, c.Length)
	t := report.Table{Title: "Feeds by how many follow them", Columns: []string{"followers", "feeds", "subscriptions",
		"requests/day", "entries", "coverage", "alone min", "lag min", "T/2n min", "lag/(T/2n)"}}
	for _, row := range result.Rows {
		if row.Feeds == 0 {
			continue
		}
		cover, alone, lag, even, ratio := report.Unknown, report.Unknown, report.Unknown, report.Unknown, report.Unknown
		if row.Entries > 0 {
			cover = report.Percent(row.Coverage)
			alone, lag, even = report.Minutes(row.Alone), report.Minutes(row.Lag), report.Minutes(row.Even)
			ratio = fmt.Sprintf("%.2f", row.Lag/row.Even)
		}
		t.Row(row.Followers, row.Feeds, row.Subscriptions, row.Requests, row.Entries, cover, alone, lag, even, ratio)
	}
	links := report.Table{Title: "Which share of a node's feeds others follow", Columns: []string{"others", "mean",
		"5th", "median", "95th"}}
	type share struct {
		who string
		of  report.Spread
	}
	shares := []share{{"its neighbors", result.Near}, {"the ten best", result.Best}, {"anybody", result.Any}}
	if c.Volunteer > 0 {
		shares = append(shares, share{"anybody, or polls", result.Polled})
	}
	for _, s := range shares {
		links.Row(s.who, report.Percent(s.of.Mean), report.Percent(s.of.P5), report.Percent(s.of.Median),
			report.Percent(s.of.P95))
	}
	cost := report.Table{Title: "What it takes", Columns: []string{"neighbors", "calls/node/min", "B/node/min"}}
	cost.Row(result.Links.Text(1, "%.1f"), fmt.Sprintf("%.2f", result.Calls), report.Known("%.0f", result.Bytes))
	r.Tables = []report.Table{t, links, cost}
	return r
}
