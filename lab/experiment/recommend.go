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
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/neighbors"
	"feedex/protocol"
	"feedex/recommend"
)

// Recommending is the experiment on what suggestions are worth: of each list a fifth is hidden, and what is suggested
// by the neighbors' adverts is compared with it. Nobody knows what is hidden, or a neighbor could poll it for the
// reader. The zero value of each field means its default.
type Recommending struct {
	Seed   lab.Seed
	Traces *trace.Set  // no default; only its Hash is shown
	Lists  trace.Lists // default: 251, made up
	Seeds  int         // how many, from Seed on; default 5
	// Volunteer is how many feeds each node polls for others; default none.
	Volunteer int
}

const (
	suggested       = 10 // feeds, of which is counted how many are hidden ones
	linksEach       = 10
	hiddenOf        = 5  // of each list a fifth
	volunteerRound  = 40 // feeds that a node takes up before the next has its turn
	enoughVolunteer = 3  // nodes that poll a feed, for which nobody volunteers then
)

// A RecommendingRow is a way to choose suggestions: of ten, which share is hidden, a mean over readers for each seed.
type RecommendingRow struct {
	Ranking   string        `json:"ranking"`
	Precision report.Spread `json:"precision"`
	Seeds     []float64     `json:"seeds"`
}

func (c Recommending) withDefaults() (Recommending, error) {
	if c.Seeds = cmp.Or(c.Seeds, 5); c.Lists == nil {
		c.Lists = trace.SyntheticLists(uint64(c.Seed), 251)
	}
	switch {
	case c.Seeds < 1 || c.Seeds > maxSeeds:
		return c, impossible("%d seeds; want 1 to %d", c.Seeds, maxSeeds)
	case c.Volunteer < 0 || c.Volunteer > 1000:
		return c, impossible("%d feeds polled for others; want 0 to 1000", c.Volunteer)
	case len(c.Lists) < 2 || len(c.Lists) > maxNodes:
		return c, impossible("%d lists; want 2 to %d", len(c.Lists), maxNodes)
	}
	return c, nil
}

// Run compares the rankings. The error wraps ErrSetting.
func (c Recommending) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	ways := rankings()
	seeds := together(newMeter(progress, equal(c.Seeds)), func(i int, tell Progress) []float64 {
		defer tell(1)
		return c.precisions(ctx, c.Seed+lab.Seed(i), ways)
	})
	ran := len(seeds)
	seeds = slices.DeleteFunc(seeds, func(row []float64) bool { return row == nil })
	rows := make([]RecommendingRow, len(ways))
	for w := range ways {
		values := each(seeds, func(row []float64) float64 { return row[w] })
		rows[w] = RecommendingRow{ways[w].name, report.RangeOf(values), values}
	}
	r := newReport("What suggestions are worth", c.Seed, c.Traces)
	r.Result = rows
	r.Setting = []string{
		fmt.Sprintf("%s; of each a fifth is hidden. A reader has at most %d neighbors, who have the same feeds. "+
			"Precision: which share of %d suggestions is hidden on the reader's own list.", c.Lists, linksEach,
			suggested),
	}
	if c.Volunteer > 0 {
		r.Setting = append(r.Setting, fmt.Sprintf("Each node polls up to %d feeds for others.", c.Volunteer))
	}
	if len(seeds) < ran {
		r.Partial = fmt.Sprintf("%d of %d seeds", len(seeds), ran)
	}
	t := report.Table{Title: fmt.Sprintf("Precision at %d, %d seeds", suggested, len(seeds)),
		Columns: []string{"suggested by", "mean", "least", "most", "times popularity"}}
	popularity := rows[1].Precision.Mean
	for _, row := range rows {
		p := row.Precision
		t.Row(row.Ranking, report.FinePercent(p.Mean), report.FinePercent(p.P5), report.FinePercent(p.P95),
			fmt.Sprintf("%.2f", p.Mean/max(popularity, 1e-9)))
	}
	r.Tables = []report.Table{t}
	r.Took(report.HashOf(fmt.Sprint(r.Tables)), 0) // no world was run
	return r, nil
}

