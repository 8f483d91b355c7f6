package node_test

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/lab"
	"feedex/node"
	"feedex/node/internal/core"
	"feedex/node/internal/membership"
	"feedex/polling"
	"feedex/protocol"
)

// A habit makes a participant that misbehaves of a node.
type habit func(n *node.Node) lab.Actor

// A testHost is a lab.Host with what tests script and note of it. It stands between the host and its node, as an actor
// does, or plays a node.
type testHost struct {
	*lab.Host
	net     *network
	id      protocol.NodeID
	node    *node.Node
	store   *archive.Memory
	config  node.Config
	habit   habit                                            // nil for an honest node
	actor   lab.Actor                                        // the node, or the node with that habit
	script  func(from *testHost, c node.Call) protocol.Reply // answers in place of a node; nil for no answer
	within  func(n *node.Node)                               // what the next step does
	waiting map[uint64]func(node.Respond)                    // calls of tests, by tag
	tag     uint64
	asleep  bool
	behind  netip.Addr        // of the router, where nobody can dial it
	ahead   time.Duration     // of its clock
	blocked map[feed.URL]bool // feeds whose publisher refuses this host
	notes   []node.Note
	arrived map[feed.EntryID]time.Time
	calls   []string            // methods of the calls it made
	results []node.QueryResults // of queries of its owner
	pulled  []node.Pulled       // likewise of downloads
	slow    int                 // for how many ids it searches in time, 0 for any number
}

func (w *network) addAt(id protocol.NodeID, c node.Config, feeds ...feed.URL) *testHost {
	h := &testHost{
		net: w, id: id, config: c, habit: w.habit, waiting: make(map[uint64]func(node.Respond)),
		blocked: make(map[feed.URL]bool), arrived: make(map[feed.EntryID]time.Time),
	}
	if h.config.Policy == nil {
		h.config.Policy = polling.Fixed{Every: time.Hour}
	}
	if h.config.Incentive.Bound == 0 {
		h.config.Incentive.Bound = -1 // only tests that are about the bound have one
	}
	w.hosts[id] = h
	w.list = append(w.list, h)
	for _, u := range feeds {
		w.feed(u)
	}
	h.join()
	h.step(node.Subscribe{Feeds: feeds})
	return h
}

// join has the host take part, with an archive of its own.
func (h *testHost) join() {
	actor := func(n *node.Node, _ ed25519.PrivateKey, _ *rand.Rand) lab.Actor {
		if h.script == nil {
			h.node, h.actor = n, n
		}
		if h.habit != nil {
			h.actor = h.habit(n)
		}
		return h
	}
	host, err := h.net.Join(lab.MemberConfig{ID: h.id, Behind: h.behind, Node: &h.config, Actor: actor})
	if err != nil {
		h.net.t.Fatal(err)
	}
	h.Host, h.store = host, host.Archive()
}

// play adds a host that is no node: it answers as the script says, an error for a call that fails, nil to
// let the caller wait.
func (w *network) play(id protocol.NodeID, script func(from *testHost, c node.Call) protocol.Reply) *testHost {
	if h := w.hosts[id]; h != nil {
		h.script = script
		return h
	}
	h := &testHost{net: w, id: id, script: script}
	w.hosts[id] = h
	h.join()
	return h
}

// start makes a node from what the store knows, as after a restart.
func (h *testHost) start() {
	h.Stop()
	if err := h.Return(); err != nil {
		h.net.t.Fatal(err)
	}
}

// loseArchive has a host that does not run start anew, with nothing in its archive.
func (h *testHost) loseArchive() {
	nowhere := protocol.NewNodeID(netip.AddrFrom4([4]byte{19, 0, 0, byte(len(h.net.Hosts()))}), 7790)
	if err := h.Move(nowhere); err != nil {
		h.net.t.Fatal(err)
	}
	h.join()
}

// noticed is how soon a neighbor that died is known to be gone where there is nothing to say: it is asked, and twice
// again.
const noticed = membership.Silence + membership.Silence/4 + 3*core.CallTimeout + 4*core.ProbeIn

// kill ends a node without a word.
func (h *testHost) kill() { h.Stop() }

// step gives the node an event and carries out what it wants done.
func (h *testHost) step(ev node.Event) {
	h.Tell(ev)
	h.net.handOver()
}

// Next implements lab.Actor.
func (h *testHost) Next() time.Time {
	if h.script != nil || h.asleep || h.actor.Next().IsZero() {
		return time.Time{}
	}
	return h.actor.Next().Add(-h.ahead)
}

