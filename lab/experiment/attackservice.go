package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
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

// freeRiding is row 1.
func (t *trial) freeRiding() (string, bool) {
	c := t.with(freeRiders, .25)
	c.Alike, c.Length = false, 3*c.Length
	with := t.measured(c)
	c.Bound = -1
	without := t.measured(c)
	others, honest, free := with.Groups[bad], with.Groups[ordinary], without.Groups[ordinary]
	return fmt.Sprintf("they get %s; honest %s, %s min, without a bound %s, %s min",
			report.Percent(others.Coverage), report.Percent(honest.Coverage), report.Minutes(honest.Lag),
			report.Percent(free.Coverage), report.Minutes(free.Lag)),
		others.little() && honest.Coverage >= .999*free.Coverage && honest.Lag <= 1.1*free.Lag
}

// echoing is row 2. A node that is not asked for what it offers has credit for it, until it is for the first time: what
// counts is what comes later.
func (t *trial) echoing() (string, bool) {
	c := t.with(echoers, .25)
	c.Length *= 6
	row := t.measured(c)
	return fmt.Sprintf("they get %s, honest %s", report.Percent(row.Groups[bad].Coverage),
		report.Percent(row.Honest.Coverage)), row.Groups[bad].little()
}

// excusing is row 2 again: a node that does not have what it offered has an excuse.
func (t *trial) excusing() (string, bool) {
	c := t.with(excusers, .25)
	c.Length *= 3
	row := t.measured(c)
	return fmt.Sprintf("they get %s, honest %s", report.Percent(row.Groups[bad].Coverage),
		report.Percent(row.Honest.Coverage)), row.Groups[bad].little()
}

// echoingUnderLoss is row 2 where what is lost is an excuse that may be true.
func (t *trial) echoingUnderLoss() (string, bool) {
	c := t.with(excusers, .25)
	c.Length *= 3
	c.Links.Loss = lossy
	with := t.measured(c)
	c.Bound = -1
	free := t.measured(c).Honest
	others, honest := with.Groups[bad], with.Honest
	return fmt.Sprintf("they get %s; honest %s, %s min, without a bound %s, %s min",
			report.Percent(others.Coverage), report.Percent(honest.Coverage), report.Minutes(honest.Lag),
			report.Percent(free.Coverage), report.Minutes(free.Lag)),
		others.little() && honest.Coverage >= .995*free.Coverage && honest.Lag <= 1.1*free.Lag
}

// whitewashing is row 13. A node that comes back often meets everyone, and has an entry of each as a stranger: what
// counts is what comes later.
func (t *trial) whitewashing() (string, bool) {
	c := t.with(portRejoiners, .25)
	c.Length *= 6
	row := t.measured(c)
	return fmt.Sprintf("they get %s, honest %s", report.Percent(row.Groups[bad].Coverage),
		report.Percent(row.Honest.Coverage)), row.Groups[bad].little()
}

// lying is row 3. That protected neighbors never give way to anybody is for the tests of package neighbors.
func (t *trial) lying() (string, bool) {
	c := t.with(liars, .25)
	enemies := c.enemies()
	var longest time.Duration
	links, long := 0, 0
	c.Watch = func(_ int, isBad bool) func(time.Time, node.Event, []node.Effect) {
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
		g.every(c, 5*time.Minute, func(h *lab.Host, s node.NeighborStatus) {
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
	var pair []protocol.NodeID
	for i, is := range c.divide() {
		if is == bad {
			pair = append(pair, c.address(i, is))
		}
	}
	worker, leech := pair[0], pair[1]
	c.Kind = kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		if c.address(i, bad) == leech {
			return actor.FreeRider(n)
		}
		return n
	}}
	c.Tune = func(_ int, is class, m *lab.Member) {
		config := *m.Node
		switch {
		case is != bad:
			return
		case m.ID == worker:
			config.Peers, config.Incentive.Bound = []string{leech.String()}, -1
		default:
			config.Peers, m.NoPolls = []string{worker.String()}, true
		}
		m.Node = &config
	}
	excess, given := 0.0, 0.0
	type account struct{ given, got float64 }
	accounts := make(map[*lab.Host]map[protocol.NodeID]account)
	g := t.play(c, func(g *gathering) {
		g.every(c, 5*time.Minute, func(h *lab.Host, s node.NeighborStatus) {
			if accounts[h] == nil {
				accounts[h] = make(map[protocol.NodeID]account)
			}
			accounts[h][s.ID] = account{s.Given, s.Got}
		})
	})
	for _, h := range g.honest() {
		w, l := accounts[h][worker], accounts[h][leech]
		given += w.given + l.given
		excess = max(excess, w.given+l.given-w.got)
	}
	row := g.measure(c)
	return fmt.Sprintf("%.1f entries at most beyond what the worker gave, of %.0f in all; the pair's coverage is %s",
			excess, given, report.Percent(row.Groups[bad].Coverage)),
		given > 0 && excess <= bound+1
}

// betraying is row 15.
func (t *trial) betraying() (string, bool) {
	c := t.crowd
	defects := c.Start.Add(c.Length / 2)
	c.Bad = max(1, c.Nodes/10)
	c.Kind = kind{act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant { return actor.Traitor(n, defects) }}
	type of struct {
		host    *lab.Host
		traitor protocol.NodeID
	}
	before := make(map[of]incentive.Account)
	most, links := 0.0, 0
	t.play(c, func(g *gathering) {
		g.every(c, 5*time.Minute, func(h *lab.Host, s node.NeighborStatus) {
			key := of{h, s.ID}
			// What was on its way may still earn.
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

// entries is an amount in entries as a Credit.
func entries(n float64) incentive.Credit { return incentive.Credit(n * float64(incentive.Entry)) }

// notes are what effects tell.
func notes(effects []node.Effect) (list []node.Note) {
	for _, e := range effects {
		if tell, ok := e.(node.Tell); ok {
			list = append(list, tell.Note)
		}
	}
	return list
}
