package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

const (
	// littleShare is how much nodes that give nothing may get.
	littleShare = .01
	// bound is D, the default.
	bound = 10
	// lossy is the share of messages that are lost on bad links.
	lossy = .1
)

// little reports whether those of a group read feeds and got next to nothing.
func (g Group) little() bool { return g.Reading > 0 && g.Coverage <= littleShare }

// starving has a quarter of the nodes take without giving for so many times as long as others. Entries that they get at
// first do not count: a node that is not asked for what it offers has credit for it until it is for the first time, and
// one that comes back often has an entry of everyone as a stranger.
func starving(k kind, times int) func(*trial) (string, bool) {
	return func(t *trial) (string, bool) {
		c := t.with(k, .25)
		c.Length *= time.Duration(times)
		row := t.measured(c)
		return fmt.Sprintf("they get %s, honest %s", report.Percent(row.Groups[bad].Coverage),
			report.Percent(row.Honest.Coverage)), row.Groups[bad].little()
	}
}

// freeRiding is row 1.
func (t *trial) freeRiding() (string, bool) {
	c := t.with(freeRiders, .25)
	c.Alike = false
	return t.starvingUnharmed(c, .999, func(row CrowdRow) Group { return row.Groups[ordinary] })
}

// echoingUnderLoss is row 2 where what is lost is an excuse that may be true.
func (t *trial) echoingUnderLoss() (string, bool) {
	c := t.with(excusers, .25)
	c.Links.Loss = lossy
	return t.starvingUnharmed(c, .995, func(row CrowdRow) Group { return row.Honest })
}

// starvingUnharmed has the dishonest get little for three times as long as others, while the honest keep that share of
// what they have without a bound, hardly later.
func (t *trial) starvingUnharmed(c crowd, keep float64, of func(CrowdRow) Group) (string, bool) {
	c.Length *= 3
	with := t.measured(c)
	c.Bound = -1
	others, honest, free := with.Groups[bad], of(with), of(t.measured(c))
	return fmt.Sprintf("they get %s; honest %s, %s min, without a bound %s, %s min",
			report.Percent(others.Coverage), report.Percent(honest.Coverage), report.Minutes(honest.Lag),
			report.Percent(free.Coverage), report.Minutes(free.Lag)),
		others.little() && honest.Coverage >= keep*free.Coverage && honest.Lag <= 1.1*free.Lag
}

// lying is row 3. Tests of package neighbors show that protected neighbors never give way to anybody.
func (t *trial) lying() (string, bool) {
	c := t.with(liars, .25)
	enemies := c.enemies()
	var longest time.Duration
	links, long := 0, 0
	c.Watch = func(_ int, isBad bool) watch {
		if isBad {
			return nil
		}
		since := make(map[protocol.NodeID]time.Time)
		return func(now time.Time, _ node.Event, effects []node.Effect) {
			for _, note := range notes(effects) {
				switch note := note.(type) {
				case node.Linked:
					if enemies[note.Peer] {
						links++
						since[note.Peer] = now
					}
				case node.Unlinked:
					delete(since, note.Peer)
				}
			}
			for _, begun := range since {
				longest = max(longest, now.Sub(begun))
			}
		}
	}
	const mark = 6*time.Hour + 2*300*time.Second
	g := t.play(c, nil)
	for _, h := range g.honest() {
		for _, s := range h.Node().Neighbors() {
			if enemies[s.ID] && g.w.Now().Sub(s.Since) > mark {
				long++
			}
		}
	}
	return fmt.Sprintf("%d links, the longest %.1f h; %d longer ones at the end", links, longest.Hours(), long),
		links > 0 && longest <= mark
}

// sybils is row 12.
func (t *trial) sybils() (string, bool) {
	c := t.crowd
	c.Nodes *= 2
	c.Bad = c.Nodes / 2
	c.Kind = freeRiders
	c.Kind.address = func(i int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{198, 41, 0, 9}), uint16(10_000+i))
	}
	places, given := 0, 0.0
	t.play(c, func(g *gathering) {
		counts := make(map[*lab.Host]int)
		at := c.Start
		g.look(c, func(h *lab.Host, s node.NeighborStatus) {
			if g.w.Now() != at {
				at = g.w.Now()
				clear(counts)
			}
			counts[h]++
			places, given = max(places, counts[h]), max(given, s.Given-s.Got)
		})
	})
	return fmt.Sprintf("at most %d places, %.1f entries from one node", places, given), places > 0 && places <= 2 &&
		given <= bound
}

