package experiment

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Row 30 is about keys: what somebody gets by the name of another, and what he gets by thousands of names.

const (
	// impostorShare of the nodes go by the name of a node at home each, of the first victims of them.
	impostorShare, victims = .2, 4
	// keyShare of the nodes are one machine behind one address, each of which has another key every keyLife: within 16
	// hours ten nodes have 10,000.
	keyShare, keyLife = .25, 57 * time.Second
)

// impersonating is the first line of row 30. Half of the nodes are at home, and known on paths by their keys. A node
// that is believed to forge loses its links and its standing, and what it polled comes later.
func (t *trial) impersonating() (string, bool) {
	lost, junk, lowest := 0, 0, 100
	run := func(impostors bool) (atOnce float64, got Group) {
		var sum groupTotals
		var shares []float64
		for n := range hostSeeds {
			c := t.with(kind{}, impostorShare).seeded(n)
			var g *gathering
			var victim []*lab.Host
			if impostors {
				turn := 0
				c.Kind = kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
					mine := turn % victims
					turn++
					return actor.Impostor(n, fmt.Sprintf("impostor %d", i), 1, c.Start.Add(c.Length/4),
						func() (k protocol.NodeKey) {
							if mine < len(victim) {
								k = victim[mine].Node().Status().Key
							}
							return k
						})
				}}
			}
			c.withHomes()
			enemies := c.enemies()
			isVictim := func(id protocol.NodeID) bool {
				return slices.ContainsFunc(victim, func(h *lab.Host) bool { return h.ID == id })
			}
			c.Watch = func(_ int, isBad bool) watch {
				if isBad {
					return nil
				}
				return func(_ time.Time, ev node.Event, effects []node.Effect) {
					for _, note := range notes(effects) {
						if peer, ok := dismissed(note); ok && isVictim(peer) {
							lost++
						}
					}
					if asked, ok := ev.(node.Asked); ok && enemies[asked.From] {
						ids, _ := liesOf(asked.Call)
						junk += len(ids)
					}
				}
			}
			t.play(c, func(made *gathering) {
				g = made
				g.w.At(c.Start.Add(joinWithin), func() {
					homes := g.homes()
					victim = homes[:min(victims, len(homes))]
				})
			})
			for _, h := range g.honest() {
				for _, s := range h.Node().Neighbors() {
					if isVictim(s.ID) {
						lowest = min(lowest, s.Standing)
					}
				}
			}
			for _, h := range victim {
				sum.add(c, g.w, h)
			}
			shares = append(shares, g.atOnceFrom(c, victim))
		}
		return report.Mean(shares), sum.group()
	}
	soonAlone, without := run(false)
	soon, with := run(true)
	return fmt.Sprintf("%d inventions in their names; %d links ended, standing %d at least; they have %s, and what "+
			"they poll %s of the others at once; else %s, %s", junk, lost, lowest, with.text(), report.Percent(soon),
			without.text(), report.Percent(soonAlone)),
		junk > 0 && lost == 0 && lowest == 100 && with.unharmed(without) && soon >= .98*soonAlone
}

// atOnceFrom is the share of the entries that some hosts had first that the other honest have within a minute of them.
func (g *gathering) atOnceFrom(c crowd, from []*lab.Host) float64 {
	first, by := g.firsts(c), make(map[entryIndex]bool)
	for _, h := range from {
		for s := range c.sights(g.w, h) {
			if e := (entryIndex{s.Feed, s.Entry}); s.Any == first[e] && s.Any != lab.Never {
				by[e] = true
			}
		}
	}
	var soon Fraction
	for s := range g.sights(c) {
		if e := (entryIndex{s.Feed, s.Entry}); by[e] && s.Any != first[e] {
			soon.count(s.Any-first[e] <= time.Minute)
		}
	}
	return soon.of()
}

// thousandsOfKeys is the second line: a machine that nobody can dial takes, at some places at a time, under another key
// every few minutes.
func (t *trial) thousandsOfKeys() (string, bool) {
	router := oneAddress
	c := t.with(liars, keyShare)
	keys := 0
	run := func(k kind) (most incentive.Credit, accounts int, links float64, got Group) {
		c := c
		c.Kind = k
		c.tune(func(_ int, is class, m *lab.MemberConfig) {
			if is == bad {
				m.Behind, m.Node.Undialled = router, true
			}
		})
		c.withHomes()
		g := t.play(c, nil)
		var sum groupTotals
		count := 0
		for _, h := range g.honest() {
			if h.Unreachable() {
				sum.add(c, g.w, h)
				links, count = links+float64(len(h.Node().Neighbors())), count+1
			}
			taken, theirs := accountsAt(h, router)
			most, accounts = max(most, taken), max(accounts, theirs)
		}
		return most, accounts, links / float64(max(1, count)), sum.group()
	}
	_, _, linksAlone, without := run(absent)
	many := liars
	many.joined = comingBack(keyLife, true)
	many.act = func(i int, n *node.Node, rng *rand.Rand) actor.Participant {
		keys++
		return liars.act(i, n, rng)
	}
	most, accounts, links, with := run(many)
	return fmt.Sprintf("%d keys got %.1f entries of one node at most, which kept %d account of them; homes have %.1f "+
			"neighbors, and %s; without them %.1f, %s", keys, most.Entries(), accounts, links, with.text(), linksAlone,
			without.text()),
		keys > 100*c.Bad && most <= incentive.Entry && accounts <= 1 && links >= keptLinks*linksAlone &&
			with.unharmed(without)
}

// accountsAt tells how much more those at an address took of a host than they gave, and how many accounts it keeps of
// them.
func accountsAt(h *lab.Host, address netip.Addr) (taken incentive.Credit, accounts int) {
	for _, kept := range h.Archive().LoadAccounts() {
		var a incentive.Account
		if err := json.Unmarshal(kept.Text, &a); err != nil {
			panic(err) // a node wrote it
		}
		if strings.Contains(kept.Holder, address.String()) || a.At.Addr() == address {
			taken += a.Given - a.Got
			accounts++
		}
	}
	return taken, accounts
}

// keyAttacks are the lines of row 30.
func keyAttacks() []attack {
	return []attack{
		{30, "stolen names", "20% forge in the names of nodes at home, and ask for links by their keys",
			"their standing is whole, no link ends, they have, and are heard as, what they else would to 2%, " +
				"means of 5",
			2 * hostSeeds, (*trial).impersonating},
		{30, "10,000 keys", "a machine behind one address takes under 10,000 keys, one after the other",
			"<= 1 entry of each node, which keeps one account; homes keep 90% of their neighbors, and entries as " +
				"above",
			4, (*trial).thousandsOfKeys},
	}
}
