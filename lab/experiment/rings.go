package experiment

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/protocol"
	"feedex/search"
)

// Rings is the experiment on what exchanges in rings of two and three earn (Paper §3.6): how much nodes get of the past
// of feeds that wish for more than all of them give away, in a network without rings, one with rings of two, and one
// with both. The zero value of each field means its default.
//
// Each node has followed half of its feeds for long, and holds their past; of the others it wishes for it. Some nodes
// hold nothing, and some give nothing of what they hold.
type Rings struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Nodes  int           // default 161
	Each   int           // feeds a node; default 20
	Length time.Duration // from the first wish on; default 8 h
	Past   int           // entries of the past of a feed; default 200
	Bytes  []int         // how long the text of each is, three networks each; default 15,000
}

const (
	// ringsSettle is the time before the first wish: links take five minutes, adverts sixteen.
	ringsSettle = time.Hour
	// ringsEvery is between polls.
	ringsEvery = 4 * time.Hour
	// shareNew of the nodes hold nothing, and shareMisers give nothing.
	shareNew, shareMisers = .2, .1
	// betweenQueries, wishAgain and wishGrowth are when an owner asks, and comes back for what did not come: package
	// backfill's.
	betweenQueries        = 7 * time.Second
	wishAgain, wishGrowth = time.Hour, 6
)

// mostPast and mostPastBytes bound what there is of the past: an archive in memory has all of it, and an entry of more
// than protocol.OwedBytes counts for several.
const mostPast, mostPastBytes = 5000, 15_000

// ringsLooks is when one looks what came, from the first wish on, as parts of the length.
var ringsLooks = [...]float64{1. / 12, 1. / 4, 1}

func (c Rings) withDefaults() (Rings, []trace.Timeline, error) {
	c.Nodes, c.Each, c.Length = cmp.Or(c.Nodes, 161), cmp.Or(c.Each, 20), cmp.Or(c.Length, 8*time.Hour)
	c.Past = cmp.Or(c.Past, 200)
	if c.Bytes == nil {
		c.Bytes = []int{15_000}
	}
	if least := ringsEvery - ringsSettle; c.Length < least {
		return c, nil, impossible("%s from the first wish on; want %s or more", when.Clock(c.Length), when.Clock(least))
	}
	feeds := busiest(c.Seed, c.Traces, 70)
	if err := possible(c.Traces, feeds, c.Nodes, c.Each, ringsSettle+c.Length, ringsEvery); err != nil {
		return c, nil, err
	}
	for _, bytes := range c.Bytes {
		if bytes < 1 || bytes > mostPastBytes {
			return c, nil, impossible("entries of %d bytes; want 1 to %d", bytes, mostPastBytes)
		}
	}
	switch {
	case c.Past < 1 || c.Past > mostPast:
		return c, nil, impossible("%d entries of the past of a feed; want 1 to %d", c.Past, mostPast)
	case c.Each < 2:
		return c, nil, impossible("%d feeds a node; want 2 or more, as half of them are new", c.Each)
	}
	return c, feeds, nil
}

// Run runs the networks. The error wraps ErrSetting.
func (c Rings) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, feeds, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := network{Seed: c.Seed, Feeds: feeds, Start: weekday(c.Traces, ringsSettle+c.Length),
		Length: ringsSettle + c.Length, Each: c.Each, Every: ringsEvery, NoEncoding: true, FirstPolls: true}
	rows := together(newMeter(progress, equal(len(ringSizes)*len(c.Bytes))), func(i int, tell Progress) RingsRow {
		n, size := n, ringSizes[i%len(ringSizes)]
		switch size {
		case 0:
			n.Rules = incentive.Altered(func(r *incentive.Rules) { r.Quantum = 0 })
		case 2:
			n.Alter = withoutAskers
		}
		return c.network(ctx, n, c.Bytes[i/len(ringSizes)], size, tell)
	})
	return c.report(n, rows), nil
}

// ringSizes are how large rings are, at most, in the networks that are compared.
var ringSizes = [...]int{0, 2, 3}

