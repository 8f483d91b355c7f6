package experiment

import (
	"errors"
	"slices"
	"testing"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/trace"
)

// Small networks with free riders and others give the same tables and the same hash every time, on every
// machine. A change of what nodes do changes them: look at the difference before -update.
func TestFreeRidersAreReproducible(t *testing.T) {
	t.Parallel()
	r, err := FreeRiders{
		Seed: 1, Traces: embedded(t), Nodes: 12, Feeds: 8, Each: 4, Every: time.Hour, Length: 4 * time.Hour,
		Shares: []float64{.25}, Bounds: []int{1, -1},
	}.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	isGolden(t, "freeriders.golden", r)
	checkDrawings(t, r.All())
	rows := r.Result.([]CrowdRow)
	one, many, homes := rows[len(rows)-3].Address, rows[len(rows)-2].Address, rows[len(rows)-1].Address
	if one.Keys != 1 || many.Keys < keysOfOne || many.Most > 1 || many.Accounts > 1 || many.Given > 1.1*one.Given {
		t.Errorf("under %d keys a machine gets %+v, under its own %+v", many.Keys, *many, *one)
	}
	if homes.Before == 0 || homes.After < homes.Before || homes.Ended > 0 || homes.Forger[1] >= homes.Forger[0] {
		t.Errorf("beside a forger: %+v", *homes)
	}
}

// The same for all attacks, and they come up to their marks. Among fourteen nodes chance decides some: what is beyond
// its mark with one seed must come up to it with the next. What the marks are worth forty nodes show
// (docs/evaluation/attacks.md). The lies about polls are left out: a feed has no dozen followers there, and they have a
// test of their own, as have hosts and keys, which take longer.
func TestAttacksAreReproducible(t *testing.T) {
	t.Parallel()
	a := Attacks{Seed: 3, Traces: embedded(t), Nodes: 14, Length: 9 * time.Hour, Trials: 2,
		Rows: slices.DeleteFunc(attackRows(), func(row int) bool { return row >= 28 })}
	r, _, err := a.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Rows = nil
	for _, row := range r.Result.([]AttackRow) {
		if !row.Pass {
			a.Rows = append(a.Rows, row.Row)
		}
	}
	if a.Rows != nil {
		a.Seed++
		if _, failed, err := a.Run(t.Context(), nil); err != nil || failed > 0 {
			t.Errorf("of rows %v, beyond their mark with one seed, %d attacks are with the next: %v", a.Rows, failed,
				err)
		}
	}
	isGolden(t, "attacks.golden", r)
}

// trialOf is an attack on so many nodes that is about to be made, for as short as there are attacks.
func trialOf(t *testing.T, seed lab.Seed, nodes int) *trial {
	c, err := newCrowd(seed, embedded(t), nodes, attackFeeds, attackEach, attackEvery, longestAttack*leastAttack)
	if err != nil {
		t.Fatal(err)
	}
	c.Alike, c.Length = true, leastAttack
	return &trial{crowd: c, ctx: t.Context(), worlds: 1, tell: func(float64) {}}
}

// judge makes an attack, which is to come up to its mark or not.
func judge(t *testing.T, name string, attack func(*trial) (string, bool), tr *trial, want bool) {
	measured, pass := attack(tr)
	if t.Logf("%s: %s", name, measured); pass != want {
		t.Errorf("%s: pass %v, want %v", name, pass, want)
	}
}

// Polls in turns bring entries sooner than polls at random moments, and a few liars do not change that.
func TestLiesAboutPolls(t *testing.T) {
	t.Parallel()
	for _, p := range slices.Concat(pretenses(), concerted()) {
		if !slices.Contains([]string{"nobody lies", "flood, 10%", "refusals, 50%"}, p.name) {
			continue
		}
		judge(t, p.name, p.try, trialOf(t, 1, 24), true)
	}
}

// Who hands back what it was given gets no more than any free rider. Nobody is taken for a liar because caches differ.
// Three who pass nothing on keep nobody from anything, unless honest nodes have no more places than for these.
func TestCachesAndSuppressors(t *testing.T) {
	t.Parallel()
	patient := suppressorAttacks()[3]
	few := func(_ int, is class, m *lab.MemberConfig) {
		if is != bad {
			m.Node.MaxNeighbors, m.Node.MinNeighbors = 3, 3
		}
	}
	for _, x := range []struct {
		attack attack
		tune   tuner
		pass   bool
	}{{attacks()[1], nil, true}, {cacheAttacks()[0], nil, true}, {patient, nil, true}, {patient, few, false}} {
		tr := trialOf(t, 1, 16)
		tr.Tune = x.tune
		judge(t, x.attack.name, x.attack.run, tr, x.pass)
	}
}

