package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
	"feedex/tracker"
)

const (
	// hostileShare is how many of the nodes in an eclipse are hostile.
	hostileShare = .8
	// victimsEach is how many nodes are attacked in one world.
	victimsEach = 8
	restarts    = 3
	betweenRuns = 20 * time.Minute
)

// eclipsers claim every feed, give nothing, and name only each other.
func eclipsers(c *crowd) kind {
	named := sync.OnceValue(c.badAddresses)
	return kind{member: liars.member, act: func(_ int, n *node.Node, rng *rand.Rand) actor.Participant {
		return actor.Eclipser(n, rng, named())
	}}
}

// eclipsing is the first half of row 11.
func (t *trial) eclipsing() (string, bool) {
	var good Fraction
	least := 99
	worlds := (t.trials + victimsEach - 1) / victimsEach
	t.worlds = float64(worlds)
	for n := range worlds {
		c := t.crowd.seeded(n)
		c.Bad = int(hostileShare * float64(c.Nodes))
		c.Length = time.Hour + (restarts+1)*betweenRuns
		c.Kind = eclipsers(&c)
		enemies := c.enemies()
		var victims []*lab.Host
		t.play(c, func(g *gathering) {
			for v := range min(victimsEach, t.trials-n*victimsEach) {
				g.w.At(c.Start.Add(time.Hour+time.Duration(v)*time.Minute),
					func() { victims = append(victims, attacked(c, g, v)) })
			}
		})
		for _, h := range victims {
			honest := 0
			for _, s := range h.Node().Neighbors() {
				if !enemies[s.ID] {
					honest++
				}
			}
			least = min(least, honest)
			good.count(honest >= 2)
		}
	}
	return fmt.Sprintf("%s of %d trials, at least %d honest neighbors", report.Percent(good.of()), good.Whole, least),
		good.of() >= .99
}

// attacked has victim number v join and restart.
func attacked(c crowd, g *gathering, v int) *lab.Host {
	rng := c.Seed.Stream(fmt.Sprintf("victim %d", v))
	h := joinNow(g.w, lab.MemberConfig{Name: fmt.Sprintf("victim %d", v), ID: publicAddress(c.Nodes + v),
		Feeds: choose(rng, g.w, c.Each)})
	for n := range restarts {
		g.w.At(g.w.Now().Add(time.Duration(1+n)*betweenRuns), func() {
			h.Stop()
			comeBack(h)
		})
	}
	return h
}

// suppressing is the second half of row 11: half of the nodes are hostile, and the other half knows nobody
// else. Polling adapts as it does by default.
func (t *trial) suppressing() (string, bool) {
	c := t.crowd
	c.Nodes = max(10, c.Nodes/2)
	c.Bad = c.Nodes / 2
	c.Policy = polling.FeedEx{}
	c.Kind = eclipsers(&c)
	lag := func(hostile bool) (float64, int) {
		links := 0
		c.Tune = func(_ int, is class, m *lab.MemberConfig) {
			if is == bad {
				return
			}
			m.Node.Trackers = []string{}
			if hostile {
				m.Node.Peers = each(c.badAddresses(), protocol.NodeID.String)
			}
		}
		g := t.play(c, nil)
		for _, h := range g.honest() {
			links += len(h.Node().Neighbors())
		}
		return g.measure(c).Honest.Lag, links
	}
	alone, _ := lag(false)
	eclipsed, links := lag(true)
	return fmt.Sprintf("%s min, alone %s min; %.1f neighbors a node, all hostile", report.Minutes(eclipsed),
			report.Minutes(alone), float64(links)/float64(c.Nodes-c.Bad)),
		eclipsed <= 1.1*alone && links > 0
}

// poisoning is row 18, with the tracker alone: 10,000 victims on 10,000 networks.
func (t *trial) poisoning() (string, bool) {
	const victims, honest, days = 10_000, 100, 3
	r := tracker.New(tracker.Config{CallBacks: 100}, t.Seed.Stream("tracker"))
	victim := func(i int) protocol.NodeID {
		return protocol.NewNodeID(netip.AddrFrom4([4]byte{byte(60 + i%100), byte(i / 100), 1, 9}), protocol.DefaultPort)
	}
	called := make([]int, victims)
	most, handed, answers := 0, 0, 0
	for hour := range days * 24 {
		now := t.Start.Add(time.Duration(hour) * time.Hour)
		for i := range victims {
			if back, _ := r.Register(now, victim(i)); back {
				called[i]++
				most = max(most, called[i])
				r.Confirm(now, victim(i), false)
			}
		}
		for i := range honest {
			if back, _ := r.Register(now, publicAddress(i)); back {
				r.Confirm(now, publicAddress(i), true)
			}
		}
		for _, id := range r.Hand(now, protocol.NodeID{}, protocol.MaxNeighborList) {
			answers++
			if id.Addr().As4()[0] >= 60 {
				handed++
			}
		}
		t.tell(float64(hour) / (days * 24))
	}
	return fmt.Sprintf("%d of %d handed out are victims; %d call backs at most to one in %d days", handed, answers,
		most, days), handed == 0 && most <= days && answers > 0
}
