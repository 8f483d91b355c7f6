package node

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/polling"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// A network hosts nodes in virtual time: every call goes through the real codec and takes half the
// round trip each way. Tests script what its publishers publish and who is down.
type network struct {
	t         *testing.T
	now       time.Time
	rng       *rand.Rand
	rtt       time.Duration
	queue     eventHeap
	order     uint64
	hosts     map[protocol.NodeID]*testHost
	list      []*testHost
	feeds     map[feed.URL]*publisher
	trackers  map[string][]protocol.NodeID
	hang      map[protocol.NodeID]bool                                         // nodes that take calls and never answer
	intercept func(from, to *testHost, c protocol.Call) (protocol.Reply, bool) // answers in the host's place
}

// A testHost hosts one node.
type testHost struct {
	net     *network
	id      protocol.NodeID
	node    *Node
	store   *archive.Memory
	config  Config
	waiting map[uint64]func(Respond) // by tag
	tag     uint64
	down    bool
	blocked map[feed.URL]bool // feeds whose publisher refuses this host
	notes   []Note
	calls   []string // methods of the calls it made
	life    int
}

// A publisher serves the newest entries of a feed.
type publisher struct {
	entries  []feed.Entry
	window   int
	private  bool
	clients  []string
	requests int
	err      error
}

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func newNetwork(t *testing.T) *network {
	return &network{
		t: t, now: epoch, rng: rand.New(rand.NewPCG(1, 2)), rtt: 80 * time.Millisecond,
		hosts: make(map[protocol.NodeID]*testHost), feeds: make(map[feed.URL]*publisher), trackers: make(map[string][]protocol.NodeID),
		hang: make(map[protocol.NodeID]bool),
	}
}

// add starts a node that follows feeds. Hosts are on networks of their own unless the test says
// otherwise. Nobody is called in truth.
func (w *network) add(c Config, feeds ...feed.URL) *testHost {
	i := len(w.list) + 1
	return w.addAt(protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i / 200), byte(i % 200), 7}), 7790), c, feeds...)
}

func (w *network) addAt(id protocol.NodeID, c Config, feeds ...feed.URL) *testHost {
	h := &testHost{net: w, id: id, store: archive.NewMemory(), config: c, blocked: make(map[feed.URL]bool)}
	h.config.Port = id.Port()
	if h.config.Policy == nil {
		h.config.Policy = polling.Fixed{Every: time.Hour}
	}
	if h.config.Incentive.Bound == 0 {
		h.config.Incentive.Bound = -1 // only tests that are about the bound have one
	}
	h.config.Secret = []byte("secret of " + id.String())
	w.hosts[id] = h
	w.list = append(w.list, h)
	h.start()
	h.step(Subscribe{Feeds: feeds})
	return h
}

// start makes a node from what the store knows, as after a restart.
func (h *testHost) start() {
	n, err := New(h.net.now, h.config, h.store, rand.New(rand.NewPCG(h.net.rng.Uint64(), h.net.rng.Uint64())))
	if err != nil {
		h.net.t.Fatal(err)
	}
	h.node, h.down, h.waiting = n, false, make(map[uint64]func(Respond))
	h.life++
	h.step(Wake{})
}

// kill ends a node without a word.
func (h *testHost) kill() { h.down = true; h.life++ }

// step gives the node an event and carries out what it wants done.
func (h *testHost) step(ev Event) {
	if h.down {
		return
	}
	for _, e := range h.node.Step(nil, h.net.now, ev) {
		h.carryOut(e)
	}
	life := h.life
	if next := h.node.Next(); !next.IsZero() {
		h.net.at(next, func() {
			if h.life == life && !h.node.Next().After(h.net.now) {
				h.step(Wake{})
			}
		})
	}
}

func (h *testHost) carryOut(e Effect) {
	w, life := h.net, h.life
	alive := func(f func()) func() {
		return func() {
			if h.life == life {
				f()
			}
		}
	}
	switch e := e.(type) {
	case Respond:
		if answer := h.waiting[e.Tag]; answer != nil {
			delete(h.waiting, e.Tag)
			answer(e)
		}
	case Call:
		h.calls = append(h.calls, e.Call.Method())
		w.carry(h, e, func(a Answered) {
			w.at(w.now.Add(w.rtt/2), alive(func() { h.step(a) }))
		})
	case Fetch:
		ev := w.fetch(h, e)
		w.at(w.now.Add(w.rtt), alive(func() { h.step(ev) }))
	case Search:
		records, err := h.store.Search(context.Background(), e.Filter)
		w.at(w.now, alive(func() { h.step(Found{ID: e.ID, Records: records, Err: err}) }))
	case Tell:
		h.notes = append(h.notes, e.Note)
	}
}

