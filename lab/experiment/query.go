package experiment

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/protocol"
)

// Queries is the experiment on what queries of the network find and cost (Paper §3.6): by how far they go, by their
// budget, by how many have what is looked for, in networks that grow, and among nodes that flood. The zero value of
// each field means its default.
//
// Every feed has as many subscribers in each network, as in Scaling: with the same feeds for all, larger networks
// would only have more holders. The feeds publish nothing: what a query looks for is put into archives. News on its way
// to everyone would take far longer than the queries, and say nothing about them. So neighbors are chosen by what they
// follow, as in the first hour of any node, and accounts have no bound, since nobody can earn anything.
type Queries struct {
	Seed     lab.Seed
	Traces   *trace.Set    // no default
	Sizes    []int         // nodes, a network each; default 161, 1,000
	Each     int           // feeds a node; default 20
	Settle   time.Duration // until the first query: links take five minutes, adverts sixteen; default 21 min
	Trials   int           // searches, each made in every way; default 10
	Flooders float64       // share of the nodes that flood in the end; 0 for no such network
}

const (
	// apart is the time between two queries: one ends before the next begins, since nobody waits for longer than
	// protocol.DefaultWait.
	apart = 5 * time.Second
	// planted is how many entries each query looks for, each with holders of its own.
	planted = 5
	// floodEvery is how often a flooder asks each of its neighbors: ten a minute are answered.
	floodEvery = time.Second
	// floodAhead is for how long it does before the next query.
	floodAhead = 5 * time.Minute
)

// heldBy are the shares of a feed's subscribers that hold what is looked for; one of them at least.
var heldBy = [...]float64{.9, .5, .1, .01}

// A QueryKind is a way to ask.
type QueryKind struct {
	Hops    int  `json:"hops"`
	Budget  int  `json:"budget"`
	Blind   bool `json:"blind"`   // no feed was named
	Flooded bool `json:"flooded"` // among nodes that flood
}

// usual is how a node asks unless told otherwise.
var usual = QueryKind{Hops: protocol.DefaultQueryHops, Budget: protocol.DefaultBudget}

// kinds are the ways that are compared, those among nodes that flood at the end.
func (c Queries) kinds() []QueryKind {
	kinds := []QueryKind{
		{Hops: 1, Budget: 64}, {Hops: 2, Budget: 64}, {Hops: 3, Budget: 64}, {Hops: 4, Budget: 64},
		{Hops: 5, Budget: 64},
		{Hops: 3, Budget: 16}, {Hops: 3, Budget: 256}, {Hops: 5, Budget: 256}, {Hops: 3, Budget: 64, Blind: true},
		{Hops: 3, Budget: 256, Blind: true},
	}
	if c.Flooders > 0 {
		kinds = append(kinds, QueryKind{Hops: usual.Hops, Budget: usual.Budget, Flooded: true})
	}
	return kinds
}

func (c Queries) withDefaults() (Queries, []trace.Timeline, error) {
	c.Each, c.Trials = cmp.Or(c.Each, 20), cmp.Or(c.Trials, 10)
	c.Settle = cmp.Or(c.Settle, 21*time.Minute)
	if c.Sizes == nil {
		c.Sizes = []int{161, 1000}
	}
	feeds := busiest(c.Seed, c.Traces, 70)
	for i := range feeds {
		feeds[i].Times = nil
	}
	for _, size := range c.Sizes {
		if err := possible(c.Traces, feeds, size, c.Each, c.length(), c.Settle); err != nil {
			return c, nil, err
		}
	}
	switch {
	case c.Trials < 1:
		return c, nil, impossible("%d searches; want 1 or more", c.Trials)
	case !(c.Flooders >= 0 && c.Flooders <= .9):
		return c, nil, impossible("%v of the nodes flood; want 0 to 0.9", c.Flooders)
	}
	return c, feeds, nil
}

// begins is when the queries of kind number i begin.
func (c Queries) begins(i int) time.Duration {
	at := c.Settle + time.Duration(i*len(heldBy)*c.Trials)*apart
	if kinds := c.kinds(); i >= len(kinds) || kinds[i].Flooded {
		at += floodAhead
	}
	return at
}

// length is how long each network runs.
func (c Queries) length() time.Duration { return c.begins(len(c.kinds())) }

