package daemon

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"feedex/node"
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
)

// A loop owns the core of a node. Its goroutine gives it the events that wait, makes durable what it stored, and only
// then has its effects carried out. While nothing can be stored there is no core; a new one is made in a while.
type loop struct {
	config  Config
	store   reading.Database
	around  surroundings
	started time.Time
	events  chan arrival
	chores  chan func()                 // what concerns the archive and not the node
	stirred chan struct{}               // something was stored that housekeeping may have to do with
	self    atomic.Pointer[node.Selves] // the node's ids as others see it, nil before its first step

	// What follows belongs to the goroutine.

	node     *node.Node // nil while nothing can be stored
	clock    clock
	rng      *rand.Rand
	life     uint64 // counts the cores: the completions of an earlier one are dropped
	lastTag  uint64
	asked    map[uint64]chan<- transport.Response // calls of peers that are not answered
	heard    map[uint64]heard                     // what comes of queries and downloads of the owner, by tag
	goodbyes goodbyes
	storage  storage
}

// surroundings are what a loop calls on, from its goroutine: none of it may block.
type surroundings interface {
	// carryOut does what the core wants done, but for answers to peers and to the owner.
	carryOut(ctx context.Context, now time.Time, e node.Effect)
	// allSources are where a new core looks for neighbors.
	allSources() node.Sources
	// revived is told of a new core, which knows of nothing that is under way, and rested that there is none.
	revived(n *node.Node)
	rested()
}

