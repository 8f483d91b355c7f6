package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// chanceErrors is by how many standard errors a sign of what is followed may be off chance. Some 20 signs are looked
// at.
const chanceErrors = 3.5

// observing is row 24, of discreet feeds. Each node follows some feeds openly, and of each of the others a coin says
// whether it does so discreetly. Nodes are observed in all that they say, over one link, over all of their links,
// and as they speak while they have no neighbor; they restart in between, and some neighbors ask them for entries.
// Each way of counting is a guess at how the coins fell, right in half of the cases where there is nothing to see.
func (t *trial) observing() (string, bool) { return t.observed(false) }

// reading is row 29, of hosts that read what those that they host say: the same of the homes among the nodes, which
// follow a private feed besides, of which hosts hear nothing at all.
func (t *trial) reading() (string, bool) { return t.observed(true) }

// observed observes all nodes, or half of them at home.
func (t *trial) observed(atHome bool) (string, bool) {
	c := t.crowd
	asked := t.urls()
	urls, private := asked, feed.URL("")
	if atHome {
		private, urls = asked[0], asked[1:]
	}
	leaks := leak{url: []byte(private)}
	quiet, open := make(map[interestOf]bool), make(map[interestOf]bool)
	c.tune(func(i int, _ class, m *lab.MemberConfig) {
		rng := c.Seed.Stream(fmt.Sprintf("discreet feeds of %d", i))
		m.Feeds = slices.DeleteFunc(m.Feeds, func(u feed.URL) bool { return u == private })[:c.Each/2]
		for _, u := range urls {
			heads := rng.IntN(2) == 0
			switch {
			case slices.Contains(m.Feeds, u):
				open[interestOf{m.ID, u}] = true
			case heads:
				m.Discreet = append(m.Discreet, u)
				quiet[interestOf{m.ID, u}] = true
			}
		}
		if atHome {
			m.Feeds, m.Node.PrivateHosts = append(m.Feeds, private), []string{private.Host()}
		}
	})
	c.Bad = max(1, c.Nodes/10)
	c.Kind = kind{act: all(func(n *node.Node) actor.Participant {
		return actor.Asker(n, asked, 2*time.Minute, c.Start)
	})}
	seen := slices.Repeat([]bool{true}, c.Nodes)
	if atHome {
		seen = c.homes()
		c.withHomes()
	}
	var g *gathering
	o := newObserver()
	c.Watch = func(i int, _ bool) watch {
		me := c.address(i, c.divide()[i])
		observe := o.watch(me, func() bool { return g.hosts[i] == nil || g.hosts[i].Links() == 0 })
		return func(now time.Time, ev node.Event, effects []node.Effect) {
			observe(now, ev, effects)
			if atHome && seen[i] {
				leaks.look(me, effects)
			}
		}
	}
	t.play(c, func(made *gathering) {
		g = made
		for i := range g.hosts {
			at := c.Start.Add(c.Length/2 + time.Duration(i)*time.Minute)
			g.w.At(at, func() { g.hosts[i].Stop() })
			g.w.At(at.Add(10*time.Minute), func() { comeBack(g.hosts[i]) })
		}
	})
	var pairs, rest []interestOf
	for i := range g.hosts {
		for _, u := range urls {
			switch in := (interestOf{c.address(i, g.class[i]), u}); {
			case !seen[i]:
			case open[in]:
				rest = append(rest, in)
			default:
				pairs = append(pairs, in)
			}
		}
	}
	measured, pass := o.guess(pairs, rest, quiet, open)
	if atHome {
		measured += fmt.Sprintf("; %d of %d calls name the private feed", leaks.found, leaks.calls)
		pass = pass && leaks.calls > 0 && leaks.found == 0
	}
	return measured, pass
}

// guess says how often the observer is right about what is followed discreetly, of pairs, and what openly, of these and
// the rest.
func (o *observer) guess(pairs, rest []interestOf, quiet, open map[interestOf]bool) (measured string, pass bool) {
	one, all := o.oneLink(), o.allLinks()
	pass = slices.ContainsFunc(pairs, func(in interestOf) bool { return quiet[in] }) &&
		slices.ContainsFunc(pairs, func(in interestOf) bool { return !quiet[in] })
	var most []float64
	var chance float64
	for _, seen := range []signs{one, all, o.before} {
		var best float64
		best, chance = guess(seen, pairs, quiet)
		pass = pass && best <= chance
		most = append(most, best)
	}
	// An observer who cannot tell what is followed openly would not have been one.
	openly, _ := guess(all, append(rest, pairs...), open)
	return fmt.Sprintf("right by one link %s, all links %s, before any %s; chance is up to %s; of open feeds %s",
		report.Percent(most[0]), report.Percent(most[1]), report.Percent(most[2]), report.Percent(chance),
		report.Percent(openly)), pass && openly > .95
}

