package node_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/feed"
	"feedex/lab"
	"feedex/node"
	"feedex/protocol"
)

// A network is a lab.World whose messages all go through the real codec, unless there are too many of them, and take
// half the round trip each way. Tests script what its publishers publish, what its tracker answers, and what becomes of
// calls.
type network struct {
	*lab.World
	t        *testing.T
	rng      *rand.Rand
	rtt      time.Duration
	hosts    map[protocol.NodeID]*testHost
	list     []*testHost
	feeds    map[feed.URL]*publisher
	trackers map[string][]protocol.NodeID
	hang     map[protocol.NodeID]bool // nodes that take calls and never answer
	habit    habit                    // of hosts that are added from now on, nil for honest ones
	answers  []func()                 // to calls of tests, that are still to be handed over

	// Things that may come between a call and the host that it is for. A nil reply means that no answer comes.
	alter     func(from *testHost, c protocol.Call) protocol.Call              // changes the call on its way
	intercept func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) // answers in the host's place
	watch     func(h *testHost, ev node.Event, effects []node.Effect)          // sees every step
	lag       func(from, to *testHost) time.Duration                           // holds a call up on its way
	// a call, or its answer, that never arrives
	loses func(from, to *testHost, c protocol.Call, answer bool) bool
}

// A publisher serves the newest entries of a feed.
type publisher struct {
	entries  []feed.Entry
	window   int
	private  bool          // it does not want its entries passed on
	local    bool          // it is at an address that is not public
	slow     time.Duration // beyond the round trip
	clients  []string
	requests int
	edits    int // of entries, so far
	err      error
	answer   func(f node.Fetch) node.Fetched // in place of all of the above, where not nil
	asked    []time.Time
}

// seed is where the chance of all hosts comes from.
const seed lab.Seed = 1

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func newNetwork(t *testing.T) *network {
	return newNetworkOf(t, lab.Config{Seed: seed, EveryMessage: true})
}

// newLargeNetwork is a network that hands calls and answers over as they are.
func newLargeNetwork(t *testing.T) *network {
	return newNetworkOf(t, lab.Config{Seed: seed, NoEncoding: true})
}

func newNetworkOf(t *testing.T, c lab.Config) *network {
	w := &network{
		t: t, rng: rand.New(rand.NewPCG(1, 2)),
		hosts: make(map[protocol.NodeID]*testHost), feeds: make(map[feed.URL]*publisher),
		trackers: make(map[string][]protocol.NodeID), hang: make(map[protocol.NodeID]bool),
	}
	c.Start, c.Fate, c.Serve = epoch, w.fate, w.serve
	var err error
	if w.World, err = lab.New(c); err != nil {
		t.Fatal(err)
	}
	w.roundTrip(80 * time.Millisecond)
	return w
}

// roundTrip has every call and its answer take so long from now on.
func (w *network) roundTrip(d time.Duration) {
	w.rtt = d
	if err := w.Relink(lab.Links{Delay: d / 2, Even: true, Jitter: -1}); err != nil {
		w.t.Fatal(err)
	}
}

// fate decides what becomes of a call: the scripts of the test say it.
func (w *network) fate(caller, callee *lab.Host, c node.Call) (f lab.Fate) {
	refused := &node.Answered{Err: errors.New("connection refused"), Unsent: true}
	from := w.hosts[caller.ID]
	switch {
	case c.To.Tracker == deadTracker:
		return lab.Fate{Ended: refused}
	case c.To.Tracker == noTracker:
		return lab.Fate{Ended: &node.Answered{Err: fmt.Errorf("call: %w", &protocol.RemoteError{
			Code: protocol.UnknownNeighbor})}}
	case c.To.Tracker != "":
		return lab.Fate{Ended: &node.Answered{Reply: w.tracked(c.To.Tracker, from.id)}}
	case callee == nil:
		return lab.Fate{Ended: refused}
	}
	to := w.hosts[callee.ID]
	if w.hang[to.id] {
		return lab.Fate{Lost: true}
	}
	if !to.Running() {
		return f
	}
	if w.alter != nil {
		c.Call = w.alter(from, c.Call)
		f.Call = c.Call
	}
	if w.lag != nil {
		f.Late = w.lag(from, to)
	}
	if w.loses != nil {
		f.Lost, f.Mute = w.loses(from, to, c.Call, false), w.loses(from, to, c.Call, true)
	}
	if f.Lost {
		return f
	}
	if reply, ok := w.scripted(from, to, c); ok {
		err, failed := reply.(error)
		switch {
		case failed:
			queued := err == errQueued
			f.Ended = &node.Answered{Err: err, Peer: to.id, Unsent: queued, Queued: queued}
		case reply != nil:
			f.Ended = &node.Answered{Reply: reply, Peer: to.id}
		default:
			f.Lost = true
		}
	}
	return f
}

// errQueued is the reply to a call that got no connection, because other calls had them all.
var errQueued = errors.New("all connections are in use")

