package daemon

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"feedex/archive"
	"feedex/internal/diskcache"
	"feedex/invitation"
	"feedex/lan"
	"feedex/node"
	"feedex/notify"
	"feedex/protocol"
	"feedex/reader/websub"
	"feedex/reading"
	"feedex/transport"
)

const (
	// maxArrivals is how many events may wait for the loop; peers' calls beyond that are refused.
	maxArrivals = 1024
	// maxBatch is how many events are stepped before they are committed together, at most, and maxBatchWeight how much
	// they weigh, but for the last: a dozen milliseconds.
	maxBatch       = 256
	maxBatchWeight = 1 << 20
	// maxFetching is how many polls are under way at a time, each at another host.
	maxFetching = 256
)

// A caller carries out calls to peers and trackers: a transport.Client.
type caller interface {
	Call(ctx context.Context, addr, session string, call protocol.Call) (transport.Result, error)
	Reverse(ctx context.Context, to protocol.NodeID) (*transport.ReverseLink, error)
}

// A fetcher polls feeds: a fetch.Client.
type fetcher interface {
	Fetch(ctx context.Context, f node.Fetch) node.Fetched
}

// A host runs one node. Its loop goroutine owns the fields of the second group.
type host struct {
	filing
	config      Config
	store       reading.Database
	housekeeper archive.Housekeeper
	stirred     chan struct{} // something was stored that housekeeping may have to do with
	client      caller
	fetcher     fetcher
	getter      getter
	shown       *diskcache.Files // pictures that pages showed lately
	texts       *fullTexts       // nil before run
	sites       siteFinder
	hub         *websub.Hub    // nil before run
	teller      *notify.Teller // likewise
	events      chan arrival
	chores      chan func()   // what concerns the archive and not the node
	fetching    chan struct{} // a place each for maxFetching polls
	searching   chan struct{} // a place each for searches under way for neighbors
	workers     sync.WaitGroup
	started     time.Time
	at          Addresses
	lastQuery   atomic.Uint64 // tag of the owner's latest query
	prefetched  prefetched    // for first polls
	polled      signal        // that a feed was polled, or that it will not be
	callers     callers       // of the reader address
	known       acquaintances // places are kept for them
	changes     atomic.Uint64 // counts what pages of the owner may want to show
	news        atomic.Uint64 // counts what there may be to read anew, for everybody
	writes      sync.Map      // by person, how often something of theirs was written
	self        atomic.Pointer[protocol.NodeID]
	peers       http.Handler       // answers the calls of other nodes
	hosting     *transport.Hosting // nil for none
	meter       *transport.Meter   // of what passes between the node and others
	meetings    *meetings
	sources     *sources
	dialled     atomic.Pointer[time.Time] // when somebody last dialled the node, nil for never
	forwarding  opening                   // by IPv4
	firewall    opening                   // by IPv6
	health      health
	onLAN       *lan.Responder // nil for none

	reversed map[protocol.NodeID]*reversed // reverse links that are open, or being opened

	node     *node.Node // nil while nothing can be stored
	clock    clock
	rng      *rand.Rand
	life     uint64 // counts the cores: the completions of an earlier one are dropped
	lastTag  uint64
	asked    map[uint64]chan<- transport.Response // calls of peers that are not answered
	storage  storage
	goodbyes goodbyes
	heard    map[uint64]heard // what comes of queries and downloads of the owner, by tag
}

// An arrival is something for the loop: an event for the node, or a question about it.
type arrival struct {
	event   node.Event
	life    uint64                    // the core that event answers; 0 where it is not an answer
	reply   chan<- transport.Response // to the caller, where event is an Asked; one answer fits in
	look    func(n *node.Node)        // to be called between two steps, or behind event and in its step
	stored  chan<- error              // told once what event brought about is durable, where not nil
	heard   heard                     // what comes of event, if that is a Query, a Pull or a Join
	goodbye bool                      // event says how a call ended that was a goodbye
}

