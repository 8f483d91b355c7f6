package experiment

import (
	"bytes"
	"fmt"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// coverFeeds is how many feeds each node advertises as if it followed them.
const coverFeeds = 5

// profiling is row 24. Every node hears what its neighbors advertise, and takes what is at hop 0 for their
// own. One feed is private to all; its URL must be in no call and no answer.
func (t *trial) profiling() (string, bool) {
	c := t.crowd
	private := t.urls()[0]
	follows := make(map[protocol.NodeID]map[feed.URL]bool)
	c.Tune = func(_ int, _ class, m *lab.MemberConfig) {
		m.Node.CoverFeeds, m.Node.PrivateHosts = coverFeeds, []string{private.Host()}
		follows[m.ID] = make(map[feed.URL]bool)
		for _, u := range append(m.Feeds, private) {
			follows[m.ID][u] = true
		}
		m.Feeds = nil
		for _, p := range t.urls() {
			if follows[m.ID][p] {
				m.Feeds = append(m.Feeds, p)
			}
		}
	}
	heard := make(adverts)
	leaks := leak{url: []byte(private)}
	c.Watch = func(i int, _ bool) watch {
		by := publicAddress(i)
		return func(_ time.Time, ev node.Event, effects []node.Effect) {
			heard.hear(by, ev)
			leaks.look(by, effects)
		}
	}
	g := t.play(c, nil)
	near, own := 0, 0
	for _, h := range g.honest() {
		for _, s := range h.Node().Neighbors() {
			for u, hops := range heard[pair{h.ID, s.ID}] {
				if hops != 0 {
					continue
				}
				near++
				if follows[s.ID][u] {
					own++
				}
			}
		}
	}
	precision := float64(own) / float64(max(1, near))
	mark := 1 / (1 + float64(coverFeeds)/float64(c.Each))
	return fmt.Sprintf("precision %s, mark %s; %d of %d calls name the private feed", report.Percent(precision),
			report.Percent(mark), leaks.found, leaks.calls),
		precision <= mark && near > 0 && leaks.found == 0 && leaks.calls > 0
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
