package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/protocol"
)

// Queries is what queries of the network find and cost (Paper §3.6): by how far they go, by their budget, by how
// many have what is looked for, in networks that grow, and among nodes that flood. The zero value of each field
// means its default.
type Queries struct {
	Seed     lab.Seed
	Traces   *trace.Set    // no default
	Sizes    []int         // nodes, a network each, and the first once more with flooders; default 161, 1,000
	Each     int           // feeds a node; default 20
	Settle   time.Duration // until the first query; default 15 min
	Trials   int           // queries of each kind; default 10
	Flooders float64       // share of the nodes of the flooded network; default 0.03, below 0 for no such network
}

const (
	// apart is the time between two queries: one ends before the next begins, since nobody waits for longer than
	// protocol.DefaultWait.
	apart = 5 * time.Second
	// listed is how many entries a document lists at most. Archives are filled with what queries look for, and all the
	// documents of all feeds going round at the start would take longer than the queries.
	listed = 5
	// planted is how many entries each query looks for, each with holders of its own.
	planted = 5
	// floodEvery is how often a flooder asks each of its neighbors: ten a minute are answered.
	floodEvery = time.Second
	// floodAhead is how long before the first query the flood begins.
	floodAhead = 5 * time.Minute
)

// heldBy are the shares of a feed's subscribers that hold what is looked for; one of them at least.
var heldBy = [...]float64{.9, .5, .1, .01}

// A queryKind is a way to ask.
type queryKind struct {
	hops, budget int
	blind        bool // no feed is named
}

// queryKinds are the ways that are compared.
func queryKinds() []queryKind {
	return []queryKind{
		{hops: 1, budget: 64}, {hops: 2, budget: 64}, {hops: 3, budget: 64}, {hops: 5, budget: 64},
		{hops: 3, budget: 16}, {hops: 3, budget: 256}, {hops: 3, budget: 64, blind: true}, {hops: 3, budget: 256, blind: true},
	}
}

// kindsOf are those of one network.
func kindsOf(flooded bool) []queryKind {
	if flooded {
		return []queryKind{{hops: protocol.DefaultQueryHops, budget: protocol.DefaultBudget}}
	}
	return queryKinds()
}

func (c Queries) withDefaults() (Queries, []trace.Feed, error) {
	c.Each, c.Trials = cmp.Or(c.Each, 20), cmp.Or(c.Trials, 10)
	c.Settle, c.Flooders = cmp.Or(c.Settle, 15*time.Minute), cmp.Or(c.Flooders, .03)
	if c.Sizes == nil {
		c.Sizes = []int{161, 1000}
	}
	feeds := busiest(c.Seed, c.Traces, 70)
	for i := range feeds {
		feeds[i].Window = min(feeds[i].Window, listed)
	}
	for _, size := range c.Sizes {
		if err := possible(c.Traces, feeds, size, c.Each, c.length(), c.Settle); err != nil {
			return c, nil, err
		}
		if size > maxNodes {
			return c, nil, fmt.Errorf("%w: %d nodes; want %d or fewer", ErrSetting, size, maxNodes)
		}
	}
	if c.Trials < 1 || c.Flooders > .9 {
		return c, nil, fmt.Errorf("%w: %d queries of each kind, %v of the nodes flood; want 1 or more, and up to 0.9", ErrSetting, c.Trials, c.Flooders)
	}
	return c, feeds, nil
}

// length is how long each network runs.
func (c Queries) length() time.Duration {
	return c.Settle + time.Duration(len(queryKinds())*len(heldBy)*c.Trials+1)*apart
}

// A QueryRow is what came of the queries of one kind in one network.
type QueryRow struct {
	Nodes    int                  `json:"nodes"`
	Flooders int                  `json:"flooders"`
	Load     float64              `json:"load"` // query_feed calls that an honest node makes a minute, for all queries
	Hops     int                  `json:"hops"`
	Budget   int                  `json:"budget"`
	Blind    bool                 `json:"blind"` // no feed was named
	Recall   [len(heldBy)]float64 `json:"recall"`
	Messages Spread               `json:"messages"` // query_feed calls a query; none where the network is flooded
	Delay    Spread               `json:"delay"`    // until the end, in seconds
	First    Spread               `json:"first"`    // until something was found, likewise
}

// Run runs the networks, one after the other. The error wraps ErrSetting.
func (c Queries) Run(ctx context.Context, progress Progress) (*Report, error) {
	c, feeds, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	sizes := slices.Clone(c.Sizes)
	if c.Flooders > 0 {
		sizes = append(sizes, c.Sizes[0])
	}
	costs := make([]float64, len(sizes))
	for i, size := range sizes {
		costs[i] = float64(size)
	}
	m := newMeter(progress, costs)
	r := &Report{
		Title: "What queries of the network find and cost", Seed: c.Seed, Traces: c.Traces.Hash(),
	}
	var rows []QueryRow
	var hashes []string
	for i, size := range sizes {
		// As many feeds as give each its subscribers, as in Scaling.
		n := network{
			Seed: c.Seed, Feeds: copies(feeds, max(c.Each, size*c.Each/subscribers)), Start: weekday(c.Traces, c.length()), Length: c.length(),
			Each: c.Each, Every: 4 * time.Hour, NoEncoding: true,
		}
		flooded := i == len(c.Sizes)
		w, got, err := c.ask(ctx, n, size, flooded, func(done float64) { m.set(i, done) })
		if err != nil {
			return nil, err
		}
		rows, hashes = append(rows, got...), append(hashes, w.Hash())
		r.Steps += w.Steps()
		if ctx.Err() != nil {
			r.Partial = fmt.Sprintf("interrupted in network %d, of which nothing is told", i+1)
			break
		}
	}
	c.tables(r, rows)
	r.Hash, r.Result = hashOf(hashes), rows
	return r, nil
}

