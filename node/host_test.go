package node_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/membership"
	"feedex/polling"
	"feedex/protocol"
)

// A testHost hosts one node, or plays one.
type testHost struct {
	net     *network
	id      protocol.NodeID
	node    *node.Node
	store   *archive.Memory
	config  node.Config
	seeds   [2]uint64                                        // of the node's chance
	script  func(from *testHost, c node.Call) protocol.Reply // answers in place of a node; nil for no answer
	waiting map[uint64]func(node.Respond)                    // by tag
	tag     uint64
	down    bool
	blocked map[feed.URL]bool // feeds whose publisher refuses this host
	notes   []node.Note
	arrived map[feed.EntryID]time.Time
	calls   []string       // methods of the calls it made
	results []node.Results // of queries of its owner
	pulled  []node.Pulled  // likewise of downloads
	alarm   time.Time      // when the node is woken
	life    int
	slow    int // for how many ids it searches in time, 0 for any number
}

func (w *network) addAt(id protocol.NodeID, c node.Config, feeds ...feed.URL) *testHost {
	h := &testHost{
		net: w, id: id, store: archive.NewMemory(), config: c,
		blocked: make(map[feed.URL]bool), arrived: make(map[feed.EntryID]time.Time),
	}
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
	h.step(node.Subscribe{Feeds: feeds})
	return h
}

// play adds a host that is no node: it answers as the script says, an error for a call that fails, nil to
// let the caller wait.
func (w *network) play(id protocol.NodeID, script func(from *testHost, c node.Call) protocol.Reply) *testHost {
	h := &testHost{net: w, id: id, script: script}
	w.hosts[id] = h
	return h
}

// start makes a node from what the store knows, as after a restart.
func (h *testHost) start() {
	h.seeds = [2]uint64{h.net.rng.Uint64(), h.net.rng.Uint64()}
	n, err := node.New(h.net.now, h.config, h.store, rand.New(rand.NewPCG(h.seeds[0], h.seeds[1])))
	if err != nil {
		h.net.t.Fatal(err)
	}
	h.node, h.down, h.alarm, h.waiting = n, false, time.Time{}, make(map[uint64]func(node.Respond))
	h.life++
	h.step(node.Wake{})
}

// noticed is how soon a neighbor that died is known to be gone where there is nothing to say: it is asked, and twice
// again.
const noticed = membership.Silence + membership.Silence/4 + 3*core.CallTimeout + 4*core.ProbeIn

// kill ends a node without a word.
func (h *testHost) kill() { h.down = true; h.life++ }

// step gives the node an event and carries out what it wants done.
func (h *testHost) step(ev node.Event) {
	if h.down {
		return
	}
	effects := h.node.Step(nil, h.net.now, ev)
	if h.net.watch != nil {
		h.net.watch(h, ev, effects)
	}
	for _, e := range effects {
		h.carryOut(e)
	}
	h.setAlarm()
}

// setAlarm has the node woken when it wants to be. An alarm that was set before and came to nothing stays
// silent.
func (h *testHost) setAlarm() {
	next, life := h.node.Next(), h.life
	if next.IsZero() || next.Equal(h.alarm) {
		return
	}
	h.alarm = next
	h.net.at(next, func() {
		if h.life == life && h.alarm.Equal(next) {
			h.alarm = time.Time{}
			h.step(node.Wake{})
		}
	})
}

func (h *testHost) carryOut(e node.Effect) {
	w, life := h.net, h.life
	alive := func(f func()) func() {
		return func() {
			if h.life == life {
				f()
			}
		}
	}
	switch e := e.(type) {
	case node.Respond:
		if answer := h.waiting[e.Tag]; answer != nil {
			delete(h.waiting, e.Tag)
			answer(e)
		}
	case node.Call:
		h.calls = append(h.calls, e.Call.Method())
		w.carry(h, e, func(a node.Answered) {
			w.at(w.now.Add(w.rtt/2), alive(func() { h.step(a) }))
		})
	case node.Fetch:
		ev, takes := w.fetch(h, e), w.rtt
		if p := w.feeds[e.Feed]; p != nil {
			takes += p.slow
		}
		w.at(w.now.Add(takes), alive(func() { h.step(ev) }))
	case node.Search:
		records, err := h.store.Search(context.Background(), e.Filter)
		if h.slow > 0 && len(e.Filter.IDs) > h.slow {
			records, err = nil, context.DeadlineExceeded
		}
		w.at(w.now, alive(func() { h.step(node.Found{ID: e.ID, Records: records, Err: err}) }))
	case node.Results:
		h.results = append(h.results, e)
	case node.Pulled:
		h.pulled = append(h.pulled, e)
	case node.Tell:
		h.notes = append(h.notes, e.Note)
		if a, ok := e.Note.(node.Arrived); ok {
			for _, r := range a.Records {
				h.arrived[r.ID] = w.now
			}
		}
	}
}

// inside has f act on the node as a step of its own would, and carries out what comes of it.
func (h *testHost) inside(f func(n *node.Node)) {
	h.node.Core().Now, h.node.Core().Effects = h.net.now, nil
	f(h.node)
	effects := h.node.Core().Effects
	h.node.Core().Effects = nil
	for _, e := range effects {
		h.carryOut(e)
	}
	h.step(node.Wake{})
}

// ask makes a call to the node, as anybody might.
func (h *testHost) ask(from protocol.NodeID, session string, c protocol.Call, answer func(node.Respond)) {
	h.tag++
	h.waiting[h.tag] = answer
	h.step(node.Asked{From: from, Session: session, Call: c, Tag: h.tag})
}

