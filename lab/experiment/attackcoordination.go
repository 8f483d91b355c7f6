package experiment

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Rows 28 and 31 have nodes lie about who polls which feed when, so that others poll at the wrong time. Liars do all
// else that honest nodes do, polls among it: nothing but their lies tells the network apart from the same one in which
// everybody polls at moments of its own, with which each is compared.

const (
	// coordinationSeeds is how many networks of each kind are compared with as many where nobody has notices.
	coordinationSeeds = 3
	// coordinationEvery is between polls of the nodes, each of which follows coordinationEach feeds, so that a feed has
	// a dozen followers; coordinationLength is how long they run.
	coordinationEvery  = time.Hour
	coordinationEach   = 10
	coordinationLength = 12 * time.Hour
	// mostRatio is how late entries may come, and mostRatioOfQuarter where a quarter of the nodes lie, against the same
	// nodes without notices; mostRequests how often publishers are asked.
	mostRatio          = 1.05
	mostRatioOfQuarter = .75
	mostRequests       = 1.02
)

// A pretense is one way to disturb those who poll in turns.
type pretense struct {
	name, done string
	share      float64              // of the nodes
	kind       func(c *crowd) kind  // what they are; honest nodes where it is nil
	tune       func(c *crowd) tuner // what else is odd about members, liars or not; it may be nil
}

// A tuner has the last word on a member, as crowd.Tune has.
type tuner = func(i int, is class, m *lab.MemberConfig)

// mark is how late entries may come.
func (p *pretense) mark() float64 {
	if p.share <= .25 && p.tune == nil {
		return mostRatioOfQuarter
	}
	return mostRatio
}

// pretending is the kind of nodes that say each minute that they polled, and that others did, so many of them as there
// are honest nodes, that many times.
func pretending(onOff time.Duration, times int) func(c *crowd) kind {
	return func(c *crowd) kind {
		each := c.namesEach(times)
		return kind{sign: func(i int, n *node.Node, key ed25519.PrivateKey) actor.Participant {
			return actor.Pretender(n, key, c.named(inventedNodes(i, each)), 0, onOff)
		}}
	}
}

// namesEach is how many others each liar names who together name so many times as many as are honest.
func (c *crowd) namesEach(times int) int {
	liars := max(1, c.Bad)
	return (times*(c.Nodes-c.Bad) + liars - 1) / liars
}

// impersonating is the kind of nodes that say each minute that they polled, and somebody at the address of one of the
// honest, for whom all of them sign; that brought so many new entries, or was refused where found is protocol.Refused.
func impersonating(found int, onOff time.Duration) func(c *crowd) kind {
	return func(c *crowd) kind {
		honest := c.named(c.honestAddresses())
		return kind{sign: func(_ int, n *node.Node, key ed25519.PrivateKey) actor.Participant {
			return actor.Pretender(n, key, honest, found, onOff)
		}}
	}
}

// named are names at those addresses, with keys that all liars share.
func (c *crowd) named(ids []protocol.NodeID) (names []actor.Name) {
	for _, id := range ids {
		key := ed25519.NewKeyFromSeed(c.Seed.Secret("liars' key of " + id.String()))
		names = append(names, actor.Name{ID: id, Key: key})
	}
	return names
}

// inventedNodes are addresses that only member i names, each in a network of its own.
func inventedNodes(i, count int) (ids []protocol.NodeID) {
	for k := range count {
		addr := netip.AddrFrom4([4]byte{byte(60 + i), byte(k), 1, 1})
		ids = append(ids, protocol.NewNodeID(addr, protocol.DefaultPort))
	}
	return ids
}

// misdating is the kind of nodes that tell of polls of those ages, one after the other.
func misdating(ages ...time.Duration) func(c *crowd) kind {
	return func(*crowd) kind {
		return kind{sign: func(_ int, n *node.Node, key ed25519.PrivateKey) actor.Participant {
			return actor.Misdater(n, key, ages)
		}}
	}
}

