package experiment

import (
	"crypto/ed25519"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// A crowd is a network of honest nodes, not all of them alike, and of some that are not honest.
type crowd struct {
	network
	Nodes int
	// Alike has no honest nodes that are slow or have few feeds or links.
	Alike bool
	// Bad is how many of the nodes are dishonest, and how.
	Bad  int
	Kind kind
	// Watch, where it is not nil, sees every step of member i, which is dishonest or not.
	Watch func(i int, bad bool) watch
	// Tune, where it is not nil, has the last word on member i.
	Tune func(i int, is class, m *lab.MemberConfig)
}

// seeded is the crowd number n of several that differ by chance alone.
func (c crowd) seeded(n int) crowd {
	c.Seed += lab.Seed(n) << 32
	return c
}

// linksWithAll has a member link with as many of so many nodes as it can.
func linksWithAll(m *lab.MemberConfig, nodes int) {
	m.Node.MaxNeighbors = min(nodes-1, mostNeighbors)
	m.Node.MinNeighbors = m.Node.MaxNeighbors
}

// A watch is told of an event of a node's and of the effects that came of it, which it must not keep.
type watch = func(now time.Time, ev node.Event, effects []node.Effect)

// A kind is a way not to be honest.
type kind struct {
	name string // of those whose tables name them
	// member changes what an honest member would be; it may be nil.
	member func(w *lab.World, m *lab.MemberConfig)
	// act makes the actor.
	act acting
	// sign makes the actor in place of act, where that signs with the key of its node.
	sign func(i int, n *node.Node, key ed25519.PrivateKey) actor.Participant
	// joined is called once it runs; it may be nil.
	joined func(w *lab.World, h *lab.Host, rng *rand.Rand)
	// address is where member i is; nil for a network of its own.
	address func(i int) protocol.NodeID
}

// An acting makes of the node of member i what it is.
type acting = func(i int, n *node.Node, rng *rand.Rand) actor.Participant

// all has every member act alike.
func all(act func(n *node.Node) actor.Participant) acting {
	return func(_ int, n *node.Node, _ *rand.Rand) actor.Participant { return act(n) }
}

// A class is a part of a crowd.
type class int

const (
	ordinary class = iota
	slow           // polls half as often
	fewFeeds
	fewLinks
	bad
	classes
)

// The parts of the honest that are not ordinary, and in what they differ.
const (
	slowOneIn     = 5
	fewFeedsOneIn = 10
	fewLinksOneIn = 10
	fewerFeeds    = 4 // times
	threeLinks    = 3
)

// A gathering is the hosts of a crowd.
type gathering struct {
	w     *lab.World
	hosts []*lab.Host // by member; nil before it joined
	class []class     // by member
}

// honest are the honest hosts.
func (g *gathering) honest() (hosts []*lab.Host) {
	for i, h := range g.hosts {
		if h != nil && g.class[i] != bad {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// gather makes the world of the crowd. The feeds of an honest member, and the time when it joins, do not depend on the
// others.
func (c crowd) gather() *gathering {
	g := &gathering{w: c.world(), hosts: make([]*lab.Host, c.Nodes), class: c.divide()}
	for i := range c.Nodes {
		m, rng := c.member(g.w, i)
		c.adapt(&m, g.w, i, g.class[i])
		joinSoon(g.w, rng, m, func(h *lab.Host, rng *rand.Rand) {
			if g.hosts[i] = h; g.class[i] == bad && c.Kind.joined != nil {
				c.Kind.joined(g.w, h, rng)
			}
		})
	}
	return g
}

// divide tells what each member is.
func (c *crowd) divide() []class {
	list := make([]class, c.Nodes)
	order := c.Seed.Stream("classes").Perm(c.Nodes)
	for _, i := range order[:c.Bad] {
		list[i] = bad
	}
	if honest := order[c.Bad:]; !c.Alike {
		for _, part := range []struct {
			class class
			oneIn int
		}{{slow, slowOneIn}, {fewFeeds, fewFeedsOneIn}, {fewLinks, fewLinksOneIn}} {
			n := (c.Nodes - c.Bad) / part.oneIn
			for _, i := range honest[:n] {
				list[i] = part.class
			}
			honest = honest[n:]
		}
	}
	return list
}

// adapt makes of member number i one of its class.
func (c *crowd) adapt(m *lab.MemberConfig, w *lab.World, i int, is class) {
	base := c.node()
	m.ID, m.Node = c.address(i, is), &base
	switch is {
	case slow:
		base.Policy = polling.Fixed{Every: 2 * c.Every}
	case fewFeeds:
		m.Feeds = m.Feeds[:max(1, c.Each/fewerFeeds)]
	case fewLinks:
		base.MaxNeighbors = threeLinks
	case bad:
		if c.Kind.member != nil {
			c.Kind.member(w, m)
		}
	}
	if c.Tune != nil {
		c.Tune(i, is, m)
	}
	m.Actor = func(n *node.Node, key ed25519.PrivateKey, rng *rand.Rand) lab.Actor {
		var a actor.Participant = n
		switch {
		case is == bad && c.Kind.sign != nil:
			a = c.Kind.sign(i, n, key)
		case is == bad && c.Kind.act != nil:
			a = c.Kind.act(i, n, rng)
		}
		if c.Watch != nil {
			if see := c.Watch(i, is == bad); see != nil {
				a = actor.Watched{Participant: a, See: see}
			}
		}
		return a
	}
}

// address is where member i joins.
func (c *crowd) address(i int, is class) protocol.NodeID {
	if is == bad && c.Kind.address != nil {
		return c.Kind.address(i)
	}
	return publicAddress(i)
}

// publicAddress is the address of member i, in a network (/16) of its own.
func publicAddress(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{byte(20 + i/256), byte(i % 256), 1, 7}), protocol.DefaultPort)
}

// everything are all feeds of a world.
func everything(w *lab.World) []feed.URL {
	return each(w.Publishers(), func(p *lab.Publisher) feed.URL { return p.URL })
}

// Nodes that take without giving poll nothing: what they have is what neighbors brought.
func pollsNothing(_ *lab.World, m *lab.MemberConfig) { m.NoPolls = true }

var (
	freeRiders = kind{name: "free riders", member: pollsNothing, act: all(actor.FreeRider)}
	recutters  = kind{member: pollsNothing, act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Recutter(n, fmt.Sprint("recutter ", i))
	}}
	inventors = kind{member: pollsNothing, act: all(actor.Inventor)}
	echoers   = kind{name: "echoers", member: pollsNothing,
		act: all(func(n *node.Node) actor.Participant { return actor.Echoer(n, actor.None) })}
	// Of those with excuses each has one of its own.
	excusers = kind{member: pollsNothing, act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Echoer(n, actor.Lost+actor.Excuse(i)%(actor.Excuses-actor.Lost))
	}}
	breakers = kind{member: pollsNothing, act: all(actor.Breaker)}
	liars    = kind{name: "liars", act: all(actor.FreeRider), member: func(w *lab.World, m *lab.MemberConfig) {
		m.NoPolls, m.Feeds = true, everything(w)
	}}
	// Rejoiners leave every hour and come back under another key, on another port or at another address of their /24.
	keyRejoiners = kind{name: "rejoiners, key", member: pollsNothing, act: all(actor.FreeRider),
		joined: rejoin(func(id protocol.NodeID, count int) protocol.NodeID {
			return protocol.NewNodeID(id.Addr(), protocol.DefaultPort+uint16(count))
		})}
	addressRejoiners = kind{name: "rejoiners, address", member: pollsNothing, act: all(actor.FreeRider),
		joined: rejoin(func(id protocol.NodeID, count int) protocol.NodeID {
			a := id.Addr().As4()
			a[3] = byte(7 + count)
			return protocol.NewNodeID(netip.AddrFrom4(a), id.Port())
		})}
)

