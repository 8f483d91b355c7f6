package experiment

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Row 29 has half of the nodes be at home, behind a router each that lets nobody in, and honest. Half of those that can
// be dialled are not, and do what a host can do to those that it hosts; or others that cannot be dialled want the
// places of the homes.

const (
	// hostSeeds is how many networks with bad hosts are compared with as many in which these are not there.
	hostSeeds = 5
	// homeShare of the nodes are at home, and hostileShareOfAll can be dialled and are hostile: half of the rest.
	homeShare, hostileShareOfAll = .5, .25
	// asWithoutThem is how late entries may come, against where the hostile are not there, and keptWithoutThem which
	// part of them must. Who withholds is worth no more than nobody, and costs a home the place that it fills until
	// what it brings is looked at; the rest is what networks with other seeds differ by. Of the entries honest nodes in
	// the place of the hostile have 99.8% of what there is without: that row was first to keep 99.9%.
	asWithoutThem, keptWithoutThem = 1.1, .995
	// floodsAMinute is how many calls a flooder makes to each neighbor, three times as many as it may, and floodedFor
	// how long it is a neighbor from then on: the 25th flood within a day ends the link.
	floodsAMinute = 1800
	floodedFor    = 26 * time.Minute
)

// tune has members be tuned before Tune has its word.
func (c *crowd) tune(before tuner) {
	last := c.Tune
	c.Tune = func(i int, is class, m *lab.MemberConfig) {
		if before(i, is, m); last != nil {
			last(i, is, m)
		}
	}
}

// withHomes has some of the honest be at home. Bad must be set.
func (c *crowd) withHomes() {
	home := c.homes()
	c.tune(func(i int, _ class, m *lab.MemberConfig) {
		if home[i] {
			m.Behind = m.ID.Addr()
		}
	})
}

// homes tells which members are at home.
func (c *crowd) homes() []bool {
	home, left, classes := make([]bool, c.Nodes), int(homeShare*float64(c.Nodes)), c.divide()
	for _, i := range c.Seed.Stream("homes").Perm(c.Nodes) {
		if classes[i] != bad && left > 0 {
			home[i], left = true, left-1
		}
	}
	return home
}