// repeating is the kind of nodes that tell again what they heard.
func repeating(*crowd) kind {
	return kind{act: all(func(n *node.Node) actor.Participant { return actor.Repeater(n, coordinationEvery/4) })}
}

// shadowing is the kind of nodes that say of each poll of which they hear that they polled right after it, and that
// others did, that many times as many as are honest.
func shadowing(times int) func(c *crowd) kind {
	return func(c *crowd) kind {
		liars, each := make(map[protocol.NodeID]bool), c.namesEach(times)
		for _, id := range c.badAddresses() {
			liars[id] = true
		}
		for i := range c.Nodes {
			for _, id := range inventedNodes(i, each) {
				liars[id] = true
			}
		}
		return kind{sign: func(i int, n *node.Node, key ed25519.PrivateKey) actor.Participant {
			return actor.Shadow(n, key, c.named(inventedNodes(i, each)), liars)
		}}
	}
}

// surrounded has the honest know liars alone, but for so many honest nodes each, which are no more than the places that
// they have.
func surrounded(honest int) func(c *crowd) tuner {
	return func(c *crowd) tuner {
		friends := c.honestAddresses()
		liars := each(c.badAddresses(), protocol.NodeID.String)
		return func(i int, is class, m *lab.MemberConfig) {
			const places = 8
			rng := c.Seed.Stream(fmt.Sprintf("surrounded %d", i))
			m.Node.Trackers = []string{}
			if is == bad {
				m.Node.MaxNeighbors, m.Node.MinNeighbors = mostNeighbors, 1
				m.Node.Peers = liars
				return
			}
			m.Node.MaxNeighbors, m.Node.MinNeighbors = places, places
			for _, k := range rng.Perm(len(liars))[:min(len(liars), places-honest)] {
				m.Node.Peers = append(m.Node.Peers, liars[k])
			}
			if honest > 0 { // in pairs, who name each other
				own := slices.Index(friends, c.address(i, is))
				if pair := own ^ 1; pair < len(friends) {
					m.Node.Peers = append(m.Node.Peers, friends[pair].String())
				}
			}
		}
	}
}

const half = coordinationEvery / 2

// pretenses are those of row 28.
func pretenses() []pretense {
	always, onOff := pretending(0, 0), pretending(half, 1)
	few, many := pretending(0, 3), pretending(0, 10)
	future := misdating(-time.Minute, -coordinationEvery/4, 25*time.Hour)
	dated := misdating(0, coordinationEvery/8, coordinationEvery/5, coordinationEvery/4-time.Minute)
	return []pretense{
		{"nobody lies", "all nodes are honest", 0, nil, nil},
		{"flood, 10%", "10% say each minute that they polled all feeds", .1, always, nil},
		{"flood, 25%", "25% say so", .25, always, nil},
		{"flood, 50%", "50% say so", .5, always, nil},
		{"herding, 25%", "25% say so, and that as many others polled as are honest, every other half interval",
			.25, onOff, nil},
		{"Sybils x 3, 25%", "25% name three times as many others as are honest, who polled", .25, few, nil},
		{"Sybils x 10, 25%", "25% name ten times as many", .25, many, nil},
		{"silent members, 50%", "50% neither poll nor tell, and take", .5,
			func(*crowd) kind { return freeRiders }, nil},
		{"repeating, 25%", "25% tell again a quarter of an hour later what they heard", .25, repeating, nil},
		{"future and ancient, 25%", "25% tell of polls to come, and of those of more than a day ago", .25, future, nil},
		{"wrong ages, 25%", "25% tell of polls that there were not, up to a quarter of the interval ago", .25, dated,
			nil},
		{"shadows, 25%", "25% tell right after each poll of which they hear that they polled, and three times as " +
			"many others as are honest", .25, shadowing(3), nil},
		{"all neighbors lie", "50% say each minute that they polled, and as many others as are honest; nobody else " +
			"is known to the honest", .5, pretending(0, 1), surrounded(0)},
		{"all neighbors but one lie", "the same, and each of the honest knows one other", .5, pretending(0, 1),
			surrounded(1)},
	}
}

