package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/protocol"
)

// Churn is about nodes that come and go: networks whose members stay for hours or for minutes, and one that
// is cut in two for a while. The zero value of each field means its default.
type Churn struct {
	Seed     lab.Seed
	Traces   *trace.Set      // no default
	Nodes    int             // default 100
	Each     int             // feeds a node; default 20
	Length   time.Duration   // default 12 h
	Every    time.Duration   // between polls; default 4 h
	Sessions []time.Duration // mean stays, a network each; default 4 h, 2 h, 1 h, 30 min, 10 min
}

// A stay lasts half to one and a half times its mean, an absence half as long. The last quarter of the run
// is without any, so that whatever can still come has time to.
func (c Churn) calm() time.Duration { return c.Length / 4 }

func (c Churn) withDefaults() (Churn, []trace.Timeline, error) {
	c.Nodes, c.Each = cmp.Or(c.Nodes, 100), cmp.Or(c.Each, 20)
	c.Length, c.Every = cmp.Or(c.Length, 12*time.Hour), cmp.Or(c.Every, 4*time.Hour)
	if c.Sessions == nil {
		c.Sessions = []time.Duration{4 * time.Hour, 2 * time.Hour, time.Hour, 30 * time.Minute, 10 * time.Minute}
	}
	feeds := busiest(c.Seed, c.Traces, 70)
	if err := possible(c.Traces, feeds, c.Nodes, c.Each, c.Length, c.Every); err != nil {
		return c, nil, err
	}
	for _, stay := range c.Sessions {
		if stay < shortestStay {
			return c, nil, impossible("stays of %s; want %s or more", when.Clock(stay), when.Clock(shortestStay))
		}
	}
	return c, feeds, nil
}

// shortestStay is how long nodes stay at least, on average: less is no time to find a neighbor in.
const shortestStay = time.Minute

// Run runs a network for each mean stay and the one that is cut in two. The error wraps ErrSetting.
func (c Churn) Run(ctx context.Context, progress Progress) (*report.Report, error) {
	c, feeds, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	n := network{Seed: c.Seed, Feeds: feeds, Start: weekday(c.Traces, c.Length), Length: c.Length, Each: c.Each,
		Every: c.Every, NoEncoding: true, FirstPolls: true}
	var split SplitResult
	rows := together(newMeter(progress, equal(len(c.Sessions)+1)), func(i int, tell Progress) ChurnRow {
		w := n.world()
		if i == len(c.Sessions) {
			split = c.split(ctx, n, w, tell)
			return churned(w, c.Length)
		}
		for j := range c.Nodes {
			n.join(w, j, func(h *lab.Host, rng *rand.Rand) { c.comeAndGo(w, h, rng, n.Start, c.Sessions[i]) })
		}
		n.run(ctx, w, tell)
		return churned(w, c.Sessions[i])
	})
	return c.report(n, rows, split), nil
}

// comeAndGo has a host end and return until the calm. A third of the ends each is in order, of the program,
// and of the whole machine.
func (c Churn) comeAndGo(w *lab.World, h *lab.Host, rng *rand.Rand, start time.Time, stay time.Duration) {
	calm := start.Add(c.Length - c.calm())
	ends := w.Now().Add(stay/2 + within(rng, stay))
	if !ends.Before(calm) {
		return
	}
	w.At(ends, func() {
		switch rng.IntN(3) {
		case 0:
			h.Leave()
		case 1:
			h.Stop()
		case 2:
			h.Crash()
		}
		back := stay/4 + within(rng, stay/2)
		w.At(w.Now().Add(min(back, calm.Sub(w.Now()))), func() {
			comeBack(h)
			c.comeAndGo(w, h, rng, start, stay)
		})
	})
}