// guess is how often the best sign, more of it or less, is right about which node follows what, and how often it may be
// by chance.
func guess(seen signs, pairs []interestOf, follows map[interestOf]bool) (best, chance float64) {
	for s := range signCount {
		var is, not []float64
		for _, in := range pairs {
			if follows[in] {
				is = append(is, seen[shown{in, s}])
			} else {
				not = append(not, seen[shown{in, s}])
			}
		}
		right := rightGuesses(is, not)
		best, chance = max(best, right, 1-right), .5+chanceErrors*guessError(len(is), len(not))
	}
	return best, chance
}

// An interestOf is a node and a feed that it may follow.
type interestOf struct {
	node protocol.NodeID
	feed feed.URL
}

// A sign is something that a node does about a feed, or says of it, and that can be counted.
type sign int

const (
	hop0      sign = iota // advertised at hop count 0
	hop1                  // at 1
	further               // beyond
	withdrawn             // taken back
	offers                // of bundles
	unheard               // those that the node that is offered them had not told it of
	first                 // those that nobody had
	delivered             // bundles that it made itself, by their paths
	seen                  // offers that it had seen
	unseen                // and that it had not
	found                 // entries in answers to queries
	refused               // calls
	signCount
)

// A shown is a sign of what a node may follow.
type shown struct {
	interestOf
	sign sign
}

// signs is how often each was seen.
type signs map[shown]float64

// An overheard is a sign that one node had of another.
type overheard struct {
	by protocol.NodeID
	shown
}

// An utterance is what one node told another, or somebody told a node where by is zero.
type utterance struct {
	pair
	did protocol.DID
}

// An observer takes down what nodes say of feeds.
type observer struct {
	links  map[overheard]float64
	before signs // while nodes had no neighbor
	told   map[utterance]bool
	feeds  map[protocol.DID]feed.URL
}

func newObserver() *observer {
	return &observer{links: make(map[overheard]float64), before: make(signs), told: make(map[utterance]bool),
		feeds: make(map[protocol.DID]feed.URL)}
}

// watch sees all steps of one node.
func (o *observer) watch(me protocol.NodeID, alone func() bool) watch {
	open := make(map[uint64]node.Call)
	return func(_ time.Time, ev node.Event, effects []node.Effect) {
		switch ev := ev.(type) {
		case node.Asked:
			o.asked(pair{me, atAddress(ev.From)}, ev.Call)
		case node.Answered:
			if c, ok := open[ev.ID]; ok {
				o.answered(pair{me, atAddress(ev.Peer)}, c.Call, ev)
				delete(open, ev.ID)
			}
		}
		for _, e := range effects {
			switch e := e.(type) {
			case node.Call:
				open[e.ID] = e
				o.tells(pair{me, atAddress(e.To.Node)}, e.Call)
				if c, ok := e.Call.(protocol.Connect); ok && alone() {
					o.alone(me, c.Subset)
				}
			case node.Respond:
				if s, ok := e.Reply.(protocol.Subset); ok && alone() {
					o.alone(me, s)
				}
			}
		}
	}
}

// atAddress is the node itself, or what a node at home would be if it could be dialled: each has an address of its own.
func atAddress(id protocol.NodeID) protocol.NodeID {
	if id.Hosted() {
		return protocol.NewNodeID(id.Addr(), protocol.DefaultPort)
	}
	return id
}

// add counts a sign of a feed on a link.
func (o *observer) add(p pair, u feed.URL, s sign, n int) {
	o.links[overheard{p.by, shown{interestOf{p.of, u}, s}}] += float64(n)
}

// hops is the sign that an advert at a hop count is.
func hops(n int) sign {
	switch {
	case n < 0:
		return withdrawn
	case n > 1:
		return further
	}
	return hop0 + sign(n)
}

// alone takes down what a node without neighbors advertises.
func (o *observer) alone(of protocol.NodeID, set protocol.Subset) {
	for _, in := range set {
		o.before[shown{interestOf{of, in.Feed}, hops(in.Hops)}]++
	}
}

