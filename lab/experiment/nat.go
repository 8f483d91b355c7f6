package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/incentive"
	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/node"
)

// NAT is about nodes that nobody can dial, because they are behind routers: the network of Paper §4.3, in which a part
// of the nodes can be dialled. Of the others half are in homes with an address each, and half behind carriers, 50 homes
// an address. The zero value of each field means its default.
type NAT struct {
	Seed    lab.Seed
	Traces  *trace.Set    // no default
	Nodes   int           // default 161
	Each    int           // feeds a node; default 20
	Length  time.Duration // default 22 h
	Every   time.Duration // between polls; default 4 h
	Shares  []float64     // of the nodes that can be dialled, a network each; default all, 50, 30, 20, 10%
	Hosting int           // places for hosted neighbors; default 32, and 72 where a tenth can be dialled
	// Settled has keys settle as soon as their nodes gave ten entries, which in truth takes a week, and counts what
	// came out in the second quarter of the time, when most have.
	Settled bool
	// NoEncoding leaves out the codec.
	NoEncoding bool
}

const (
	// homesAnAddress is how many homes behind a carrier share an address.
	homesAnAddress = 50
	// linksEnough is with how many neighbors a node that cannot be dialled looks for no more.
	linksEnough = 5
	// linkedWithin is how long after its start a node should have them, and healedWithin how long after a third of the
	// nodes that can be dialled vanished.
	linkedWithin = 2 * time.Minute
	healedWithin = 5 * time.Minute
	// fewReachable is the share from which on 32 places are too few: links x (1 - share) / share.
	fewReachable, manyPlaces = .15, 72
)

func (x NAT) withDefaults() (NAT, []trace.Timeline, error) {
	x.Nodes, x.Each = cmp.Or(x.Nodes, 161), cmp.Or(x.Each, 20)
	x.Length, x.Every = cmp.Or(x.Length, 22*time.Hour), cmp.Or(x.Every, 4*time.Hour)
	if x.Shares == nil {
		x.Shares = []float64{1, .5, .3, .2, .1}
	}
	feeds := busiest(x.Seed, x.Traces, 70)
	if err := possible(x.Traces, feeds, x.Nodes, x.Each, x.Length, x.Every); err != nil {
		return x, nil, err
	}
	for _, share := range x.Shares {
		if share*float64(x.Nodes) < 2 || share > 1 {
			return x, nil, impossible("%g of %d nodes can be dialled; want two or more", share, x.Nodes)
		}
	}
	return x, feeds, nil
}

// Run runs a network for each share. The error wraps ErrSetting.
func (x NAT) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	x, feeds, err := x.withDefaults()
	if err != nil {
		return nil, err
	}
	start := weekday(x.Traces, x.Length)
	rows := together(newMeter(progress, equal(len(x.Shares))), func(i int, tell Progress) NATRow {
		n := network{Seed: x.Seed, Feeds: feeds, Start: start, Length: x.Length, Each: x.Each, Every: x.Every,
			NoEncoding: x.NoEncoding, FirstPolls: true, Hosting: x.hosting(x.Shares[i])}
		if x.Settled {
			n.Rules = incentive.Altered(func(r *incentive.Rules) { r.SettledAfter = 0 })
		}
		return x.run(ctx, n, x.Shares[i], tell)
	})
	return x.report(feeds, start, rows), nil
}

// hosting is how many places nodes have for hosted neighbors where that share can be dialled.
func (x NAT) hosting(share float64) int {
	if x.Hosting == 0 && share < fewReachable {
		return manyPlaces
	}
	return x.Hosting
}

// behind is the address of the router that member number i is behind.
func behind(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{120 + byte(i>>16), byte(i >> 8), byte(i), 9}) // a home's own
	}
	carrier := i / 2 / homesAnAddress
	return netip.AddrFrom4([4]byte{carrierNetwork, byte(carrier >> 8), byte(carrier), 9})
}