// ask runs one network and has its nodes ask, one after the other.
func (c Queries) ask(ctx context.Context, n network, size int, flooded bool, tell func(float64)) (*lab.World, []QueryRow, error) {
	w, err := n.world()
	if err != nil {
		return nil, nil, err
	}
	flooders := 0
	if flooded {
		flooders = int(c.Flooders * float64(size))
	}
	var honest []*lab.Host
	followers := make(map[feed.URL][]*lab.Host)
	for i := range size {
		c.join(w, n, i, i < flooders, func(h *lab.Host, feeds []feed.URL) {
			honest = append(honest, h)
			for _, u := range feeds {
				followers[u] = append(followers[u], h)
			}
		})
	}
	rng := c.Seed.Stream("queries")
	var questions []*question
	at := n.Start.Add(c.Settle)
	for range c.Trials {
		for _, kind := range kindsOf(flooded) {
			for held := range heldBy {
				t := &question{number: len(questions), kind: kind, held: held}
				questions = append(questions, t)
				w.At(at, func() { t.begin(w, followers, rng) })
				at = at.Add(apart)
				w.At(at, func() { t.messages = queriesMade(w) - t.messages })
			}
		}
	}
	if !advance(ctx, w, at.Add(1), tell) {
		return w, nil, nil
	}
	return w, summed(questions, size, flooders, load(honest, at.Sub(n.Start.Add(c.Settle-floodAhead)))), nil
}

// join has member number i join within the first minute. joined is called if it is honest.
func (c Queries) join(w *lab.World, n network, i int, floods bool, joined func(h *lab.Host, feeds []feed.URL)) {
	rng := n.Seed.Stream(fmt.Sprintf("machine %d", i))
	m := lab.Member{Name: fmt.Sprintf("node %d", i), Feeds: choose(rng, w, n.Each)}
	if floods {
		m.Actor = func(n *node.Node, _ *rand.Rand) lab.Actor {
			return actor.Querier(n, m.Name, floodEvery, w.Start().Add(c.Settle-floodAhead))
		}
	}
	w.At(n.Start.Add(within(rng, joinWithin)), func() {
		h, err := w.Join(m)
		if err != nil {
			panic(err) // the settings were checked
		}
		if !floods {
			joined(h, m.Feeds)
		}
	})
}

// queriesMade counts the query_feed calls of all hosts so far.
func queriesMade(w *lab.World) (calls int64) {
	for _, h := range w.Hosts() {
		calls += h.Made[lab.QueryFeed].Calls
	}
	return calls
}

// load is how many query_feed calls each of the hosts made a minute.
func load(hosts []*lab.Host, over time.Duration) float64 {
	var calls int64
	for _, h := range hosts {
		calls += h.Made[lab.QueryFeed].Calls
	}
	return float64(calls) / float64(max(1, len(hosts))) / over.Minutes()
}

// A question is one query.
type question struct {
	number   int
	kind     queryKind
	held     int // index in heldBy
	found    int
	messages int64
	delay    time.Duration
	first    time.Duration // lab.Never where nothing was found
}

// begin gives some subscribers of a feed, drawn for each entry anew, something old, and has one of the others ask
// for it.
func (t *question) begin(w *lab.World, followers map[feed.URL][]*lab.Host, rng *rand.Rand) {
	var u feed.URL
	for len(followers[u]) < 2 {
		u = w.Publishers()[rng.IntN(len(w.Publishers()))].URL
	}
	hosts := slices.Clone(followers[u])
	rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	asker, others := hosts[0], hosts[1:]
	title := fmt.Sprintf("Question %d", t.number)
	for k := range planted {
		e := feed.Entry{
			Feed: u, ID: fmt.Sprintf("%s entry %d", title, k), Title: fmt.Sprintf("%s entry %d", title, k),
			Published: w.Start().AddDate(-1, 0, 0),
		}
		rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		for _, h := range others[:max(1, int(heldBy[t.held]*float64(len(others))))] {
			h.Plant(e)
		}
	}
	q := protocol.Query{Hops: t.kind.hops, Budget: t.kind.budget, Filter: feed.Filter{Feed: u, Title: []string{title}}}
	if t.kind.blind {
		q.Filter.Feed = ""
	}
	begun := w.Now()
	t.messages, t.first = queriesMade(w), lab.Never
	asker.Query(q, func(r node.Results) {
		took := w.Now().Sub(begun)
		if len(r.Hits) > 0 {
			t.first = min(t.first, took)
		}
		if r.Done {
			t.found, t.delay = len(r.Hits), took
		}
	})
}
