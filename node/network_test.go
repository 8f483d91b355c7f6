package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// A network hosts nodes in virtual time: every call goes through the real codec, unless there are too many of them, and
// takes half the round trip each way. Tests script what its publishers publish and which nodes are down.
type network struct {
	t        *testing.T
	now      time.Time
	rng      *rand.Rand
	rtt      time.Duration
	queue    core.Timers
	hosts    map[protocol.NodeID]*testHost
	list     []*testHost
	feeds    map[feed.URL]*publisher
	trackers map[string][]protocol.NodeID
	hang     map[protocol.NodeID]bool // nodes that take calls and never answer
	direct   bool                     // calls and answers are handed over as they are

	// What may come between a call and the host that it is for. A nil reply means that no answer comes.
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

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func newNetwork(t *testing.T) *network {
	return &network{
		queue: core.NewTimers(epoch),
		t:     t, now: epoch, rng: rand.New(rand.NewPCG(1, 2)), rtt: 80 * time.Millisecond,
		hosts: make(map[protocol.NodeID]*testHost), feeds: make(map[feed.URL]*publisher),
		trackers: make(map[string][]protocol.NodeID),
		hang:     make(map[protocol.NodeID]bool),
	}
}

// carry takes a call to its target and hands the answer to done, once.
func (w *network) carry(from *testHost, c node.Call, done func(node.Answered)) {
	begun := w.now
	answered := false
	end := func(a node.Answered) {
		if !answered {
			answered = true
			a.ID, a.RTT = c.ID, w.now.Sub(begun)
			done(a)
		}
	}
	w.at(w.now.Add(c.Timeout), func() { end(node.Answered{Err: context.DeadlineExceeded}) })
	switch c.To.Tracker {
	case "":
	case deadTracker:
		end(node.Answered{Err: errors.New("connection refused"), Unsent: true})
		return
	default:
		end(node.Answered{Reply: w.tracked(c.To.Tracker, from.id)})
		return
	}
	to := c.To.Node
	if c.To.Host != "" {
		to, _ = protocol.ParseNodeID(c.To.Host)
	}
	if w.hang[to] {
		return // it takes the call and never answers
	}
	if w.alter != nil {
		c.Call = w.alter(from, c.Call)
	}
	takes := w.rtt / 2
	if h := w.hosts[to]; h != nil && w.lag != nil {
		takes += w.lag(from, h)
	}
	w.at(w.now.Add(takes), func() {
		h := w.hosts[to]
		if h == nil || h.down {
			end(node.Answered{Err: errors.New("connection refused"), Unsent: true})
			return
		}
		if w.loses != nil && w.loses(from, h, c.Call, false) {
			return
		}
		if reply, ok := w.scripted(from, h, c); ok {
			if err, is := reply.(error); is {
				queued := err == errQueued
				end(node.Answered{Err: err, Peer: to, Unsent: queued, Queued: queued})
			} else if reply != nil {
				end(node.Answered{Reply: reply, Peer: to})
			}
			return
		}
		call := w.recode(from, c.Call)
		h.ask(from.id, c.Session, call, func(r node.Respond) {
			if w.loses != nil && w.loses(from, h, c.Call, true) {
				return
			}
			if r.Fault != nil {
				end(node.Answered{Err: &protocol.RemoteError{Code: r.Fault.Code, Text: r.Fault.Text}, Peer: to})
				return
			}
			end(node.Answered{Reply: w.recodeReply(c.Call, r.Reply), Session: r.Session, Peer: to})
		})
	})
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
	if _, ok := c.Call.(protocol.ListMethods); ok { // the transport answers it
		var names protocol.Methods
		for _, m := range protocol.NodeMethods() {
			names = append(names, m.Name)
		}
		return names, true
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

// recode sends the call through the codec.
func (w *network) recode(from *testHost, c protocol.Call) protocol.Call {
	if w.direct {
		return c
	}
	raw, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, from.id.Port(), c), protocol.CallLimits(c.Method()))
	if err != nil {
		w.t.Fatalf("%s: %v", c.Method(), err)
	}
	_, call, err := protocol.DecodeCall(raw)
	if err != nil {
		w.t.Fatalf("%s: %v", c.Method(), err)
	}
	return call
}

// recodeReply sends the answer to c through the codec.
func (w *network) recodeReply(c protocol.Call, r protocol.Reply) protocol.Reply {
	if w.direct {
		return r
	}
	v, err := xmlrpc.DecodeResponse(protocol.EncodeReply(nil, r), protocol.AnswerLimits(c.Method()))
	if err != nil {
		w.t.Fatalf("answer to %s: %v", c.Method(), err)
	}
	reply, err := protocol.DecodeReply(c, v)
	if err != nil {
		w.t.Fatalf("answer to %s: %v", c.Method(), err)
	}
	return reply
}

func (w *network) fetch(h *testHost, f node.Fetch) node.Fetched {
	p := w.feeds[f.Feed]
	if p == nil || h.blocked[f.Feed] {
		return node.Fetched{Feed: f.Feed, Status: 451, Err: errors.New("HTTP status 451")}
	}
	p.requests++
	p.asked = append(p.asked, w.now)
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
		Published: w.now.Truncate(time.Second), Summary: "text",
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

// at has f called when the time has come.
func (w *network) at(t time.Time, f func()) {
	w.queue.Add(t, f)
}

// next lets the earliest thing happen.
func (w *network) next() {
	if at := w.queue.Next(); at.After(w.now) {
		w.now = at
	}
	w.queue.Tasks.Take().Value()
}

// run lets d pass.
func (w *network) run(d time.Duration) {
	end := w.now.Add(d)
	for w.queue.Tasks.Len() > 0 && !w.queue.Next().After(end) {
		w.next()
	}
	w.now = end
}

// full connects n nodes that follow the same feeds with each other through a tracker.
func (w *network) full(n int, c node.Config, feeds ...feed.URL) []*testHost {
	c.Trackers = []string{tracker}
	for _, u := range feeds {
		w.feed(u)
	}
	for range n {
		w.add(c, feeds...)
	}
	w.run(2 * time.Minute)
	return w.list
}

// add starts a node that follows feeds. Hosts are on networks of their own unless the test says
// otherwise. Nobody is called in truth.
func (w *network) add(c node.Config, feeds ...feed.URL) *testHost {
	i := len(w.list) + 1
	return w.addAt(protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i / 200), byte(i % 200), 7}), 7790), c, feeds...)
}