// homes are the honest hosts that nobody can dial.
func (g *gathering) homes() (hosts []*lab.Host) {
	for _, h := range g.honest() {
		if h.Unreachable() {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// absent are nodes that end as soon as they began.
var absent = kind{joined: func(_ *lab.World, h *lab.Host, _ *rand.Rand) { h.Stop() }}

// homesAmong is what homes have where the hostile are of that kind, in several networks. watched may be nil.
func (t *trial) homesAmong(k kind, watched func(c crowd) func(i int, isBad bool) watch) Group {
	var sum groupTotals
	for n := range hostSeeds {
		c := t.with(k, hostileShareOfAll).seeded(n)
		c.withHomes()
		if watched != nil {
			c.Watch = watched(c)
		}
		g := t.play(c, nil)
		for _, h := range g.homes() {
			sum.add(c, g.w, h)
		}
	}
	return sum.group()
}

// unharmed reports whether those of a group have what they have without the hostile, hardly later.
func (g Group) unharmed(without Group) bool {
	return without.Coverage > 0 && g.Coverage >= keptWithoutThem*without.Coverage &&
		g.Lag <= asWithoutThem*without.Lag
}

// text says what a group has.
func (g Group) text() string {
	return report.Percent(g.Coverage) + ", " + report.Minutes(g.Lag) + " min"
}

// withholders give what they polled and pass on nothing.
var withholders = kind{act: all(actor.Withholder)}

// withholding is the lines of row 29 about hosts of a kind that withhold.
func withholding(k kind) func(*trial) (string, bool) {
	return func(t *trial) (string, bool) {
		without, with := t.homesAmong(absent, nil), t.homesAmong(k, nil)
		return fmt.Sprintf("homes have %s; without these hosts %s", with.text(), without.text()),
			with.unharmed(without)
	}
}

// floodingHomes is row 29, of floods: in virtual time steps take none, so what shows is how many calls are answered.
func (t *trial) floodingHomes() (string, bool) {
	most, refused, floods, longest := 0, 0, 0, time.Duration(0)
	begins := t.Start.Add(t.Length / 4)
	watched := func(c crowd) func(int, bool) watch {
		enemies, home := c.enemies(), c.homes()
		return func(i int, isBad bool) watch {
			if !home[i] {
				return nil
			}
			minute, answered := int64(0), make(map[protocol.NodeID]int)
			first := make(map[protocol.NodeID]time.Time)
			return func(now time.Time, ev node.Event, effects []node.Effect) {
				asked, ok := ev.(node.Asked)
				if !ok || now.Before(begins) {
					return
				}
				if m := now.Unix() / 60; m != minute {
					minute = m
					clear(answered)
				}
				busy := faultOf(effects, asked.Tag) == protocol.Busy
				switch _, flood := asked.Call.(protocol.CheckDIDs); {
				case !enemies[asked.From]:
					if busy {
						refused++
					}
				case !flood:
				case busy:
					floods++
					if first[asked.From].IsZero() {
						first[asked.From] = now
					}
					longest = max(longest, now.Sub(first[asked.From]))
				default:
					answered[asked.From]++
					most = max(most, answered[asked.From])
				}
			}
		}
	}
	flooders := kind{act: all(func(n *node.Node) actor.Participant {
		return actor.Flooder(n, floodsAMinute, begins)
	})}
	with, without := t.homesAmong(flooders, watched), t.homesAmong(absent, nil)
	return fmt.Sprintf("%d calls refused, at most %d of one answered in a minute, the last %.1f min after its first; "+
			"%d calls of others refused; homes have %s, without these hosts %s", floods, most, longest.Minutes(),
			refused, with.text(), without.text()),
		floods > 0 && most <= mostCalls && refused == 0 && longest <= floodedFor && with.unharmed(without)
}

// mostCalls is how many calls of a neighbor a node answers in a minute.
const mostCalls = 600

// faultOf is the code of the fault that a call was answered with, 0 for none.
func faultOf(effects []node.Effect, tag uint64) protocol.Code {
	for _, e := range effects {
		if r, ok := e.(node.Respond); ok && r.Tag == tag && r.Fault != nil {
			return r.Fault.Code
		}
	}
	return 0
}

const (
	// crowdShare of the nodes are attackers that nobody can dial, behind two addresses.
	crowdShare     = .5
	crowdAddresses = 2
	// homesOfHonest is the part of the others that are homes, which come when the attackers are there.
	homesOfHonest = .6
	homesComeAt   = time.Hour
	// crowdedAfter is how long after that their neighbors are counted, and keptLinks which part of those that they have
	// without attackers they must have.
	crowdedAfter = time.Hour
	keptLinks    = .9
	// freshEvery is how often an attacker comes back under another key: sooner than anybody loses a place at once.
	freshEvery = 20 * time.Minute
)

// comingBack has a host come back again and again, as soon as its program has ended, under another key each time where
// they are fresh.
func comingBack(every time.Duration, fresh bool) func(*lab.World, *lab.Host, *rand.Rand) {
	return func(w *lab.World, h *lab.Host, rng *rand.Rand) {
		var renew func()
		renew = func() {
			h.Stop()
			if fresh {
				h.NewKey()
			}
			comeBack(h)
			w.At(w.Now().Add(every), renew)
		}
		w.At(w.Now().Add(within(rng, every)), renew)
	}
}

// crowding is row 29, of attackers whom hosts host. Places are short: homes and attackers want more of them
// than there are.
func (t *trial) crowding() (string, bool) {
	honest := t.Nodes - int(crowdShare*float64(t.Nodes))
	homes := int(homesOfHonest * float64(honest))
	dialled := honest - homes
	run := func(k kind) (links float64, got Group) {
		var sum groupTotals
		counted := 0
		for n := range hostSeeds {
			c := t.with(k, crowdShare).seeded(n)
			c.Hosting = (2*homes*min(linksEnough, dialled) + dialled - 1) / dialled
			c.Bad = c.Nodes - honest
			left := homes
			home := make([]bool, c.Nodes)
			for i, is := range c.divide() {
				if is != bad && left > 0 {
					home[i], left = true, left-1
				}
			}
			c.tune(func(i int, is class, m *lab.MemberConfig) {
				switch {
				case is == bad:
					m.Behind = netip.AddrFrom4([4]byte{carrierNetwork, byte(i % crowdAddresses), 1, 9})
					m.Node.Undialled = true
				case home[i]:
					m.Behind = m.ID.Addr()
				}
			})
			g := t.play(c, func(g *gathering) {
				g.w.At(c.Start.Add(joinWithin), func() {
					for _, h := range g.homes() {
						h.Stop()
					}
				})
				g.w.At(c.Start.Add(homesComeAt), func() {
					for _, h := range g.homes() {
						comeBack(h)
					}
				})
				g.w.At(c.Start.Add(homesComeAt+crowdedAfter), func() {
					for _, h := range g.homes() {
						links, counted = links+float64(len(h.Node().Neighbors())), counted+1
					}
				})
			})
			for _, h := range g.homes() {
				sum.add(c, g.w, h)
			}
		}
		return links / float64(max(1, counted)), sum.group()
	}
	fresh := liars
	fresh.joined = comingBack(freshEvery, true)
	linksAlone, without := run(absent)
	links, with := run(liars)
	linksFresh, withFresh := run(fresh)
	return fmt.Sprintf("homes have %.1f neighbors, and %s; beside keys that are new every 20 minutes %.1f, %s; "+
			"without attackers %.1f, %s", links, with.text(), linksFresh, withFresh.text(), linksAlone, without.text()),
		min(links, linksFresh) >= keptLinks*linksAlone && with.unharmed(without) && withFresh.unharmed(without)
}

// hostAttacks are the lines of row 29.
func hostAttacks() []attack {
	return []attack{
		{29, "hosts that give nothing",
			"half of the hosts of half of the nodes claim every feed, take, and give nothing",
			"homes have >= 99.5% of, and lag <= 1.1 x, what they have without these hosts, means of 5", 2 * hostSeeds,
			withholding(liars)},
		{29, "hosts that pass nothing on", "these hosts give what they polled, and nothing that others brought them",
			"as above", 2 * hostSeeds, withholding(withholders)},
		{29, "hosts that flood", "these hosts make 1,800 calls a minute to each neighbor",
			"<= 600 of one answered in a minute, <= 26 min long; none of others refused; homes as above", 2 * hostSeeds,
			(*trial).floodingHomes},
		{29, "hosts that read", "the hosts of half of the nodes observe all that these say, and ask them for all feeds",
			"what homes follow discreetly is guessed no better than by chance; no private feed in any call", 1,
			(*trial).reading},
		{29, "hosted attackers",
			"50% behind 2 addresses want all places, also with a new key every 20 minutes, before homes come",
			"an hour later homes have >= 90% of the neighbors that they have without them, and entries as above",
			3 * hostSeeds, (*trial).crowding},
	}
}