// Step implements lab.Actor.
func (h *testHost) Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect {
	if h.script != nil || h.asleep {
		return dst
	}
	now = now.Add(h.ahead)
	var effects []node.Effect
	if f := h.within; f != nil {
		h.within = nil
		effects = h.node.Within(now, f)
	} else {
		effects = h.actor.Step(nil, now, ev)
	}
	if h.net.watch != nil {
		h.net.watch(h, ev, effects)
	}
	for _, e := range effects {
		if h.note(now, e) {
			dst = append(dst, e)
		}
	}
	return dst
}

// note notes what a test may want to know of an effect, and reports whether it is the host's to carry out.
func (h *testHost) note(now time.Time, e node.Effect) bool {
	switch e := e.(type) {
	case node.Respond:
		if e.Tag&ofTest == 0 {
			return true
		}
		if answer := h.waiting[e.Tag]; answer != nil {
			delete(h.waiting, e.Tag)
			h.net.answers = append(h.net.answers, func() { answer(e) })
			h.net.At(h.net.Now(), h.net.handOver)
		}
		return false
	case node.Call:
		h.calls = append(h.calls, e.Call.Method())
	case node.Search:
		if h.slow > 0 && len(e.Filter.IDs) > h.slow {
			h.net.At(h.net.Now(), func() { h.step(node.Searched{ID: e.ID, Err: context.DeadlineExceeded}) })
			return false
		}
	case node.QueryResults:
		h.results = append(h.results, e)
	case node.Pulled:
		h.pulled = append(h.pulled, e)
	case node.Tell:
		h.notes = append(h.notes, e.Note)
		if a, ok := e.Note.(node.Arrived); ok {
			for _, r := range a.Records {
				h.arrived[r.ID] = h.net.Now()
			}
		}
	}
	return true
}

// handOver has the tests hear of the answers to their calls, once the step is over that gave them.
func (w *network) handOver() {
	for len(w.answers) > 0 {
		answer := w.answers[0]
		w.answers = w.answers[1:]
		answer()
	}
}

// inside has f act on the node as a step of its own would, and carries out what comes of it.
func (h *testHost) inside(f func(n *node.Node)) {
	h.within = f
	h.step(node.Wake{})
}

// ofTest marks the tags of calls that a test makes.
const ofTest = 1 << 63

// ask makes a call to the node, as anybody might.
func (h *testHost) ask(from protocol.NodeID, session string, c protocol.Call, answer func(node.Respond)) {
	h.tag++
	h.waiting[ofTest|h.tag] = answer
	h.step(node.Asked{From: from, Session: session, Call: c, Tag: ofTest | h.tag})
}

// askedBy makes a call to the node in the name of its neighbor from.
func (h *testHost) askedBy(from *testHost, c protocol.Call, answer func(node.Respond)) {
	l := h.node.LinkTo(from.id)
	if l == nil {
		h.net.t.Fatalf("%s is no neighbor of %s", from.id, h.id)
	}
	h.ask(from.id, l.Session, c, answer)
}

// answerTo makes a call and returns the answer, after as much time as it takes.
func (h *testHost) answerTo(from protocol.NodeID, session string, c protocol.Call) node.Respond {
	var got *node.Respond
	h.ask(from, session, c, func(r node.Respond) { got = &r })
	for i := 0; got == nil && i < 10_000 && !h.net.Next().IsZero(); i++ {
		h.net.next()
	}
	if got == nil {
		h.net.t.Fatalf("%s was not answered", c.Method())
	}
	return *got
}

// hears makes a call to the node in the name of its neighbor from, and returns the answer.
func (h *testHost) hears(from *testHost, c protocol.Call) node.Respond {
	l := h.node.LinkTo(from.id)
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
		h.node.Witness(h.net.Now(), other.id)
	}
}

// poll has the node find out now what is new in a feed.
func (h *testHost) poll(u feed.URL) {
	s := h.node.Subscription(u)
	s.Polling, s.Begun = true, h.net.Now()
	h.step(h.net.fetch(h, node.Fetch{Feed: u}))
}

// offerAll has the node offer the bundle to all that want it, as if it had it.
func (h *testHost) offerAll(b *protocol.Bundle) {
	h.inside(func(n *node.Node) { n.Spread(b) })
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

// chosen counts the neighbors that the node asked itself.
func (h *testHost) chosen() (count int) {
	for _, s := range h.node.Neighbors() {
		if s.Chosen {
			count++
		}
	}
	return count
}

// stored is the archive's record of a feed.
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
	friend := h.net.hosts[id]
	if friend == nil {
		friend = h.net.play(id, func(*testHost, node.Call) protocol.Reply { return nil })
	}
	var subset protocol.Subset
	for _, u := range feeds {
		subset = append(subset, protocol.Interest{Feed: u})
	}
	h.inside(func(n *node.Node) {
		n.Join(id, false, "token of "+id.String(), subset)
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

// status is the node's report about its neighbor.
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
