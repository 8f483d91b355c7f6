package lab

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// An Actor is a participant as its host sees it: *node.Node is one, and one that misbehaves holds one and
// changes a habit of it. Step and Next are to be as those of a node.
type Actor interface {
	Step(dst []node.Effect, now time.Time, ev node.Event) []node.Effect
	Next() time.Time
}

// A MemberConfig describes a node that joins a World. The zero value of each field means its default.
type MemberConfig struct {
	// Name names the stream of the member's chance; it must be unique. Default "node N", N being its
	// index among the hosts.
	Name string
	// ID is its address. Default: one in a network (/16) of its own.
	ID protocol.NodeID
	// Behind is the address of the router that it is behind, which lets nobody in: such a member has no ID of its own,
	// and may share the address with others. Default: it can be dialled.
	Behind netip.Addr
	// Feeds are those that it subscribes to.
	Feeds []feed.URL
	// Discreet are feeds that it follows without letting others see it; nothing is measured of them.
	Discreet []feed.URL
	// Node is the Config of its node, at each start. Default Config.Node of the World. Port, Secret and
	// Key are set.
	Node *node.Config
	// Actor makes what the host runs in place of n, whose key it gets. It is called anew after every Return. Default:
	// n.
	Actor func(n *node.Node, key ed25519.PrivateKey, rng *rand.Rand) Actor
	// NoPolls has every poll of it fail.
	NoPolls bool
}

// A Host runs one member and carries out its effects.
type Host struct {
	// Fields that every step touches stand together, as most steps find none of them in the processor's cache.
	world        *World
	actor        Actor
	alarm        time.Duration // when it is woken, or never
	index        int
	life         uint32 // counts starts and ends: what was set off in another life is void
	state        hostState
	apart        bool          // on the far side of a Split
	links        int           // neighbors now
	keys         int           // that it had before
	sent         time.Duration // when the last of its messages has left it
	ID           protocol.NodeID
	addressBytes int             // of ID in words
	seen         protocol.NodeID // from which its calls come
	reversed     map[*Host]bool  // to whom it keeps a reverse link open
	reversals    int             // that others keep open to it

	Name     string
	Made     Traffic // calls of its own that were sent
	Received Traffic // calls that reached it, bytes of the answers included
	Polls    PollTraffic

	member    MemberConfig
	rng       *rand.Rand
	store     *archive.Memory
	node      *node.Node
	following []following // its own feeds, in order of their index
	sessions  []Session
	queries   map[uint64]func(node.QueryResults)
	lastQuery uint64
}

type hostState uint8

const (
	running  hostState = iota
	stopped            // the machine runs, the program does not: calls are refused
	vanished           // nothing answers
)

// never is later than everything.
const never = time.Duration(1<<63 - 1)

// Join has a member start now. The error wraps ErrConfig or node.ErrConfig.
func (w *World) Join(m MemberConfig) (*Host, error) {
	index := len(w.hosts)
	if m.Name == "" {
		m.Name = fmt.Sprintf("node %d", index)
	}
	if m.ID.IsZero() {
		m.ID = address(index)
	}
	if w.byID[m.ID] != nil {
		return nil, fmt.Errorf("%w: two members have the address %s", ErrConfig, m.ID)
	}
	h := &Host{
		Name: m.Name, ID: m.ID, seen: m.ID, reversed: make(map[*Host]bool), world: w, index: index,
		addressBytes: len(m.ID.String()), member: m,
		rng: w.config.Seed.Stream(m.Name), store: w.pool.NewMemory(), alarm: never,
	}
	if err := h.follow(m.Feeds); err != nil {
		return nil, err
	}
	if err := h.start(); err != nil {
		return nil, err
	}
	w.hosts = append(w.hosts, h)
	if !h.Unreachable() {
		w.byID[h.ID] = h
	}
	h.step(node.Subscribe{Feeds: m.Feeds})
	if yes := true; len(m.Discreet) > 0 {
		h.step(node.Subscribe{Feeds: m.Discreet, Discreet: &yes})
	}
	return h, nil
}

// address is the address of the member of that index: public, and in a network of its own for the first
// 25,000, so that no rule about networks takes two members for one.
func address(index int) protocol.NodeID {
	const networks = 25_000
	n := index % networks
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{byte(20 + n/256), byte(n % 256), byte(index / networks), 7}),
		protocol.DefaultPort)
}

