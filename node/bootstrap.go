package node

import (
	"errors"
	"slices"
	"time"

	"feedex/admission"
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
	// leastRound is the least time between two rounds of asking all trackers.
	leastRound = time.Minute
	// extraEvery is how often one more neighbor than the minimum is looked for, where one is wanted, and
	// aroundEvery how often a neighbor is asked for its neighbors.
	extraEvery  = time.Minute
	aroundEvery = 5 * time.Minute
	// othersTurn is how long others have to come by themselves before the next is chosen, where half of
	// the minimum is chosen already, and after each that declined: with everyone's places full of neighbors of
	// their own choice nobody could be found any more.
	othersTurn = 5 * time.Second
	// shortFor is after what time without the minimum any newcomer is welcome, even if most neighbors came so: the
	// places would stay empty.
	shortFor = time.Minute
	// connectsAMinute is how many connects to candidates are begun within a minute.
	connectsAMinute = 60
	// maxConnecting is how many connects are under way at a time.
	maxConnecting = 4
)

// bootstrap is the node's looking for neighbors (Paper §3.1).
type bootstrap struct {
	connecting int                    // connects under way
	tokens     map[string]int         // sent with them, counted
	vouching   *admission.Pool[Asked] // connects whose callers are being called back
	returning  *admission.Pool[Asked] // likewise of nodes that we know already
	refillAt   time.Time              // when refill is to be called; zero for not at all
	retries    map[string]int         // of trackers and static neighbors, since the last success
	round      int                    // of asking the trackers
	turnAt     time.Time              // when one beyond half of the minimum may be chosen
	shortSince time.Time              // since when there are fewer neighbors than the minimum; zero if not
	extraAt    time.Time              // when one more than the minimum may be looked for
	aroundAt   time.Time              // when a neighbor may be asked for its neighbors again
	minute     int64                  // since 1970, of tries
	tries      int                    // connects to candidates within that minute
	sources    []SourceStatus         // trackers and static neighbors, as the owner named them
	roundBegan time.Time
}

// startBootstrap looks for neighbors from all sources that the owner named.
func (n *Node) startBootstrap() {
	n.boot = bootstrap{
		tokens:    make(map[string]int),
		vouching:  admission.NewPool[Asked](maxVouching, vouchPatience),
		returning: admission.NewPool[Asked](maxVouching, vouchPatience),
		retries:   make(map[string]int),
	}
	for _, url := range n.config.Trackers {
		n.boot.sources = append(n.boot.sources, SourceStatus{Name: url, Tracker: true})
	}
	for _, host := range n.config.Peers {
		n.boot.sources = append(n.boot.sources, SourceStatus{Name: host})
	}
	for _, host := range n.config.Peers {
		n.after(0, func() { n.connectStatic(host) })
	}
	n.counted()
	n.forgetOld()
	n.askTrackers()
	n.refillSoon(0)
	n.after(0, n.recollect)
	n.advertiseLater()
	n.after(silence, n.watchSilence)
	n.feelersLater()
	n.reviewLater()
}

// askTrackers begins a new round of asking all trackers, unless the last one began a moment ago: a
// neighbor that comes and goes must not make us a nuisance.
func (n *Node) askTrackers() {
	if n.boot.round > 0 && n.now.Sub(n.boot.roundBegan) < leastRound {
		return
	}
	n.boot.round++
	n.boot.roundBegan = n.now
	round := n.boot.round
	for _, url := range n.config.Trackers {
		n.boot.retries[url] = 0
		n.after(0, func() { n.askTracker(url, round) })
	}
}

// noteSource notes how asking a tracker or a static neighbor ended.
func (n *Node) noteSource(name string, err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	for i := range n.boot.sources {
		s := &n.boot.sources[i]
		if s.Name != name {
			continue
		}
		if s.Problem != problem {
			n.tell(Sought{Name: name, Problem: problem})
		}
		s.Asked, s.Problem = n.now, problem
	}
}