// concerted are those of row 31: who lies is alike, and so is what is said, minute by minute.
func concerted() (list []pretense) {
	for _, share := range []float64{.1, .25, .5} {
		each := func(name, done string, kind func(c *crowd) kind) {
			of := fmt.Sprintf("%g%%", 100*share)
			list = append(list, pretense{name + ", " + of, of + " " + done, share, kind, nil})
		}
		each("refusals", "say each minute that all feeds refused them, and in turn keys at honest addresses",
			impersonating(protocol.Refused, 0))
		each("refusals in concert", "say so every other half interval", impersonating(protocol.Refused, half))
		each("impersonators", "say each minute that they polled all feeds, and in turn keys at honest addresses",
			impersonating(0, 0))
		if share != .25 {
			each("herding", "say that they polled, and as many others as are honest, every other half interval",
				pretending(half, 1))
		}
		if share != .5 {
			each("silent members", "neither poll nor tell, and take", func(*crowd) kind { return freeRiders })
		}
	}
	return list
}

// coordinationAttacks are the lines of a row of such lies.
func coordinationAttacks(row int, lies []pretense) (list []attack) {
	for _, p := range lies {
		list = append(list, attack{row, p.name, p.done,
			fmt.Sprintf("honest lag <= %g x, requests <= %g x, those without notices, means of %d", p.mark(),
				mostRequests, coordinationSeeds),
			2 * coordinationSeeds, p.try})
	}
	return list
}

// try measures a pretense.
func (p pretense) try(t *trial) (string, bool) {
	var x compared
	for n := range coordinationSeeds {
		c := t.crowd.seeded(n)
		c.Every, c.Each, c.NoEncoding = coordinationEvery, coordinationEach, true
		c.Length = min(coordinationLength, c.Length)
		c.Bad = int(p.share*float64(c.Nodes) + .5)
		if p.kind != nil {
			c.Kind = p.kind(&c)
		}
		if p.tune != nil {
			c.Tune = p.tune(&c)
		}
		lag, polls := t.honestly(c)
		c.Alone, c.Kind.act, c.Kind.sign = true, nil, nil
		if c.Kind.member != nil {
			c.Kind = freeRiders
		}
		lagAlone, pollsAlone := t.honestly(c)
		x.add(lag, lagAlone, polls/pollsAlone)
	}
	asked := report.Mean(x.others)
	return fmt.Sprintf("%s; requests %.3f x", x, asked), report.Mean(x.ratios) <= p.mark() && asked <= mostRequests
}

// compared is how late entries came in some networks, each against the same one without notices, and another ratio.
type compared struct{ lags, lagsAlone, ratios, others []float64 }

func (x *compared) add(lag, lagAlone, other float64) {
	x.lags, x.lagsAlone = append(x.lags, lag), append(x.lagsAlone, lagAlone)
	x.ratios, x.others = append(x.ratios, lag/lagAlone), append(x.others, other)
}

func (x compared) String() string {
	return fmt.Sprintf("%.2f x (%.2f to %.2f), %s against %s min", report.Mean(x.ratios), slices.Min(x.ratios),
		slices.Max(x.ratios), report.Minutes(report.Mean(x.lags)), report.Minutes(report.Mean(x.lagsAlone)))
}

// honestly runs a crowd, and returns how late entries came to the honest and how often these asked publishers in the
// time in which they count. First polls, of which some are waived, are over by then.
func (t *trial) honestly(c crowd) (lag, requests float64) {
	before := 0.0
	count := func(g *gathering) (sum float64) {
		for _, h := range g.honest() {
			sum += float64(h.Polls.Requests)
		}
		return sum
	}
	from, _ := c.window()
	g := t.play(c, func(g *gathering) { g.w.At(c.Start.Add(from), func() { before = count(g) }) })
	return g.measure(c).Honest.Lag, count(g) - before
}
