package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/internal/when"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/lab/trace"
	"feedex/node"
	"feedex/protocol"
)

// Attacks lets nodes of this program be attacked in the ways that a simulator can show, and holds what comes
// of it against a pass mark each. The zero value of each field means its default.
type Attacks struct {
	Seed   lab.Seed
	Traces *trace.Set    // no default
	Nodes  int           // default 40
	Length time.Duration // default 16 h; some attacks take a multiple of it, or less
	Trials int           // of an eclipse; default 48
	Rows   []int         // of the list of threats; default all
}

// The world of an attack, where the attack itself says nothing else: that of FreeRiders.
const (
	attackFeeds = 30
	attackEach  = 15
	attackEvery = 4 * time.Hour
)

// An attack is one row of the list of threats.
type attack struct {
	row    int
	name   string
	done   string // what was done
	mark   string
	worlds int // that it runs, or what takes as long
	run    func(t *trial) (measured string, pass bool)
}

// An AttackRow is the outcome of an attack.
type AttackRow struct {
	Row      int    `json:"row"`
	Name     string `json:"name"`
	Done     string `json:"done"`
	Mark     string `json:"mark"`
	Measured string `json:"measured"`
	Pass     bool   `json:"pass"`
	Partial  bool   `json:"partial,omitempty"` // interrupted: there is nothing to judge
	Hash     string `json:"hash"`
	Steps    int64  `json:"steps"`
}

// A trial is one attack being made.
type trial struct {
	crowd  // of honest nodes, all alike
	ctx    context.Context
	trials int
	tell   func(done float64)
	worlds float64 // that it runs
	ran    float64 // of them
	hashes string  // of all, one after the other
	steps  int64
	broken bool // interrupted
}

// play runs a crowd to its end. before, if it is not nil, is called before anything happens.
func (t *trial) play(c crowd, before func(g *gathering)) *gathering {
	g := c.gather()
	if before != nil {
		before(g)
	}
	t.broken = !c.run(t.ctx, g.w, func(done float64) { t.tell(min(1, (t.ran+done)/t.worlds)) }) || t.broken
	t.ran++
	t.hashes += g.w.Hash()
	t.steps += g.w.Steps()
	return g
}

// measured runs a crowd and sums it up.
func (t *trial) measured(c crowd) CrowdRow { return t.play(c, nil).measure(c) }

// with is the trial's crowd with so many of that kind in it.
func (t *trial) with(k kind, share float64) crowd {
	c := t.crowd
	c.Kind, c.Bad = k, max(1, int(share*float64(c.Nodes)+.5))
	return c
}

// look has f called every five minutes for each honest host and each of its dishonest neighbors.
func (g *gathering) look(c crowd, f func(h *lab.Host, s node.NeighborStatus)) {
	const every = 5 * time.Minute
	enemies := c.enemies()
	var look func()
	look = func() {
		for _, h := range g.honest() {
			if !h.Running() {
				continue
			}
			for _, s := range h.Node().Neighbors() {
				if enemies[s.ID] {
					f(h, s)
				}
			}
		}
		g.w.At(g.w.Now().Add(every), look)
	}
	g.w.At(c.Start.Add(every), look)
}

// enemies are the addresses of the dishonest, as they joined.
func (c crowd) enemies() map[protocol.NodeID]bool {
	ids := make(map[protocol.NodeID]bool)
	for _, id := range c.badAddresses() {
		ids[id] = true
	}
	return ids
}

// badAddresses are the same in order, and honestAddresses those of all others.
func (c *crowd) badAddresses() []protocol.NodeID {
	return c.addresses(func(is class) bool { return is == bad })
}

func (c *crowd) honestAddresses() []protocol.NodeID {
	return c.addresses(func(is class) bool { return is != bad })
}

// addresses are those of members of some classes, as they join.
func (c *crowd) addresses(of func(is class) bool) (ids []protocol.NodeID) {
	for i, is := range c.divide() {
		if of(is) {
			ids = append(ids, c.address(i, is))
		}
	}
	return ids
}