// laundering is row 14. Dishonest member 0 is the worker, the other is the leech.
func (t *trial) laundering() (string, bool) {
	c := t.crowd
	c.Bad = 2
	pair := c.badAddresses()
	worker, leech := pair[0], pair[1]
	c.Kind = kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		if c.address(i, bad) == leech {
			return actor.FreeRider(n)
		}
		return n
	}}
	c.Tune = func(_ int, is class, m *lab.MemberConfig) {
		switch {
		case is != bad:
		case m.ID == worker:
			m.Node.Peers, m.Node.Incentive.Bound = []string{leech.String()}, -1
		default:
			m.Node.Peers, m.NoPolls = []string{worker.String()}, true
		}
	}
	excess, given := 0.0, 0.0
	latest := make(map[relation]node.NeighborStatus)
	g := t.play(c, func(g *gathering) {
		g.look(c, func(h *lab.Host, s node.NeighborStatus) { latest[relation{h, s.ID}] = s })
	})
	for _, h := range g.honest() {
		w, l := latest[relation{h, worker}], latest[relation{h, leech}]
		given += w.Given + l.Given
		excess = max(excess, w.Given+l.Given-w.Got)
	}
	row := g.measure(c)
	return fmt.Sprintf("%.1f entries at most beyond what the worker gave, of %.0f in all; the pair's coverage is %s",
			excess, given, report.Percent(row.Groups[bad].Coverage)),
		given > 0 && excess <= bound+1
}

// A relation is that of a node to a dishonest neighbor.
type relation struct {
	host *lab.Host
	to   protocol.NodeID
}

// betraying is row 15.
func (t *trial) betraying() (string, bool) {
	c := t.crowd
	defects := c.Start.Add(c.Length / 2)
	c.Bad = max(1, c.Nodes/10)
	c.Kind = kind{act: all(func(n *node.Node) actor.Participant { return actor.Traitor(n, defects) })}
	before := make(map[relation]incentive.Account)
	most, links := 0.0, 0
	t.play(c, func(g *gathering) {
		g.look(c, func(h *lab.Host, s node.NeighborStatus) {
			key := relation{h, s.ID}
			// Deliveries that were on their way may still earn.
			if !g.w.Now().After(defects.Add(time.Minute)) {
				if _, known := before[key]; !known {
					links++
				}
				before[key] = incentive.Account{Given: entries(s.Given), Got: entries(s.Got)}
				return
			}
			old := before[key]
			most = max(most, s.Given-old.Given.Entries()-(s.Got-old.Got.Entries()))
		})
	})
	return fmt.Sprintf("%.1f entries at most from one of %d neighbors", most, links), links > 0 && most <= 2*bound
}

// outrunSeeds is for how many seeds the outrun is measured: what comes out within two hours differs much.
const outrunSeeds = 5

// outrunning is row 15 where the traitors bring everything first while they are honest, so that relays rest that their
// neighbors need from then on.
func (t *trial) outrunning() (string, bool) {
	defects := t.Length / 2
	lag := func(k kind) (late arrived) {
		for i := range outrunSeeds {
			c := t.with(k, .2).seeded(i)
			for s := range t.play(c, nil).sights(c) {
				if s.Published >= defects && s.Published < defects+2*time.Hour {
					late.add(s.Published, s.Any)
				}
			}
		}
		return late
	}
	never := lag(freeRiders)
	after := lag(kind{
		member: func(_ *lab.World, m *lab.MemberConfig) { m.Node.Policy = polling.Fixed{Every: 5 * time.Minute} },
		act:    all(func(n *node.Node) actor.Participant { return actor.Traitor(n, t.Start.Add(defects)) }),
	})
	share := func(a arrived) string { return report.Percent(Fraction{a.count, a.of}.of()) }
	return fmt.Sprintf("%s min, %s where they never gave; %s and %s of the entries", report.Minutes(after.mean()),
		report.Minutes(never.mean()), share(after), share(never)), after.count > 0 && after.mean() <= 1.15*never.mean()
}

// entries is an amount in entries as a Credit.
func entries(n float64) incentive.Credit { return incentive.Credit(n * float64(incentive.Entry)) }

// told has f called for each note of a member's.
func told(f func(i int, isBad bool, note node.Note)) func(i int, isBad bool) watch {
	return func(i int, isBad bool) watch {
		return func(_ time.Time, _ node.Event, effects []node.Effect) {
			for _, note := range notes(effects) {
				f(i, isBad, note)
			}
		}
	}
}

// dismissed tells whose link a note says to have ended for breaches of the rules.
func dismissed(note node.Note) (peer protocol.NodeID, ok bool) {
	u, ok := note.(node.Unlinked)
	return u.Peer, ok && strings.Contains(u.Reason, node.BrokeRules)
}

// notes returns the notes of the Tells among the effects.
func notes(effects []node.Effect) (list []node.Note) {
	for _, e := range effects {
		if tell, ok := e.(node.Tell); ok {
			list = append(list, tell.Note)
		}
	}
	return list
}
