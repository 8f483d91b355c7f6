// Package tracker is the core of the list server, the first of the three sources from which a node learns of others
// (Paper §3.1): it remembers which nodes called, makes sure that somebody listens there, and hands out a few of them at
// random.
//
// A Registry has no clock, no socket and no goroutine: time is an argument, and the call back that confirms a node is
// its host's to make. Its promises:
//
//   - It hands out nobody who did not call within the last half hour, whose call back did not
//     succeed, or who is the asker.
//   - It asks for at most one call back a day to any id and for at most maxPorts a day to any host,
//     so that nobody can turn it against a third party. (Whom a full registry forgot for a newcomer
//     may be called back again that day, and a call back that gave way to another begins anew.)
//   - However many nodes are slow to answer when they are called back, one from elsewhere is called back
//     as soon as it comes.
//   - One network counts once in an answer, however many hosts and ports register there.
//   - A newcomer to a full registry gets the place of one that called no more, or of the network that has
//     most, unless that has no more than its own.
//   - Its memory is bounded.
package tracker

import (
	"cmp"
	"container/list"
	"math/rand/v2"
	"time"

	"feedex/admission"
	"feedex/protocol"
)

const (
	// expiry is how long a node is handed out after its latest call.
	expiry = 30 * time.Minute
	// callBackEvery is the least time between two call backs to one id that is remembered, however the first ended.
	callBackEvery = 24 * time.Hour
	// localCallBackEvery stands in for callBackEvery at local addresses under Config.AllowLocal: there is no third
	// party to protect, and an owner who tries a network on one machine should not wait a day.
	localCallBackEvery = time.Minute
	// callBackPatience is how long a node may take to answer its call back while others wait for its place.
	callBackPatience = 2 * time.Second
	// maxPorts is the most ids that are known of one host at a time. As each is remembered for a day
	// after its call back, unless it has to make room, it also bounds the call backs to a host a day.
	maxPorts = 8
)

// Config bounds a Registry. The zero value of each field means its default.
type Config struct {
	// AllowLocal lists nodes at addresses that are not public, and lifts for them the bounds by host
	// and network. Without it they are turned away: an answer must not send anybody to an address
	// inside their own network.
	AllowLocal bool
	// Capacity is the most ids to remember. Default 100,000, which take some 60 MB, and a process with garbage and a
	// list that is being saved two to three times that.
	Capacity int
	// CallBacks is the most call backs under way at one time. Default 256.
	CallBacks int
}

// A Registry is the list of a list server. Make one with New. It is not safe for concurrent use.
type Registry struct {
	cfg Config
	rng *rand.Rand

	known    map[protocol.NodeID]*record
	hosts    map[place]*hostNodes
	networks map[place]*netRange
	listed   []*netRange // the networks with a listed id, in no order that means anything

	// Every record is in one of two queues. live holds, by latest call, those that are listed or whose
	// call back is under way; old holds, by when they got there, those that are kept only to
	// remember how their call back ended.
	live, old list.List

	callBacks *admission.SharedPool[*record] // that are under way
	status    Status
}

// New makes an empty Registry that draws its answers from rng.
func New(cfg Config, rng *rand.Rand) *Registry {
	cfg.Capacity = cmp.Or(cfg.Capacity, 100_000)
	cfg.CallBacks = cmp.Or(cfg.CallBacks, 256)
	return &Registry{
		cfg:      cfg,
		rng:      rng,
		known:    make(map[protocol.NodeID]*record),
		hosts:    make(map[place]*hostNodes),
		networks: make(map[place]*netRange),

		callBacks: admission.NewSharedPool[*record](cfg.CallBacks, callBackPatience),
	}
}

// A record is the knowledge of one id.
type record struct {
	id    protocol.NodeID
	host  *hostNodes
	state state
	heard time.Time // its latest call that counted
	asked time.Time // when its latest call back began
	left  time.Time // when it went to the old queue

	queue *list.List // live or old
	elem  *list.Element

	callBack *admission.Place[*record] // nil where none is under way
}

type state uint8

const (
	pending   state = iota // its call back is under way
	confirmed              // somebody answered there
	refused                // nobody did
)