// Run runs the networks, one after the other. The error wraps ErrSetting.
func (c Queries) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, feeds, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	costs := make([]float64, len(c.Sizes))
	for i, size := range c.Sizes {
		// what nodes tell each other of feeds takes longest
		costs[i] = float64(size) * float64(min(size*c.Each/subscribers, size))
	}
	m := newMeter(progress, costs)
	r := newReport("What queries of the network find and cost", c.Seed, c.Traces)
	var rows []QueriedNetwork
	for i, size := range c.Sizes {
		n := network{
			Seed: c.Seed, Feeds: copies(feeds, max(c.Each, size*c.Each/subscribers)),
			Start: weekday(c.Traces, c.length()), Length: c.length(),
			Each: c.Each, Every: c.length(), Bound: -1, NoEncoding: true,
		}
		began := time.Now()
		row := c.network(ctx, n, size, m.of(i))
		r.Took(row.Hash, row.steps)
		if ctx.Err() != nil {
			r.Partial = fmt.Sprintf("interrupted in network %d, of which nothing is told", i+1)
			break
		}
		rows = append(rows, row)
		r.Aside = append(r.Aside, cost(size, len(n.Feeds), row.steps, row.heap, time.Since(began).Seconds()))
	}
	c.tables(r, rows)
	r.Figures = c.figures(rows)
	r.Result = rows
	return r, nil
}

// network runs one network and has its nodes ask, one after the other.
func (c Queries) network(ctx context.Context, n network, size int, tell Progress) QueriedNetwork {
	w := n.world()
	flooders := int(c.Flooders * float64(size))
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
	row := QueriedNetwork{Nodes: size, Feeds: len(n.Feeds), Flooders: flooders}
	var searches []searchTrial
	w.At(n.Start.Add(c.Settle), func() {
		rng := c.Seed.Stream("queries")
		for range c.Trials {
			for _, share := range heldBy {
				searches = append(searches, newSearch(w, followers, share, rng))
			}
		}
		row.Near = nearness(w, searches)
	})
	var questions []*question
	for i, kind := range c.kinds() {
		for k := range len(heldBy) * c.Trials {
			q := &question{number: len(questions), kind: kind, held: k % len(heldBy)}
			questions = append(questions, q)
			at := n.Start.Add(c.begins(i) + time.Duration(k)*apart)
			w.At(at, func() { q.begin(w, searches[k]) })
			w.At(at.Add(apart), func() { q.messages = queriesMade(w.Hosts()) - q.messages })
		}
	}
	last := len(c.kinds()) - 1
	if c.Flooders > 0 {
		w.At(n.Start.Add(c.begins(last)-floodAhead), func() { row.Load = -float64(queriesMade(honest)) })
	}
	complete := advance(ctx, w, n.Start.Add(c.length()+1), tell)
	row.Hash, row.steps, row.heap = w.Hash(), w.Steps(), heapNow()
	if !complete {
		return row
	}
	row.Load = (row.Load + float64(queriesMade(honest))) / float64(max(1, len(honest))) / (c.length() - c.begins(last) +
		floodAhead).Minutes()
	row.Kinds = each(c.kinds(), func(kind QueryKind) QueryRow { return summed(questions, kind) })
	return row
}

// join has member number i join within the first minute. joined is called if it never floods.
func (c Queries) join(w *lab.World, n network, i int, floods bool, joined func(h *lab.Host, feeds []feed.URL)) {
	m, rng := n.member(w, i)
	if floods {
		from := w.Start().Add(c.begins(len(c.kinds())-1) - floodAhead)
		m.Actor = func(n *node.Node, _ ed25519.PrivateKey, _ *rand.Rand) lab.Actor {
			return actor.Querier(n, m.Name, floodEvery, from)
		}
	}
	joinSoon(w, rng, m, func(h *lab.Host, _ *rand.Rand) {
		if !floods {
			joined(h, m.Feeds)
		}
	})
}

// queriesMade counts the query_feed calls of hosts so far.
func queriesMade(hosts []*lab.Host) (calls int64) {
	for _, h := range hosts {
		calls += h.Made[lab.QueryFeed].Calls
	}
	return calls
}

// A searchTrial is a node that looks for entries of a feed, and the holders of each of them. It is made in every way
// that is compared.
type searchTrial struct {
	feed    feed.URL
	asker   *lab.Host
	others  []*lab.Host // the feed's other subscribers
	holders [planted][]*lab.Host
}