// A ChurnRow is the outcome of a network whose members stay for so long on average. Shares are of the entries that came
// out in the feeds of nodes, each counted once for every node that follows the feed.
type ChurnRow struct {
	Hash     string        `json:"hash"`
	Steps    int64         `json:"steps"`
	Ran      time.Duration `json:"ran_ns"`
	Stay     time.Duration `json:"stay_ns"`
	Stays    int           `json:"stays"`
	Present  float64       `json:"present"`  // share of the time that nodes were there
	Alone    float64       `json:"sln"`      // share that own polls brought
	Exchange float64       `json:"xch"`      // share that came by any way
	There    Fraction      `json:"there"`    // that came out while the node was there, and stayed half an hour more
	Away     Fraction      `json:"away"`     // that came out while it was not
	Kept     Fraction      `json:"kept"`     // entries that some node has at the end
	Lost     Fraction      `json:"lost"`     // of these, counted for every follower, those that did not come
	Served   report.Spread `json:"served"`   // seconds from a start to enough neighbors
	Unserved int           `json:"unserved"` // stays of a quarter hour or more without enough neighbors
	Lag      report.Spread `json:"lag"`      // in seconds, of entries that came out while the node was there
}

// A Fraction is a part of a whole, or one number to another.
type Fraction struct {
	Part  int `json:"part"`
	Whole int `json:"whole"`
}

func (s *Fraction) count(part bool) {
	s.Whole++
	if part {
		s.Part++
	}
}

func (s Fraction) of() float64 { return float64(s.Part) / float64(max(1, s.Whole)) }

func (s Fraction) percent() string {
	if s.Whole == 0 {
		return report.Unknown
	}
	return report.Percent(s.of())
}

// enough is how long a node must be there after an entry came out for that to count: longer than a broken
// promise takes, and than the look for new neighbors.
const enough = 30 * time.Minute

// churned sums up a network.
func churned(w *lab.World, stay time.Duration) ChurnRow {
	now := w.Now()
	end := now.Sub(w.Start())
	row := ChurnRow{Stay: stay, Hash: w.Hash(), Steps: w.Steps(), Ran: end}
	has := keptSomewhere(w)
	for _, had := range has {
		row.Kept.count(had)
	}
	var alone, exchange, present Fraction
	var served []float64
	var lags means
	for _, h := range w.Hosts() {
		for _, s := range h.Sessions() {
			row.Stays++
			to := min(s.To, end)
			present.Part += int((to - s.From) / time.Second)
			switch {
			case s.Served != lab.Never:
				served = append(served, (s.Served - s.From).Seconds())
			case to-s.From >= 15*time.Minute:
				row.Unserved++
			}
		}
		present.Whole += int(end / time.Second)
		var there arrived
		for _, s := range h.Sights(now) {
			alone.count(s.Own != lab.Never)
			exchange.count(s.Any != lab.Never)
			if has[entryIndex{s.Feed, s.Entry}] {
				row.Lost.count(s.Any == lab.Never)
			}
			switch stays(h, s.Published, enough) {
			case wasThere:
				row.There.count(s.Any != lab.Never)
				there.add(s.Published, s.Any)
			case wasAway:
				row.Away.count(s.Any != lab.Never)
			}
		}
		lags.add(there.late, there.count)
	}
	row.Present, row.Alone, row.Exchange = present.of(), alone.of(), exchange.of()
	row.Served, row.Lag = report.SpreadOf(served), report.SpreadOf(lags)
	return row
}

// Where a host was at a time.
type presence uint8

const (
	wasAway  presence = iota
	wasThere          // and stayed
	wasLeaving
)

// stays tells whether the host was there at t and for so long after it.
func stays(h *lab.Host, t, after time.Duration) presence {
	for _, s := range h.Sessions() {
		if s.From <= t && t < s.To {
			if s.To-t >= after {
				return wasThere
			}
			return wasLeaving
		}
	}
	return wasAway
}

// An entryIndex is one of all feeds: the index of its Publisher, and its own there.
type entryIndex struct{ feed, index int }

