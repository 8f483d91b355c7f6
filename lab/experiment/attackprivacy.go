package experiment

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

const (
	// hiddenAmong is how many feeds each node polls for others: as many as it begins with before the observer comes.
	hiddenAmong = 8
	// profiledFeeds is among how many feeds the nodes choose, so that most have no more than two followers.
	profiledFeeds = 10 * attackFeeds
	// betterThanMark is by how much a sign may tell more than that so many are for others: those that nobody follows
	// any more are given up, and those that many follow are not polled for others.
	betterThanMark = 1.1
	// crowdFollows is by how many others a feed is followed that an observer takes for a popular one.
	crowdFollows = 3
)

// profiling is row 24. All nodes poll feeds for others. Late somebody comes who wants a link to all of them and all
// feeds, hears what they advertise, and tells by that which feeds they follow of those that others advertise as well.
// One feed is private to all; its URL must be in no call and no answer.
func (t *trial) profiling() (string, bool) {
	c := t.crowd
	c.Feeds, c.Length = copies(c.Feeds, profiledFeeds), 4*c.Length
	private := c.urls()[0]
	follows := make(map[interestOf]bool)
	c.Tune = func(_ int, _ class, m *lab.MemberConfig) {
		m.Node.Volunteer, m.Node.PrivateHosts = hiddenAmong, []string{private.Host()}
		for _, u := range append(m.Feeds, private) {
			follows[interestOf{m.ID, u}] = true
		}
		m.Feeds = nil
		for _, p := range c.urls() {
			if follows[interestOf{m.ID, p}] {
				m.Feeds = append(m.Feeds, p)
			}
		}
	}
	leaks := leak{url: []byte(private)}
	c.Watch = func(i int, _ bool) watch {
		by := publicAddress(i)
		return func(_ time.Time, _ node.Event, effects []node.Effect) { leaks.look(by, effects) }
	}
	var seen *observed
	g := t.play(c, func(g *gathering) { seen = observe(c, g) })
	signs, own, others := seen.guesses(g, follows)
	mark := Fraction{own, own + others}.of()
	pass := own > 0 && others > 0 && leaks.found == 0 && leaks.calls > 0
	measured := fmt.Sprintf("%d own, %d for others, mark %s", own, others, report.Percent(mark))
	for _, s := range signs {
		measured += fmt.Sprintf("; %s %s", s.name, report.Percent(s.right.of()))
		pass = pass && s.right.of() <= betterThanMark*mark
	}
	return fmt.Sprintf("%s; %d of %d calls name the private feed", measured, leaks.found, leaks.calls), pass
}

// An observed holds what an observer heard that links with everybody.
type observed struct {
	by          protocol.NodeID
	heard       adverts
	first, ever map[protocol.NodeID]map[feed.URL]bool // at hop 0 in the first set of a node, and at any time
}

// observe has an observer join after three quarters of the time. It follows every feed, so that all want it.
func observe(c crowd, g *gathering) *observed {
	o := &observed{by: publicAddress(c.Nodes), heard: make(adverts),
		first: make(map[protocol.NodeID]map[feed.URL]bool), ever: make(map[protocol.NodeID]map[feed.URL]bool)}
	config := c.node()
	config.MaxNeighbors = 64
	config.MinNeighbors = config.MaxNeighbors
	for i := range c.Nodes {
		config.Peers = append(config.Peers, publicAddress(i).String())
	}
	m := lab.MemberConfig{ID: o.by, Name: "observer", Node: &config, Feeds: everything(g.w),
		Actor: func(n *node.Node, _ ed25519.PrivateKey, _ *rand.Rand) lab.Actor {
			return actor.Watched{Participant: n, See: func(_ time.Time, ev node.Event, _ []node.Effect) { o.hear(ev) }}
		}}
	g.w.At(c.Start.Add(c.Length*3/4), func() { joinNow(g.w, m) })
	return o
}