// newSearch draws one, for what so large a share of the feed's other subscribers hold.
func newSearch(w *lab.World, followers map[feed.URL][]*lab.Host, share float64, rng *rand.Rand) searchTrial {
	var s searchTrial
	for len(followers[s.feed]) < 2 {
		s.feed = w.Publishers()[rng.IntN(len(w.Publishers()))].URL
	}
	hosts := shuffled(followers[s.feed], rng)
	s.asker, s.others = hosts[0], hosts[1:]
	for k := range s.holders {
		s.holders[k] = shuffled(s.others, rng)[:max(1, int(share*float64(len(s.others))))]
	}
	return s
}

// shuffled are hosts in an order of chance.
func shuffled(hosts []*lab.Host, rng *rand.Rand) []*lab.Host {
	hosts = slices.Clone(hosts)
	rng.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	return hosts
}

// A question is one query.
type question struct {
	number   int
	kind     QueryKind
	held     int // index in heldBy
	found    int
	messages int64
	delay    time.Duration
	first    time.Duration // lab.Never where nothing was found
}

// begin gives the holders of a search something old, and has its asker ask for it.
func (q *question) begin(w *lab.World, s searchTrial) {
	title := fmt.Sprintf("Question %d", q.number)
	for k, holders := range s.holders {
		e := feed.Entry{
			Feed: s.feed, ID: fmt.Sprintf("%s entry %d", title, k), Title: fmt.Sprintf("%s entry %d", title, k),
			Published: w.Start().AddDate(-1, 0, 0),
		}
		for _, h := range holders {
			h.Plant(e)
		}
	}
	ask := protocol.Query{Hops: q.kind.Hops, Budget: q.kind.Budget,
		Filter: feed.Filter{Feed: s.feed, Title: []string{title}}}
	if q.kind.Blind {
		ask.Filter.Feed = ""
	}
	begun := w.Now()
	q.messages, q.first = queriesMade(w.Hosts()), lab.Never
	s.asker.Query(ask, func(r node.QueryResults) {
		took := w.Now().Sub(begun)
		if len(r.Hits) > 0 {
			q.first = min(q.first, took)
		}
		if r.Done {
			q.found, q.delay = len(r.Hits), took
		}
	})
}

// Nearness is where the other subscribers of a feed are from the node that asks: what a query can come by at all.
type Nearness struct {
	Neighbors float64                `json:"neighbors"` // of the node that asks
	Alike     float64                `json:"alike"`     // of these, subscribers of the feed
	Others    float64                `json:"others"`    // other subscribers of the feed
	Within    [len(nearHops)]float64 `json:"within"`    // the share of them within so many hops
	Nodes     [len(nearHops)]float64 `json:"nodes"`     // all nodes within so many hops
}

// nearHops are the hops that Nearness tells of, those of the queries.
var nearHops = [...]int{1, 2, 3, 4, 5}

// nearness looks at the neighborhoods of the nodes that ask, as they are now.
func nearness(w *lab.World, searches []searchTrial) (n Nearness) {
	byID := make(map[protocol.NodeID]*lab.Host)
	for _, h := range w.Hosts() {
		byID[h.ID] = h
	}
	peers := make(map[*lab.Host][]*lab.Host)
	for _, h := range w.Hosts() {
		for _, p := range h.Node().Neighbors() {
			peers[h] = append(peers[h], byID[p.ID])
		}
	}
	each := 1 / float64(len(searches))
	for _, s := range searches {
		far := distances(peers, s.asker)
		n.Neighbors += each * float64(len(peers[s.asker]))
		n.Others += each * float64(len(s.others))
		for i, hops := range nearHops {
			near := 0.0
			for _, h := range s.others {
				if d, ok := far[h]; ok && d <= hops {
					near++
				}
			}
			n.Within[i] += each * near / float64(len(s.others))
			if hops == 1 {
				n.Alike += each * near
			}
			for _, d := range far {
				if d <= hops {
					n.Nodes[i] += each
				}
			}
		}
	}
	return n
}

// distances are how many hops it is from one host to the others, as far as nearHops goes.
func distances(peers map[*lab.Host][]*lab.Host, from *lab.Host) map[*lab.Host]int {
	far := map[*lab.Host]int{from: 0}
	edge := []*lab.Host{from}
	for hops := 1; hops <= nearHops[len(nearHops)-1]; hops++ {
		var next []*lab.Host
		for _, h := range edge {
			for _, p := range peers[h] {
				if _, known := far[p]; !known {
					far[p] = hops
					next = append(next, p)
				}
			}
		}
		edge = next
	}
	delete(far, from)
	return far
}