// withoutAskers takes out of a request who waits for entries of who makes it, by which rings of three are found.
func withoutAskers(c protocol.Call) protocol.Call {
	if get, ok := c.(protocol.GetEntries); ok {
		get.Askers = nil
		return get
	}
	return nil
}

// network runs one network, in which entries and rings are so long.
func (c Rings) network(ctx context.Context, n network, bytes, size int, tell Progress) RingsRow {
	w := n.world()
	past := c.past(w, bytes)
	var owners []*ringsOwner
	for i := range c.Nodes {
		m, rng := n.member(w, i)
		o := &ringsOwner{world: w}
		switch draw := n.Seed.Stream(m.Name + " past").Float64(); {
		case draw < shareNew:
			o.kind = holdsNothing
		case draw < shareNew+shareMisers:
			o.kind = givesNothing
			m.Actor = func(n *node.Node, _ ed25519.PrivateKey, _ *rand.Rand) lab.Actor { return actor.Miser(n) }
		}
		for _, u := range m.Feeds[c.Each/2:] {
			o.pages = append(o.pages, pagesOf(past[u])...)
		}
		owners = append(owners, o)
		joinSoon(w, rng, m, func(h *lab.Host, _ *rand.Rand) {
			o.host = h
			if o.kind != holdsNothing {
				for _, u := range m.Feeds[:c.Each/2] {
					h.Plant(past[u]...)
				}
			}
		})
		// Owners do not follow feeds all at the same moment.
		w.At(n.Start.Add(ringsSettle+within(rng, time.Hour)), func() { o.fill(wishAgain) })
	}
	row := RingsRow{Bytes: bytes, Size: size}
	for i, look := range ringsLooks {
		after := time.Duration(look * float64(c.Length))
		w.At(n.Start.Add(ringsSettle+after), func() { row.look(i, owners) })
	}
	n.run(ctx, w, tell)
	row.Hash, row.Steps, row.Ran = w.Hash(), w.Steps(), w.Now().Sub(w.Start())
	return row
}

// past is what came out in each feed of a world before anybody looked, an entry a day.
func (c Rings) past(w *lab.World, bytes int) map[feed.URL][]feed.Entry {
	text := strings.Repeat("x", bytes)
	past := make(map[feed.URL][]feed.Entry)
	for _, p := range w.Publishers() {
		for i := range c.Past {
			past[p.URL] = append(past[p.URL], feed.Entry{
				Feed: p.URL, ID: fmt.Sprintf("%s#past%d", p.URL, i), Title: fmt.Sprintf("Entry %d of the past", i),
				Published: w.Start().AddDate(-1, 0, -i), Content: text,
			})
		}
	}
	return past
}

// A ringsKind is what a node has to give.
type ringsKind uint8

const (
	gives ringsKind = iota
	holdsNothing
	givesNothing
	ringsKinds
)

var ringsKindNames = [ringsKinds]string{"who gives", "who holds nothing", "who gives nothing"}

// A pageOfPast is what one query asks for: what came out in a feed between two times.
type pageOfPast struct {
	filter feed.Filter
	wanted []feed.EntryID
}

// pagesOf cuts the past of a feed into pages, for each of which an answer has room.
func pagesOf(past []feed.Entry) (pages []pageOfPast) {
	for page := range slices.Chunk(past, protocol.MaxAnswerEntries) {
		last := page[len(page)-1] // the oldest
		pages = append(pages, pageOfPast{
			filter: feed.Filter{Feed: last.Feed, Since: last.Published, Until: page[0].Published.Add(time.Second),
				Limit: protocol.MaxAnswerEntries, Dated: true},
			wanted: each(page, func(e feed.Entry) feed.EntryID { return e.EntryID() }),
		})
	}
	return pages
}

// A ringsOwner fills in the past of feeds as package backfill does: by queries and downloads of what they found, come
// back to after an hour, or after six times as long where nothing came.
type ringsOwner struct {
	world *lab.World
	host  *lab.Host
	kind  ringsKind
	pages []pageOfPast // that are wished for
}

