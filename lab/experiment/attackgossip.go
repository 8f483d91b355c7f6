package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
)

// breaking is row 7.
func (t *trial) breaking() (string, bool) {
	c := t.with(breakers, .25)
	before := c
	before.Kind = kind{member: pollsNothing} // a node that polls nothing, and is honest otherwise
	reachedBefore, p99Before := t.play(before, nil).spreads(before)
	reached, p99 := t.play(c, nil).spreads(c)
	return fmt.Sprintf("%s reached, p99 %.1f s; with honest nodes in their place %s, %.1f s", share(reached),
			p99.Seconds(), share(reachedBefore), p99Before.Seconds()),
		reached > 0 && reached >= reachedBefore-.001 && p99 < 5*time.Second
}

// share writes a share to two digits after the point.
func share(s float64) string { return fmt.Sprintf("%.2f%%", 100*s) }

// spreads tells how what one honest node had came to the others that follow the feed: how many of them it
// reached, and how long that took 99 of 100.
func (g *gathering) spreads(c crowd) (reached float64, p99 time.Duration) {
	first := make(map[entry]time.Duration)
	each := func(f func(e entry, s lab.Sight)) {
		from, to := c.window()
		for _, h := range g.honest() {
			for _, s := range h.Sights(g.w.Now()) {
				if s.Published >= from && s.Published < to {
					f(entry{s.Feed, s.Entry}, s)
				}
			}
		}
	}
	each(func(e entry, s lab.Sight) {
		if at, known := first[e]; !known || s.Any < at {
			first[e] = s.Any
		}
	})
	var took []time.Duration
	all := 0
	each(func(e entry, s lab.Sight) {
		switch at := first[e]; {
		case at == lab.Never || s.Any == at: // nobody had it, or nobody before
		default:
			all++
			if s.Any != lab.Never {
				took = append(took, s.Any-at)
			}
		}
	})
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return float64(len(took)) / float64(all), took[len(took)*99/100]
}

// tampering is row 10.
func (t *trial) tampering() (string, bool) {
	c := t.crowd
	c.Bad = c.Nodes / 5
	victim := slices.Index(c.divide(), ordinary)
	c.Tune = func(i int, _ class, m *lab.Member) { m.NoPolls = m.NoPolls || i == victim }
	c.Bound = -1 // a node that polls nothing would owe
	of := func(k kind) Group {
		c.Kind = k
		var m members
		g := t.play(c, nil)
		m.add(c, g.w, g.hosts[victim])
		return m.group()
	}
	before := of(kind{})
	after := of(kind{act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Tamperer(n, publicAddress(victim))
	}})
	return fmt.Sprintf("it gets %s, %s min; before %s, %s min", percent(after.Coverage), minutes(after.Lag),
			percent(before.Coverage), minutes(before.Lag)),
		after.Coverage >= before.Coverage-.001 && after.Lag < 2*before.Lag
}