// keptSomewhere tells of every entry of followed feeds whether some node has it at the end.
func keptSomewhere(w *lab.World) map[entryIndex]bool {
	has := make(map[entryIndex]bool)
	for _, h := range w.Hosts() {
		for _, s := range h.Sights(w.Now()) {
			e := entryIndex{s.Feed, s.Entry}
			has[e] = has[e] || h.Running() && s.Any != lab.Never
		}
	}
	return has
}

// ChurnResult is the Result of a Churn's Report.
type ChurnResult struct {
	Stays []ChurnRow  `json:"stays"`
	Split SplitResult `json:"split"`
}

// report shows what came of the networks, the last of which is the one that was cut in two.
func (c Churn) report(n network, rows []ChurnRow, split SplitResult) *report.Report {
	r := newReport("Nodes that come and go", c.Seed, c.Traces)
	r.Result = ChurnResult{rows[:len(rows)-1], split}
	r.Setting = []string{
		fmt.Sprintf("%d nodes, %d of %d feeds each, polled every %s, %s from %s", c.Nodes, c.Each, len(n.Feeds),
			when.Clock(c.Every), when.Clock(c.Length), n.Start.Format("Monday 2006-01-02 15:04 MST")),
		"A stay lasts half to one and a half times its mean, an absence half as long; a third of the ends each is in " +
			"order, of the program, and of the machine. Nobody goes in the last quarter of the run.",
	}
	for _, row := range rows {
		r.Took(row.Hash, row.Steps)
	}
	r.Partial = howFar(each(rows, func(row ChurnRow) time.Duration { return row.Ran }), c.Length)
	rows = slices.DeleteFunc(slices.Clone(rows[:len(rows)-1]), func(row ChurnRow) bool { return row.Stays == 0 })
	t := report.Table{
		Title: "Entries, by how long nodes stay",
		Columns: []string{"mean stay", "stays", "present", "SLN", "XCH", "out while there", "while away",
			"kept by some node", "lost though kept", "lag there, min", "neighbors in, s", "never"},
		Notes: []string{
			"SLN, XCH: share of all entries of own feeds that own polls brought, that came by any way, whether the " +
				"node was there or not.",
			"Out while there: those that came out half an hour or more before the node went. Neighbors in: from a " +
				"start to eight of them, mean " +
				"(5th-95th percentile); never: stays of a quarter hour or more that did not come to eight.",
			"Lost though kept: entries that a follower does not have at the end, and some node that runs then has.",
		},
	}
	for _, row := range rows {
		t.Row(when.Clock(row.Stay), row.Stays, report.Percent(row.Present), report.Percent(row.Alone),
			report.Percent(row.Exchange), row.There.percent(), row.Away.percent(), row.Kept.percent(), row.Lost.Part,
			row.Lag.Minutes(), row.Served.Text(1, "%.0f"), row.Unserved)
	}
	r.Tables = []report.Table{t, split.table()}
	r.Figures = []report.Figure{churnFigure(rows)}
	return r
}

func churnFigure(rows []ChurnRow) report.Figure {
	return report.Figure{
		Name: "churn-coverage", Title: "Entries of own feeds, by how long nodes stay", X: "Mean stay", Y: "Entries (%)",
		Points: each(rows, func(row ChurnRow) string { return when.Clock(row.Stay) }),
		Lines: []report.Curve{
			{Name: "out while the node was there",
				Values: each(rows, func(row ChurnRow) float64 { return 100 * row.There.of() })},
			{Name: "XCH: all", Values: each(rows, func(row ChurnRow) float64 { return 100 * row.Exchange })},
			{Name: "SLN: all", Values: each(rows, func(row ChurnRow) float64 { return 100 * row.Alone })},
		},
	}
}

// A SplitResult is the outcome of a network that was cut in two halves from a quarter of the run to a half.
type SplitResult struct {
	From   time.Duration `json:"from_ns"` // since the start
	To     time.Duration `json:"to_ns"`
	Looks  []SplitLook   `json:"looks"`
	Before report.Spread `json:"lag_before"` // in seconds, of entries that came out before the cut,
	Cut    report.Spread `json:"lag_cut"`    // during it,
	After  report.Spread `json:"lag_after"`  // and afterwards
	Missed Fraction      `json:"missed"`     // entries of own feeds that did not come
}

