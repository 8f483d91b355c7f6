package experiment

import (
	"bytes"
	"fmt"
	"time"

	"feedex/feed"
	"feedex/lab"
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
	c.Tune = func(_ int, _ class, m *lab.Member) {
		config := *m.Node
		config.CoverFeeds, config.PrivateHosts = coverFeeds, []string{private.Host()}
		m.Node = &config
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
	// What a node hears of a neighbor by now.
	type pair struct{ by, of protocol.NodeID }
	heard := make(map[pair]map[feed.URL]int)
	leaks, calls := 0, 0
	var buf []byte
	c.Watch = func(i int, _ bool) func(time.Time, node.Event, []node.Effect) {
		by := publicAddress(i)
		learn := func(of protocol.NodeID, s protocol.Subset, anew bool) {
			key := pair{by, of}
			if anew || heard[key] == nil {
				heard[key] = make(map[feed.URL]int)
			}
			for _, in := range s {
				heard[key][in.Feed] = in.Hops
			}
		}
		return func(_ time.Time, ev node.Event, effects []node.Effect) {
			switch ev := ev.(type) {
			case node.Asked:
				switch call := ev.Call.(type) {
				case protocol.Connect:
					learn(ev.From, call.Subset, true)
				case protocol.UpdateSubset:
					learn(ev.From, call.Changes, false)
				}
			case node.Answered:
				if set, ok := ev.Reply.(protocol.Subset); ok && len(set) > 0 {
					learn(ev.Peer, set, true)
				}
			}
			for _, e := range effects {
				call, ok := e.(node.Call)
				if !ok {
					continue
				}
				calls++
				if buf = protocol.EncodeCall(buf[:0], by.Port(), call.Call); bytes.Contains(buf, []byte(private)) {
					leaks++
				}
			}
			for _, e := range effects {
				if r, ok := e.(node.Respond); ok && r.Fault == nil {
					if buf = protocol.EncodeReply(buf[:0], r.Reply); bytes.Contains(buf, []byte(private)) {
						leaks++
					}
				}
			}
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
	return fmt.Sprintf("precision %s, mark %s; %d of %d calls name the private feed", percent(precision), percent(mark), leaks, calls),
		precision <= mark && near > 0 && leaks == 0 && calls > 0
}

// urls are the addresses of the feeds of the crowd's worlds.
func (c crowd) urls() []feed.URL {
	w, err := lab.New(lab.Config{Seed: c.Seed, Start: c.Start, Feeds: c.Feeds})
	if err != nil {
		panic(err) // the settings were checked
	}
	return everything(w)
}