// precisions are those of the ways, nil where time ran out.
func (c Recommending) precisions(ctx context.Context, seed lab.Seed, ways []ranking) []float64 {
	m := c.meet(ctx, seed)
	if m == nil {
		return nil
	}
	all := &followCounts{count: make(map[feed.URL]int)}
	for _, list := range m.visible {
		for _, u := range list {
			if all.count[u]++; all.count[u] == 1 {
				all.popular = append(all.popular, u)
			}
		}
	}
	slices.SortFunc(all.popular, func(a, b feed.URL) int {
		return cmp.Or(cmp.Compare(all.count[b], all.count[a]), cmp.Compare(a, b))
	})
	sums, readers := make([]float64, len(ways)), 0.0
	for i := range m.tables {
		if ctx.Err() != nil {
			return nil
		}
		if len(m.hidden[i]) == 0 {
			continue
		}
		readers++
		r := m.seeker(i, all, seed.Stream(fmt.Sprintf("ties %d", i)))
		for w, way := range ways {
			for _, u := range way.of(r) {
				if r.hidden[u] {
					sums[w]++
				}
			}
		}
	}
	for w := range sums {
		sums[w] /= suggested * max(1, readers)
	}
	return sums
}

// A meeting is a network of nodes that have chosen each other for neighbors and told what they are interested in. Each
// is no more than its routing table: what a poll would bring does not matter here.
type meeting struct {
	visible, hidden [][]feed.URL
	tables          []*neighbors.RoutingTable
	ids             []protocol.NodeID
	index           map[protocol.NodeID]int
	now             time.Time
	rng             *rand.Rand
}

// meet makes a meeting, nil where time ran out.
func (c Recommending) meet(ctx context.Context, seed lab.Seed) *meeting {
	m := &meeting{index: make(map[protocol.NodeID]int), now: c.Traces.From, rng: seed.Stream("meeting")}
	for i, numbers := range c.Lists {
		list := each(numbers, func(f int) feed.URL {
			return feed.URL(fmt.Sprintf("https://publisher%d.example.com/feed", f))
		})
		m.rng.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		m.hidden = append(m.hidden, list[:len(list)/hiddenOf])
		m.visible = append(m.visible, list[len(list)/hiddenOf:])
		m.ids = append(m.ids, publicAddress(i))
		m.index[m.ids[i]] = i
		t := neighbors.NewRoutingTable(neighbors.Config{Max: linksEach, MaxHops: 3, MaxRelayed: 96})
		for _, u := range m.visible[i] {
			t.Own(u, true)
		}
		m.tables = append(m.tables, t)
	}
	m.choose()
	m.fill()
	m.tell()
	for took := 0; took < c.Volunteer; took += volunteerRound {
		if ctx.Err() != nil {
			return nil
		}
		m.volunteer(min(volunteerRound, c.Volunteer-took))
		m.tell()
	}
	m.tell() // what is two hops away
	return m
}

// choose has nodes become neighbors in turn until nobody would rather have another: each asks those that claim most,
// and who has no place takes one that claims more than its least neighbor does.
func (m *meeting) choose() {
	sets := make([]protocol.Subset, len(m.ids))
	followers := make(map[feed.URL][]int)
	for i, list := range m.visible {
		for _, u := range list {
			sets[i] = append(sets[i], protocol.Interest{Feed: u})
			followers[u] = append(followers[u], i)
		}
	}
	for range 3 * linksEach {
		changed := false
		for _, i := range m.rng.Perm(len(m.ids)) {
			shares := make([]bool, len(m.ids))
			for _, u := range m.visible[i] {
				for _, j := range followers[u] {
					shares[j] = j != i && !m.linked(i, j)
				}
			}
			claimed := make(map[int]neighbors.Usefulness)
			var others []int
			for j, is := range shares {
				if is {
					claimed[j] = m.tables[i].Claimed(m.ids[j], sets[j])
					others = append(others, j)
				}
			}
			slices.SortFunc(others, func(a, b int) int {
				return cmp.Or(cmp.Compare(claimed[b], claimed[a]), cmp.Compare(a, b))
			})
			for _, j := range others[:min(linksEach, len(others))] {
				mine, ok := m.place(i, claimed[j])
				theirs, room := m.place(j, m.tables[j].Claimed(m.ids[i], sets[i]))
				if !ok {
					break
				}
				if room {
					m.unlink(i, mine)
					m.unlink(j, theirs)
					m.link(i, j, sets)
					changed = true
					break
				}
			}
		}
		if !changed {
			return
		}
	}
}

