package node_test

import (
	"fmt"
	"testing"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/node"
	"feedex/polling"
	"feedex/protocol"
)

// forgery is a network of nodes that all follow the same feeds and poll them every four hours, and of which the
// last ones invent an entry an hour. They claim that they polled it or, where it is relayed, that it came to them from
// somebody else, each time from another.
// It returns the forgeries that came to the others in the last hours, and the network.
func forgery(t *testing.T, nodes, forgers, hours, last int, relayed bool) (int, *network) {
	w := newLargeNetwork(t)
	feeds := []feed.URL{news, blog, comic}
	for _, u := range feeds {
		w.publish(u)
	}
	c := node.Config{Trackers: []string{tracker}, Incentive: incentive.Config{Bound: 10},
		Policy: polling.Fixed{Every: 4 * time.Hour}}
	for i := range nodes {
		if i >= nodes-forgers && !relayed {
			w.habit = func(n *node.Node) lab.Actor {
				return actor.Forger(n, fmt.Sprint(i), 1, epoch.Add(4*time.Hour))
			}
		}
		w.add(c, feeds...)
	}
	w.run(4*time.Hour + 2*time.Minute)
	var from time.Time
	for hour := range hours {
		if hour == hours-last {
			from = w.Now()
		}
		w.publish(feeds[hour%len(feeds)])
		for i, h := range w.list[nodes-forgers:] {
			if relayed {
				b := forged(feeds[(hour+i)%len(feeds)], fmt.Sprint(i, "/", hour), w.Now())
				b.Path = []protocol.NodeID{stranger(hour*nodes + i)}
				h.offerAll(b)
			}
			w.run(time.Hour / time.Duration(forgers))
		}
	}
	count := 0
	for _, h := range w.list[:nodes-forgers] {
		records, err := h.store.Search(t.Context(), feed.Filter{Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if actor.Forged(&r.Entry) && !r.Seen.Before(from) {
				count++
			}
		}
	}
	return count, w
}

// forged is a bundle of an entry as an actor.Forger makes them.
func forged(u feed.URL, name string, at time.Time) *protocol.Bundle {
	return protocol.NewBundle(u, []feed.Entry{{Feed: u, ID: "https://forged.example.net/" + name, Title: "News " + name,
		Published: at}})
}

// forgers are the nodes that somebody took for forgers.
func (w *network) forgers() (found map[protocol.NodeID]bool) {
	found = make(map[protocol.NodeID]bool)
	for _, h := range w.list {
		for _, other := range w.list {
			for _, m := range h.account(other).Standing.Marks {
				if m.Offence == incentive.ForgedEntry {
					found[other.id] = true
				}
			}
		}
	}
	return found
}

// A quarter of the nodes forges. Where they say that they polled it they are found out, and it ends within a day; where
// they name somebody else nobody is blamed, and least of all the relays that passed it on.
func TestForgersAreFoundOut(t *testing.T) {
	t.Parallel()
	const nodes, forgers, hours, last = 16, 4, 24, 8
	claimed, w := forgery(t, nodes, forgers, hours, last, false)
	relayed, other := forgery(t, nodes, forgers, hours, last, true)
	t.Logf("in the last %d of %d hours %d forgeries came to honest nodes, and %d where nobody claimed them", last,
		hours, claimed, relayed)
	if relayed < last*forgers*(nodes-forgers)*9/10 || claimed*4 > relayed {
		t.Errorf("%d forgeries came to honest nodes, against %d where nobody claimed them", claimed, relayed)
	}
	if found := other.forgers(); len(found) > 0 {
		t.Errorf("%d nodes were blamed that claimed nothing", len(found))
	}
	found := w.forgers()
	for i, h := range w.list {
		if forger := i >= nodes-forgers; found[h.id] != forger {
			t.Errorf("node %d counts as a forger: %v, and is one: %v", i, found[h.id], forger)
		}
	}
}