// carry takes a call to its target and hands the answer to done, once.
func (w *network) carry(from *testHost, c Call, done func(Answered)) {
	begun := w.now
	answered := false
	end := func(a Answered) {
		if !answered {
			answered = true
			a.ID, a.RTT = c.ID, w.now.Sub(begun)
			done(a)
		}
	}
	w.at(w.now.Add(c.Timeout), func() { end(Answered{Err: context.DeadlineExceeded}) })
	if c.To.Tracker != "" {
		list := w.trackers[c.To.Tracker]
		var others protocol.NodeList
		known := false
		for _, id := range list {
			if id == from.id {
				known = true
			} else {
				others = append(others, id)
			}
		}
		if !known {
			w.trackers[c.To.Tracker] = append(list, from.id)
		}
		end(Answered{Reply: others})
		return
	}
	to := c.To.Node
	if w.hang[to] {
		return // it takes the call and never answers
	}
	if c.To.Host != "" {
		to, _ = protocol.ParseNodeID(c.To.Host)
	}
	w.at(w.now.Add(w.rtt/2), func() {
		h := w.hosts[to]
		if h == nil || h.down {
			end(Answered{Err: errors.New("connection refused")})
			return
		}
		if w.intercept != nil {
			if reply, ok := w.intercept(from, h, c.Call); ok {
				if err, is := reply.(error); is {
					end(Answered{Err: err, Peer: to})
				} else {
					end(Answered{Reply: reply, Peer: to})
				}
				return
			}
		}
		if _, ok := c.Call.(protocol.ListMethods); ok { // the transport answers it
			var names protocol.Methods
			for _, m := range protocol.NodeMethods() {
				names = append(names, m.Name)
			}
			end(Answered{Reply: names, Peer: to})
			return
		}
		call := w.recode(from, c.Call)
		h.ask(from.id, c.Session, call, func(r Respond) {
			if r.Fault != nil {
				end(Answered{Err: &protocol.RemoteError{Code: r.Fault.Code, Text: r.Fault.Text}, Peer: to})
				return
			}
			v, err := xmlrpc.DecodeResponse(protocol.EncodeReply(nil, r.Reply), protocol.AnswerLimits(c.Call.Method()))
			if err != nil {
				w.t.Fatalf("answer to %s: %v", c.Call.Method(), err)
			}
			reply, err := protocol.DecodeReply(c.Call, v)
			if err != nil {
				w.t.Fatalf("answer to %s: %v", c.Call.Method(), err)
			}
			end(Answered{Reply: reply, Session: r.Session, Peer: to})
		})
	})
}

// recode sends the call through the codec.
func (w *network) recode(from *testHost, c protocol.Call) protocol.Call {
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

// ask makes a call to the node, as anybody might.
func (h *testHost) ask(from protocol.NodeID, session string, c protocol.Call, answer func(Respond)) {
	h.tag++
	h.waiting[h.tag] = answer
	h.step(Asked{From: from, Session: session, Call: c, Tag: h.tag})
}

// answerTo makes a call and returns the answer, after as much time as it takes.
func (h *testHost) answerTo(from protocol.NodeID, session string, c protocol.Call) Respond {
	var got *Respond
	h.ask(from, session, c, func(r Respond) { got = &r })
	for i := 0; got == nil && i < 10_000 && len(h.net.queue) > 0; i++ {
		h.net.next()
	}
	if got == nil {
		h.net.t.Fatalf("%s was not answered", c.Method())
	}
	return *got
}

func (w *network) fetch(h *testHost, f Fetch) Fetched {
	p := w.feeds[f.Feed]
	if p == nil || h.blocked[f.Feed] {
		return Fetched{Feed: f.Feed, Err: errors.New("HTTP status 403")}
	}
	p.requests++
	if p.err != nil {
		return Fetched{Feed: f.Feed, Err: p.err}
	}
	etag := fmt.Sprintf("%q", fmt.Sprint(len(p.entries)))
	if f.ETag == etag {
		return Fetched{Feed: f.Feed, ETag: etag}
	}
	doc := &feed.Document{Feed: f.Feed, Title: "Title", Private: p.private, Clients: p.clients}
	first := max(0, len(p.entries)-p.window)
	for i := len(p.entries) - 1; i >= first; i-- {
		doc.Entries = append(doc.Entries, p.entries[i])
	}
	return Fetched{Feed: f.Feed, Document: doc, ETag: etag}
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

// has reports whether the node keeps the entry.
func (h *testHost) has(id feed.EntryID) bool {
	return h.store.Known([]feed.EntryID{id})[0] != feed.Digest{}
}

// linked reports whether both know each other as neighbors.
func linked(a, b *testHost) bool {
	return a.node.links[b.id] != nil && b.node.links[a.id] != nil
}

// at has f called when the time has come.
func (w *network) at(t time.Time, f func()) {
	w.order++
	heap.Push(&w.queue, task{t, w.order, f})
}

type eventHeap = taskHeap

// next lets the earliest thing happen.
func (w *network) next() {
	e := heap.Pop(&w.queue).(task)
	if e.at.After(w.now) {
		w.now = e.at
	}
	e.do()
}

// run lets d pass.
func (w *network) run(d time.Duration) {
	end := w.now.Add(d)
	for len(w.queue) > 0 && !w.queue[0].at.After(end) {
		w.next()
	}
	w.now = end
}

// full connects n nodes that follow the same feeds with each other through a tracker.
func (w *network) full(n int, c Config, feeds ...feed.URL) []*testHost {
	c.Trackers = []string{"http://tracker.example.com/"}
	for _, u := range feeds {
		w.feed(u)
	}
	for range n {
		w.add(c, feeds...)
	}
	w.run(2 * time.Minute)
	return w.list
}

// digest is the digest of the version that the node keeps.
func (h *testHost) digest(id feed.EntryID) feed.Digest { return h.store.Known([]feed.EntryID{id})[0] }

// bundleWith is a bundle of these entries of news.
func bundleWith(entries ...feed.Entry) *protocol.Bundle { return protocol.NewBundle(news, entries) }