// carrierNetwork is the first byte of the addresses that homes share.
const carrierNetwork = 180

// atCarrier reports whether homes share the address.
func atCarrier(a netip.Addr) bool { return a.As4()[0] == carrierNetwork }

// A NATRow is the outcome of the network in which a share of the nodes can be dialled. Coverage is of entries of own
// feeds that came out before the third vanished, lags are theirs, in seconds, each summed up over the nodes that ran to
// the end.
type NATRow struct {
	Hash    string        `json:"hash"`
	Steps   int64         `json:"steps"`
	Ran     time.Duration `json:"ran_ns"`
	Share   float64       `json:"share"`   // of the nodes, that can be dialled
	Hosting int           `json:"hosting"` // places for hosted neighbors

	Dialled NATClass `json:"dialled"` // those that can be
	Homes   NATClass `json:"homes"`   // those with an address each
	Carrier NATClass `json:"carrier"` // those that share one
	Linked  Fraction `json:"linked"`  // nodes with five neighbors two minutes after they start
	Healed  Fraction `json:"healed"`  // and five minutes after a third of those that can be dialled vanished
}

// A NATClass is how nodes fare that are reached alike.
type NATClass struct {
	Nodes    int           `json:"nodes"`
	Coverage Fraction      `json:"coverage"`
	Lag      report.Spread `json:"lag"`
	Links    report.Spread `json:"links"`  // neighbors, before the third vanished
	Hosted   report.Spread `json:"hosted"` // of these, that cannot be dialled
}

// run runs the network in which that share of the nodes can be dialled. A third of these vanish at half of the time.
func (x NAT) run(ctx context.Context, n network, share float64, tell Progress) NATRow {
	row := NATRow{Share: share, Hosting: cmp.Or(n.Hosting, node.DefaultHosted)}
	w := n.world()
	dialled := x.Seed.Stream("dialled").Perm(x.Nodes)[:int(share*float64(x.Nodes)+.5)]
	for i := range x.Nodes {
		m, rng := n.member(w, i)
		if !slices.Contains(dialled, i) {
			m.Behind = behind(i)
		}
		joinSoon(w, rng, m, func(h *lab.Host, _ *rand.Rand) {
			w.At(w.Now().Add(linkedWithin), func() { row.Linked.count(len(h.Node().Neighbors()) >= linksEnough) })
		})
	}
	from, half := time.Duration(0), x.Length/2
	if x.Settled {
		from = x.Length / 4
	}
	classes := make([]natTotals, 3)
	w.At(n.Start.Add(half), func() {
		var dialled []*lab.Host
		for _, h := range w.Hosts() {
			classes[natClassOf(h)].count(h)
			if !h.Unreachable() {
				dialled = append(dialled, h)
			}
		}
		x.Seed.Stream("vanish").Shuffle(len(dialled), func(i, j int) {
			dialled[i], dialled[j] = dialled[j], dialled[i]
		})
		for _, h := range dialled[:len(dialled)/3] {
			h.Crash()
		}
	})
	w.At(n.Start.Add(half+healedWithin), func() {
		for _, h := range w.Hosts() {
			if h.Running() {
				row.Healed.count(len(h.Node().Neighbors()) >= linksEnough)
			}
		}
	})
	n.run(ctx, w, tell)
	for _, h := range w.Hosts() {
		if h.Running() {
			classes[natClassOf(h)].sum(h, w.Now(), from, half)
		}
	}
	row.Dialled, row.Homes, row.Carrier = classes[0].class(), classes[1].class(), classes[2].class()
	row.Hash, row.Steps, row.Ran = w.Hash(), w.Steps(), w.Now().Sub(w.Start())
	return row
}

// natClassOf is 0 for a node that can be dialled, 1 for one at an address of its own, and 2 for one behind a carrier.
func natClassOf(h *lab.Host) int {
	switch {
	case !h.Unreachable():
		return 0
	case !atCarrier(h.ID.Addr()):
		return 1
	}
	return 2
}