// hear takes in an event of the observer's.
func (o *observed) hear(ev node.Event) {
	var of protocol.NodeID
	switch ev := ev.(type) {
	case node.Asked:
		of = ev.From
	case node.Answered:
		of = ev.Peer
	}
	o.heard.hear(o.by, ev)
	set := o.heard[pair{o.by, of}]
	if len(set) == 0 {
		return
	}
	if o.ever[of] == nil {
		o.first[of], o.ever[of] = make(map[feed.URL]bool), make(map[feed.URL]bool)
	}
	fresh := len(o.first[of]) == 0
	for u, hops := range set {
		if hops == 0 {
			o.ever[of][u] = true
			o.first[of][u] = o.first[of][u] || fresh
		}
	}
}

// A readingSign is a way to tell own feeds from others, and how often it is right.
type readingSign struct {
	name  string
	right Fraction
}

// guesses tells what comes of taking feeds for a node's own by each sign, of those that somebody else advertises too,
// and how many feeds of nodes that the observer heard are their own, and others'.
func (o *observed) guesses(g *gathering, follows map[interestOf]bool) (list []readingSign, own, others int) {
	followers := make(map[feed.URL]int)
	for _, set := range o.heard {
		for u, hops := range set {
			if hops == 0 {
				followers[u]++
			}
		}
	}
	list = []readingSign{{name: "now at hop 0"}, {name: "at first"}, {name: "ever"}, {name: "always"},
		{name: "rare ones"}, {name: "popular ones"}}
	for _, h := range g.honest() {
		set := o.heard[pair{o.by, h.ID}]
		if set == nil {
			continue
		}
		own, others = own+len(h.Node().Feeds()), others+len(h.Node().Status().Volunteered)
		for u := range o.ever[h.ID] {
			hops, is := set[u]
			now, first := is && hops == 0, o.first[h.ID][u]
			if followers[u] < 2 {
				continue
			}
			popular := followers[u] > crowdFollows
			for i, sign := range []bool{now, first, true, now && first, now && !popular, now && popular} {
				if sign {
					list[i].right.count(follows[interestOf{h.ID, u}])
				}
			}
		}
	}
	return list, own, others
}

// A pair is the node that heard an advert, and the one that it is of.
type pair struct{ by, of protocol.NodeID }

// adverts are the subscription sets that nodes have heard of each other by now: hop counts by feed.
type adverts map[pair]map[feed.URL]int

// hear takes in an event of a node's, if it is an advert.
func (a adverts) hear(by protocol.NodeID, ev node.Event) {
	switch ev := ev.(type) {
	case node.Asked:
		switch call := ev.Call.(type) {
		case protocol.Connect:
			a.learn(pair{by, ev.From}, call.Subset, true)
		case protocol.UpdateSubset:
			a.learn(pair{by, ev.From}, call.Changes, false)
		}
	case node.Answered:
		if set, ok := ev.Reply.(protocol.Subset); ok && len(set) > 0 {
			a.learn(pair{by, ev.Peer}, set, true)
		}
	}
}

// learn takes in a set, which is whole, or how it changed.
func (a adverts) learn(p pair, s protocol.Subset, whole bool) {
	if whole || a[p] == nil {
		a[p] = make(map[feed.URL]int)
	}
	for _, in := range s {
		a[p][in.Feed] = in.Hops
	}
}

// A leak looks for a URL in what nodes say.
type leak struct {
	url   []byte
	calls int // looked at
	found int // of these, and of the answers, with the URL in them
	buf   []byte
}

// look looks through the effects of a node's step.
func (l *leak) look(by protocol.NodeID, effects []node.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case node.Call:
			l.calls++
			l.buf = protocol.EncodeCall(l.buf[:0], by.Port(), e.Call)
		case node.Respond:
			if e.Fault != nil {
				continue
			}
			l.buf = protocol.EncodeReply(l.buf[:0], e.Reply)
		default:
			continue
		}
		if bytes.Contains(l.buf, l.url) {
			l.found++
		}
	}
}

// urls are the addresses of the feeds of the crowd's worlds.
func (c crowd) urls() []feed.URL {
	return everything(c.world())
}