func (a Attacks) withDefaults() (Attacks, crowd, []attack, error) {
	a.Nodes, a.Length, a.Trials = cmp.Or(a.Nodes, 40), cmp.Or(a.Length, 16*time.Hour), cmp.Or(a.Trials, 48)
	var chosen []attack
	for _, x := range attacks() {
		if a.Rows == nil || slices.Contains(a.Rows, x.row) {
			chosen = append(chosen, x)
		}
	}
	unknown := slices.IndexFunc(a.Rows, func(row int) bool { return !slices.Contains(attackRows(), row) })
	c, err := newCrowd(a.Seed, a.Traces, a.Nodes, attackFeeds, attackEach, attackEvery, longestAttack*a.Length)
	c.Alike, c.Length = true, a.Length
	if err := tooShort(a.Traces, longestAttack*leastAttack); err != nil {
		return a, c, nil, err
	}
	most := a.Traces.To.Sub(a.Traces.From) / longestAttack
	switch {
	case a.Length < leastAttack || a.Length > most:
		err = impossible("attacks of %s; as some take %d times as long, want %s to %s", when.Clock(a.Length),
			longestAttack, when.Clock(leastAttack), when.Clock(most.Truncate(time.Hour)))
	case err != nil:
	case a.Trials < 1:
		err = impossible("%d trials; want 1 or more", a.Trials)
	case unknown >= 0:
		err = impossible("row %d cannot be shown; those that can are %s", a.Rows[unknown],
			strings.Trim(strings.ReplaceAll(fmt.Sprint(attackRows()), " ", ", "), "[]"))
	}
	return a, c, chosen, err
}

// leastAttack is how long a run must be to say anything: neighbors are judged after 6 h.
const leastAttack = 9 * time.Hour

// longestAttack is how many times as long as others the longest attacks take.
const longestAttack = 6

// Run makes all attacks. If ctx ends before they do, the Report says so. The error wraps ErrSetting. failed
// is how many did not come up to their mark.
func (a Attacks) Run(ctx context.Context, progress Progress) (r *report.Report, failed int, err error) {
	a, c, chosen, err := a.withDefaults()
	if err != nil {
		return nil, 0, err
	}
	costs := each(chosen, func(x attack) float64 { return float64(x.worlds) })
	rows := together(newMeter(progress, costs), func(i int, tell Progress) AttackRow {
		x := &chosen[i]
		t := &trial{crowd: c, ctx: ctx, trials: a.Trials, worlds: costs[i], tell: tell}
		row := AttackRow{Row: x.row, Name: x.name, Done: x.done, Mark: x.mark}
		row.Measured, row.Pass = x.run(t)
		row.Hash, row.Steps, row.Partial = report.HashOf(t.hashes), t.steps, t.broken
		if t.broken {
			row.Measured, row.Pass = report.Unknown, false
		}
		return row
	})
	for i := range rows {
		if !rows[i].Pass && !rows[i].Partial {
			failed++
		}
	}
	return a.report(c, rows), failed, nil
}