// forgers invent so many entries an hour each, from a time on.
func forgers(anHour float64, from time.Time) kind {
	return kind{act: func(i int, n *node.Node, _ *rand.Rand) actor.Participant {
		return actor.Forger(n, fmt.Sprintf("forger %d", i), anHour, from)
	}}
}

const (
	// rejoinEvery is how often a rejoiner leaves, and awayFor how long it stays away.
	rejoinEvery = time.Hour
	awayFor     = 30 * time.Second
)

// rejoin has a host leave and return under another key at another address, which next gives, hour after hour.
func rejoin(next func(id protocol.NodeID, count int) protocol.NodeID) func(*lab.World, *lab.Host, *rand.Rand) {
	return func(w *lab.World, h *lab.Host, rng *rand.Rand) {
		first, count := h.ID, 0
		var leave func()
		leave = func() {
			h.Leave()
			w.At(w.Now().Add(awayFor), func() {
				count++
				h.NewKey()
				if err := h.Move(next(first, count)); err != nil {
					panic(err) // nobody else is in that network
				}
				comeBack(h)
				w.At(w.Now().Add(rejoinEvery), leave)
			})
		}
		w.At(w.Now().Add(within(rng, rejoinEvery)), leave)
	}
}

// A CrowdRow is the outcome of one crowd.
type CrowdRow struct {
	Name    string         `json:"name"`
	Hash    string         `json:"hash"`
	Steps   int64          `json:"steps"`
	Partial bool           `json:"partial,omitempty"`
	Groups  [classes]Group `json:"groups"` // ordinary, slow, few feeds, few links, dishonest
	Honest  Group          `json:"honest"` // the first four
	// Address is what came of those behind one address, where the crowd is about them.
	Address *AddressOutcome `json:"address,omitempty"`
}