// askedBy makes a call to the node in the name of its neighbor from.
func (h *testHost) askedBy(from *testHost, c protocol.Call, answer func(node.Respond)) {
	l := h.node.Core().LinkTo(from.id)
	if l == nil {
		h.net.t.Fatalf("%s is no neighbor of %s", from.id, h.id)
	}
	h.ask(from.id, l.Session, c, answer)
}

// answerTo makes a call and returns the answer, after as much time as it takes.
func (h *testHost) answerTo(from protocol.NodeID, session string, c protocol.Call) node.Respond {
	var got *node.Respond
	h.ask(from, session, c, func(r node.Respond) { got = &r })
	for i := 0; got == nil && i < 10_000 && h.net.queue.Tasks.Len() > 0; i++ {
		h.net.next()
	}
	if got == nil {
		h.net.t.Fatalf("%s was not answered", c.Method())
	}
	return *got
}

// hears makes a call to the node in the name of its neighbor from, and returns the answer.
func (h *testHost) hears(from *testHost, c protocol.Call) node.Respond {
	l := h.node.Core().LinkTo(from.id)
	if l == nil {
		h.net.t.Fatalf("%s is no neighbor of %s", from.id, h.id)
	}
	return h.answerTo(from.id, l.Session, c)
}

// put delivers a bundle to h in the name of its neighbor from.
func (h *testHost) put(from *testHost, b *protocol.Bundle) node.Respond {
	return h.hears(from, protocol.PutEntries{Bundle: b})
}

// hasHeard has the node have learned of the others, by own polls, that they bring what is true: they are witnesses.
func (h *testHost) hasHeard(others ...*testHost) {
	for _, other := range others {
		h.node.Exchange().Hearsay.Witnesses.Earned(h.net.now, other.id)
	}
}

// poll has the node find out now what is new in a feed.
func (h *testHost) poll(u feed.URL) {
	s := h.node.Poller().Feeds[u]
	s.Polling, s.Begun = true, h.net.now
	h.step(h.net.fetch(h, node.Fetch{Feed: u}))
}

// offerAll has the node offer the bundle to all that want it, as if it had it.
func (h *testHost) offerAll(b *protocol.Bundle) {
	h.inside(func(n *node.Node) { n.Exchange().Spread(b, protocol.NodeID{}) })
}

// has reports whether the node keeps the entry.
func (h *testHost) has(id feed.EntryID) bool { return h.digest(id) != feed.Digest{} }

// digest is the digest of the version that the node keeps.
func (h *testHost) digest(id feed.EntryID) feed.Digest {
	return h.store.Known([]feed.EntryID{id})[0].Digest
}

// suspects counts what the node noted against the peer.
func (h *testHost) suspects(peer protocol.NodeID) (count int) {
	for _, note := range h.notes {
		if s, ok := note.(node.Suspect); ok && s.Peer == peer {
			count++
		}
	}
	return count
}

// neighborOf reports whether the node has a neighbor of that id.
func (h *testHost) neighborOf(id protocol.NodeID) bool {
	return slices.ContainsFunc(h.node.Neighbors(), func(s node.NeighborStatus) bool { return s.ID == id })
}

// stored is what the archive has of a feed.
func (h *testHost) stored(u feed.URL) archive.Feed {
	feeds := h.store.LoadFeeds()
	i := slices.IndexFunc(feeds, func(f archive.Feed) bool { return f.URL == u })
	if i < 0 {
		h.net.t.Fatalf("%s keeps nothing of %s", h.id, u)
	}
	return feeds[i]
}

// linked reports whether both know each other as neighbors.
func linked(a, b *testHost) bool { return a.neighborOf(b.id) && b.neighborOf(a.id) }

// count counts the calls of a method.
func count(calls []string, method string) (n int) {
	for _, c := range calls {
		if c == method {
			n++
		}
	}
	return n
}

// bundleWith is a bundle of these entries of news.
func bundleWith(entries ...feed.Entry) *protocol.Bundle { return protocol.NewBundle(news, entries) }

// one is a bundle of one entry of news with that id.
func one(id string) *protocol.Bundle {
	return bundleWith(feed.Entry{Feed: news, ID: id, Title: "T", Published: epoch})
}

// befriend makes the node a neighbor of somebody who follows feeds and never answers a call.
func (h *testHost) befriend(id protocol.NodeID, feeds ...feed.URL) *testHost {
	friend := h.net.play(id, func(*testHost, node.Call) protocol.Reply { return nil })
	var subset protocol.Subset
	for _, u := range feeds {
		subset = append(subset, protocol.Interest{Feed: u})
	}
	h.inside(func(n *node.Node) {
		n.Membership().Join(id, false, "", n.Membership().Token(id), "token of "+id.String(), subset,
			n.Core().Table.Offer(id))
	})
	return friend
}

// record is the entry as the node keeps it.
func (h *testHost) record(id feed.EntryID) archive.Record {
	found, err := h.store.Search(context.Background(), feed.Filter{IDs: []feed.EntryID{id}})
	if err != nil || len(found) != 1 {
		h.net.t.Fatalf("%s keeps %d records of %s (%v)", h.id, len(found), id, err)
	}
	return found[0]
}

// status is what the node says about its neighbor.
func (h *testHost) status(of *testHost) node.NeighborStatus {
	for _, s := range h.node.Neighbors() {
		if s.ID == of.id {
			return s
		}
	}
	h.net.t.Fatalf("%s is no neighbor of %s", of.id, h.id)
	return node.NeighborStatus{}
}

// did is the i-th of many dids.
func did(i int) (d protocol.DID) {
	binary.BigEndian.PutUint32(d[:], uint32(i))
	return d
}
