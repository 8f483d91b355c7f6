package courtesy

import (
	"math/rand/v2"
	"strings"
	"time"

	"feedex/feed"
	"feedex/internal/when"
)

// HostQueues are those of the hosts at which feeds are polled, and to which their redirects lead. Make them with
// NewHostQueues.
type HostQueues struct {
	rng     *rand.Rand
	private func(feed.URL) bool
	named   map[string]*HostQueue
	polls   map[feed.URL]*HostQueue // where a poll is under way
	keep    []KnownHost             // see Changes
	drop    []string
}

// A HostQueue is where feeds are polled, one at a time. How many requests it takes is learned, and all its feeds
// share in that: the limits of publishers are by client. Hosts that are not public are let be: several
// publishers may share one that know nothing of each other, or a bridge to others.
type HostQueue struct {
	Budget
	name   string
	public bool
	asked  bool          // a poll is under way
	queue  []*QueuedFeed // whose time has come, in order
	waking time.Time     // see Await
	users  int           // visitors that it has something to do with
	kept   bool          // it was said to be kept
}

// KnownHost is the knowledge of a host that is kept beyond the run.
type KnownHost struct {
	Name string // in lower case, without a port; with "> " before it for those who are led there
	Budget
}

// A QueuedFeed is a feed as its hosts see it. Make one with HostQueues.Add.
type QueuedFeed struct {
	Feed      feed.URL
	at        *HostQueue // where it is asked for
	lands     *HostQueue // where its redirects lead, nil where that is no other
	reserved  time.Time  // when it may be asked there: that request is counted; zero for not yet
	waiting   bool       // for its turn
	forbidden bool       // the last answer was 403
}

// NewHostQueues returns the queues of no hosts yet. Those for which private reports true are not public.
func NewHostQueues(rng *rand.Rand, private func(u feed.URL) bool) *HostQueues {
	return &HostQueues{rng: rng, private: private, named: make(map[string]*HostQueue),
		polls: make(map[feed.URL]*HostQueue)}
}

// Add is a feed that is asked for at a URL, its own or another, and whose redirects led to the host of that
// name, "" for no other.
func (t *HostQueues) Add(u, at feed.URL, lands string) *QueuedFeed {
	v := &QueuedFeed{Feed: u}
	if lands != "" {
		t.change(&v.lands, t.ledTo(lands))
	}
	t.Sent(v, at)
	return v
}

// Sent has a feed that does not wait for its turn asked for at another URL from now on.
func (t *HostQueues) Sent(v *QueuedFeed, at feed.URL) {
	t.change(&v.at, t.host(at))
	if v.Lands() == v.at.name { // nobody leads it there any more
		t.change(&v.lands, nil)
	}
}

// Leave forgets a feed. A poll that is under way goes on until End.
func (t *HostQueues) Leave(v *QueuedFeed) {
	if v.waiting {
		v.at.strike(v)
	}
	t.change(&v.at, nil)
	t.change(&v.lands, nil)
}

// change has one of a visitor's hosts be another, or none.
func (t *HostQueues) change(which **HostQueue, to *HostQueue) {
	if *which != nil {
		(*which).users--
	}
	if *which = to; to != nil {
		to.users++
	}
}

// host is the host of a URL.
func (t *HostQueues) host(at feed.URL) *HostQueue { return t.called(feed.HostName(at.Host()), at) }

// ledMark is before the name of a host for those who are led there by redirects of others. What it takes of them is
// learned apart: anybody may redirect to what a host refuses, and is not to keep us from what else there is.
const ledMark = "> "

// ledTo is the host of that name for those who are led there.
func (t *HostQueues) ledTo(name string) *HostQueue {
	address := name
	if strings.Contains(name, ":") {
		address = "[" + name + "]"
	}
	return t.called(ledMark+name, feed.URL("https://"+address+"/"))
}

// about is what is known of the host of that name: by those that are asked for there, or else by those who are led
// there; nil for nothing.
func (t *HostQueues) about(name string) *HostQueue {
	if h := t.named[name]; h != nil {
		return h
	}
	return t.named[ledMark+name]
}

// called is the host of that name, where at is.
func (t *HostQueues) called(name string, at feed.URL) *HostQueue {
	h := t.named[name]
	if h == nil {
		h = &HostQueue{name: name, public: !t.private(at)}
		t.named[name] = h
	}
	return h
}

// Recall takes up what earlier runs knew of hosts, once all visitors are there. Those that none of them has to do with
// are to be dropped.
func (t *HostQueues) Recall(now time.Time, known []KnownHost) {
	for _, k := range known {
		h := t.about(k.Name)
		own := h != nil && h.name == k.Name
		if !own { // it is of nobody, or of those who are led there, as when it had feeds of its own
			t.drop = append(t.drop, k.Name)
		}
		if h == nil || !own && h.kept {
			continue
		}
		h.kept = true
		h.recall(now, k.Budget)
		if !own {
			t.keep = append(t.keep, KnownHost{h.name, h.Budget})
		}
	}
}

// recall takes up the budget of an earlier run, but for times that cannot be: its clock was ahead of ours.
func (h *HostQueue) recall(now time.Time, kept Budget) {
	h.Budget = kept
	if h.Until.After(now.Add(LongestAway)) {
		h.Until = time.Time{}
	}
	if h.Spent.After(when.Later(now, h.Until).Add(Burst * longestGap)) {
		h.Spent = time.Time{}
	}
}

// Changes are the hosts of which something else is to be known beyond the run than at the last call, and the names of
// those of which nothing is.
func (t *HostQueues) Changes() (keep []KnownHost, drop []string) {
	keep, drop, t.keep, t.drop = t.keep, t.drop, nil, nil
	return keep, drop
}

// forget has nothing known of a host beyond the run.
func (t *HostQueues) forget(h *HostQueue) {
	if h.kept {
		h.kept = false
		t.drop = append(t.drop, h.name)
	}
}