// got is how much of the past has come.
func (o *ringsOwner) got() (count int) {
	for i := range o.pages {
		count += o.host.Holds(o.pages[i].wanted)
	}
	return count
}

// fill asks for all that is missing, and comes back after so long or longer.
func (o *ringsOwner) fill(again time.Duration) {
	before, at := o.got(), o.world.Now()
	for i := range o.pages {
		if p := &o.pages[i]; o.host.Holds(p.wanted) < len(p.wanted) {
			o.world.At(at, func() { o.ask(p) })
			at = at.Add(betweenQueries)
		}
	}
	if at.Equal(o.world.Now()) {
		return
	}
	o.world.At(at.Add(again), func() {
		if o.got() > before {
			again = wishAgain
		} else {
			again *= wishGrowth
		}
		o.fill(again)
	})
}

// ask asks the network for a page, and downloads what was found.
func (o *ringsOwner) ask(p *pageOfPast) {
	ask := protocol.Query{Hops: protocol.DefaultQueryHops, Budget: protocol.DefaultBudget, Filter: p.filter}
	o.host.Query(ask, func(r node.QueryResults) {
		var wishes []search.Wish
		for i := range r.Hits {
			if h := &r.Hits[i]; r.Done && !h.Here && len(h.Holders) > 0 {
				wishes = append(wishes, search.Wish{Wanted: protocol.Wanted{ID: h.ID, Digest: h.Digest}, Feed: h.Feed,
					Holders: slices.Clone(h.Holders)})
			}
		}
		if len(wishes) > 0 {
			o.host.Pull(wishes)
		}
	})
}

// A RingsRow is the outcome of one network.
type RingsRow struct {
	Bytes int                                   `json:"bytes"` // of the text of an entry
	Size  int                                   `json:"size"`  // of the largest rings, 0 for none
	Came  [ringsKinds][len(ringsLooks)]Fraction `json:"came"`  // of what nodes of a kind wish for
	Hash  string                                `json:"hash"`
	Steps int64                                 `json:"steps"`
	Ran   time.Duration                         `json:"ran_ns"`
}

// look notes what has come.
func (r *RingsRow) look(i int, owners []*ringsOwner) {
	for _, o := range owners {
		s := &r.Came[o.kind][i]
		s.Part += o.got()
		for j := range o.pages {
			s.Whole += len(o.pages[j].wanted)
		}
	}
}

func (c Rings) report(n network, rows []RingsRow) *report.Report {
	r := newReport("What exchanges in rings earn", c.Seed, c.Traces)
	r.Result = rows
	r.Setting = []string{
		fmt.Sprintf("%d nodes, %d of %d feeds each, polled every %s, %s from %s", c.Nodes, c.Each, len(n.Feeds),
			when.Clock(n.Every), when.Clock(n.Length), n.Start.Format("Monday 2006-01-02 15:04 MST")),
		fmt.Sprintf("each wishes for the past of half of its feeds, %d entries, from some time in the hour after the "+
			"first on; %s of the nodes hold nothing, and %s give nothing", (c.Each-c.Each/2)*c.Past,
			report.Percent(shareNew), report.Percent(shareMisers)),
	}
	for _, row := range rows {
		r.Took(row.Hash, row.Steps)
	}
	r.Partial = howFar(each(rows, func(row RingsRow) time.Duration { return row.Ran }), n.Length)
	for kind, name := range ringsKindNames {
		t := report.Table{Title: "What came to " + name, Columns: []string{"bytes each", "days of gifts", "rings of"}}
		for _, look := range ringsLooks {
			t.Columns = append(t.Columns, "after "+when.Clock(time.Duration(look*float64(c.Length))))
		}
		t.Columns = append(t.Columns, "hash")
		for _, row := range rows {
			gifts := float64((c.Each-c.Each/2)*c.Past*row.Bytes) / (24 * incentive.DefaultGifts)
			sizes := [...]string{0: "none", 2: "two", 3: "two, three"}[row.Size]
			t.Row(row.Bytes, gifts, sizes, each(row.Came[kind][:], Fraction.percent), row.Hash)
		}
		r.Tables = append(r.Tables, t)
	}
	return r
}