// newHost makes a host that has no core yet. c has its defaults.
func newHost(c Config, store reading.Database, keeping archive.Housekeeper, client caller, fetcher fetcher) *host {
	h := &host{
		config: c, store: store, housekeeper: keeping, client: client, fetcher: fetcher, sites: c.sites,
		meetings: newMeetings(&c), sources: newSources(&c),
		stirred: make(chan struct{}, 1),

		forwarding: opening{asked: make(chan struct{})}, firewall: opening{asked: make(chan struct{})},
		rng:      rand.New(rand.NewPCG(seed(), seed())),
		events:   make(chan arrival, maxArrivals),
		chores:   make(chan func()),
		fetching: make(chan struct{}, maxFetching),
		// half of those that the archive has at a time: others are for the owner
		searching: make(chan struct{}, min(2, runtime.GOMAXPROCS(0))),
		started:   time.Now(),
		heard:     make(map[uint64]heard),
		reversed:  make(map[protocol.NodeID]*reversed),
	}
	h.filing = filing{store, h.write, c.Data, func() { h.changes.Add(1); h.wakeTeller() }}
	return h
}

// loop steps the node until ctx ends.
func (h *host) loop(ctx context.Context) {
	wake := time.NewTimer(0)
	defer wake.Stop()
	batch := make([]arrival, 0, maxBatch)
	var effects []node.Effect
	for {
		h.config.Turned()
		select {
		case <-ctx.Done():
			return
		case work := <-h.chores:
			work()
		case <-wake.C:
			if due := h.next(); !due.IsZero() && !due.After(h.clock.now(time.Now())) {
				batch = append(batch, arrival{event: node.Wake{}})
			} // else the nap is over
		case a := <-h.events:
			batch = append(batch, a)
		}
		if len(batch) > 0 {
			batch = h.drain(batch)
			effects = h.step(ctx, effects[:0], batch)
			clear(batch)
			clear(effects)
			batch = batch[:0]
			h.stir()
		}
		// Each of these may have changed the time at which the loop is needed next.
		wake.Reset(h.nap(time.Now()))
	}
}

// drain adds the arrivals that wait already, so that they share one commit: as many as weigh little together.
func (h *host) drain(batch []arrival) []arrival {
	for weight := weightOf(batch[0].event); weight < maxBatchWeight &&
		len(batch) < maxBatch; weight += weightOf(batch[len(batch)-1].event) {
		select {
		case a := <-h.events:
			batch = append(batch, a)
		default:
			return batch
		}
	}
	return batch
}

// step gives the batch to the node, makes what it stored durable, and carries out its effects.
func (h *host) step(ctx context.Context, effects []node.Effect, batch []arrival) []node.Effect {
	now := h.clock.now(time.Now())
	for i := range batch {
		if batch[i].goodbye {
			h.goodbyes.ended()
		}
	}
	if h.node == nil && !h.recover(now) {
		h.turnAway(batch)
		return effects
	}
	for i := range batch {
		a := &batch[i]
		switch ev := a.event.(type) {
		case nil:
			a.look(h.node)
			continue
		case node.Asked:
			h.lastTag++
			ev.Tag = h.lastTag
			h.asked[ev.Tag] = a.reply
			a.event = ev
		}
		if a.life != 0 && a.life != h.life {
			continue
		}
		switch q := a.event.(type) {
		case node.OwnerQuery:
			h.heard[q.Tag] = a.heard
		case node.EndQuery:
			delete(h.heard, q.Tag)
		case node.Pull:
			h.heard[q.Tag] = a.heard
		case node.EndPull:
			delete(h.heard, q.Tag)
		case node.Join:
			h.heard[q.Tag] = a.heard
		}
		effects = h.node.Step(effects, now, a.event)
		if a.look != nil {
			a.look(h.node)
		}
	}
	self := h.node.Self()
	h.self.Store(&self)
	err := h.commit()
	for _, a := range batch {
		if a.stored != nil {
			a.stored <- err
		}
	}
	if err != nil {
		return effects[:0]
	}
	for _, e := range effects {
		h.carryOut(ctx, now, e)
	}
	return effects
}

