package demo

import (
	"slices"
	"sync"
	"time"

	"feedex/feed"
	"feedex/node"
)

// A score keeps what was published, what arrived where, when and how, and when each node would have
// seen it by polling alone.
type score struct {
	mu      sync.Mutex
	begun   time.Time
	rider   *freeRider // nil where there is none
	entries map[feed.URL][]published
	when    map[feed.EntryID]time.Time // of publication
	nodes   []nodeScore
	feeds   []feed.URL
	turns   map[feed.URL][]turn // but for the first poll of each node
}

// published is an entry of a feed and when it came out.
type published struct {
	id feed.EntryID
	at time.Time
}

// nodeScore is the score of one node.
type nodeScore struct {
	name      string
	follows   map[feed.URL]bool
	neighbors int
	arrived   map[feed.EntryID]time.Time
	byPoll    int
	byPeer    int
	polls     map[feed.URL][]time.Time // its polls of each feed, the next one that is due at the end
	lag       time.Duration            // of all that arrived, together
}

func newScore(nodes int) *score {
	s := &score{entries: make(map[feed.URL][]published), when: make(map[feed.EntryID]time.Time),
		turns: make(map[feed.URL][]turn)}
	for range nodes {
		s.nodes = append(s.nodes, nodeScore{arrived: make(map[feed.EntryID]time.Time),
			polls: make(map[feed.URL][]time.Time)})
	}
	return s
}

// join notes that node i serves at the address name.
func (s *score) join(i int, name string, follows []feed.URL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[i]
	n.name, n.follows = name, make(map[feed.URL]bool)
	for _, u := range follows {
		if !slices.Contains(s.feeds, u) {
			s.feeds = append(s.feeds, u)
		}
		n.follows[u] = true
	}
}

// begin starts the clock.
func (s *score) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = now
}

// published notes that an entry came out.
func (s *score) published(e feed.Entry, at time.Time) {
	id := e.EntryID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[e.Feed] = append(s.entries[e.Feed], published{id, at})
	s.when[id] = at
}

// observe notes what node i tells.
func (s *score) observe(i int, now time.Time, note node.Note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[i]
	switch t := note.(type) {
	case node.Linked:
		n.neighbors++
	case node.Unlinked:
		n.neighbors--
	case node.Polled:
		times := n.polls[t.Feed]
		if len(times) > 0 {
			s.turns[t.Feed] = append(s.turns[t.Feed], turn{i + 1, now})
			times[len(times)-1] = now // what was due has come
		} else {
			times = append(times, now)
		}
		n.polls[t.Feed] = append(times, t.Next)
	case node.Arrived:
		for _, r := range t.Records {
			if !n.follows[t.Feed] {
				continue // it passes through, for a neighbor
			}
			n.arrived[r.ID] = now
			n.lag += now.Sub(s.when[r.ID])
			if t.Source.IsZero() {
				n.byPoll++
			} else {
				n.byPeer++
			}
		}
	}
}

// complete reports whether everything that was published arrived everywhere.
func (s *score) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(time.Time{}).Missed == 0
}

// A Summary is the outcome of the demonstration. Deliveries count an entry once for each node that follows its feed.
type Summary struct {
	Published      int           // entries
	Expected       int           // deliveries
	Missed         int           // deliveries that did not come
	ByPoll, ByPeer int           // deliveries that came by the node's own poll, and from a neighbor
	Lag            time.Duration // mean, from publication to arrival
	AloneLag       time.Duration // mean, had each node only polled for itself
	Requests       int           // at the feeds, but for the first of each node, which is for what was there before
	AloneRequests  int           // had each node polled alone as often as it may, for AloneLag
	AsSoonRequests int           // had each node polled alone, often enough for Lag
	Ran            time.Duration
	Each           []NodeSummary
	Rider          RiderSummary
	Turns          Turns
}

// A RiderSummary is its outcome for the free rider, which takes and never gives.
type RiderSummary struct {
	Got       int  // entries
	Neighbors int  // that it takes from
	Held      bool // they hold back what is beyond its bound
}

// A NodeSummary is its outcome for one node.
type NodeSummary struct {
	Name           string
	Neighbors      int
	ByPoll, ByPeer int
	Lag            time.Duration
}

// summary counts everything up to now.
func (s *score) summary(now time.Time) Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.count(now)
	sum.Turns = s.turnsOf(now)
	for _, turns := range s.turns {
		sum.Requests += len(turns)
	}
	if s.rider != nil {
		sum.Rider.Got, sum.Rider.Neighbors, sum.Rider.Held = s.rider.state()
	}
	follows := 0
	for _, n := range s.nodes {
		each := NodeSummary{Name: n.name, Neighbors: n.neighbors, ByPoll: n.byPoll, ByPeer: n.byPeer}
		if got := n.byPoll + n.byPeer; got > 0 {
			each.Lag = n.lag / time.Duration(got)
		}
		sum.Each = append(sum.Each, each)
		follows += len(n.follows)
	}
	every := func(d time.Duration) int { return int(float64(follows) * float64(sum.Ran) / float64(d)) }
	sum.AloneRequests = every(pollEvery)
	if sum.Lag > 0 {
		sum.AsSoonRequests = every(2 * sum.Lag) // polling alone every 2L sees an entry after L on average
	}
	return sum
}

// count adds up the deliveries. The caller holds the lock.
func (s *score) count(now time.Time) Summary {
	sum := Summary{Published: len(s.when)}
	if !now.IsZero() {
		sum.Ran = now.Sub(s.begun)
	}
	var lag, alone time.Duration
	arrived := 0
	for i := range s.nodes {
		n := &s.nodes[i]
		sum.ByPoll += n.byPoll
		sum.ByPeer += n.byPeer
		lag += n.lag
		for u := range n.follows {
			for _, e := range s.entries[u] {
				sum.Expected++
				if _, ok := n.arrived[e.id]; !ok {
					sum.Missed++
					continue
				}
				arrived++
				alone += s.aloneLag(n, u, e.at)
			}
		}
	}
	if arrived > 0 {
		sum.Lag, sum.AloneLag = lag/time.Duration(arrived), alone/time.Duration(arrived)
	}
	return sum
}

// aloneLag is how long after its publication the node would have seen an entry by its own polls: those
// that it made, and those that are due.
func (s *score) aloneLag(n *nodeScore, u feed.URL, at time.Time) time.Duration {
	times := n.polls[u]
	for _, t := range times {
		if !t.Before(at) {
			return t.Sub(at)
		}
	}
	next := at
	if len(times) > 0 {
		next = times[len(times)-1]
	}
	for next.Before(at) {
		next = next.Add(pollEvery)
	}
	return next.Sub(at)
}