// attacks are the rows of the list of threats that a simulator can show. The others are about parsers,
// addresses and connections, of which a world has none, or about queries, for which there is Queries.
func attacks() []attack {
	return slices.Concat([]attack{
		{1, "free riding", "25% take and never give, three times as long",
			"they get <= 1%; honest >= 99.9% of, and lag <= 1.1 x, what they have without a bound", 6,
			(*trial).freeRiding},
		{1, "handing back", "25% take, and deliver back to each neighbor in other bundles what it gave, as long",
			"they get <= 1%", 3, starving(recutters, 3)},
		{2, "echoing", "25% offer a minute later what they heard offered, six times as long", "they get <= 1%", 6,
			starving(echoers, 6)},
		{2, "echoing with excuses",
			"they say nothing, that they are busy, or hang up when they are asked for it, three times as long",
			"they get <= 1%", 3, starving(excusers, 3)},
		{2, "echoing on bad links", "the same, and a tenth of all messages is lost",
			"they get <= 1%; honest >= 99.5% of, and lag <= 1.1 x, what they have without a bound", 6,
			(*trial).echoingUnderLoss},
		{3, "lying subsets", "25% claim every feed at hop 0 and bring nothing", "kept <= 6 h, and a round of adverts",
			1, (*trial).lying},
		{4, "forged entries", "10% forge an entry an hour each, six times as long",
			"junk deliveries <= 20% of forged x honest", 6, (*trial).forging},
		{5, "altered entries", "10% alter what they pass on",
			"none replaces a known text, is taken for confirmed, or outlives an own poll", 1, (*trial).altering},
		{7, "broken promises", "25% claim every did they hear of, and never deliver",
			"honest miss <= 0.1% of what came before; p99 of the spread < 5 s", 2, (*trial).breaking},
		{10, "path tampering", "20% write a victim's id into every path",
			"the victim gets all that it got before, lag < 2 x", 2, (*trial).tampering},
		{11, "eclipse", "80% of the nodes name only each other; victims restart 3 times",
			">= 2 honest neighbors in 99% of the trials", 3, (*trial).eclipsing},
		{11, "suppression", "nodes all of whose neighbors are hostile", "lag <= 1.1 x that of nodes alone", 2,
			(*trial).suppressing},
		{12, "Sybils of one address", "as many ports of one address as there are honest nodes",
			"<= 2 places a node, <= D free service", 1, (*trial).sybils},
		{13, "whitewashing by port", "25% come back every hour on another port, six times as long", "they get <= 1%", 6,
			starving(keyRejoiners, 6)},
		{14, "deficit laundering", "a leech behind a worker that has no bound for it",
			"a node gives the pair <= what the worker gave + D + 1", 1, (*trial).laundering},
		{15, "traitors", "10% are honest for half of the time, then take", "<= 2D a neighbor from then on", 1,
			(*trial).betraying},
		{15, "traitors who outran all", "20% poll every 5 min for half of the time, so that relays rest, then take",
			"lag of the next 2 h <= 1.15 x as where they never gave, means of 5", 2 * outrunSeeds, (*trial).outrunning},
		{17, "baits", "10% advertise 10,000 addresses that are no feeds; all volunteer, three times as long",
			"<= 1 request a volunteer and host in all, <= 4 a volunteer and day", 1, (*trial).baiting},
		{18, "tracker poisoning", "a tracker is told of 10,000 victims, three days long",
			"none handed out, <= 1 call back a day each", 1, (*trial).poisoning},
		{22, "replay", "10% offer old entries again, hour by hour", "no credit, nothing of polled feeds comes again", 1,
			(*trial).replaying},
		{23, "floods", "a node forges 1,000 entries an hour",
			"credit a day <= 2 x its feeds' rate + 5 each, half where the node does not follow", 2, (*trial).flooding},
		{24, "privacy", "who comes late takes what is at hop 0 for a node's own, by several signs, four times as long",
			"precision of each <= 1.1 x own/(own + for others), of what others name; no private URL in any call", 1,
			(*trial).profiling},
		{24, "discreet feeds",
			"nodes are observed in all that they say, over one link, over all, and before any neighbor",
			"what is followed discreetly is guessed no better than by chance", 1, (*trial).observing},
		{26, "collusion", "2, 5, 10 who agree on text, time and paths, in one /24 and in several",
			"no polled entry shows other text at any time; none is taken for confirmed in one /24", 6,
			(*trial).colluding},
		{27, "slander", "10% link with all and say of all others that they forge, 5 networks",
			"honest coverage, lag and share within a minute of the first, to 2% as without, means of 5",
			2 * slanderSeeds, (*trial).slandering},
	}, coordinationAttacks(28, pretenses()), hostAttacks(), keyAttacks(), coordinationAttacks(31, concerted()),
		cacheAttacks(), suppressorAttacks(), starAttacks(), []attack{
			{35, "inventing",
				"25% take, and bring what all invent alike of feeds that are relayed, three times as long",
				"they get <= 1%", 3, starving(inventors, 3)},
		})
}

// attackRows are the numbers of the rows that there are.
func attackRows() []int {
	return slices.Compact(each(attacks(), func(x attack) int { return x.row }))
}

// report shows what came of the attacks.
func (a Attacks) report(c crowd, rows []AttackRow) *report.Report {
	r := newReport("Attacks on nodes of this program in virtual time, each against its pass mark", a.Seed, a.Traces)
	r.Result = rows
	r.Setting = []string{
		fmt.Sprintf("%d nodes, polling every %s h, %d of %d feeds each, for %s h where the attack says nothing else",
			a.Nodes, report.Hours(c.Every), c.Each, len(c.Feeds), report.Hours(c.Length)),
		"Floods of queries (row 16) are left to `feedex lab query`, and what needs a real network is left out.",
	}
	t := report.Table{Title: "Attacks", Columns: []string{"row and attack", "", "hash"}}
	marks := report.Table{Title: "What was done, the pass marks, and what was measured", Texts: true,
		Columns: []string{"row and attack", "done", "mark", "measured"}}
	ended, passed := 0, 0
	for _, row := range rows {
		verdict := "FAIL"
		switch {
		case row.Partial:
			verdict = "interrupted"
		case row.Pass:
			verdict = "pass"
			passed++
		}
		if !row.Partial {
			ended++
		}
		name := fmt.Sprintf("%2d %s", row.Row, row.Name)
		t.Row(name, verdict, row.Hash)
		marks.Row(name, row.Done, row.Mark, row.Measured)
		r.Took(row.Hash, row.Steps)
	}
	if ended < len(rows) {
		r.Partial = fmt.Sprintf("interrupted; %d of %d attacks came to their end, of the others nothing is known",
			ended, len(rows))
	}
	r.Tables = []report.Table{t, marks}
	t.Notes = []string{fmt.Sprintf("%d of %d come up to their marks.", passed, len(rows))}
	r.Summary = []report.Table{marks, t}
	return r
}
