package node

import (
	"errors"
	"time"

	"feedex/neighbors"
	"feedex/protocol"
)

const (
	// firstRetry and longestRetry bound the time after which a tracker or a static neighbor is asked
	// again while it is needed; it doubles each time.
	firstRetry   = time.Second
	longestRetry = 5 * time.Minute
	// trackerPeriod is how often a tracker is asked when nothing is needed, so that the node stays on
	// its list.
	trackerPeriod = 10 * time.Minute
	// maxConnecting is how many connects are under way at a time.
	maxConnecting = 4
)

// search is the node's looking for neighbors.
type search struct {
	connecting   int                      // connects under way
	tokens       map[string]int           // sent with them
	vouching     int                      // callers being called back
	beingVouched map[protocol.NodeID]bool // who they are
	refillAt     time.Time                // when refill is on the agenda; zero if it is not
	retries      map[string]int           // of trackers and static neighbors, since the last success
	round        int                      // of asking the trackers
}

// startSearch looks for neighbors from all sources that the owner named.
func (n *Node) startSearch() {
	n.search = search{
		tokens:       make(map[string]int),
		beingVouched: make(map[protocol.NodeID]bool),
		retries:      make(map[string]int),
	}
	for _, host := range n.config.Peers {
		n.after(0, func() { n.connectStatic(host) })
	}
	n.askTrackers()
	n.refillSoon(0)
}

// askTrackers begins a new round of asking all trackers.
func (n *Node) askTrackers() {
	n.search.round++
	round := n.search.round
	for _, url := range n.config.Trackers {
		n.search.retries[url] = 0
		n.after(0, func() { n.askTracker(url, round) })
	}
}

// retryIn is how long to wait before asking name again, a little longer each time.
func (n *Node) retryIn(name string) time.Duration {
	wait := min(longestRetry, firstRetry<<min(n.search.retries[name], 16))
	n.search.retries[name]++
	return wait + n.between(0, wait/4)
}

// connectStatic links with a neighbor that the owner named.
func (n *Node) connectStatic(host string) {
	for _, l := range n.links {
		if l.static == host {
			return
		}
	}
	if len(n.table.Offer(protocol.NodeID{})) == 0 {
		n.seekStatic(host) // nothing to say yet, and who says nothing is refused
		return
	}
	n.connect(Target{Host: host}, func(id protocol.NodeID, err error) {
		if err != nil {
			if !errors.Is(err, errSelf) {
				n.seekStatic(host)
			}
			return
		}
		n.search.retries[host] = 0
	})
}

// seekStatic tries a static neighbor again after a while.
func (n *Node) seekStatic(host string) {
	n.after(n.retryIn(host), func() { n.connectStatic(host) })
}

// askTracker gets nodes from a tracker, and the node onto its list (Paper §3.1, first source). It goes
// on for as long as the node runs: often while neighbors are wanted, seldom otherwise.
func (n *Node) askTracker(url string, round int) {
	if round != n.search.round {
		return
	}
	n.call(Target{Tracker: url}, "", protocol.GetNeighbors{}, callTimeout, func(a Answered) {
		var found []protocol.NodeID
		if list, ok := a.Reply.(protocol.NodeList); ok {
			for _, id := range list {
				if n.callable(id) && n.links[id] == nil {
					found = append(found, id)
				}
			}
			n.book.Add(n.now, neighbors.Tracked, found)
			n.refillSoon(0)
		}
		wait := trackerPeriod
		if a.Err != nil || n.table.Len() < n.config.MinNeighbors {
			wait = n.retryIn(url)
		} else {
			n.search.retries[url] = 0
		}
		n.after(wait, func() { n.askTracker(url, round) })
	})
}

// refillSoon looks for neighbors after d, unless that is to happen earlier anyway.
func (n *Node) refillSoon(d time.Duration) {
	at := n.now.Add(d)
	if !n.search.refillAt.IsZero() && !at.Before(n.search.refillAt) {
		return
	}
	n.search.refillAt = at
	n.at(at, func() {
		if n.search.refillAt.Equal(at) {
			n.search.refillAt = time.Time{}
			n.refill()
		}
	})
}

// refill connects to candidates while there are fewer than MinNeighbors.
//
// Paper §4.3: "replenish new neighbors if there remain less than min_peers neighbors".
func (n *Node) refill() {
	need := n.config.MinNeighbors - n.table.Len() - n.search.connecting
	if need <= 0 || len(n.table.Offer(protocol.NodeID{})) == 0 {
		return
	}
	linked := func(id protocol.NodeID) bool { return n.links[id] != nil || !n.callable(id) }
	for _, id := range n.book.Candidates(n.now, min(need, maxConnecting), linked) {
		n.connect(Target{Node: id}, func(_ protocol.NodeID, err error) {
			switch {
			case errors.Is(err, errSelf):
				n.book.Forget(id)
			case err != nil:
				n.book.Failed(n.now, id)
			}
			n.refillSoon(0)
		})
	}
	if next := n.book.Next(n.now, linked); next.After(n.now) {
		n.refillSoon(next.Sub(n.now))
	}
}