// A SplitLook is how the halves hang together at one time.
type SplitLook struct {
	When  string  `json:"when"`
	Cross float64 `json:"cross"` // share of links between the halves
	Links float64 `json:"links"` // neighbors a node
	Far   float64 `json:"far"`   // neighbors of a node in the half without the tracker
}

// split cuts the network in two for a quarter of the run. A random half of its members is on the far side,
// without the tracker.
func (c Churn) split(ctx context.Context, n network, w *lab.World, tell Progress) SplitResult {
	for i := range c.Nodes {
		n.join(w, i, nil)
	}
	r := SplitResult{From: c.Length / 4, To: c.Length / 2}
	far := make(map[protocol.NodeID]bool)
	at := func(t time.Duration, f func()) { w.At(n.Start.Add(t), f) }
	look := func(t time.Duration, when string) {
		at(t, func() { r.Looks = append(r.Looks, lookAt(w, far, when)) })
	}
	at(r.From, func() {
		hosts := slices.Clone(w.Hosts())
		c.Seed.Stream("split").Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		hosts = hosts[len(hosts)/2:]
		for _, h := range hosts {
			far[h.ID] = true
		}
		r.Looks = append(r.Looks, lookAt(w, far, "before the cut"))
		w.Split(hosts)
	})
	look(r.From+10*time.Minute, "10m after the cut") // by then neighbors that cannot be reached are known to be gone
	at(r.To, func() {
		r.Looks = append(r.Looks, lookAt(w, far, "before it heals"))
		w.Heal()
	})
	whole := []time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, c.Length / 2}
	slices.Sort(whole)
	for _, after := range slices.Compact(whole) {
		look(r.To+after, when.Clock(after)+" after it healed")
	}
	n.run(ctx, w, tell)
	var lags [3]means
	for _, h := range w.Hosts() {
		var came [3]arrived
		for _, s := range h.Sights(w.Now()) {
			r.Missed.count(s.Any == lab.Never)
			phase := 0
			switch {
			case s.Published >= r.To:
				phase = 2
			case s.Published >= r.From:
				phase = 1
			}
			came[phase].add(s.Published, s.Any)
		}
		for i, a := range came {
			lags[i].add(a.late, a.count)
		}
	}
	r.Before, r.Cut, r.After = report.SpreadOf(lags[0]), report.SpreadOf(lags[1]), report.SpreadOf(lags[2])
	return r
}

func lookAt(w *lab.World, far map[protocol.NodeID]bool, when string) SplitLook {
	var cross Fraction
	farLinks := 0
	for _, h := range w.Hosts() {
		for _, n := range h.Node().Neighbors() {
			cross.count(far[n.ID] != far[h.ID])
			if far[h.ID] {
				farLinks++
			}
		}
	}
	return SplitLook{When: when, Cross: cross.of(), Links: Fraction{cross.Whole, len(w.Hosts())}.of(),
		Far: Fraction{farLinks, len(far)}.of()}
}

func (r SplitResult) table() report.Table {
	t := report.Table{
		Title: fmt.Sprintf("A network that is cut in two halves from %s to %s", when.Clock(r.From),
			when.Clock(r.To)),
		Columns: []string{"", "links between the halves", "neighbors a node", "in the half without the tracker"},
	}
	for _, l := range r.Looks {
		t.Row(l.When, report.Percent(l.Cross), l.Links, l.Far)
	}
	t.Notes = []string{fmt.Sprintf("Mean lag of entries that came out before %s min, during %s, afterwards %s; %s of "+
		"all did not come.",
		r.Before.Minutes(), r.Cut.Minutes(), r.After.Minutes(), r.Missed.percent())}
	return t
}