// next is when the loop wants to be woken.
func (h *host) next() time.Time {
	if h.node == nil {
		return h.storage.retry
	}
	return h.node.Next()
}

// nap is for how long the loop may rest until it looks at the clock again, as a timer counts. It may be negative.
func (h *host) nap(now time.Time) time.Duration {
	nap := longestNap
	if due := h.next(); !due.IsZero() {
		nap = min(nap, due.Sub(h.clock.now(now)))
	}
	return nap
}

// send hands an arrival to the loop and reports whether it was taken before ctx ended.
func (h *host) send(ctx context.Context, a arrival) bool {
	select {
	case h.events <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// serve answers a peer's call. A full queue is a refusal: the peer may come again, we must not fall
// over.
func (h *host) serve(ctx context.Context, r transport.Request) transport.Response {
	if put, ok := r.Call.(protocol.PutEntries); ok {
		_ = put.Bundle.Verify() // here, where nobody waits for it; the node asks again and decides
	}
	if !r.Reversed {
		h.noteDialled(r.From)
	}
	reply := make(chan transport.Response, 1)
	a := arrival{
		event: node.Asked{From: r.From, Session: r.Session, Call: r.Call, Reversed: r.Reversed}, reply: reply,
	}
	select {
	case h.events <- a:
	default:
		return transport.Response{Fault: protocol.Faultf(protocol.Busy, "too many calls wait; try again later")}
	}
	select {
	case resp := <-reply:
		return resp
	case <-ctx.Done():
		return transport.Response{Fault: protocol.Faultf(protocol.Busy, "the call was not answered in time")}
	}
}

// carryOut does what the node wants done. Work that takes time runs in a goroutine of its own; the node bounds how many
// calls it has open, polls and searches wait for a place.
func (h *host) carryOut(ctx context.Context, now time.Time, e node.Effect) {
	switch e := e.(type) {
	case node.Respond:
		h.respond(e)
	case node.Call:
		life, goodbye := h.life, isGoodbye(e.Call)
		if goodbye {
			h.goodbyes.begun()
		}
		h.workers.Go(func() {
			h.send(ctx, arrival{event: h.call(ctx, e), life: life, goodbye: goodbye})
		})
	case node.Reverse:
		h.reverse(ctx, e)
	case node.Release:
		h.release(e.To)
	case node.Fetch:
		h.inPlace(ctx, h.fetching, func() node.Event {
			if got, ok := h.prefetched.take(e, time.Now()); ok && !e.Locate {
				return got
			}
			return h.fetcher.Fetch(ctx, e)
		})
	case node.Search:
		h.inPlace(ctx, h.searching, func() node.Event { return h.search(ctx, e) })
	case node.QueryResults:
		h.tellOwner(e.Tag, e)
	case node.Pulled:
		h.tellOwner(e.Tag, e)
	case node.Joined:
		h.tellOwner(e.Tag, e)
	case node.Tell:
		h.tell(now, e.Note)
	}
}

// inPlace begins what takes a place, and tells the core that there is now how it ended.
func (h *host) inPlace(ctx context.Context, places chan struct{}, do func() node.Event) {
	life := h.life
	h.workers.Go(func() {
		if enter(ctx, places) {
			defer leavePlace(places)
			h.send(ctx, arrival{event: do(), life: life})
		}
	})
}

// enter takes a place, or reports that ctx ended first.
func enter(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func leavePlace(places chan struct{}) { <-places }

// respond answers a peer's call, if the peer still waits.
func (h *host) respond(r node.Respond) {
	if reply := h.asked[r.Tag]; reply != nil {
		delete(h.asked, r.Tag)
		reply <- transport.Response{Reply: r.Reply, Session: r.Session, Fault: r.Fault}
	}
}

// call carries out a call and says how it ended.
func (h *host) call(ctx context.Context, c node.Call) node.Answered {
	begun := time.Now()
	var r transport.Result
	var key protocol.NodeKey
	var err error
	if invitation.IsSite(c.To.Host) {
		r, key, err = h.callSite(ctx, c)
	} else {
		called, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		r, err = h.client.Call(called, c.To.String(), c.Session, c.Call)
	}
	return node.Answered{
		ID: c.ID, Reply: r.Reply, Session: r.Session, Peer: r.Peer, Err: err, Unsent: r.Unsent, Queued: r.Queued,
		RTT: time.Since(begun), Key: key,
	}
}

// search looks through the archive for a neighbor.
func (h *host) search(ctx context.Context, s node.Search) node.Searched {
	ctx, cancel := context.WithTimeout(ctx, s.Time)
	defer cancel()
	begun := time.Now()
	records, err := h.store.Search(ctx, s.Filter)
	return node.Searched{ID: s.ID, Records: records, Took: time.Since(begun), Err: err}
}

// tell passes a note on to the log and to observers.
func (h *host) tell(now time.Time, note node.Note) {
	h.changes.Add(1)
	log := h.config.Log
	switch t := note.(type) {
	case node.Linked:
		h.noteAcquaintances()
		log.Info("neighbor linked", "peer", t.Peer, "chosen", t.Chosen)
	case node.Unlinked:
		h.noteAcquaintances()
		log.Info("neighbor lost", "peer", t.Peer, "err", t.Reason)
	case node.SourceChanged:
		if t.Problem != "" {
			log.Warn("no neighbors from there", "peer", t.Name, "err", t.Problem)
		} else {
			log.Info("of use again", "peer", t.Name)
		}
	case node.Suspect:
		log.Warn("neighbor misbehaved", "peer", t.Peer, "err", t.What)
	case node.Warned:
		log.Warn("neighbors keep entries from us", "what", t.Warning)
	case node.Arrived:
		h.news.Add(1)
		if h.hub != nil {
			h.hub.Wake()
			h.teller.Wake()
		}
		log.Debug("entries arrived", "feed", t.Feed.Redacted(), "peer", t.Source, "entries", len(t.Records))
	case node.Replaced:
		h.polled.tell()
		log.Info("address gave way to the feed it leads to", "address", t.Page.Redacted(), "feed", t.Feed.Redacted())
	case node.Withheld:
		log.Info("feed stays on this node", "feed", t.Feed.Redacted(), "why", t.Why)
	case node.Slipped:
		log.Warn("entries missed between two polls", "feed", t.Feed.Redacted(), "entries", t.Gap.Missing)
	case node.Filled:
		log.Info("missed entries came", "feed", t.Feed.Redacted(), "entries", t.Gap.Filled)
	case node.Waived:
		h.polled.tell()
		log.Debug("first poll left to neighbors", "feed", t.Feed.Redacted(), "next", t.Next.Format(time.RFC3339))
	case node.Polled:
		h.polled.tell()
		switch {
		case t.Problem != "" && t.Next.IsZero():
			log.Warn("feed is polled no more", "feed", t.Feed.Redacted(), "err", t.Problem)
		case t.Problem != "":
			log.Warn("poll failed", "feed", t.Feed.Redacted(), "err", t.Problem, "next", t.Next.Format(time.RFC3339))
		default:
			log.Debug("feed polled", "feed", t.Feed.Redacted(), "new", t.New, "next", t.Next.Format(time.RFC3339))
		}
	}
	if h.config.Observe != nil {
		h.config.Observe(now, note)
	}
}

// chore has f called by the loop when it is at no event, and returns what it returned.
func chore[T any](ctx context.Context, h *host, f func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	work := func() {
		defer close(done)
		value, err = f()
		h.stir()
	}
	select {
	case h.chores <- work:
		<-done // it has begun
		return value, err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// durably has f write in the loop, and makes that durable. Where f returns an error it must have written nothing.
func (h *host) durably(ctx context.Context, f func(reading.Database) error) error {
	_, err := chore(ctx, h, func() (struct{}, error) {
		err := f(h.store)
		return struct{}{}, cmp.Or(h.commit(), err) // as in committed
	})
	return err
}

// committed has f write to an archive, and makes that durable.
func committed(d reading.Database, f func(reading.Database) error) error {
	err := f(d)
	return cmp.Or(d.Commit(), err) // f may know nothing of why a commit fails, or something else
}