// asked takes down a call of a node's.
func (o *observer) asked(p pair, call protocol.Call) {
	switch call := call.(type) {
	case protocol.Connect:
		o.advertised(p, call.Subset)
	case protocol.UpdateSubset:
		o.advertised(p, call.Changes)
	case protocol.PutEntries:
		if len(call.Bundle.Path) == 0 {
			o.add(p, call.Bundle.Feed, delivered, 1)
		}
	}
	o.learn(call)
	for _, did := range actor.Offered(call) {
		o.offered(p, did)
	}
}

// learn notes which feed a bundle is of, where a call says it.
func (o *observer) learn(call protocol.Call) {
	switch call := call.(type) {
	case protocol.CheckDID:
		o.feeds[call.DID] = call.Feed
	case protocol.PutEntries:
		o.feeds[call.Bundle.DID] = call.Bundle.Feed
	}
}

// advertised takes down a set, whole or how it changed.
func (o *observer) advertised(p pair, s protocol.Subset) {
	for _, in := range s {
		o.add(p, in.Feed, hops(in.Hops), 1)
	}
}

// offered takes down an offer, and whether it is the node's own discovery, as far as can be told.
func (o *observer) offered(p pair, did protocol.DID) {
	u := o.feeds[did]
	o.add(p, u, offers, 1)
	if !o.told[utterance{p, did}] {
		o.add(p, u, unheard, 1)
	}
	if !o.told[utterance{pair{of: p.of}, did}] {
		o.add(p, u, first, 1)
	}
}

// tells notes what a node is told of by others.
func (o *observer) tells(p pair, call protocol.Call) {
	o.learn(call)
	dids := actor.Offered(call)
	if put, ok := call.(protocol.PutEntries); ok {
		dids = []protocol.DID{put.Bundle.DID}
	}
	for _, did := range dids {
		o.told[utterance{p, did}], o.told[utterance{pair{of: p.of}, did}] = true, true
	}
}

// answered takes down an answer of a node's.
func (o *observer) answered(p pair, call protocol.Call, a node.Answered) {
	had := func(did protocol.DID, is protocol.Seen) {
		s := unseen
		if is {
			s = seen
		}
		o.add(p, o.feeds[did], s, 1)
	}
	switch call := call.(type) {
	case protocol.CheckDID:
		if is, ok := a.Reply.(protocol.Seen); ok {
			had(call.DID, is)
		} else {
			o.add(p, call.Feed, refused, 1)
		}
	case protocol.CheckDIDs:
		list, _ := a.Reply.(protocol.SeenList)
		for i, is := range list {
			had(call.DIDs[i], is)
		}
	case protocol.PutEntries:
		if a.Err != nil {
			o.add(p, call.Bundle.Feed, refused, 1)
		}
	case protocol.QueryFeed:
		if answer, ok := a.Reply.(protocol.Answer); ok {
			o.add(p, call.Query.Filter.Feed, found, len(answer.Found))
		} else {
			o.add(p, call.Query.Filter.Feed, refused, 1)
		}
	default:
		if s, ok := a.Reply.(protocol.Subset); ok {
			o.advertised(p, s)
		}
	}
}

// allLinks returns the signs of each node that an observer with all of its links can count.
func (o *observer) allLinks() signs {
	sums := make(signs)
	for h, n := range o.links {
		sums[h.shown] += n
	}
	return sums
}

// oneLink returns the signs of each node that the one that heard most of it can count, but for what only others told
// the node.
func (o *observer) oneLink() signs {
	all := make(map[pair]float64)
	for h, n := range o.links {
		all[pair{h.by, h.node}] += n
	}
	most := make(map[protocol.NodeID]protocol.NodeID) // who heard most of a node
	for p, n := range all {
		best, ok := most[p.of]
		if !ok || cmp.Or(cmp.Compare(n, all[pair{best, p.of}]), p.by.Compare(best)) > 0 {
			most[p.of] = p.by
		}
	}
	sums := make(signs)
	for h, n := range o.links {
		if h.sign != first && h.by == most[h.node] {
			sums[h.shown] = n
		}
	}
	return sums
}

// rightGuesses is how often, of one number drawn from each list, the first is the greater one, where equal ones are
// decided by a coin: .5 where there is no telling (the area under the receiver operating characteristic).
func rightGuesses(is, not []float64) float64 {
	sum := -float64(len(is)*(len(is)+1)) / 2
	for _, rank := range report.Ranks(slices.Concat(is, not))[:len(is)] {
		sum += rank
	}
	return sum / float64(max(1, len(is)*len(not)))
}

// guessError is the standard error of rightGuesses where there is no telling (Mann and Whitney 1947).
func guessError(is, not int) float64 {
	return math.Sqrt(float64(is+not+1) / float64(max(1, 12*is*not)))
}