// newLoop makes a loop that has no core yet. c has its defaults.
func newLoop(c Config, store reading.Database, around surroundings) *loop {
	return &loop{config: c, store: store, around: around, started: time.Now(),
		events: make(chan arrival, maxArrivals), chores: make(chan func()), stirred: make(chan struct{}, 1),
		rng: rand.New(rand.NewPCG(seed(), seed())), heard: make(map[uint64]heard)}
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

// run steps the node until ctx ends.
func (l *loop) run(ctx context.Context) {
	wake := time.NewTimer(0)
	defer wake.Stop()
	batch := make([]arrival, 0, maxBatch)
	var effects []node.Effect
	for {
		l.config.Turned()
		select {
		case <-ctx.Done():
			return
		case work := <-l.chores:
			work()
		case <-wake.C:
			if due := l.next(); !due.IsZero() && !due.After(l.clock.now(time.Now())) {
				batch = append(batch, arrival{event: node.Wake{}})
			} // else the nap is over
		case a := <-l.events:
			batch = append(batch, a)
		}
		l.followClock(time.Now())
		if len(batch) > 0 {
			batch = l.drain(batch)
			effects = l.step(ctx, effects[:0], batch)
			clear(batch)
			clear(effects)
			batch = batch[:0]
			l.stir()
		}
		// Each of these may have changed the time at which the loop is needed next.
		wake.Reset(l.nap(time.Now()))
	}
}

// drain adds the arrivals that wait already, so that they share one commit: as many as weigh little together.
func (l *loop) drain(batch []arrival) []arrival {
	for weight := weightOf(batch[0].event); weight < maxBatchWeight &&
		len(batch) < maxBatch; weight += weightOf(batch[len(batch)-1].event) {
		select {
		case a := <-l.events:
			batch = append(batch, a)
		default:
			return batch
		}
	}
	return batch
}

// step gives the batch to the node, makes what it stored durable, and carries out its effects.
func (l *loop) step(ctx context.Context, effects []node.Effect, batch []arrival) []node.Effect {
	now := l.clock.now(time.Now())
	for i := range batch {
		if batch[i].goodbye {
			l.goodbyes.ended()
		}
	}
	if l.node == nil && !l.recover(now) {
		l.turnAway(batch)
		return effects
	}
	for i := range batch {
		a := &batch[i]
		switch ev := a.event.(type) {
		case nil:
			a.look(l.node)
			continue
		case node.Asked:
			l.lastTag++
			ev.Tag = l.lastTag
			l.asked[ev.Tag] = a.reply
			a.event = ev
		}
		if a.life != 0 && a.life != l.life {
			continue
		}
		switch q := a.event.(type) {
		case node.OwnerQuery:
			l.heard[q.Tag] = a.heard
		case node.EndQuery:
			delete(l.heard, q.Tag)
		case node.Pull:
			l.heard[q.Tag] = a.heard
		case node.EndPull:
			delete(l.heard, q.Tag)
		case node.Join:
			l.heard[q.Tag] = a.heard
		}
		effects = l.node.Step(effects, now, a.event)
		if a.look != nil {
			a.look(l.node)
		}
	}
	self := l.node.Self()
	l.self.Store(&self)
	err := l.commit()
	for _, a := range batch {
		if a.stored != nil {
			a.stored <- err
		}
	}
	if err != nil {
		return effects[:0]
	}
	for _, e := range effects {
		switch e := e.(type) {
		case node.Respond:
			l.respond(e)
		case node.QueryResults:
			l.tellOwner(e.Tag, e)
		case node.Pulled:
			l.tellOwner(e.Tag, e)
		case node.Joined:
			l.tellOwner(e.Tag, e)
		default:
			l.around.carryOut(ctx, now, e)
		}
	}
	return effects
}

// next is when the loop wants to be woken.
func (l *loop) next() time.Time {
	if l.node == nil {
		return l.storage.retry
	}
	return l.node.Next()
}

// nap is for how long the loop may rest until it looks at the clock again, as a timer counts. It may be negative.
func (l *loop) nap(now time.Time) time.Duration {
	nap := longestNap
	if due := l.next(); !due.IsZero() {
		nap = min(nap, due.Sub(l.clock.now(now)))
	}
	return nap
}

// send hands an arrival to the loop and reports whether it was taken before ctx ended.
func (l *loop) send(ctx context.Context, a arrival) bool {
	select {
	case l.events <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// stir has the housekeeping look whether there is something to do.
func (l *loop) stir() {
	select {
	case l.stirred <- struct{}{}:
	default:
	}
}

// respond answers a peer's call, if the peer still waits.
func (l *loop) respond(r node.Respond) {
	if reply := l.asked[r.Tag]; reply != nil {
		delete(l.asked, r.Tag)
		reply <- transport.Response{Reply: r.Reply, Session: r.Session, Fault: r.Fault}
	}
}

// chore has f called by the loop when it is at no event, and returns what it returned.
func chore[T any](ctx context.Context, l *loop, f func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	work := func() {
		defer close(done)
		value, err = f()
		l.stir()
	}
	select {
	case l.chores <- work:
		<-done // it has begun
		return value, err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// durably has f write in the loop, and makes that durable. Where f returns an error it must have written nothing.
func (l *loop) durably(ctx context.Context, f func(reading.Database) error) error {
	_, err := chore(ctx, l, func() (struct{}, error) {
		err := f(l.store)
		return struct{}{}, cmp.Or(l.commit(), err) // as in committed
	})
	return err
}

// committed has f write to an archive, and makes that durable.
func committed(d reading.Database, f func(reading.Database) error) error {
	err := f(d)
	return cmp.Or(d.Commit(), err) // f may know nothing of why a commit fails, or something else
}

// look has f called between two steps, in the loop, and returns what f returned. The node is nil while nothing can be
// stored. The result of f must be a copy, because the node goes on; nothing else may be written by f, because look
// returns without it when ctx ends.
func look[T any](ctx context.Context, l *loop, f func(n *node.Node) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	answers := make(chan answer, 1)
	ask := arrival{look: func(n *node.Node) {
		value, err := f(n)
		answers <- answer{value, err}
	}}
	if !l.send(ctx, ask) {
		return none, context.Cause(ctx)
	}
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// ask has f called with the node like look; it is an error while nothing can be stored.
func ask[T any](ctx context.Context, l *loop, f func(n *node.Node) T) (T, error) {
	return look(ctx, l, func(n *node.Node) (value T, err error) {
		if n == nil {
			return value, l.storage.rests()
		}
		return f(n), nil
	})
}

// glance has f called with the node like look; while nothing can be stored it returns the zero value.
func glance[T any](ctx context.Context, l *loop, f func(n *node.Node) T) (T, error) {
	return look(ctx, l, func(n *node.Node) (value T, err error) {
		if n != nil {
			value = f(n)
		}
		return value, nil
	})
}

// command gives the node its owner's wish and waits until what it changed is durable.
func (l *loop) command(ctx context.Context, ev node.Event) error { return l.commandAnd(ctx, ev, nil) }

// commandAnd is command where then, if not nil, writes in the same step. What it sets may be read where the error is
// nil.
func (l *loop) commandAnd(ctx context.Context, ev node.Event, then func(*node.Node)) error {
	stored := make(chan error, 1)
	if !l.send(ctx, arrival{event: ev, look: then, stored: stored}) {
		return context.Cause(ctx)
	}
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// heard is called from the loop with what comes of a query or a download, or nil where the node rests and there is no
// more to come. It reports whether that was the last, and must not block.
type heard func(node.Effect) (last bool)

// tellOwner passes on what comes of a request to where it is waited for, if it is.
func (l *loop) tellOwner(tag uint64, e node.Effect) {
	if tell := l.heard[tag]; tell != nil && tell(e) {
		delete(l.heard, tag)
	}
}

// endRequests ends every query and download of the owner: the core that worked on them is no more.
func (l *loop) endRequests() {
	for tag := range l.heard {
		l.tellOwner(tag, nil)
	}
}

// whoami are the node's ids as others see it, as far as it knows them.
func (l *loop) whoami() *node.Selves {
	return cmp.Or(l.self.Load(), &node.Selves{AllowLocal: l.config.Node.AllowLocal})
}