// natTotals sums up a NATClass.
type natTotals struct {
	nodes         int
	coverage      Fraction
	lags          means
	links, hosted []float64
}

// count counts a host's neighbors.
func (t *natTotals) count(h *lab.Host) {
	hosted := 0
	neighbors := h.Node().Neighbors()
	for _, n := range neighbors {
		if n.ID.Hosted() {
			hosted++
		}
	}
	t.links, t.hosted = append(t.links, float64(len(neighbors))), append(t.hosted, float64(hosted))
}

// sum adds what a host had at the end of what came out from a time on and before another.
func (t *natTotals) sum(h *lab.Host, now time.Time, from, before time.Duration) {
	t.nodes++
	var came arrived
	for _, s := range h.Sights(now) {
		if s.Published >= from && s.Published < before {
			t.coverage.count(s.Any != lab.Never)
			came.add(s.Published, s.Any)
		}
	}
	t.lags.add(came.late, came.count)
}

func (t *natTotals) class() NATClass {
	return NATClass{Nodes: t.nodes, Coverage: t.coverage, Lag: report.SpreadOf(t.lags),
		Links: report.SpreadOf(t.links), Hosted: report.SpreadOf(t.hosted)}
}

// report shows what came of the networks.
func (x NAT) report(feeds []trace.Timeline, start time.Time, rows []NATRow) *report.Report {
	r := newReport("Nodes that nobody can dial", x.Seed, x.Traces)
	r.Result = rows
	r.Setting = []string{
		fmt.Sprintf("%d nodes, %d of %d feeds each, polled every %s, %s from %s", x.Nodes, x.Each, len(feeds),
			when.Clock(x.Every), when.Clock(x.Length), start.Format("Monday 2006-01-02 15:04 MST")),
		fmt.Sprintf("Of those that cannot be dialled half have an address of their own, and half share one by %d. "+
			"They are not told so. A third of the others vanish at half of the time.", homesAnAddress),
	}
	if x.Settled {
		r.Setting = append(r.Setting, "Keys settle as soon as their nodes gave ten entries, in place of a week later. "+
			"What came out in the second quarter of the time counts.")
	}
	for _, row := range rows {
		r.Took(row.Hash, row.Steps)
	}
	r.Partial = howFar(each(rows, func(row NATRow) time.Duration { return row.Ran }), x.Length)
	t := report.Table{
		Title: "By how many nodes can be dialled",
		Columns: []string{"dialled", "places", "coverage", "homes", "carriers", "lag, min", "homes", "carriers",
			"linked in 2 min", "healed in 5 min"},
		Notes: []string{
			"Coverage and lag of entries of own feeds that came out before the third vanished; lag: mean (5th-95th " +
				"percentile) over nodes. Linked, healed: nodes with five neighbors or more, two minutes after they " +
				"started, and five after the third vanished.",
		},
	}
	links := report.Table{
		Title:   "Neighbors, before the third vanished",
		Columns: []string{"dialled", "of those that can be", "hosted", "of homes", "of carriers"},
	}
	for _, row := range rows {
		share := report.Percent(row.Share)
		t.Row(share, row.Hosting, row.Dialled.Coverage.percent(), row.Homes.Coverage.percent(),
			row.Carrier.Coverage.percent(), row.Dialled.Lag.Minutes(), row.Homes.Lag.Minutes(),
			row.Carrier.Lag.Minutes(), row.Linked.percent(), row.Healed.percent())
		links.Row(share, row.Dialled.Links.Text(1, "%.1f"), row.Dialled.Hosted.Text(1, "%.1f"),
			row.Homes.Links.Text(1, "%.1f"), row.Carrier.Links.Text(1, "%.1f"))
	}
	r.Tables = []report.Table{t, links}
	return r
}
