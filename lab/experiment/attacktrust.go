package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// collusion is the liars that stand by the same lies: so many nodes, of one /24 or each of a network of its own.
type collusion struct {
	nodes      int
	oneNetwork bool
}

// colluding is row 26. The entries that an honest node shows are looked at whenever something is delivered that a
// colluder made up.
func (t *trial) colluding() (string, bool) {
	var came, changed, near, far int
	for _, x := range []collusion{{2, true}, {5, true}, {10, true}, {2, false}, {5, false}, {10, false}} {
		c := t.crowd
		c.Nodes, c.Bad = c.Nodes/2+x.nodes, x.nodes
		c.Kind = colluders(c.Start.Add(c.Length/4), x.oneNetwork)
		var g *gathering
		c.Watch = func(i int, isBad bool) watch {
			if isBad {
				return nil
			}
			polled := make(map[feed.EntryID]bool)
			return func(_ time.Time, ev node.Event, _ []node.Effect) {
				switch ev := ev.(type) {
				case node.Fetched:
					if ev.Document != nil {
						for j := range ev.Document.Entries {
							polled[ev.Document.Entries[j].EntryID()] = true
						}
					}
				case node.Asked:
					ids, digests := liesOf(ev.Call)
					if len(ids) == 0 || g.hosts[i] == nil {
						return
					}
					came += len(ids)
					for j, v := range g.hosts[i].Archive().Known(ids) {
						switch {
						case v.Digest != digests[j]:
						case polled[ids[j]]:
							changed++
						case v.Confirmed && x.oneNetwork:
							near++
						case v.Confirmed:
							far++
						}
					}
				}
			}
		}
		t.play(c, func(of *gathering) { g = of })
	}
	return fmt.Sprintf("%d lies came; polled entries changed: %d; taken for confirmed in one /24: %d, in several "+
		"networks: %d",
		came, changed, near, far), came > 0 && changed == 0 && near == 0
}

// liesOf are the entries of a delivery that a colluder made up.
func liesOf(call protocol.Call) (ids []feed.EntryID, digests []feed.Digest) {
	if put, ok := call.(protocol.PutEntries); ok {
		for i := range put.Bundle.Entries {
			if e := &put.Bundle.Entries[i]; actor.Altered(e) || actor.Forged(e) {
				ids, digests = append(ids, e.EntryID()), append(digests, e.Digest())
			}
		}
	}
	return ids, digests
}

// colluders agree on what they make up from a time on.
func colluders(from time.Time, oneNetwork bool) kind {
	k := kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Colluder(n, "all", from, publicAddress(5000+i))
	}}
	if oneNetwork {
		k.address = func(i int) protocol.NodeID {
			return protocol.NewNodeID(netip.AddrFrom4([4]byte{198, 41, 0, byte(1 + i%254)}), protocol.DefaultPort)
		}
	}
	return k
}

// slanderSeeds is how many networks with slanderers are compared with as many without.
const slanderSeeds = 5

// mostNeighbors is the most that a node may have.
const mostNeighbors = 64

// slandering is row 27. Two neighbors of a node make it doubt a third, so slanderers link with as many as they can.
// Entries that are held back own polls bring, which come sooner for it: the loss shows in those that come at once,
// before these.
func (t *trial) slandering() (string, bool) {
	refused := 0
	var coverage, lag, atOnce [2][]float64 // with slanderers and without
	for n := range slanderSeeds {
		c := t.with(kind{}, .1).seeded(n)
		c.Tune = func(_ int, is class, m *lab.MemberConfig) {
			if is == bad {
				linksWithAll(m, c.Nodes)
			}
		}
		friends, begins := c.enemies(), c.Start.Add(c.Length/4)
		slanderers := kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
			return actor.Slanderer(n, fmt.Sprintf("slanderer %d", i), .25, begins, friends)
		}}
		for j, k := range []kind{slanderers, {}} {
			c.Kind = k
			c.Watch = func(_ int, isBad bool) watch {
				if !isBad || j > 0 {
					return nil
				}
				return func(_ time.Time, _ node.Event, effects []node.Effect) {
					for _, e := range effects {
						if r, ok := e.(node.Respond); ok && r.Fault != nil && r.Fault.Code == protocol.ForgedSource {
							refused++
						}
					}
				}
			}
			g := t.play(c, nil)
			honest := g.measure(c).Honest
			coverage[j], lag[j] = append(coverage[j], honest.Coverage), append(lag[j], honest.Lag)
			atOnce[j] = append(atOnce[j], g.atOnce(c))
		}
	}
	with, without := report.Mean(coverage[0]), report.Mean(coverage[1])
	late, early := report.Mean(lag[0]), report.Mean(lag[1])
	soon, all := report.Mean(atOnce[0]), report.Mean(atOnce[1])
	return fmt.Sprintf("%d refusals; honest %s, %s min, %s at once; without slander %s, %s min, %s at once", refused,
			report.Percent(with), report.Minutes(late), report.Percent(soon),
			report.Percent(without), report.Minutes(early), report.Percent(all)),
		refused > 0 && with >= .98*without && late <= 1.02*early && soon >= .98*all
}

// atOnce is the share of the entries of their feeds that the honest have within a minute of the first of them.
func (g *gathering) atOnce(c crowd) float64 {
	first := g.firsts(c)
	var soon Fraction
	for s := range g.sights(c) {
		if at := first[entryIndex{s.Feed, s.Entry}]; at != lab.Never {
			soon.count(s.Any-at <= time.Minute)
		}
	}
	return soon.of()
}
