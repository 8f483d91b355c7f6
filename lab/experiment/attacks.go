package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/lab"
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

// An AttackRow is what came of an attack.
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
	hashes []string
	steps  int64
	broken bool // interrupted
}

// play runs a crowd to its end. before, if it is not nil, is called before anything happens.
func (t *trial) play(c crowd, before func(g *gathering)) *gathering {
	g, err := c.gather()
	if err != nil {
		panic(err) // the settings were checked
	}
	if before != nil {
		before(g)
	}
	t.broken = !c.run(t.ctx, g, func(done float64) { t.tell(min(1, (t.ran+done)/t.worlds)) }) || t.broken
	t.ran++
	t.hashes = append(t.hashes, g.w.Hash())
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

// every has f called for each honest host and each of its dishonest neighbors, again and again.
func (g *gathering) every(c crowd, d time.Duration, f func(h *lab.Host, s node.NeighborStatus)) {
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
		g.w.At(g.w.Now().Add(d), look)
	}
	g.w.At(c.Start.Add(d), look)
}

// enemies are the addresses of the dishonest, as they joined.
func (c crowd) enemies() map[protocol.NodeID]bool {
	ids := make(map[protocol.NodeID]bool)
	for i, is := range c.divide() {
		if is == bad {
			ids[c.address(i, is)] = true
		}
	}
	return ids
}

func (a Attacks) withDefaults() (Attacks, crowd, []attack, error) {
	a.Nodes, a.Length, a.Trials = cmp.Or(a.Nodes, 40), cmp.Or(a.Length, 16*time.Hour), cmp.Or(a.Trials, 48)
	var chosen []attack
	for _, x := range attacks() {
		wanted := a.Rows == nil
		for _, row := range a.Rows {
			wanted = wanted || row == x.row
		}
		if wanted {
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
		err = fmt.Errorf("%w: attacks of %s; as some take %d times as long, want %s to %s", ErrSetting, spell(a.Length),
			longestAttack, spell(leastAttack), spell(most.Truncate(time.Hour)))
	case err != nil:
	case a.Trials < 1:
		err = fmt.Errorf("%w: %d trials; want 1 or more", ErrSetting, a.Trials)
	case unknown >= 0:
		err = fmt.Errorf("%w: row %d cannot be shown; those that can are %s", ErrSetting, a.Rows[unknown],
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
func (a Attacks) Run(ctx context.Context, progress Progress) (r *Report, failed int, err error) {
	a, c, chosen, err := a.withDefaults()
	if err != nil {
		return nil, 0, err
	}
	rows := make([]AttackRow, len(chosen))
	costs := make([]float64, len(chosen))
	for i := range chosen {
		costs[i] = float64(chosen[i].worlds)
	}
	m := newMeter(progress, costs)
	together(len(chosen), func(i int) {
		x := &chosen[i]
		t := &trial{crowd: c, ctx: ctx, trials: a.Trials, worlds: float64(x.worlds),
			tell: func(done float64) { m.set(i, done) }}
		rows[i] = AttackRow{Row: x.row, Name: x.name, Done: x.done, Mark: x.mark}
		rows[i].Measured, rows[i].Pass = x.run(t)
		rows[i].Hash, rows[i].Steps, rows[i].Partial = hashOf(t.hashes), t.steps, t.broken
		if t.broken {
			rows[i].Measured, rows[i].Pass = unknown, false
		}
	})
	for i := range rows {
		if !rows[i].Pass && !rows[i].Partial {
			failed++
		}
	}
	return a.report(c, rows), failed, nil
}