// title is how tables name the crowd.
func (r *CrowdRow) title() string {
	if r.Partial {
		return r.Name + ", interrupted"
	}
	return r.Name
}

// A Group is the nodes of one kind. Lags are the means of the nodes' means, in seconds.
type Group struct {
	Nodes    int     `json:"nodes"`
	Reading  int     `json:"reading"`  // of these, in whose feeds something came out
	Coverage float64 `json:"coverage"` // share of the entries of own feeds that came, the mean of the nodes
	Lag      float64 `json:"lag"`
	Alone    float64 `json:"sln_lag"` // of own polls
	Calls    float64 `json:"calls"`   // made, a node a minute
	Served   float64 `json:"entries"` // delivered to it, a node an hour, whatever feed they are of
}

// window is which entries count: those that came out when links were made and strangers had shown what they
// are worth, and so early that a node that polls every c.Every has polled by the end. The slow, which poll half as
// often, may lack some of the last for that reason alone.
func (c *crowd) window() (from, to time.Duration) {
	return min(c.Length/4, 12*time.Hour), c.Length - c.Every
}

// sights are how those entries came to a host that count.
func (c *crowd) sights(w *lab.World, h *lab.Host) iter.Seq[lab.Sight] {
	from, to := c.window()
	return func(yield func(lab.Sight) bool) {
		for _, s := range h.Sights(w.Now()) {
			if s.Published >= from && s.Published < to && !yield(s) {
				return
			}
		}
	}
}

// sights are how those entries came to the honest that count.
func (g *gathering) sights(c crowd) iter.Seq[lab.Sight] {
	return func(yield func(lab.Sight) bool) {
		for _, h := range g.honest() {
			for s := range c.sights(g.w, h) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// firsts are when the first of the honest had each of those entries, Never where none had it.
func (g *gathering) firsts(c crowd) map[entryIndex]time.Duration {
	first := make(map[entryIndex]time.Duration)
	for s := range g.sights(c) {
		e := entryIndex{s.Feed, s.Entry}
		if at, known := first[e]; !known || s.Any < at {
			first[e] = s.Any
		}
	}
	return first
}

// measure sums up the crowd.
func (g *gathering) measure(c crowd) CrowdRow {
	row := CrowdRow{Hash: g.w.Hash(), Steps: g.w.Steps()}
	var parts [classes]groupTotals
	var honest groupTotals
	for i, h := range g.hosts {
		parts[g.class[i]].add(c, g.w, h)
		if g.class[i] != bad {
			honest.add(c, g.w, h)
		}
	}
	for i := range parts {
		row.Groups[i] = parts[i].group()
	}
	row.Honest = honest.group()
	return row
}

// groupTotals gathers a Group node by node.
type groupTotals struct {
	nodes                                int
	coverage, lags, alone, calls, served means
}

// add takes in a host, nil for one that has not joined.
func (m *groupTotals) add(c crowd, w *lab.World, h *lab.Host) {
	if h == nil {
		return
	}
	m.nodes++
	ran := w.Now().Sub(c.Start)
	m.calls = append(m.calls, float64(h.Made.Total().Calls)/ran.Minutes())
	m.served = append(m.served, float64(h.Received[lab.PutEntries].Items)/ran.Hours())
	var came, polled arrived
	for s := range c.sights(w, h) {
		came.add(s.Published, s.Any)
		polled.add(s.Published, s.Own)
	}
	m.coverage.add(float64(came.count), came.of)
	m.lags.add(came.late, came.count)
	m.alone.add(polled.late, polled.count)
}

// arrived is how entries came.
type arrived struct {
	of, count int     // entries, and those of them that came
	late      float64 // the sum of how late these were, in seconds
}

// add takes in an entry that came at a time, or never.
func (a *arrived) add(published, at time.Duration) {
	if a.of++; at != lab.Never {
		a.count++
		a.late += (at - published).Seconds()
	}
}

// mean is how late those were that came.
func (a arrived) mean() float64 { return a.late / float64(max(1, a.count)) }

func (m *groupTotals) group() Group {
	return Group{
		Nodes: m.nodes, Reading: len(m.coverage), Coverage: report.Mean(m.coverage), Lag: report.Mean(m.lags),
		Alone: report.Mean(m.alone), Calls: report.Mean(m.calls), Served: report.Mean(m.served),
	}
}