// retryIn is how long to wait before asking name again, a little longer each time.
func (n *Node) retryIn(name string) time.Duration {
	wait := min(longestRetry, firstRetry<<min(n.boot.retries[name], 16))
	n.boot.retries[name]++
	return wait + n.between(0, wait/4)
}

// connectStatic links with a neighbor that the owner named. A link belongs to an address, so the first
// call finds out which one the name stands for.
func (n *Node) connectStatic(host string) {
	for _, l := range n.linked {
		if l.static == host {
			return
		}
	}
	if n.table.Silent(protocol.NodeID{}) {
		n.seekStatic(host) // nothing to say yet, and a caller that says nothing is refused
		return
	}
	n.call(Target{Host: host}, "", protocol.WhoAmI{}, callTimeout, func(a Answered) {
		if a.Peer.IsZero() || a.Err != nil && !isRefusal(a.Err) {
			n.noteSource(host, a.Err)
			n.seekStatic(host)
			return
		}
		if l := n.linkTo(a.Peer); l != nil {
			l.static, l.peer.Static = host, true
			n.boot.retries[host] = 0
			n.noteSource(host, nil)
			return
		}
		if n.refused(a.Peer) {
			n.noteSource(host, errRefused)
			n.seekStatic(host)
			return
		}
		n.connect(a.Peer, host, func(err error) {
			n.noteSource(host, err)
			if err != nil {
				n.seekStatic(host)
				return
			}
			n.boot.retries[host] = 0
		})
	})
}

// seekStatic tries a static neighbor again after a while.
func (n *Node) seekStatic(host string) {
	n.after(n.retryIn(host), func() { n.connectStatic(host) })
}

// askTracker gets nodes from a tracker, and the node onto its list (Paper §3.1, first source). It goes
// on for as long as the node runs: often while neighbors are wanted, seldom otherwise.
func (n *Node) askTracker(url string, round int) {
	if round != n.boot.round {
		return
	}
	n.call(Target{Tracker: url}, "", protocol.GetNeighbors{}, callTimeout, func(a Answered) {
		n.noteSource(url, a.Err)
		if list, ok := a.Reply.(protocol.NodeList); ok {
			n.noteNodes(neighbors.Tracked, list)
		}
		wait := trackerPeriod
		if a.Err != nil || n.table.Len() < n.config.MinNeighbors {
			wait = n.retryIn(url)
		} else {
			n.boot.retries[url] = 0
		}
		n.after(wait, func() { n.askTracker(url, round) })
	})
}

// tracked reports whether a tracker answers. Each of its lists that names somebody who is no neighbor has the node look
// for neighbors.
func (n *Node) tracked() bool {
	return slices.ContainsFunc(n.boot.sources, func(s SourceStatus) bool { return s.Tracker && s.Problem == "" })
}

// refillSoon looks for neighbors after d, unless that is to happen earlier anyway.
func (n *Node) refillSoon(d time.Duration) {
	at := n.now.Add(d)
	if !n.boot.refillAt.IsZero() && !at.Before(n.boot.refillAt) {
		return
	}
	n.boot.refillAt = at
	n.at(at, func() {
		if n.boot.refillAt.Equal(at) {
			n.boot.refillAt = time.Time{}
			n.refill()
		}
	})
}