// nobody is no node.
const nobody = -1

// place says whether i has a place for who claims so much, and whose it is.
func (m *meeting) place(i int, claims neighbors.Usefulness) (whose int, ok bool) {
	t := m.tables[i]
	if t.Len() < linksEach {
		return nobody, true
	}
	least := claims
	whose = nobody
	for _, n := range t.All() {
		if worth := t.Claimed(n.ID, nil); worth < least {
			least, whose = worth, m.index[n.ID]
		}
	}
	return whose, whose != nobody
}

// fill gives those who share too little with others neighbors by chance.
func (m *meeting) fill() {
	for i := range m.ids {
		for range 5 * linksEach {
			j := m.rng.IntN(len(m.ids))
			if m.tables[i].Len() < linksEach && m.tables[j].Len() < linksEach && i != j && !m.linked(i, j) {
				m.link(i, j, nil)
			}
		}
	}
}

func (m *meeting) linked(i, j int) bool {
	return slices.ContainsFunc(m.tables[i].All(), func(n *neighbors.Neighbor) bool { return n.ID == m.ids[j] })
}

func (m *meeting) link(i, j int, sets []protocol.Subset) {
	for _, pair := range [][2]int{{i, j}, {j, i}} {
		var set protocol.Subset
		if sets != nil {
			set = sets[pair[1]]
		}
		m.tables[pair[0]].Add(m.now, m.ids[pair[1]], pair[0] == i, set, nil)
	}
}

func (m *meeting) unlink(i, j int) {
	if j != nobody {
		m.tables[i].Remove(m.ids[j])
		m.tables[j].Remove(m.ids[i])
	}
}

// tell has everybody choose what it relays, and advertise what its neighbors do not know yet.
func (m *meeting) tell() {
	for i, t := range m.tables {
		t.Relay(m.now, m.rng)
		for _, n := range t.All() {
			changes := t.Changes(n)
			there := m.tables[m.index[n.ID]]
			for _, back := range there.All() {
				if back.ID == m.ids[i] {
					there.Hear(back, changes)
				}
			}
			t.Advertised(n, changes)
		}
	}
}

// volunteer has each node take up so many feeds of those that others want and few poll. Nodes hear who polls a feed
// that they watch: here they know at once.
func (m *meeting) volunteer(count int) {
	pollers := make(map[feed.URL]int)
	for _, t := range m.tables {
		for _, in := range t.Offer(protocol.NodeID{}) {
			if in.Hops == 0 {
				pollers[in.Feed]++
			}
		}
	}
	for _, i := range m.rng.Perm(len(m.tables)) {
		left := count
		for _, d := range m.tables[i].Unmet(m.rng, func(*neighbors.Neighbor) bool { return true }) {
			if left > 0 && pollers[d.Feed] < enoughVolunteer {
				m.tables[i].Volunteer(d.Feed, true)
				pollers[d.Feed]++
				left--
			}
		}
	}
}

// seeker is what is known of reader i.
func (m *meeting) seeker(i int, all *followCounts, rng *rand.Rand) *seeker {
	r := &seeker{all: all, rng: rng, own: make(map[feed.URL]bool), hidden: make(map[feed.URL]bool)}
	t := m.tables[i]
	r.facts.Own = t.OwnFeeds()
	for _, u := range m.visible[i] {
		r.own[u] = true
	}
	for _, u := range m.hidden[i] {
		r.hidden[u] = true
	}
	for _, n := range t.All() {
		own, near := t.Interests(n)
		v := recommend.Voice{Network: n.ID.Network(), Follows: own, Near: near}
		r.facts.Voices = append(r.facts.Voices, v)
		follows, shared := make(map[feed.URL]bool), 0.0
		for _, u := range v.Follows {
			if follows[u] = true; r.own[u] {
				shared++
			}
		}
		r.follows, r.shared = append(r.follows, follows), append(r.shared, shared)
	}
	return r
}