// Register notes at now that the node id called: the address is that of the connection, the port is
// the one that it stated. Where callBack is true, the host must call the node at its address and port
// and report with Confirm how that ended. Until then the node is not handed out. Nobody waits any more for
// the call backs of those that gaveUp, which are as if they had not called.
//
// Paper §3.1: "The contacting node includes its information so that it can be included later in the
// lists for other nodes."
func (r *Registry) Register(now time.Time, id protocol.NodeID) (callBack bool, gaveUp []protocol.NodeID) {
	r.expire(now)
	r.status.Calls++
	rec, again := r.known[id]
	switch {
	case !r.mayList(id), !again && !r.hasRoom(id):
		r.status.TurnedAway++
		return false, nil
	case again && rec.state == pending:
		return false, nil
	}
	var place *admission.Place[*record]
	var others []*admission.Place[*record]
	if !again || now.Sub(rec.asked) >= r.callBackEvery(id) {
		place, others = r.callBacks.Enter(now, id.Addr(), 1, nil)
	}
	for _, other := range others {
		gaveUp = append(gaveUp, other.Of.id)
		r.giveUp(other.Of, now)
	}
	switch {
	case place != nil:
		if !again {
			rec = r.admit(id)
		}
		place.Of, rec.callBack = rec, place
		r.await(rec, now)
	case again && rec.state == confirmed:
		r.revive(rec, now) // where it is time it is called back later
	case !again:
		r.status.TurnedAway++
	}
	return place != nil, gaveUp
}

// Confirm reports at now how the call back to id ended that Register asked for: ok where the node
// answered as a node does. A report that nobody waits for is ignored.
func (r *Registry) Confirm(now time.Time, id protocol.NodeID, ok bool) {
	r.expire(now)
	rec := r.known[id]
	if rec == nil || rec.state != pending {
		return
	}
	r.ended(rec)
	if ok {
		rec.state = confirmed
		r.list(rec)
		r.status.Confirmed++
		return
	}
	rec.state = refused
	r.retire(rec, now)
	r.status.Failed++
}

// await marks rec as waiting for the call back that begins now.
func (r *Registry) await(rec *record, now time.Time) {
	r.unlist(rec)
	rec.state = pending
	rec.heard, rec.asked = now, now
	r.enqueue(rec, &r.live)
	r.status.CallBacks++
}

// ended notes that rec waits for its call back no more.
func (r *Registry) ended(rec *record) {
	r.callBacks.Leave(rec.callBack)
	rec.callBack = nil
}

// giveUp forgets rec, whose call back gave way to another.
func (r *Registry) giveUp(rec *record, now time.Time) {
	rec.callBack = nil
	r.retire(rec, now)
	r.forget(rec)
}

// revive notes a call of a node that is confirmed, and lists it again if it had expired.
func (r *Registry) revive(rec *record, now time.Time) {
	rec.heard = now
	if rec.queue == &r.old {
		r.list(rec)
	}
	r.enqueue(rec, &r.live)
}

// retire takes rec off the list at when; only the outcome of its call back is remembered.
func (r *Registry) retire(rec *record, when time.Time) {
	r.unlist(rec)
	rec.left = when
	r.enqueue(rec, &r.old)
}

// expire retires the nodes that have not called for expiry, and forgets those that were retired long
// enough ago. Every exported method begins with it, so nothing depends on when it last ran.
func (r *Registry) expire(now time.Time) {
	for e := r.live.Front(); e != nil; e = r.live.Front() {
		rec := e.Value.(*record)
		if now.Sub(rec.heard) < expiry {
			break
		}
		if rec.state == pending { // the host forgot it: nobody answered
			r.ended(rec)
			rec.state = refused
		}
		r.retire(rec, rec.heard.Add(expiry))
	}
	for e := r.old.Front(); e != nil; e = r.old.Front() {
		rec := e.Value.(*record)
		if now.Sub(rec.left) < callBackEvery {
			break
		}
		r.forget(rec)
	}
}

// enqueue moves rec to the back of queue.
func (r *Registry) enqueue(rec *record, queue *list.List) {
	if rec.queue == queue {
		queue.MoveToBack(rec.elem)
		return
	}
	if rec.queue != nil {
		rec.queue.Remove(rec.elem)
	}
	rec.queue, rec.elem = queue, queue.PushBack(rec)
}