// start makes a node from what the store knows.
func (h *Host) start() error {
	c := h.world.config.Node
	if h.member.Node != nil {
		c = *h.member.Node
	}
	c.Port, c.Secret = h.seen.Port(), h.world.config.Seed.Secret(h.Name)
	c.Key = ed25519.NewKeyFromSeed(h.world.config.Seed.Secret(fmt.Sprintf("key %d of %s", h.keys, h.Name)))
	h.behind(protocol.NodeKeyOf(c.Key))
	n, err := node.New(h.world.Now(), c, h.store, h.rng)
	if err != nil {
		return fmt.Errorf("start %s: %w", h.Name, err)
	}
	h.node, h.actor = n, n
	if h.member.Actor != nil {
		h.actor = h.member.Actor(n, c.Key, h.rng)
	}
	h.state, h.alarm, h.links = running, never, 0
	h.life++
	h.sessions = append(h.sessions, Session{From: h.world.now, To: never, Served: never})
	return nil
}

// Running reports whether the member takes part now.
func (h *Host) Running() bool { return h.state == running }

// Node is the member's node, for its Status, Neighbors and Feeds. Nobody may step it.
func (h *Host) Node() *node.Node { return h.node }

// Star has the member's owner star an entry. Neighbors hear of it as its node next looks for that.
func (h *Host) Star(u feed.URL, id feed.EntryID) { h.store.Star(u, id) }

// Archive is the archive of the member. Nobody may write to it.
func (h *Host) Archive() *archive.Memory { return h.store }

// Crash has the whole machine vanish without a word: calls to it end at their timeout.
func (h *Host) Crash() { h.end(vanished) }

// Stop ends the program without a word: calls to it are refused at once.
func (h *Host) Stop() { h.end(stopped) }

// Leave ends the program in order: its neighbors are told.
func (h *Host) Leave() {
	if h.Running() {
		h.step(node.Leave{})
		h.end(stopped)
	}
}

func (h *Host) end(s hostState) {
	if h.Running() {
		h.state = s
		h.endReversals()
		h.life++
		h.sessions[len(h.sessions)-1].To = h.world.now
	}
}

// Return has a member that is gone start again, with the archive that it had.
func (h *Host) Return() error {
	if h.Running() {
		return nil
	}
	if err := h.start(); err != nil {
		return err
	}
	h.step(node.Wake{})
	return nil
}

// Tell gives the member's node an event of its owner: node.Subscribe, say.
func (h *Host) Tell(ev node.Event) {
	if h.Running() {
		h.step(ev)
	}
}

// step gives the actor an event and carries out what it wants done. Nothing that comes of an effect
// happens within the step.
func (h *Host) step(ev node.Event) {
	w := h.world
	effects := h.actor.Step(w.effects[:0], w.Now(), ev)
	w.steps++
	w.hash.step(w.now, h.index, ev, len(effects))
	for i, e := range effects {
		switch e := e.(type) {
		case node.Respond:
			w.respond(e)
		case node.Call:
			w.carry(h, e)
		case node.Reverse:
			w.reverse(h, e)
		case node.Release:
			if to := w.byID[e.To]; to != nil {
				h.release(to)
			}
		case node.Fetch:
			w.poll(h, e)
		case node.Search:
			h.search(e)
		case node.QueryResults:
			h.told(e)
		case node.Tell:
			h.noted(e.Note)
		}
		effects[i] = nil
	}
	w.effects = effects
	h.setAlarm()
}

// setAlarm has the node woken when it wants to be.
func (h *Host) setAlarm() {
	next := h.actor.Next()
	if next.IsZero() {
		return
	}
	if at := max(next.Sub(h.world.config.Start), h.world.now); at < h.alarm {
		h.alarm = at
		h.world.queue.Add(at, event{kind: wake, index: int32(h.index), life: h.life})
	}
}

// rings wakes the node at the time for which it asked, unless it wants to sleep on.
func (h *Host) rings() {
	h.alarm = never
	if next := h.actor.Next(); next.IsZero() || next.After(h.world.Now()) {
		h.setAlarm()
		return
	}
	h.step(node.Wake{})
}

// search looks through the archive. It takes a moment, as it would on disk.
func (h *Host) search(e node.Search) {
	records, err := h.store.Search(context.Background(), e.Filter)
	life := h.life
	const took = 5 * time.Millisecond
	h.world.At(h.world.Now().Add(took), func() {
		if h.life == life {
			h.step(node.Searched{ID: e.ID, Records: records, Took: took, Err: err})
		}
	})
}

// errNoPolls is how the polls of a member with NoPolls end.
var errNoPolls = errors.New("HTTP status 503")