// A pass mark can be missed: without a deficit bound, nodes that live by taking take more than they may. Among a dozen
// nodes some of them find nothing to take, with one seed or another.
func TestAttacksFailWithoutABound(t *testing.T) {
	t.Parallel()
	const seeds = 4
	for name, attack := range map[string]func(*trial) (string, bool){
		"echoing": starving(echoers, 6), "Sybils": (*trial).sybils, "laundering": (*trial).laundering,
		"traitors": (*trial).betraying,
	} {
		missed := false
		for seed := lab.Seed(1); !missed && seed <= seeds; seed++ {
			tr := trialOf(t, seed, 12)
			tr.Bound = -1
			measured, pass := attack(tr)
			missed = !pass
			t.Logf("%s, seed %d: %s", name, seed, measured)
		}
		if !missed {
			t.Errorf("%s comes up to its mark without a bound, with %d seeds", name, seeds)
		}
	}
}

// Homes find places beside a crowd with new keys, hosts read nothing that is private, and stolen names are of no use.
// Marks can be missed: where what is private is not said to be, and where each key has an account.
func TestAttacksByHostsAndKeys(t *testing.T) {
	t.Parallel()
	public := func(_ int, _ class, m *lab.MemberConfig) { m.Node.PrivateHosts = nil }
	for _, x := range []struct {
		name   string
		attack func(*trial) (string, bool)
		rules  *incentive.Rules
		tune   tuner
		pass   bool
	}{
		{"reading", (*trial).reading, nil, nil, true},
		{"reading what is not private", (*trial).reading, nil, public, false},
		{"hosted attackers", (*trial).crowding, nil, nil, true},
		{"stolen names", (*trial).impersonating, nil, nil, true},
		{"keys with an account each", (*trial).thousandsOfKeys, portAccounts, nil, false},
	} {
		tr := trialOf(t, 3, 14)
		tr.Rules, tr.Tune = x.rules, x.tune
		judge(t, x.name, x.attack, tr, x.pass)
	}
}

func TestImpossibleCrowds(t *testing.T) {
	set := embedded(t)
	day := &trace.Set{From: set.From, To: set.From.Add(24 * time.Hour), Feeds: set.Feeds}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"too few nodes", func() error { return errorOf(FreeRiders{Traces: set, Nodes: 9}.Run(t.Context(), nil)) }},
		{"more feeds than there are",
			func() error { return errorOf(FreeRiders{Traces: set, Each: 31}.Run(t.Context(), nil)) }},
		{"polls that are too rare",
			func() error { return errorOf(FreeRiders{Traces: set, Every: 9 * time.Hour}.Run(t.Context(), nil)) }},
		{"a run that is too long",
			func() error { return errorOf(FreeRiders{Traces: set, Length: 9000 * time.Hour}.Run(t.Context(), nil)) }},
		{"traces that are too short for attacks",
			func() error { _, _, err := Attacks{Traces: day}.Run(t.Context(), nil); return err }},
		{"traces that are too short to share",
			func() error { return errorOf(SharedPolling{Traces: day}.Run(t.Context(), nil)) }},
		{"an attack that is too short",
			func() error { _, _, err := Attacks{Traces: set, Length: time.Hour}.Run(t.Context(), nil); return err }},
		{"a row that there is not",
			func() error { _, _, err := Attacks{Traces: set, Rows: []int{99}}.Run(t.Context(), nil); return err }},
		{"one row that there is and one that there is not",
			func() error { _, _, err := Attacks{Traces: set, Rows: []int{1, 99}}.Run(t.Context(), nil); return err }},
		{"no trials", func() error { _, _, err := Attacks{Traces: set, Trials: -1}.Run(t.Context(), nil); return err }},
	} {
		if err := c.run(); !errors.Is(err, ErrSetting) {
			t.Errorf("%s: %v, want ErrSetting", c.name, err)
		}
	}
}

// Move takes a member to another address, with what it had.
func TestMove(t *testing.T) {
	c := smallCrowd(t)
	g := c.gather()
	g.w.Run(c.Start.Add(30 * time.Minute))
	h, to := g.hosts[0], publicAddress(200)
	if err := h.Move(to); !errors.Is(err, lab.ErrConfig) {
		t.Errorf("moving while it runs: %v", err)
	}
	h.Leave()
	if err := h.Move(g.hosts[1].ID); !errors.Is(err, lab.ErrConfig) {
		t.Errorf("moving to where somebody is: %v", err)
	}
	before := len(h.Sights(g.w.Now()))
	if err := errors.Join(h.Move(to), h.Return()); err != nil {
		t.Fatal(err)
	}
	g.w.Run(c.Start.Add(time.Hour))
	if len(h.Node().Neighbors()) == 0 || len(h.Sights(g.w.Now())) < before {
		t.Errorf("%d neighbors after the move", len(h.Node().Neighbors()))
	}
	for _, other := range g.hosts[1:] {
		for _, s := range other.Node().Neighbors() {
			if s.ID == to {
				return
			}
		}
	}
	t.Errorf("nobody has a neighbor at %s", to)
}
