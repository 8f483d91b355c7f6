package actor

import (
	"fmt"
	"slices"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// Inventor is a FreeRider that pays with inventions: each hour one of each feed that a neighbor relays and does not
// follow, so that no poll there judges it, as if another neighbor had polled it. All invent the same, and each earns
// with it (row 35 of `feedex lab attacks`).
func Inventor(n *node.Node) Participant {
	v := &inventor{asked: make(map[uint64]protocol.NodeID),
		hops: make(map[protocol.NodeID]map[feed.URL]int)}
	v.sideCaller = newCaller(n, func(e node.Effect) node.Effect {
		call, _ := e.(node.Call)
		if _, connects := call.Call.(protocol.Connect); connects {
			v.asked[call.ID] = call.To.Node
		}
		return v.takes(e)
	})
	return v
}

type inventor struct {
	sideCaller
	feeds []feed.URL                           // that anybody advertised
	asked map[uint64]protocol.NodeID           // who was asked to become a neighbor, by call
	hops  map[protocol.NodeID]map[feed.URL]int // at which each advertises what
}

// Step implements Participant.
func (v *inventor) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	v.learn(ev)
	dst = v.sideCaller.Step(dst, now, ev)
	if !now.Before(v.wakes) {
		v.wakes = now.Add(time.Hour)
		dst = v.deliver(dst, now.UTC().Truncate(time.Hour))
	}
	return dst
}

// learn sees what neighbors advertise.
func (v *inventor) learn(ev node.Event) {
	switch ev := ev.(type) {
	case node.Asked:
		switch c := ev.Call.(type) {
		case protocol.Connect:
			v.advertised(ev.From, c.Subset)
		case protocol.UpdateSubset:
			v.advertised(ev.From, c.Changes)
		}
	case node.Answered:
		if set, ok := ev.Reply.(protocol.Subset); ok {
			v.advertised(v.asked[ev.ID], set)
		}
		delete(v.asked, ev.ID)
	}
}

func (v *inventor) advertised(by protocol.NodeID, set protocol.Subset) {
	if v.hops[by] == nil {
		v.hops[by] = make(map[feed.URL]int)
	}
	for _, in := range set {
		if v.hops[by][in.Feed] = in.Hops; !slices.Contains(v.feeds, in.Feed) {
			v.feeds = append(v.feeds, in.Feed)
		}
	}
}

// deliver brings every neighbor the inventions of the hour.
func (v *inventor) deliver(dst []node.Effect, hour time.Time) []node.Effect {
	neighbors := v.neighbors()
	if len(neighbors) < 2 {
		return dst // and nobody to name
	}
	for i, to := range neighbors {
		for _, u := range v.feeds {
			if hops := v.hops[to][u]; hops < 1 || hops >= protocol.MaxHops {
				continue // not known, followed, withdrawn or not wanted
			}
			b := protocol.NewBundle(u, []feed.Entry{{
				Feed: u, ID: fmt.Sprint(forgedID, hour.Unix(), "/", u), Title: fmt.Sprint("News of ", hour),
				Link: fmt.Sprint("https://example.net/", hour.Unix()), Published: hour, Summary: "This never happened.",
			}})
			b.Path = []protocol.NodeID{neighbors[(i+1)%len(neighbors)]}
			dst = v.call(dst, to, protocol.PutEntries{Bundle: b}, nil)
		}
	}
	return dst
}
