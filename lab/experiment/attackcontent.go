package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// arrivals has f called for each entry that a neighbor, or an own poll, brings a member.
func arrivals(f func(i int, isBad bool, source protocol.NodeID, e *feed.Entry)) func(i int, isBad bool) watch {
	return told(func(i int, isBad bool, note node.Note) {
		if a, ok := note.(node.Arrived); ok {
			for r := range a.Records {
				f(i, isBad, a.Source, &a.Records[r].Entry)
			}
		}
	})
}

// forging is row 4.
func (t *trial) forging() (string, bool) {
	c := t.with(forgers(1, t.Start), .1)
	c.Length *= longestAttack // while he is new to everyone an invention gets everywhere; the question is for how long
	forged, junk := 0, 0
	c.Watch = arrivals(func(_ int, isBad bool, source protocol.NodeID, e *feed.Entry) {
		switch {
		case !actor.Forged(e):
		case !isBad:
			junk++
		case source.IsZero():
			forged++
		}
	})
	row := t.measured(c)
	share := float64(junk) / math.Max(1, float64(forged*(c.Nodes-c.Bad)))
	return fmt.Sprintf("%d forged, %d deliveries to %d honest: %s; coverage %s", forged, junk, c.Nodes-c.Bad,
			report.Percent(share), report.Percent(row.Honest.Coverage)),
		share <= .2 && forged > 0
}

// altering is row 5. A text that comes first by way of its forger cannot be told from a true one: it must not be taken
// for confirmed, and give way to what an own poll shows.
func (t *trial) altering() (string, bool) {
	c := t.crowd
	c.Bad = max(1, c.Nodes/10)
	c.Kind = kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Alterer(n, fmt.Sprint(i))
	}}
	came, first := 0, 0
	type entry struct {
		member int
		id     feed.EntryID
	}
	asItIs, polled := make(map[entry]bool), make(map[entry]bool) // came as it is; shown by an own poll
	arrived := arrivals(func(i int, isBad bool, _ protocol.NodeID, e *feed.Entry) {
		switch {
		case isBad:
		case actor.Altered(e):
			came, first = came+1, first+1
		default:
			came++
			asItIs[entry{i, e.EntryID()}] = true
		}
	})
	c.Watch = func(i int, isBad bool) func(time.Time, node.Event, []node.Effect) {
		see := arrived(i, isBad)
		return func(now time.Time, ev node.Event, effects []node.Effect) {
			if f, ok := ev.(node.Fetched); ok && f.Document != nil && !isBad {
				for j := range f.Document.Entries {
					polled[entry{i, f.Document.Entries[j].EntryID()}] = true
				}
			}
			see(now, ev, effects)
		}
	}
	g := t.play(c, nil)
	replaced, confirmed, stays, own := 0, 0, 0, 0
	for i, h := range g.hosts {
		if g.class[i] == bad || h == nil {
			continue
		}
		records, err := h.Archive().Search(context.Background(), feed.Filter{Limit: math.MaxInt32})
		if err != nil {
			panic(err) // it is in memory
		}
		for _, r := range records {
			if !actor.Altered(&r.Entry) {
				continue
			}
			stays++
			if asItIs[entry{i, r.ID}] {
				replaced++
			}
			if polled[entry{i, r.ID}] {
				own++
			}
			if r.Confirmed {
				confirmed++
			}
		}
	}
	return fmt.Sprintf("%d of %d came altered first; %d replaced what was known, %d were taken for confirmed, %d "+
		"remain, %d of them polled",
		first, came, replaced, confirmed, stays, own), replaced == 0 && confirmed == 0 && own == 0 && first > 0
}

// replaying is row 22. Feeds that nodes have polled they know; of others they may be told for the first time.
func (t *trial) replaying() (string, bool) {
	c := t.crowd
	c.Bad = max(1, c.Nodes/10)
	c.Kind = kind{act: all(actor.Replayer)}
	enemies := c.enemies()
	again, offers, credit := 0, 0, 0.0
	c.Watch = func(i int, isBad bool) func(time.Time, node.Event, []node.Effect) {
		if isBad {
			return nil
		}
		polled := make(map[feed.URL]bool)
		return func(_ time.Time, ev node.Event, effects []node.Effect) {
			if f, ok := ev.(node.Fetched); ok && f.Document != nil {
				polled[f.Feed] = true
			}
			asked, _ := ev.(node.Asked)
			if _, ok := asked.Call.(protocol.CheckDID); ok && enemies[asked.From] {
				offers++
			}
			for _, note := range notes(effects) {
				if a, ok := note.(node.Arrived); ok && enemies[a.Source] && polled[a.Feed] {
					again += len(a.Records)
				}
			}
		}
	}
	t.play(c, func(g *gathering) {
		g.look(c, func(_ *lab.Host, s node.NeighborStatus) { credit = max(credit, s.Got) })
	})
	return fmt.Sprintf("%d offers; %.1f entries of credit, %d arrived again", offers, credit, again), offers > 0 &&
		credit == 0 && again == 0
}