// scripted is the reply to a call that no node answers, if it is one of those.
func (w *network) scripted(from, to *testHost, c node.Call) (reply protocol.Reply, ok bool) {
	if w.intercept != nil {
		if reply, ok := w.intercept(from, to, c.Call); ok {
			return reply, true
		}
	}
	if to.script != nil {
		return to.script(from, c), true
	}
	return nil, false
}

// tracked is a tracker's answer, and puts the caller onto its list.
func (w *network) tracked(tracker string, caller protocol.NodeID) protocol.NodeList {
	var others protocol.NodeList
	known := false
	for _, id := range w.trackers[tracker] {
		if id == caller {
			known = true
		} else {
			others = append(others, id)
		}
	}
	if !known {
		w.trackers[tracker] = append(w.trackers[tracker], caller)
	}
	if len(others) > protocol.MaxNeighborList {
		w.rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		others = others[:protocol.MaxNeighborList]
	}
	return others
}

// serve answers the poll of a host.
func (w *network) serve(h *lab.Host, f node.Fetch) (ev node.Fetched, takes time.Duration) {
	p := w.feeds[f.Feed]
	if p != nil {
		takes = p.slow
	}
	if f.Locate {
		return node.Fetched{Feed: f.Feed, Located: true, Dialed: p != nil && !p.local}, takes
	}
	return w.fetch(w.hosts[h.ID], f), takes
}

func (w *network) fetch(h *testHost, f node.Fetch) node.Fetched {
	p := w.feeds[f.Feed]
	if p == nil || h.blocked[f.Feed] {
		return node.Fetched{Feed: f.Feed, Status: 451, Err: errors.New("HTTP status 451")}
	}
	p.requests++
	p.asked = append(p.asked, w.Now())
	if p.answer != nil {
		ev := p.answer(f)
		ev.Feed = f.Feed
		if ev.Status != 0 && ev.From == "" {
			ev.From = f.At().Host()
		}
		return ev
	}
	if p.err != nil {
		return node.Fetched{Feed: f.Feed, Local: p.local, Err: p.err}
	}
	etag := fmt.Sprintf("%q", fmt.Sprint(len(p.entries), p.edits))
	if f.ETag == etag {
		return node.Fetched{Feed: f.Feed, Local: p.local, ETag: etag}
	}
	doc := &feed.Document{Feed: f.Feed, Title: "Title", Private: p.private, Clients: p.clients}
	first := max(0, len(p.entries)-p.window)
	for i := len(p.entries) - 1; i >= first; i-- {
		doc.Entries = append(doc.Entries, p.entries[i])
	}
	return node.Fetched{Feed: f.Feed, Local: p.local, Document: doc, ETag: etag}
}

// publish adds an entry to a feed.
func (w *network) publish(u feed.URL) feed.EntryID {
	p := w.feed(u)
	e := feed.Entry{
		Feed: u, ID: fmt.Sprintf("%s#%d", u, len(p.entries)), Title: fmt.Sprintf("Entry %d", len(p.entries)),
		Published: w.Now().Truncate(time.Second), Summary: "text",
	}
	p.entries = append(p.entries, e)
	return e.EntryID()
}

func (w *network) feed(u feed.URL) *publisher {
	if w.feeds[u] == nil {
		w.feeds[u] = &publisher{window: 10}
	}
	return w.feeds[u]
}

// next lets the earliest thing happen.
func (w *network) next() { w.Run(w.Next()) }

// run lets d pass.
func (w *network) run(d time.Duration) { w.Run(w.Now().Add(d)) }

// sleep lets d pass while no machine runs.
func (w *network) sleep(d time.Duration) {
	for _, h := range w.list {
		h.asleep = true
	}
	w.run(d)
	for _, h := range w.list {
		h.asleep = false
		h.step(node.Wake{})
	}
}

// full connects n nodes that follow the same feeds with each other through a tracker.
func (w *network) full(n int, c node.Config, feeds ...feed.URL) []*testHost {
	c.Trackers = []string{tracker}
	for range n {
		w.add(c, feeds...)
	}
	w.run(2 * time.Minute)
	return w.list
}

// newAlone is a network of one node, as add starts it.
func newAlone(t *testing.T, c node.Config, feeds ...feed.URL) (w *network, a *testHost) {
	w = newNetwork(t)
	return w, w.add(c, feeds...)
}

// newPair is a network of two nodes as full makes them.
func newPair(t *testing.T, c node.Config, feeds ...feed.URL) (w *network, a, b *testHost) {
	w = newNetwork(t)
	hosts := w.full(2, c, feeds...)
	return w, hosts[0], hosts[1]
}

// add starts a node that follows feeds. Hosts are on networks of their own unless the test says
// otherwise. Nobody is called in truth.
func (w *network) add(c node.Config, feeds ...feed.URL) *testHost {
	i := len(w.list) + 1
	return w.addAt(protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i / 200), byte(i % 200), 7}), 7790), c, feeds...)
}
