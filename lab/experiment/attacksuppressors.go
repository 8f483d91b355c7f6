package experiment

import (
	"fmt"
	"math/rand/v2"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
)

// Row 33 has a fifth of the nodes claim every feed, so that they are wanted as neighbors, take all, and pass nothing
// on.

const (
	// suppressorShare of the nodes suppress, in so many networks.
	suppressorShare = .2
	suppressorSeeds = 3
	// deliveredAtOnce is which part the honest must have within a minute of the first, of what they have so without.
	deliveredAtOnce = .98
)

// claiming are suppressors, who claim every feed, link with all who let them, and poll or not.
func claiming(polls bool, act func(c *crowd) acting) func(c *crowd) kind {
	return func(c *crowd) kind {
		nodes := c.Nodes
		return kind{act: act(c), member: func(w *lab.World, m *lab.MemberConfig) {
			m.NoPolls, m.Feeds = !polls, everything(w)
			linksWithAll(m, nodes)
		}}
	}
}

// silent is the acting of those that give nothing, and name one another alone.
func silent(c *crowd) acting {
	named := c.badAddresses()
	return func(_ int, n *node.Node, rng *rand.Rand) actor.Participant { return actor.Eclipser(n, rng, named) }
}

// suppressedBy compares what the honest have with what they have where the suppressors are not there. Own polls bring
// everything in the end: what is passed on shows in what comes within a minute of the first.
func suppressedBy(of func(c *crowd) kind) func(*trial) (string, bool) {
	return func(t *trial) (string, bool) {
		run := func(of func(c *crowd) kind) (atOnce float64, got Group) {
			var sum groupTotals
			var shares []float64
			for n := range suppressorSeeds {
				c := t.with(kind{}, suppressorShare).seeded(n)
				c.NoEncoding, c.Kind = true, of(&c)
				g := t.play(c, nil)
				for _, h := range g.honest() {
					sum.add(c, g.w, h)
				}
				shares = append(shares, g.atOnce(c))
			}
			return report.Mean(shares), sum.group()
		}
		soon, with := run(of)
		soonAlone, without := run(func(*crowd) kind { return absent })
		return fmt.Sprintf("honest have %s, %s at once; without these %s, %s", with.text(), report.Percent(soon),
				without.text(), report.Percent(soonAlone)),
			with.unharmed(without) && soon >= deliveredAtOnce*soonAlone
	}
}

// suppressorAttacks are the lines of row 33.
func suppressorAttacks() (list []attack) {
	line := func(name, done string, of func(c *crowd) kind) {
		list = append(list, attack{33, name, done, fmt.Sprintf(
			"honest have >= 99.5%% of, >= %g x at once of, and lag <= %g x, what they have without these, means of %d",
			deliveredAtOnce, asWithoutThem, suppressorSeeds), 2 * suppressorSeeds, suppressedBy(of)})
	}
	line("suppressors", "20% claim every feed, link with all, take, give and poll nothing, and name each other alone",
		claiming(false, silent))
	line("suppressors that poll", "these poll all feeds as well, tell of it, and keep what they find",
		claiming(true, silent))
	line("suppressors that poll and give", "these give what they polled, and nothing that others brought them",
		claiming(true, func(*crowd) acting { return withholders.act }))
	line("patient suppressors", "these are honest for a quarter of the time, poll all feeds, and then give nothing",
		claiming(true, func(c *crowd) acting {
			until := c.Start.Add(c.Length / 4)
			return all(func(n *node.Node) actor.Participant { return actor.Traitor(n, until) })
		}))
	return list
}