// flooding is row 23. For two days the node is honest, so that others know how much its feeds publish.
func (t *trial) flooding() (string, bool) {
	const honest = 48 * time.Hour
	c := t.crowd
	begins := c.Start.Add(honest)
	c.Nodes, c.Bad, c.Kind = max(10, c.Nodes/2), 1, forgers(1000, begins)
	// The run begins at midnight and floods for no more than a day.
	c.Length = honest + min(c.Length, 20*time.Hour)
	follows := make([][]feed.URL, c.Nodes)
	var floods []feed.URL
	c.Tune = func(i int, is class, m *lab.MemberConfig) {
		if follows[i] = m.Feeds; is == bad {
			floods = m.Feeds
		}
	}
	rate := make(map[feed.URL]float64) // a day
	for i, u := range c.urls() {
		rate[u] = float64(c.Feeds[i].Count(c.Start, begins)) / honest.Hours() * 24
	}
	// mark is the credit that node i may book: an entry of a feed that it does not follow is worth half of one that it
	// does, or less.
	mark := func(i int) (most float64) {
		for _, u := range floods {
			if room := 2*rate[u] + 5; slices.Contains(follows[i], u) {
				most += room
			} else {
				most += room / 2
			}
		}
		return most
	}
	run := func(r *incentive.Rules) (credit, share float64) {
		c.Rules = r
		before := make(map[*lab.Host]float64)
		t.play(c, func(g *gathering) {
			g.look(c, func(h *lab.Host, s node.NeighborStatus) {
				if !g.w.Now().After(begins) {
					before[h] = s.Got
					return
				}
				got := s.Got - before[h]
				credit, share = max(credit, got), max(share, got/mark(slices.Index(g.hosts, h)))
			})
		})
		return credit, share
	}
	with, share := run(nil)
	without, _ := run(noDailyCap)
	return fmt.Sprintf("%.0f entries of credit at most, %s of the mark at most; without the cap %.0f", with,
		report.Percent(share), without), share <= 1 && with < without
}

// breaking is row 7.
func (t *trial) breaking() (string, bool) {
	c := t.with(breakers, .25)
	before := c
	before.Kind = kind{member: pollsNothing} // a node that polls nothing, and is honest otherwise
	reachedBefore, p99Before := t.play(before, nil).spreads(before)
	reached, p99 := t.play(c, nil).spreads(c)
	return fmt.Sprintf("%s reached, p99 %.1f s; with honest nodes in their place %s, %.1f s",
			report.FinePercent(reached), p99.Seconds(), report.FinePercent(reachedBefore), p99Before.Seconds()),
		reached > 0 && reached >= reachedBefore-.001 && p99 < 5*time.Second
}

// spreads tells how what one honest node had came to the others that follow the feed: how many of them it
// reached, and how long that took 99 of 100.
func (g *gathering) spreads(c crowd) (reached float64, p99 time.Duration) {
	first := g.firsts(c)
	var took []time.Duration
	all := 0
	for s := range g.sights(c) {
		at := first[entryIndex{s.Feed, s.Entry}]
		if at == lab.Never || s.Any == at { // nobody had it, or nobody before
			continue
		}
		all++
		if s.Any != lab.Never {
			took = append(took, s.Any-at)
		}
	}
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
	c.Tune = func(i int, _ class, m *lab.MemberConfig) { m.NoPolls = m.NoPolls || i == victim }
	c.Bound = -1 // a node that polls nothing would owe
	of := func(k kind) Group {
		c.Kind = k
		var m groupTotals
		g := t.play(c, nil)
		m.add(c, g.w, g.hosts[victim])
		return m.group()
	}
	before := of(kind{})
	after := of(kind{act: all(func(n *node.Node) actor.Participant {
		return actor.Tamperer(n, publicAddress(victim))
	})})
	return fmt.Sprintf("it gets %s, %s min; before %s, %s min", report.Percent(after.Coverage),
			report.Minutes(after.Lag), report.Percent(before.Coverage), report.Minutes(before.Lag)),
		after.Coverage >= before.Coverage-.001 && after.Lag < 2*before.Lag
}