// refill connects to candidates while there are fewer neighbors than wanted: half of the minimum at once, the
// others one by one.
//
// Paper §4.3: "replenish new neighbors if there remain less than min_peers neighbors".
func (n *Node) refill() {
	if n.table.Silent(protocol.NodeID{}) {
		return
	}
	need := n.config.MinNeighbors - n.table.Len() - n.boot.connecting
	chosen := len(n.table.Chosen()) + n.boot.connecting
	switch half := n.half(); {
	case need <= 0 && !n.wantsMore():
		return
	case need > 0 && chosen < half:
		need = min(need, half-chosen)
	case need > 0:
		if n.now.Before(n.boot.turnAt) {
			n.refillSoon(n.boot.turnAt.Sub(n.now))
			return
		}
		need = 1
	default: // there is no hurry
		if n.now.Before(n.boot.extraAt) {
			n.refillSoon(n.boot.extraAt.Sub(n.now))
			return
		}
		need, n.boot.extraAt = 1, n.now.Add(extraEvery)
		defer n.refillSoon(extraEvery)
	}
	if minute := n.now.Unix() / 60; minute != n.boot.minute {
		n.boot.minute, n.boot.tries = minute, 0
	}
	if n.boot.tries >= connectsAMinute {
		n.refillSoon(time.Minute)
		return
	}
	picked := n.book.Candidates(n.now, min(need, maxConnecting), n.table.Chosen(), n.unwanted)
	n.boot.tries += len(picked)
	for _, id := range picked {
		n.try(id)
	}
	if len(picked) == 0 && n.boot.connecting == 0 {
		n.askAround()
	}
	if next := n.book.Next(n.now, n.unwanted); next.After(n.now) {
		n.refillSoon(next.Sub(n.now))
	}
}

// half is how many neighbors are chosen without giving others time to come by themselves.
func (n *Node) half() int { return (n.config.MinNeighbors + 1) / 2 }

// try connects to a candidate.
func (n *Node) try(id protocol.NodeID) {
	n.connect(id, "", func(err error) {
		switch {
		case err == nil:
			n.reviewed.replacing = false
			n.boot.turnAt = n.now.Add(othersTurn)
		case errors.Is(err, errDeclined) || errors.Is(err, errNoPlace):
			n.book.Declined(n.now, id)
			if len(n.table.Chosen()) >= n.half() {
				n.boot.turnAt = n.now.Add(othersTurn)
			}
		default:
			n.book.Failed(n.now, id)
		}
		n.refillSoon(0)
	})
}

// counted notes that the number of neighbors changed.
func (n *Node) counted() {
	n.status.Neighbors = len(n.linked)
	switch {
	case len(n.linked) >= n.config.MinNeighbors:
		n.boot.shortSince = time.Time{}
	case n.boot.shortSince.IsZero():
		n.boot.shortSince = n.now
	}
}

// short reports whether there have been fewer neighbors than the minimum for long.
func (n *Node) short() bool {
	return !n.boot.shortSince.IsZero() && n.now.Sub(n.boot.shortSince) >= shortFor
}

// wantsMore reports whether more neighbors than the minimum are wanted, as long as there is a place:
// because feeds are offered by fewer than two, because those that there are keep us at their bound, or because
// one made room for a better one.
func (n *Node) wantsMore() bool {
	if n.reviewed.replacing {
		return n.table.Len()+n.boot.connecting < n.config.MaxNeighbors
	}
	// One place stays free for a newcomer.
	return n.table.Len()+n.boot.connecting < n.config.MaxNeighbors-1 &&
		(n.table.Uncovered() > 0 || n.starving())
}

// askAround asks a neighbor for its neighbors, when nobody else is known.
func (n *Node) askAround() {
	if len(n.linked) == 0 || n.now.Before(n.boot.aroundAt) {
		return
	}
	n.boot.aroundAt = n.now.Add(aroundEvery)
	l := n.linked[n.rng.IntN(len(n.linked))]
	n.ask(l, protocol.GetNeighbors{}, callTimeout, func(a Answered) {
		if list, ok := a.Reply.(protocol.NodeList); ok {
			n.noteNodes(neighbors.Told, list)
		}
	})
}

// noteNodes remembers nodes that a source named, as far as they may be called.
func (n *Node) noteNodes(source neighbors.Source, list []protocol.NodeID) {
	var found []protocol.NodeID
	for _, id := range list {
		if n.callable(id) && n.linkTo(id) == nil {
			found = append(found, id)
		}
	}
	if len(found) > 0 {
		n.book.Add(n.now, source, found)
		n.refillSoon(0)
	}
}
